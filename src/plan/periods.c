#include "plan/periods.h"

#include "base/assert.h"

#include <math.h>

void periods_create(periods *periods, const class_table *classes, const muster_world_def *def, arena *arena) {
  *periods = (struct periods){.elastic = def->elastic};
  periods->kinds = arena_reserve(arena, classes->maximum, sizeof *periods->kinds);
  periods->due = arena_reserve(arena, def->agents_max + LIST_BLOCK_AGENTS, sizeof *periods->due);
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
}

uint32_t periods_release(periods *periods, class_table *classes, agent_store *store, ready_set *ready,
                         uint64_t elapsed_ns, uint32_t most, uint64_t now_ns, uint64_t frame) {
  enum { AHEAD = 12 };
  uint32_t count = 0, active = classes->active_count;
  for (uint32_t i = 0; i < active; i++) wheel_advance(&classes->classes[classes->active[i]], elapsed_ns);
  if (periods->next >= active) periods->next = 0;
  for (uint32_t visited = 0; visited < active && count < most; visited++) {
    uint32_t next = periods->next + 1 < active ? periods->next + 1 : 0;
    prefetch_slots(&classes->classes[classes->active[next]]);
    count +=
        wheel_empty(classes, &classes->classes[classes->active[periods->next]], periods->due + count, most - count);
    if (count < most) periods->next = next;
  }
  uint32_t due = wheel_sift(classes, store, periods->due, count);
  for (uint32_t i = 0; i < due; i++) {
    if (i + AHEAD < due) __builtin_prefetch(&store->rows[periods->due[i + AHEAD]], 1);
    ready_release(ready, store, periods->due[i], now_ns, frame);
  }
  return due;
}

void periods_begin(class_table *classes, agent_store *store, uint32_t index, uint64_t random) {
  agent_row *row = &store->rows[index];
  agent_class *class = &classes->classes[row->class];
  double share = (double)(random >> 11) * 0x1p-53;
  row->virtual_due_ns = class->clock_ns + (uint64_t)(share * (double)class->nominal_ns);
  wheel_insert(classes, class, store, index);
}

/* 2^-x for x >= 0: an exponent, and a polynomial for the rest that is right to 6e-4. */
static float halved(float x) {
  if (x > 30.0f) return 0.0f;
  uint32_t whole = (uint32_t)x;
  float rest = x - (float)whole;
  return (1.0f - rest * (0.69305f - rest * (0.23798f - rest * 0.04493f))) / (float)(1u << whole);
}

/* Rankin's run counter, in nominal periods: rc <- rc (1 - 1/16)^g + 1/16 for a run after a gap of g periods; it is
 * frozen while the agent waits to be run. */
static uint16_t run_counter_after(const agent_row *row, float per_nominal) {
  const float log2_of_16_15 = 0.09310940f;
  float gap =
      row->first_due_ns > row->last_update_ns ? (float)(row->first_due_ns - row->last_update_ns) * per_nominal : 0.0f;
  return (uint16_t)((float)row->runs * halved(gap * log2_of_16_15) + (float)RUNS_ONE / 16.0f);
}

void periods_completed(class_table *classes, agent_store *store, ready_set *ready, uint32_t index, uint64_t began_ns) {
  agent_row *row = &store->rows[index];
  agent_class *class = &classes->classes[row->class];
  ASSERT(began_ns >= row->last_update_ns);
  row->runs = run_counter_after(row, class->per_nominal);
  row->last_update_ns = began_ns;
  row->atom_next = 0;
  row->woken = 0;
  ready_forget(ready, store, index);
  wheel_insert_next(classes, class, store, index);
}
