#include "agents/passes.h"

#include "base/assert.h"

/* Whether the period of a set has passed. */
static bool is_due(const type_set *set, const set_state *state, uint32_t updates, uint64_t now_ns) {
  if (state->unit != set->unit) return true;
  if (set->period_ns == 0) return updates % set->period_updates == set->delay_updates % set->period_updates;
  uint64_t due_ns = state->due_ns, began_ns = state->began_ns;
  /* Its period was longer when it ran last: the phase stays. */
  if (due_ns > began_ns + set->period_ns) {
    uint64_t part_ns = (due_ns - began_ns) % set->period_ns;
    due_ns = began_ns + (part_ns ? part_ns : set->period_ns);
  }
  return due_ns <= now_ns;
}

uint16_t pass_active(const set_table *table, const set_state *states, const set_pass *kept, uint32_t level,
                     uint64_t now_ns, bool continues) {
  uint32_t there = table->at_level[level];
  if (continues) return (uint16_t)(kept->owed & there);
  uint32_t active = (table->always | kept->owed) & there;
  for (uint32_t rest = there & ~active; rest; rest &= rest - 1) {
    uint32_t number = (uint32_t)__builtin_ctz(rest);
    if (is_due(&table->sets[number], &states[number], kept->updates, now_ns)) active |= 1u << number;
  }
  return (uint16_t)active;
}

/* Those of a role that are in `some`, in sequence from the place `from` on, and around. */
static void add_sets(pass *pass, uint32_t first, uint32_t end, uint32_t from, uint32_t some) {
  const set_table *table = pass->table;
  for (uint32_t i = first; i < end && some; i++) {
    uint32_t place = from + (i - first) < end ? from + (i - first) : from + (i - first) - (end - first);
    uint32_t number = table->sequence[place];
    if (!(some >> number & 1)) continue;
    pass->order[pass->count++] = (uint8_t)number;
    some &= ~(1u << number);
  }
}

/* The place in the sequence behind the set that ran last, among those from `first` to `end`. */
static uint32_t place_behind(const set_table *table, uint32_t last, uint32_t first, uint32_t end) {
  for (uint32_t i = first; last && i < end; i++)
    if (table->sequence[i] + 1u == last) return i + 1 < end ? i + 1 : first;
  return first;
}

static void add_role(pass *pass, uint32_t first, uint32_t end, uint32_t active, uint32_t owed, uint32_t last) {
  if (active & owed) add_sets(pass, first, end, place_behind(pass->table, last, first, end), active & owed);
  add_sets(pass, first, end, first, active & ~owed);
}

pass pass_open(const set_table *table, const set_pass *kept, uint16_t active, uint64_t end_ns, uint64_t stop_ns) {
  pass pass = {.table = table, .end_ns = end_ns, .stop_ns = stop_ns, .left = active};
  uint32_t behaviours = active & table->behaviours, actions = active & table->actions;
  uint32_t perceptions = active & ~behaviours & ~actions;
  uint32_t actions_count = (uint32_t)__builtin_popcount(table->actions);
  uint32_t behaviours_count = (uint32_t)__builtin_popcount(table->behaviours);
  uint32_t middle = table->count - actions_count - behaviours_count, end = table->count - actions_count;
  if (perceptions) add_role(&pass, 0, middle, perceptions, kept->owed, kept->last[0]);
  if (behaviours) add_role(&pass, middle, end, behaviours, kept->owed, kept->last[1]);
  for (uint32_t rest = behaviours; rest; rest &= rest - 1) pass.weight += table->sets[__builtin_ctz(rest)].priority;
  return pass;
}

uint32_t pass_next(pass *pass, uint64_t clock_ns, uint64_t next_ns) {
  if (pass->at == pass->count) return MUSTER_SETS_MAX;
  if (pass->at > 0 && (clock_ns >= pass->end_ns || clock_ns + next_ns > pass->stop_ns)) {
    pass->stopped |= clock_ns + next_ns > pass->stop_ns;
    return MUSTER_SETS_MAX;
  }
  uint32_t number = pass->order[pass->at++];
  const type_set *set = &pass->table->sets[number];
  pass->left &= (uint16_t) ~(1u << number);
  pass->set_end_ns = pass->end_ns;
  if (set->role != MUSTER_ROLE_BEHAVIOUR) return number;
  uint32_t weight = pass->weight;
  pass->weight -= set->priority;
  if (pass->end_ns != UINT64_MAX && weight > set->priority) {
    uint64_t left_ns = pass->end_ns > clock_ns ? pass->end_ns - clock_ns : 0;
    pass->set_end_ns = clock_ns + left_ns * set->priority / weight;
  }
  return number;
}

/* Phase is kept: whole periods that were missed are skipped. */
static void count_period(const type_set *set, set_state *state, uint64_t now_ns) {
  state->unit = set->unit;
  if (set->period_ns == 0) return;
  uint64_t ahead_ns = state->due_ns > now_ns ? state->due_ns - now_ns : 0;
  if (ahead_ns)
    state->due_ns = now_ns + (ahead_ns % set->period_ns ? ahead_ns % set->period_ns : set->period_ns);
  else
    state->due_ns += ((now_ns - state->due_ns) / set->period_ns + 1) * set->period_ns;
}

void pass_begin(const set_table *table, set_state *states, set_pass *kept, uint16_t active, uint64_t now_ns,
                bool continues) {
  kept->continues = continues;
  kept->cut = 0;
  kept->current = 0;
  for (uint32_t rest = continues ? 0u : active & ~(uint32_t)table->always; rest; rest &= rest - 1) {
    uint32_t number = (uint32_t)__builtin_ctz(rest);
    const type_set *set = &table->sets[number];
    if (is_due(set, &states[number], kept->updates, now_ns)) count_period(set, &states[number], now_ns);
  }
}

void pass_cut(const type_set *set, set_state *state, uint32_t atom) {
  if (set->mode != MUSTER_MODE_SLICEABLE) {
    state->goes_on = 0;
    state->progress = 0;
    state->reported = false;
    return;
  }
  state->goes_on = (uint16_t)(atom + 1);
  if (state->reported) return;
  state->progress = (uint16_t)((atom - set->first_atom) * 65535u / (uint32_t)(set->end_atom - set->first_atom));
}

bool pass_end(const set_table *table, const set_state *states, set_pass *kept, uint16_t left, uint32_t level) {
  uint32_t owed = (kept->cut | (left & ~(uint32_t)table->actions)) & table->at_level[level];
  uint16_t least = owed ? UINT16_MAX : 0;
  for (uint32_t rest = owed; rest; rest &= rest - 1) {
    uint16_t progress = states[__builtin_ctz(rest)].progress;
    if (progress < least) least = progress;
  }
  kept->owed = (uint16_t)owed;
  kept->left = left & table->actions;
  kept->cut = 0;
  kept->current = 0;
  kept->progress = least;
  if (!kept->continues) kept->updates++;
  return owed != 0;
}

bool pass_abandon(const set_table *table, set_state *states, set_pass *kept, uint32_t level) {
  uint32_t current = kept->current;
  uint16_t left = kept->left;
  if (current) {
    const type_set *set = &table->sets[current - 1];
    set_state *state = &states[current - 1];
    ASSERT(state->goes_on > 0);
    pass_cut(set, state, state->goes_on - 1u);
    pass_leave(set, kept, current - 1);
    kept->cut |= (uint16_t)(1u << (current - 1));
    left &= (uint16_t) ~(1u << (current - 1));
  }
  pass_end(table, states, kept, left, level);
  return current > 0;
}
