#include "plan/rank.h"

#include "base/assert.h"
#include "base/random.h"

/* How many agents that do not fit are passed over, in the hope that shorter ones behind them do. */
enum { PASSED_OVER_MAX = 256, SAMPLED_ONE_IN = 8, LEARNING_SAMPLES = 64 };

typedef struct filling {
  ready_set *ready;
  agent_store *store;
  const type_table *types;
  const cost_table *costs;
  const rank_limits *limits;
  batch *batch;
  rank_result result;
  uint32_t passed_over;
} filling;

static bool is_full(const filling *filling) {
  if (filling->batch->count == 0) return false;
  return filling->batch->count >= filling->limits->updates_max ||
         filling->result.predicted_ns >= filling->limits->capacity_ns || filling->passed_over > PASSED_OVER_MAX;
}

static uint64_t model_cost(const filling *filling, const agent_type *type, uint32_t index, uint32_t atom) {
  const agent_row *row = &filling->store->rows[index];
  if (!type->def.model_cost_ns) return type->def.atoms[atom].model_ns;
  muster_cost_query query = {.agent = {index, row->generation},
                             .atom = atom,
                             .level = row->level,
                             .elapsed_ns = filling->limits->now_ns - row->last_update_ns};
  query.update_random = random_at(filling->limits->seed ^ 0x6f6e6365u, (uint64_t)query.agent.generation << 32 | index,
                                  row->last_update_ns, 0);
  query.random = random_at(filling->limits->seed ^ 0x636f7374u, (uint64_t)query.agent.generation << 32 | index,
                           row->last_update_ns, atom);
  uint64_t cost_ns = type->def.model_cost_ns(&query, type->def.user);
  return cost_ns < 1000000000u ? cost_ns : 1000000000u;
}

/* Virtual clock: charges atom by atom up to the capacity; false when not even one fits. */
static bool charge_model(filling *filling, const agent_type *type, batch_entry *entry) {
  uint32_t atom = filling->store->rows[entry->agent].atom_next;
  uint64_t capacity_ns = filling->limits->capacity_ns, charged_ns = filling->result.predicted_ns;
  uint64_t left = capacity_ns > charged_ns ? capacity_ns - charged_ns : 0, spent = 0;
  if (filling->ready->weights.order == MUSTER_ORDER_DELAYS && left > 0) left = UINT64_MAX;
  uint32_t first = atom;
  for (; atom < type->parallel_atoms; atom++) {
    uint64_t cost_ns = model_cost(filling, type, entry->agent, atom);
    bool very_first = filling->batch->count == 0 && atom == first;
    if (spent + cost_ns > left && !very_first) break;
    spent += cost_ns;
  }
  if (atom == first && type->parallel_atoms > first) return false;
  entry->atom_end = (uint16_t)atom;
  entry->model_ns = spent;
  entry->predicted_ns = spent < UINT32_MAX ? (uint32_t)spent : UINT32_MAX;
  if (spent > filling->result.longest_ns) filling->result.longest_ns = spent;
  return true;
}

/* Wall clock: the mean of type and level, less what a preempted update has behind it. */
static bool charge_mean(filling *filling, const agent_type *type, batch_entry *entry) {
  const agent_row *row = &filling->store->rows[entry->agent];
  double mean_ns = costs_of(filling->costs, row->type, row->level)->mean_ns;
  double share = (double)(type->parallel_atoms - row->atom_next) / (double)(type->parallel_atoms + 1);
  double predicted_ns = row->atom_next ? mean_ns * share : mean_ns;
  entry->predicted_ns = predicted_ns < 1.0 ? 1u : predicted_ns > 1e9 ? 1000000000u : (uint32_t)predicted_ns;
  entry->atom_end = (uint16_t)type->parallel_atoms;
  return true;
}

/* Puts an entry at the end of the batch, with ids set aside for its spawns and places for its messages. */
static void append(filling *filling, const agent_type *type, batch_entry *entry) {
  batch *batch = filling->batch;
  uint32_t ids_left = filling->limits->spawn_ids - filling->result.spawn_ids;
  entry->spawn_base = filling->result.spawn_ids;
  entry->spawn_limit = (uint16_t)(type->def.spawns_max < ids_left ? type->def.spawns_max : ids_left);
  filling->result.spawn_ids += entry->spawn_limit;
  uint32_t places_left = batch->places_max - batch->places;
  entry->send_base = places_left ? batch->places : NO_PLACES;
  entry->send_limit = (uint16_t)(type->def.sends_max < places_left ? type->def.sends_max : places_left);
  batch->places += entry->send_limit;
  filling->result.predicted_ns += filling->limits->virtual ? entry->model_ns : entry->predicted_ns;
  entry->class = filling->store->rows[entry->agent].class;
  batch->outcomes[batch->count] = OUTCOME_NOT_RUN;
  batch->entries[batch->count++] = *entry;
}

static void admit(filling *filling, uint32_t index) {
  const agent_type *type = &filling->types->types[filling->store->rows[index].type];
  batch_entry entry = {.agent = index};
  bool fits = filling->limits->virtual ? charge_model(filling, type, &entry) : charge_mean(filling, type, &entry);
  if (!fits) {
    filling->passed_over++;
    return;
  }
  ready_admit(filling->ready, filling->store, index);
  append(filling, type, &entry);
}

static void admit_woken(filling *filling) {
  uint32_t place = filling->ready->woken.head, index;
  while (!is_full(filling) && (index = ready_next_woken(filling->ready, filling->store, &place)) != UINT32_MAX)
    admit(filling, index);
}

static void admit_guaranteed(filling *filling) {
  double guarantee_ns = filling->ready->weights.guarantee_ns;
  uint32_t place = filling->ready->waiting.head, index;
  while (!is_full(filling) && (index = ready_next_waiting(filling->ready, filling->store, &place)) != UINT32_MAX) {
    const agent_row *row = &filling->store->rows[index];
    if ((double)(filling->limits->now_ns - row->first_due_ns) < guarantee_ns) return;
    if (row->status == AGENT_READY) admit(filling, index);
  }
}

static void admit_ranked(filling *filling) {
  uint32_t index;
  ready_begin_walk(filling->ready);
  while (!is_full(filling) && (index = ready_next(filling->ready, filling->store)) != UINT32_MAX) admit(filling, index);
}

static const cost_estimate *estimate_of(const filling *filling, const batch_entry *entry) {
  const agent_row *row = &filling->store->rows[entry->agent];
  return costs_of(filling->costs, row->type, row->level);
}

static bool is_long(const filling *filling, const batch_entry *entry) {
  const agent_type *type = &filling->types->types[filling->store->rows[entry->agent].type];
  const cost_estimate *estimate = estimate_of(filling, entry);
  const double long_ns = (double)CLAIM_NS;
  return estimate->mean_ns >= long_ns || (type->parallel_atoms > 1 && estimate->high_ns >= long_ns);
}

/* Cuts the entries from `first` on. */
static void cut_claims(const filling *filling, uint32_t first) {
  batch *batch = filling->batch;
  for (uint32_t end; first < batch->count; first = end) {
    bool alone = is_long(filling, &batch->entries[first]);
    batch_claim claim = {.first = first, .timed = alone || batch->claim_count % SAMPLED_ONE_IN == 0};
    for (end = first; end < batch->count && end - first < CLAIM_UPDATES_MAX; end++) {
      const batch_entry *entry = &batch->entries[end];
      if (end > first && (alone || claim.predicted_ns + entry->predicted_ns > CLAIM_NS || is_long(filling, entry)))
        break;
      claim.predicted_ns += entry->predicted_ns;
      claim.timed |= estimate_of(filling, entry)->samples < LEARNING_SAMPLES;
    }
    claim.end = end;
    batch->claims[batch->claim_count++] = claim;
  }
}

rank_result rank_held(agent_store *store, const type_table *types, const cost_table *costs, const rank_limits *limits,
                      batch *batch) {
  filling filling = {NULL, store, types, costs, limits, batch, {0, 0, 0}, 0};
  ASSERT(!limits->virtual || batch->held_count == 0);
  batch->count = batch->claim_count = batch->places = 0;
  batch->now_ns = limits->now_ns;
  for (uint32_t i = 0; i < batch->held_count; i++) {
    const agent_type *type = &types->types[store->rows[batch->held[i]].type];
    batch_entry entry = {.agent = batch->held[i]};
    charge_mean(&filling, type, &entry);
    append(&filling, type, &entry);
  }
  cut_claims(&filling, 0);
  batch->early_count = batch->count;
  batch->early_claims = batch->claim_count;
  batch->held_count = 0;
  batch->held_ns = 0;
  return filling.result;
}

rank_result rank_fill(ready_set *ready, agent_store *store, const type_table *types, const cost_table *costs,
                      const rank_limits *limits, rank_result held, batch *batch) {
  filling filling = {ready, store, types, costs, limits, batch, held, 0};
  admit_woken(&filling);
  admit_guaranteed(&filling);
  admit_ranked(&filling);
  cut_claims(&filling, batch->early_count);
  ready_keep_fresh(ready, store);
  return filling.result;
}
