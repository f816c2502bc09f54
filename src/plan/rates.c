#include "plan/rates.h"

#include "base/assert.h"
#include "base/random.h"

/* A set that will be due within this part of its period runs along. */
enum { RIDES_ALONG = 4 };

/* No set is due later: half a year, for periods of a day that were made many times longer. Times add up and stay within
 * what a signed number holds. */
static const double latest_ns = 0x1p54;

/* The period of a set on the clock of its agent's class. */
static int64_t rates_period_ns(const agent_type *type, const agent_class *class, uint32_t number) {
  uint64_t period_ns = type->sets.sets[number].period_ns, whole_ns = type->sets.least_ns;
  if (class->nominal_ns == whole_ns) return (int64_t)period_ns;
  double scaled_ns = (double)period_ns * (double)class->nominal_ns / (double)whole_ns + 0.5;
  if (scaled_ns < 1.0) return 1;
  return scaled_ns < latest_ns ? (int64_t)scaled_ns : (int64_t)latest_ns;
}

uint64_t rates_begin(const agent_type *type, const agent_class *class, const agent_row *row, uint64_t seed,
                     uint64_t name) {
  set_state *states = sets_states_of(&type->sets, row->state_slot);
  uint64_t first_ns = UINT64_MAX;
  ASSERT(type->rated && type->sets.count > 0);
  for (uint32_t i = 0; i < type->sets.count; i++) {
    double share = (double)(random_at(seed, name, 0, 1 + i) >> 11) * 0x1p-53;
    states[i].due_ns = (uint64_t)(share * (double)rates_period_ns(type, class, i));
    if (states[i].due_ns < first_ns) first_ns = states[i].due_ns;
  }
  for (uint32_t i = 0; i < type->sets.count; i++) states[i].due_ns -= first_ns;
  return first_ns;
}

/* Whether a set that is due so far ahead runs now. */
static bool rates_runs(int64_t ahead_ns, int64_t period_ns) {
  return ahead_ns <= period_ns / RIDES_ALONG;
}

uint16_t rates_due(const agent_type *type, const agent_class *class, const agent_row *row, int64_t ahead_ns) {
  const set_state *states = sets_states_of(&type->sets, row->state_slot);
  uint32_t due = 0, first = 0;
  uint64_t first_ns = UINT64_MAX;
  if (row->woken) return (uint16_t)((1u << type->sets.count) - 1u);
  for (uint32_t i = 0; i < type->sets.count; i++) {
    if (rates_runs(ahead_ns + (int64_t)states[i].due_ns, rates_period_ns(type, class, i))) due |= 1u << i;
    if (states[i].due_ns >= first_ns) continue;
    first = 1u << i;
    first_ns = states[i].due_ns;
  }
  return (uint16_t)(due ? due : first); /* an agent that was released early has something to do */
}

/* When a set is due again that ran now, counted from now. As for agents, one that was missed by less than a period
 * still counts (due_set_next). */
static int64_t rates_next_ns(int64_t ahead_ns, int64_t period_ns) {
  if (!rates_runs(ahead_ns, period_ns)) return ahead_ns;
  ahead_ns += period_ns;
  int64_t missed = ahead_ns < 0 ? (-ahead_ns + period_ns - 1) / period_ns : 0;
  return missed > 1 ? ahead_ns + missed * period_ns : ahead_ns;
}

/* A set that ran along is due within a period and a quarter. One that is due later had a longer period: its phase
 * stays. */
static int64_t rates_within(int64_t ahead_ns, int64_t period_ns) {
  return ahead_ns > period_ns + period_ns / RIDES_ALONG ? (ahead_ns - 1) % period_ns + 1 : ahead_ns;
}

int64_t rates_complete(const agent_type *type, const agent_class *class, const agent_row *row, int64_t ahead_ns,
                       uint64_t began_ns) {
  set_state *states = sets_states_of(&type->sets, row->state_slot);
  uint32_t ran = rates_due(type, class, row, ahead_ns);
  int64_t next_ns[MUSTER_SETS_MAX], first_ns = INT64_MAX;
  for (uint32_t i = 0; i < type->sets.count; i++) {
    int64_t period_ns = rates_period_ns(type, class, i);
    next_ns[i] = rates_within(ahead_ns + (int64_t)states[i].due_ns, period_ns);
    if (ran >> i & 1) {
      next_ns[i] = rates_next_ns(next_ns[i], period_ns);
      states[i].last_ns = states[i].began_ns = began_ns;
    }
    if (next_ns[i] < first_ns) first_ns = next_ns[i];
  }
  for (uint32_t i = 0; i < type->sets.count; i++) states[i].due_ns = (uint64_t)(next_ns[i] - first_ns);
  return first_ns - ahead_ns;
}

void rates_scale(const agent_type *type, const agent_row *row, double times) {
  set_state *states = sets_states_of(&type->sets, row->state_slot);
  for (uint32_t i = 0; i < type->sets.count; i++) {
    double due_ns = (double)states[i].due_ns * times + 0.5;
    states[i].due_ns = (uint64_t)(due_ns < latest_ns ? due_ns : latest_ns);
  }
}
