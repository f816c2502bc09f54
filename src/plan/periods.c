#include "plan/periods.h"

#include "base/assert.h"
#include "base/prefetch.h"

#include <math.h>

void periods_create(periods *periods, const class_table *classes, const muster_world_def *def, arena *arena) {
  *periods = (struct periods){.elastic = def->elastic};
  periods->kinds = arena_reserve(arena, classes->maximum, sizeof *periods->kinds);
  periods->due = arena_reserve(arena, def->agents_max + LIST_BLOCK_AGENTS, sizeof *periods->due);
}

static fit_rule rule_of(const periods *periods) {
  return periods->elastic == MUSTER_ELASTIC_SQUARE_ROOT ? FIT_SQUARE_ROOT : FIT_ELASTIC;
}

/* E_i as the rule has it. */
static double elasticity_of(const periods *periods, const agent_class *class, double cost_ns) {
  switch (periods->elastic) {
  case MUSTER_ELASTIC_UTILISATION:
    return class->elasticity;
  case MUSTER_ELASTIC_SQUARE_ROOT:
    return cost_ns > 0 ? sqrt(class->elasticity / (cost_ns * 1e-9)) : 0.0;
  default:
    return class->elasticity * cost_ns * 1e-9;
  }
}

static fit_kind kind_of(const periods *periods, const class_table *classes, const agent_class *class,
                        const cost_table *costs) {
  double cost_ns = costs_of(costs, class->type, class->level)->mean_ns;
  return (fit_kind){.members = classes->frozen[class->type] ? 0.0 : (double)class->members,
                    .nominal = cost_ns / (double)class->nominal_ns,
                    .minimum = cost_ns / (double)class->longest_ns,
                    .elasticity = elasticity_of(periods, class, cost_ns)};
}

/* Agents without a period take what they usually take, together, and never give way. */
static fit_kind kind_of_events(const agent_class *class, const cost_table *costs) {
  double share = costs_of(costs, class->type, class->level)->mean_ns * class->events_per_ns;
  return (fit_kind){.members = 1.0, .nominal = share, .minimum = share};
}

static fit_kind kind_for(const periods *periods, const class_table *classes, const agent_class *class,
                         const cost_table *costs) {
  return class->elapsed == MUSTER_ELAPSED_EVENTS ? kind_of_events(class, costs)
                                                 : kind_of(periods, classes, class, costs);
}

fit_result periods_fit(periods *periods, class_table *classes, const cost_table *costs, double desired,
                       double *deviation_ns) {
  uint32_t count = classes->active_count;
  for (uint32_t i = 0; i < count; i++)
    periods->kinds[i] = kind_for(periods, classes, &classes->classes[classes->active[i]], costs);
  fit_result fit = fit_solve(rule_of(periods), periods->kinds, count, desired, periods->lambda);
  periods->lambda = fit.lambda;
  double deviation = 0, members = 0;
  for (uint32_t i = 0; i < count; i++) {
    agent_class *class = &classes->classes[classes->active[i]];
    class->rate = fit_rate(rule_of(periods), &periods->kinds[i], fit.lambda);
    if (class->elapsed == MUSTER_ELAPSED_EVENTS) continue;
    deviation += periods->kinds[i].members * ((double)class->nominal_ns / class->rate - (double)class->nominal_ns);
    members += periods->kinds[i].members;
  }
  *deviation_ns = members > 0 ? deviation / members : 0.0;
  return fit;
}

/* The part of the wheel that is visited next. */
PREFETCH_FUNCTION prefetch_slots(const agent_class *class) {
  __builtin_prefetch(&class->occupied[0]);
  __builtin_prefetch(&class->slots[0][class->cursor % WHEEL_SLOTS]);
}

typedef uint32_t (*empty_wheel)(class_table *classes, agent_class *class, uint32_t *out, uint32_t capacity);

/* Takes agents of all classes, beginning with another one in each frame; returns how many there are in periods.due now.
 */
static uint32_t take_agents(periods *periods, class_table *classes, empty_wheel empty, uint32_t count, uint32_t most) {
  uint32_t active = classes->active_count, position = periods->next;
  for (uint32_t visited = 0; visited < active && count < most; visited++) {
    agent_class *class = &classes->classes[classes->active[position]];
    position = position + 1 < active ? position + 1 : 0;
    prefetch_slots(&classes->classes[classes->active[position]]);
    if (classes->frozen[class->type]) continue;
    count += empty(classes, class, periods->due + count, most - count);
  }
  return count;
}

/* A mean over about sixteen frames. */
static void learn_events(agent_class *class, uint64_t elapsed_ns) {
  if (elapsed_ns == 0) return;
  class->events_per_ns += ((double)class->events / (double)elapsed_ns - class->events_per_ns) / 16.0;
  class->events = 0;
}

uint32_t periods_release(periods *periods, class_table *classes, agent_store *store, ready_set *ready,
                         uint64_t elapsed_ns, uint32_t most, uint64_t now_ns, uint64_t frame) {
  enum { AHEAD = 12 };
  uint32_t active = classes->active_count, due = 0;
  for (uint32_t i = 0; i < active; i++) {
    agent_class *class = &classes->classes[classes->active[i]];
    if (!classes->frozen[class->type]) wheel_advance(class, elapsed_ns);
    if (class->elapsed == MUSTER_ELAPSED_EVENTS) learn_events(class, elapsed_ns);
  }
  periods->next = periods->next + 1 < active ? periods->next + 1 : 0;
  /* Who is due for certain comes before a crowd of which most are not. */
  uint32_t count = take_agents(periods, classes, wheel_empty_passed, 0, most);
  count = take_agents(periods, classes, wheel_empty_current, count, most);
  for (uint32_t i = 0; i < count; i++) {
    if (i + AHEAD < count) __builtin_prefetch(&store->rows[periods->due[i + AHEAD]], 1);
    if (wheel_keeps(classes, store, periods->due[i])) continue;
    ready_release(ready, store, periods->due[i], now_ns, frame);
    due++;
  }
  return due;
}

void periods_release_early(class_table *classes, agent_store *store, ready_set *ready, uint32_t index, uint64_t now_ns,
                           uint64_t frame) {
  agent_class *class = &classes->classes[store->rows[index].class];
  if (class->elapsed == MUSTER_ELAPSED_EVENTS)
    class->events++;
  else
    wheel_remove(classes, class, store, index);
  ready_release(ready, store, index, now_ns, frame);
}

void periods_owing(class_table *classes, agent_store *store, ready_set *ready, uint32_t index, uint64_t reached_ns,
                   bool continued, uint64_t frame) {
  agent_row *row = &store->rows[index];
  agent_class *class = &classes->classes[row->class];
  if (!continued) {
    row->runs = periods_run_counter(row, class->per_nominal);
    row->last_update_ns = reached_ns;
    row->woken = 0;
    row->timed = 0;
    if (class->elapsed != MUSTER_ELAPSED_EVENTS) wheel_set_next(class, row);
  }
  if (class->elapsed == MUSTER_ELAPSED_EVENTS) class->events++;
  ready_forget(ready, store, index);
  row->owes = 1;
  row->first_due_ns = ready->now_ns;
  row->released_frame = (uint8_t)frame;
  row->status = AGENT_ADMITTED;
  ready_put_back(ready, store, index);
}

void periods_begin(class_table *classes, agent_store *store, uint32_t index, uint64_t random) {
  agent_row *row = &store->rows[index];
  agent_class *class = &classes->classes[row->class];
  double share = (double)(random >> 11) * 0x1p-53;
  uint64_t ahead_ns = (uint64_t)(share * (double)class->nominal_ns);
  if (ahead_ns < class->step_ns) ahead_ns += class->nominal_ns; /* no whole step would be due */
  row->virtual_due_ns = class->clock_ns + ahead_ns;
  if (class->elapsed == MUSTER_ELAPSED_EVENTS)
    row->status = AGENT_WAITING;
  else
    wheel_insert(classes, class, 0, store, index);
}
