#include "plan/due.h"

#include <math.h>

void due_skip_missed(const agent_class *class, agent_row *row) {
  uint64_t missed = (class->clock_ns - row->virtual_due_ns + class->nominal_ns - 1) / class->nominal_ns;
  if (missed > 1) row->virtual_due_ns += missed * class->nominal_ns;
}

void due_transfer(class_table *classes, const agent_class *from, const agent_class *to, agent_store *store,
                  uint32_t index) {
  agent_row *row = &store->rows[index];
  due_remove(store, index);
  row->virtual_due_ns = to->clock_ns + due_remaining_ns(from, row);
  due_insert(classes, to, store, index);
}

void due_advance_bands(class_table *classes, uint64_t elapsed_ns) {
  double speeds[LOOK_BANDS] = {0};
  const double step_max_ns = 2.0 * LOOK_REACH * (double)(1ull << LOOK_COARSE_SHIFT); /* no slot lies further ahead */
  classes_find_speeds(classes, speeds);
  if (elapsed_ns == 0) return;
  for (uint32_t left = classes->looks.bands; left; left &= left - 1) {
    uint32_t band = (uint32_t)__builtin_ctz(left);
    double step_ns = (double)elapsed_ns * speeds[band];
    if (step_ns > 0.0) classes->looks.clock_ns[band] += (uint64_t)(step_ns < step_max_ns ? step_ns : step_max_ns) + 1;
  }
}

void due_advance(class_table *classes, agent_class *class, uint64_t elapsed_ns) {
  if (classes->frozen[class->type]) {
    /* No time passes for it. */
  } else if (class->rate >= 1.0) {
    class->clock_ns += elapsed_ns;
  } else {
    /* In many short frames the slowest clocks move by less than a nanosecond. */
    double passed_ns = (double)elapsed_ns * class->rate + (double)class->clock_part;
    uint64_t whole_ns = (uint64_t)passed_ns;
    class->clock_ns += whole_ns;
    class->clock_part = (float)(passed_ns - (double)whole_ns);
  }
  classes_follow_rate(classes, class);
}

void due_sweep(class_table *classes, agent_store *store, uint64_t now_ns, uint32_t *agents) {
  uint32_t count = looks_sweep(&classes->looks, agents);
  for (uint32_t i = 0; i < count; i++) {
    due_prefetch_rows(store, agents, i, count);
    if (due_has_come(classes, store, agents[i], now_ns)) due_put_back(classes, store, agents[i]);
  }
}

void due_thaw(class_table *classes, agent_store *store, uint32_t type) {
  for (uint32_t i = 0; store_finds(store, &i); i++) {
    const agent_row *row = &store->rows[i];
    if (row->type != type || row->status != AGENT_WAITING || !row->scheduled) continue;
    due_insert(classes, &classes->classes[row->class], store, i);
  }
}
