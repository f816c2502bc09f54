#include "plan/periods.h"

#include "base/assert.h"

#include <math.h>

void periods_create(periods *periods, const class_table *classes, const muster_world_def *def, arena *arena) {
  *periods = (struct periods){.elastic = def->elastic};
  periods->kinds = arena_reserve(arena, classes->maximum, sizeof *periods->kinds);
  periods->due = arena_reserve(arena, def->agents_max, sizeof *periods->due);
  periods->chains = arena_reserve(arena, PERIODS_CHAINS, sizeof *periods->chains);
}

static fit_kind kind_of(const periods *periods, const agent_class *class, const cost_table *costs) {
  double cost_ns = costs_of(costs, class->type, class->level)->mean_ns;
  double scale = periods->elastic == MUSTER_ELASTIC_RATE ? cost_ns * 1e-9 : 1.0;
  return (fit_kind){.members = (double)class->members,
                    .nominal = cost_ns / (double)class->nominal_ns,
                    .minimum = cost_ns / (double)class->longest_ns,
                    .elasticity = class->elasticity * scale};
}

fit_result periods_fit(periods *periods, class_table *classes, const cost_table *costs, double desired,
                       double *deviation_ns) {
  uint32_t count = classes->active_count;
  for (uint32_t i = 0; i < count; i++)
    periods->kinds[i] = kind_of(periods, &classes->classes[classes->active[i]], costs);
  fit_result fit = fit_solve(periods->kinds, count, desired, periods->lambda);
  periods->lambda = fit.lambda;
  double deviation = 0, members = 0;
  for (uint32_t i = 0; i < count; i++) {
    agent_class *class = &classes->classes[classes->active[i]];
    class->rate = fit_rate(&periods->kinds[i], fit.lambda);
    deviation += (double)class->members * ((double)class->nominal_ns / class->rate - (double)class->nominal_ns);
    members += (double)class->members;
  }
  *deviation_ns = members > 0 ? deviation / members : 0.0;
  return fit;
}

/* The part of the wheel that is visited next. */
static void prefetch_slots(const agent_class *class) {
  __builtin_prefetch(&class->occupied[0]);
  __builtin_prefetch(&class->slots[class->cursor % WHEEL_SLOTS]);
  __builtin_prefetch(&class->slots[(class->cursor + 16) % WHEEL_SLOTS]);
}

uint32_t periods_release(periods *periods, class_table *classes, agent_store *store, ready_set *ready,
                         uint64_t elapsed_ns, uint64_t now_ns, uint64_t frame) {
  uint32_t due = 0, chains = 0;
  for (uint32_t i = 0; i < classes->active_count; i++) {
    if (i + 2 < classes->active_count) prefetch_slots(&classes->classes[classes->active[i + 2]]);
    chains += wheel_advance(&classes->classes[classes->active[i]], elapsed_ns, periods->chains + chains);
    if (chains + WHEEL_SLOTS <= PERIODS_CHAINS && i + 1 < classes->active_count) continue;
    due += wheel_collect(classes, store, periods->chains, chains, periods->due + due);
    chains = 0;
  }
  for (uint32_t i = 0; i < due; i++) ready_release(ready, store, periods->due[i], now_ns, frame);
  periods->due_count = due;
  return due;
}

void periods_enlist_waiting(const periods *periods, agent_store *store, ready_set *ready) {
  for (uint32_t i = 0; i < periods->due_count; i++)
    if (store->rows[periods->due[i]].status == AGENT_READY) ready_enlist(ready, store, periods->due[i]);
}

void periods_begin(class_table *classes, agent_store *store, uint32_t index, uint64_t random) {
  agent_row *row = &store->rows[index];
  agent_class *class = &classes->classes[row->class];
  double share = (double)(random >> 11) * 0x1p-53;
  row->virtual_due_ns = class->clock_ns + (uint64_t)(share * (double)class->nominal_ns);
  wheel_insert(class, store, index);
}

/* Rankin's run counter, in nominal periods: rc <- rc (1 - 1/16)^g + 1/16 for a run after a gap of g periods; it is
 * frozen while the agent waits to be run. */
static float run_counter_after(const agent_row *row, uint64_t nominal_ns) {
  float gap = row->first_due_ns > row->last_update_ns
                  ? (float)(row->first_due_ns - row->last_update_ns) / (float)nominal_ns
                  : 0.0f;
  const float log2_of_15_16 = -0.09310940f;
  return row->runs * exp2f(gap * log2_of_15_16) + 1.0f / 16.0f;
}

void periods_completed(class_table *classes, agent_store *store, ready_set *ready, uint32_t index, uint64_t began_ns) {
  agent_row *row = &store->rows[index];
  agent_class *class = &classes->classes[row->class];
  ASSERT(began_ns >= row->last_update_ns);
  row->runs = run_counter_after(row, class->nominal_ns);
  row->last_update_ns = began_ns;
  row->atom_next = 0;
  row->woken = 0;
  ready_forget(ready, store, index);
  wheel_insert_next(class, store, index);
}
