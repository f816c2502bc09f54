#include "plan/retime.h"

#include "plan/grade.h"
#include "plan/periods.h"
#include "plan/rates.h"

/* A waiting agent is taken out of the book, and what is left of its periods is counted in others. */
static void scale_due(const retime_input *retiming, const agent_class *class, uint32_t index, double part) {
  agent_row *row = &retiming->store->rows[index];
  const agent_type *type = &retiming->types->types[row->type];
  ASSERT(part > 0.0 && class->number == row->class);
  if (type->rated) rates_scale(type, row, part);
  if (retiming->classes->activation.delay_max) periods_unplan(&retiming->classes->activation, 0, row, index);
  if (row->virtual_due_ns <= class->clock_ns) return; /* it is due, whatever its period */
  row->virtual_due_ns = class->clock_ns + (uint64_t)((double)(row->virtual_due_ns - class->clock_ns) * part + 0.5);
}

/* An agent whose period has changed is filed anew. With whole steps it waits for one, as after an update. */
static void file_anew(const retime_input *retiming, uint32_t index) {
  class_table *classes = retiming->classes;
  agent_row *row = &retiming->store->rows[index];
  agent_class *class = &classes->classes[row->class];
  if (row->status == AGENT_READY && ready_by_deadline(retiming->ready))
    ready_refresh(retiming->ready, retiming->store, index);
  if (row->status != AGENT_WAITING || !row->scheduled) return;
  while (retiming->ready->now_ns + due_remaining_ns(class, row) - row->last_update_ns < class->step_ns)
    row->virtual_due_ns += class->nominal_ns;
  if (classes->activation.delay_max) periods_plan(&classes->activation, class, 0, row, index);
  due_insert(classes, class, retiming->store, index);
}

static void reach_longest(const retime_input *retiming, uint64_t longest_ns) {
  ready_keep_fresh(retiming->ready, retiming->store);
  ready_widen(retiming->ready, retiming->store, longest_ns);
}

void retime_type(const retime_input *retiming, uint32_t type, class_periods periods) {
  class_table *classes = retiming->classes;
  const muster_type_def *def = &retiming->types->types[type].def;
  uint64_t before_ns = classes_periods_of(classes, def, type).nominal_ns;
  ASSERT(type < retiming->types->count && before_ns > 0);
  classes->tuned[type] = periods;
  periods = classes_periods_of(classes, def, type);
  reach_longest(retiming, periods.longest_ns);
  for (uint32_t i = 0; i < classes->count; i++) {
    agent_class *class = &classes->classes[i];
    if (class->type == type && !class->own) classes_set_periods(classes, class, periods);
  }
  double part = (double)periods.nominal_ns / (double)before_ns;
  for (uint32_t i = 0; store_finds(retiming->store, &i); i++) {
    const agent_row *row = &retiming->store->rows[i];
    const agent_class *class = &classes->classes[row->class];
    if (row->type != type || class->own || row->status == AGENT_QUARANTINED) continue;
    scale_due(retiming, class, i, part);
    file_anew(retiming, i);
  }
}

/* With bounded steps an update must be told a step, and must not be told more than it can be. */
static class_periods within_steps(const muster_type_def *def, class_periods periods) {
  if (def->elapsed.contract != MUSTER_ELAPSED_STEPS) return periods;
  uint64_t step_ns = def->elapsed.step_ns, most_ns = def->elapsed.steps_max * step_ns;
  if (periods.nominal_ns > most_ns - step_ns) periods.nominal_ns = most_ns - step_ns;
  if (periods.nominal_ns < step_ns) periods.nominal_ns = step_ns;
  if (periods.longest_ns > most_ns) periods.longest_ns = most_ns;
  if (periods.longest_ns < periods.nominal_ns) periods.longest_ns = periods.nominal_ns;
  return periods;
}

void retime_agent(const retime_input *retiming, uint32_t index, class_periods own, bool counted) {
  class_table *classes = retiming->classes;
  agent_row *row = &retiming->store->rows[index];
  const muster_type_def *def = &retiming->types->types[row->type].def;
  agent_class *from = &classes->classes[row->class];
  ASSERT(store_is_active(retiming->store, index));
  if (own.nominal_ns) {
    own = within_steps(def, own);
    reach_longest(retiming, own.longest_ns);
  }
  agent_class *to = classes_get_own(classes, def, row->type, from->level, from->step, own.nominal_ns ? &own : NULL);
  if (to == from) return;
  if (row->status != AGENT_QUARANTINED)
    scale_due(retiming, from, index, counted ? 1.0 : (double)to->nominal_ns / (double)from->nominal_ns);
  grade_change_class(classes, from, to, retiming->store, index);
  if (row->status != AGENT_QUARANTINED) file_anew(retiming, index);
}

class_periods retime_own(const class_table *classes, const agent_row *row) {
  class_periods room;
  const class_periods *own = classes_own(&classes->classes[row->class], &room);
  return own ? *own : (class_periods){0};
}
