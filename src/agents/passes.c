#include "agents/passes.h"

#include "base/assert.h"

#include <muster/sets.h>

/* Whether the period of a set has passed. */
static bool agents_passes_is_due(const type_set *set, const set_state *state, uint32_t updates, uint64_t now_ns) {
  if (state->unit != set->unit) return true;
  if (set->period_ns == 0) return updates % set->period_updates == set->delay_updates % set->period_updates;
  uint64_t due_ns = state->due_ns, began_ns = state->began_ns;
  /* When the set last ran, its period was longer: the phase stays. */
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
    if (agents_passes_is_due(&table->sets[number], &states[number], kept->updates, now_ns)) active |= 1u << number;
  }
  return (uint16_t)active;
}

/* Adds the sets of a role that are in `some`, in sequence from the place `from` on, and around. */
static void add_sets(struct pass *pass, uint32_t first, uint32_t end, uint32_t from, uint32_t some) {
  const uint8_t *sequence = pass->table->sequence;
  for (uint32_t i = first; i < end; i++) {
    uint32_t place = from + (i - first) < end ? from + (i - first) : from + (i - first) - (end - first);
    if (some >> sequence[place] & 1) pass->own_order[pass->count++] = sequence[place];
  }
}

/* The place in the sequence behind the set that ran last, among those from `first` to `end`. */
static uint32_t place_behind(const set_table *table, uint32_t last, uint32_t first, uint32_t end) {
  for (uint32_t i = first; last && i < end; i++)
    if (table->sequence[i] + 1u == last) return i + 1 < end ? i + 1 : first;
  return first;
}

static void add_role(struct pass *pass, uint32_t first, uint32_t end, uint32_t owed, uint32_t last) {
  if (pass->left & owed) add_sets(pass, first, end, place_behind(pass->table, last, first, end), pass->left & owed);
  add_sets(pass, first, end, first, pass->left & ~owed);
}

static uint32_t weight_of(const set_table *table, uint32_t behaviours) {
  uint32_t weight = 0;
  for (uint32_t rest = behaviours; rest; rest &= rest - 1) weight += table->shares[__builtin_ctz(rest)];
  return weight;
}

void pass_open(struct pass *pass, const set_table *table, const set_pass *kept, uint16_t active, uint64_t end_ns,
               uint64_t stop_ns) {
  uint16_t behaviours = active & table->behaviours;
  pass->table = table;
  pass->end_ns = end_ns;
  pass->stop_ns = stop_ns;
  pass->left = active;
  pass->begun = pass->stopped = false;
  pass->at = 0;
  pass->count = table->actions_first;
  pass->order = table->sequence;
  pass->weight = behaviours == table->behaviours ? table->weight : weight_of(table, behaviours);
  if (!(active & kept->owed)) return;
  pass->count = 0;
  pass->order = pass->own_order;
  add_role(pass, 0, table->behaviours_first, kept->owed, kept->last[0]);
  add_role(pass, table->behaviours_first, table->actions_first, kept->owed, kept->last[1]);
}

/* The phase is kept: whole periods that were missed are skipped. */
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
    if (agents_passes_is_due(set, &states[number], kept->updates, now_ns)) count_period(set, &states[number], now_ns);
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
