#include "plan/charge.h"

#include "agents/elapsed.h"
#include "agents/passes.h"
#include "base/assert.h"
#include "base/random.h"
#include "plan/periods.h"
#include "plan/rates.h"

#include <muster/sets.h>

/* Tells one update of an agent from another. A pass may run in each frame; other updates bring their agent forward. */
static uint64_t draw_of(const struct filling *filling, const agent_type *type, const agent_row *row) {
  return type->has_sets ? filling->limits->now_ns : row->last_update_ns;
}

static uint64_t charge_model_cost(const struct filling *filling, const agent_type *type, uint32_t index, uint32_t atom,
                                  const elapsed_told *told) {
  const agent_row *row = &filling->store->rows[index];
  if (!type->def.models.cost_ns) return type->def.atoms[atom].model_ns;
  uint64_t began_ns = row->atom_next ? filling->store->begun[index].started_ns : filling->limits->now_ns;
  muster_cost_query query = {.agent = store_id(filling->store, index),
                             .atom = atom,
                             .level = row->level,
                             .elapsed_ns = told->elapsed_ns,
                             .steps = told->steps};
  if (atom == 0) query.catch_up_ns = elapsed_caught_up(type, row->last_update_ns, began_ns);
  uint64_t name = query.agent.value, draw = draw_of(filling, type, row);
  query.update_random = random_at(filling->limits->seed ^ 0x6f6e6365u, name, draw, 0);
  query.random = random_at(filling->limits->seed ^ 0x636f7374u, name, draw, atom);
  uint64_t cost_ns = type->def.models.cost_ns(&query, type->def.user);
  return cost_ns < 1000000000u ? cost_ns : 1000000000u;
}

static void note_overrun(struct filling *filling, batch_entry *entry, uint32_t atom, uint64_t cost_ns) {
  const agent_row *row = &filling->store->rows[entry->agent];
  entry->overran = true;
  overruns_add(&filling->batch->overruns, &(struct overrun){.duration_ns = cost_ns,
                                                            .agent = entry->agent,
                                                            .generation = row->generation,
                                                            .type = row->type,
                                                            .atom = (uint16_t)atom,
                                                            .level = row->level});
}

/* What is left of the capacity. */
static uint64_t left_ns(const struct filling *filling) {
  uint64_t capacity_ns = filling->limits->capacity_ns, charged_ns = filling->result.predicted_ns;
  uint64_t left = capacity_ns > charged_ns ? capacity_ns - charged_ns : 0;
  return filling->ready->weights.order == MUSTER_ORDER_DELAYS && left > 0 ? UINT64_MAX : left;
}

/* Charges an atom that is to run. */
static void charged_atom(struct filling *filling, const agent_type *type, batch_entry *entry, uint32_t atom,
                         uint64_t cost_ns) {
  if (cost_ns > filling->result.atom_ns) filling->result.atom_ns = cost_ns;
  if (cost_ns > type->def.limit_ns) note_overrun(filling, entry, atom, cost_ns);
}

static void charged(struct filling *filling, batch_entry *entry, uint64_t spent_ns) {
  entry->model_ns = spent_ns;
  entry->predicted_ns = spent_ns < UINT32_MAX ? (uint32_t)spent_ns : UINT32_MAX;
  if (spent_ns > filling->result.longest_ns) filling->result.longest_ns = spent_ns;
}

bool charge_model(struct filling *filling, const agent_type *type, batch_entry *entry) {
  const agent_row *row = &filling->store->rows[entry->agent];
  uint32_t first = row->atom_next, atom = first;
  uint64_t left = left_ns(filling), spent_ns = 0;
  uint64_t began_ns = first ? filling->store->begun[entry->agent].started_ns : filling->limits->now_ns;
  elapsed_told told = elapsed_tell(type, row->last_update_ns, began_ns);
  for (; atom < type->parallel_atoms; atom++) {
    uint64_t cost_ns = charge_model_cost(filling, type, entry->agent, atom, &told);
    bool very_first = filling->batch->count == 0 && atom == first;
    if (spent_ns + cost_ns > left && !very_first) break;
    spent_ns += cost_ns;
    charged_atom(filling, type, entry, atom, cost_ns);
  }
  if (atom == first && type->parallel_atoms > first) return false;
  entry->atom_end = (uint16_t)atom;
  charged(filling, entry, spent_ns);
  return true;
}

bool charge_model_sets(struct filling *filling, const agent_type *type, batch_entry *entry) {
  const agent_row *row = &filling->store->rows[entry->agent];
  const set_state *states = sets_states_of(&type->sets, row->state_slot);
  const class_table *classes = filling->limits->classes;
  uint16_t due =
      rates_due(type, &classes->classes[row->class], row, periods_ahead_ns(classes, filling->store, entry->agent));
  uint64_t costs_ns[MUSTER_SETS_MAX], spent_ns = 0;
  for (uint32_t rest = due; rest; rest &= rest - 1) {
    uint32_t number = (uint32_t)__builtin_ctz(rest);
    elapsed_told told = elapsed_tell(type, states[number].last_ns, filling->limits->now_ns);
    costs_ns[number] = charge_model_cost(filling, type, entry->agent, type->sets.sets[number].first_atom, &told);
    spent_ns += costs_ns[number];
  }
  if (spent_ns > left_ns(filling) && filling->batch->count > 0) return false;
  for (uint32_t rest = due; rest; rest &= rest - 1) {
    uint32_t number = (uint32_t)__builtin_ctz(rest);
    charged_atom(filling, type, entry, type->sets.sets[number].first_atom, costs_ns[number]);
  }
  entry->atom_end = type->parallel_atoms;
  charged(filling, entry, spent_ns);
  return true;
}

/* ----------------------------------------------------------------------------------------------------------- cycles */

/* How many cycles an agent may have by its importance. */
static uint32_t cycles_for(const rank_limits *limits, const agent_row *row) {
  float importance = share_value(row->importance), from = limits->cycles_from;
  if (importance < from) return 1;
  float part = from < 1.0f ? (importance - from) / (1.0f - from) : 1.0f;
  return 1 + (uint32_t)(part * (float)(limits->cycles_max - 1) + 1e-4f);
}

/* What a further cycle costs, in which no time passes; and in *atom_ns the longest of its atoms. */
static uint64_t model_cycle(const struct filling *filling, const agent_type *type, uint32_t index, uint32_t cycle,
                            uint64_t *atom_ns) {
  const agent_row *row = &filling->store->rows[index];
  const muster_agent id = store_id(filling->store, index);
  uint64_t sum_ns = 0, name = id.value;
  for (uint32_t atom = 0; atom < type->parallel_atoms; atom++) {
    muster_cost_query query = {.agent = id, .atom = atom, .level = row->level};
    query.update_random = random_at(filling->limits->seed ^ 0x6379636cu, name, row->last_update_ns, cycle);
    query.random = random_at(filling->limits->seed ^ 0x6379636cu, name, row->last_update_ns, atom << 8 | cycle);
    uint64_t cost_ns =
        type->def.models.cost_ns ? type->def.models.cost_ns(&query, type->def.user) : type->def.atoms[atom].model_ns;
    if (cost_ns > 1000000000u) cost_ns = 1000000000u;
    if (cost_ns > *atom_ns) *atom_ns = cost_ns;
    sum_ns += cost_ns;
  }
  return sum_ns;
}

void charge_cycles(struct filling *filling, const agent_type *type, batch_entry *entry) {
  const rank_limits *limits = filling->limits;
  const agent_row *row = &filling->store->rows[entry->agent];
  bool whole = !type->has_sets && !type->sliced && row->atom_next == 0 && entry->atom_end == type->parallel_atoms &&
               type->parallel_atoms > 0;
  uint32_t cycles = whole && !limits->planned ? cycles_for(limits, row) : 1, cycle = 1;
  uint64_t first_ns = limits->virtual ? entry->model_ns : entry->predicted_ns, more_ns = 0;
  for (; cycle < cycles; cycle++) {
    uint64_t atom_ns = filling->result.atom_ns;
    uint64_t each_ns = limits->virtual ? model_cycle(filling, type, entry->agent, cycle, &atom_ns) : first_ns;
    if (filling_taken_ns(filling) + first_ns + more_ns + each_ns > limits->capacity_ns) break;
    more_ns += each_ns;
    filling->result.atom_ns = atom_ns;
  }
  entry->cycles = (uint8_t)cycle;
  if (limits->virtual) filling->result.predicted_ns += more_ns;
  uint64_t all_ns = first_ns + more_ns;
  entry->predicted_ns = all_ns < 1000000000u ? (uint32_t)all_ns : 1000000000u;
  if (limits->virtual && all_ns > filling->result.longest_ns) filling->result.longest_ns = all_ns;
}

/* ------------------------------------------------------------------------------------------------------------- sets */

void charge_weigh(struct filling *filling) {
  filling->weight = 0;
  for (uint32_t type = 0; type < filling->types->count; type++)
    filling->weight += (uint64_t)filling->types->types[type].def.sets.share * filling->ready->counts_of[type];
}

/* The slice of an entry. Once admitted, the entry is no longer among the ready agents: so its weight is taken off then.
 */
static uint32_t charge_slice_of(const struct filling *filling, const agent_type *type, uint32_t number) {
  uint64_t slice_ns = type->def.sets.slice_ns ? type->def.sets.slice_ns : UINT32_MAX, weight = filling->weight;
  uint32_t last_ns = filling->batch->shares[number];
  if (type->def.sets.share && filling->ready && weight > 0) {
    uint64_t capacity_ns = filling->limits->capacity_ns, taken_ns = filling_taken_ns(filling);
    double left = capacity_ns > taken_ns ? (double)(capacity_ns - taken_ns) : 0.0;
    double share_ns = left * type->def.sets.share / (double)weight;
    if (share_ns < (double)slice_ns) slice_ns = share_ns < 1.0 ? 1u : (uint64_t)share_ns;
  } else if (type->def.sets.share && last_ns && last_ns < slice_ns) {
    slice_ns = last_ns; /* it is held from the last frame, and no other agent is known yet */
  }
  return slice_ns < UINT32_MAX ? (uint32_t)slice_ns : 0;
}

void charge_begin_pass(struct filling *filling, const agent_type *type, const batch_entry *entry) {
  ASSERT(filling->limits->classes);
  const agent_row *row = &filling->store->rows[entry->agent];
  filling->batch->passes[filling->batch->count] =
      (batch_pass){.slice_ns = charge_slice_of(filling, type, row->type),
                   .continues = periods_continues(filling->limits->classes, row, filling->limits->now_ns)};
  filling->batch->shares[row->type] = filling->batch->passes[filling->batch->count].slice_ns;
}

/* A pass that is being charged. */
struct charging {
  struct filling *filling;
  const agent_type *type;
  batch_entry *entry;
  const set_state *states;
  struct pass pass;
  uint64_t spent_ns;
  elapsed_told told;
};

static uint64_t cost_of(const struct charging *charging, uint32_t atom) {
  return charge_model_cost(charging->filling, charging->type, charging->entry->agent, atom, &charging->told);
}

/* Sets what the next set would be told; returns what its first atom would cost. */
static uint64_t charge_look_ahead(struct charging *charging, const type_set *set, const set_state *state) {
  bool goes_on = set->mode == MUSTER_MODE_SLICEABLE && state->goes_on;
  charging->told.now_ns = goes_on ? state->began_ns : charging->filling->limits->now_ns;
  charging->told.elapsed_ns = charging->told.now_ns - state->last_ns;
  return cost_of(charging, pass_first_atom(set, state));
}

/* Charges the atoms of a set in its turn, beginning with the atom that costs cost_ns. */
static void charge_set(struct charging *charging, const type_set *set, uint32_t number, uint64_t cost_ns) {
  struct batch *batch = charging->filling->batch;
  uint32_t atom = pass_first_atom(set, &charging->states[number]);
  do {
    charging->spent_ns += cost_ns;
    charged_atom(charging->filling, charging->type, charging->entry, atom, cost_ns);
    if (++atom == set->end_atom) break;
    cost_ns = cost_of(charging, atom);
  } while (pass_goes_on(&charging->pass, set, charging->spent_ns, cost_ns));
  batch->steps[batch->step_count++] = (batch_step){(uint16_t)atom, (uint8_t)number};
}

bool charge_model_pass(struct filling *filling, const agent_type *type, batch_entry *entry) {
  struct batch *batch = filling->batch;
  batch_pass *planned = &batch->passes[batch->count];
  const agent_row *row = &filling->store->rows[entry->agent];
  const set_table *table = &type->sets;
  const set_pass *kept = &table->passes[row->state_slot];
  struct charging charging = {.filling = filling, .type = type, .entry = entry};
  charging.states = sets_states_of(table, row->state_slot);
  uint16_t active = pass_active(table, charging.states, kept, row->level, filling->limits->now_ns, planned->continues);
  uint64_t left = left_ns(filling), end_ns = planned->slice_ns && planned->slice_ns < left ? planned->slice_ns : left;
  pass_open(&charging.pass, table, kept, active, end_ns, left);
  planned->step = batch->step_count;
  for (uint32_t number; (number = pass_peek(&charging.pass)) != MUSTER_SETS_MAX;) {
    uint64_t cost_ns = charge_look_ahead(&charging, &table->sets[number], &charging.states[number]);
    if (charging.spent_ns == 0 && cost_ns > left && batch->count > 0) {
      batch->step_count = planned->step; /* sets that cost nothing may have had their turn */
      return false;
    }
    if (pass_next(&charging.pass, charging.spent_ns, cost_ns) == MUSTER_SETS_MAX) break;
    charge_set(&charging, &table->sets[number], number, cost_ns);
  }
  planned->step_count = (uint8_t)(batch->step_count - planned->step);
  planned->stopped = charging.pass.stopped;
  entry->atom_end = type->parallel_atoms;
  charged(filling, entry, charging.spent_ns);
  return true;
}
