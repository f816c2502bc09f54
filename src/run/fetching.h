/* run/fetching.h - what a worker fetches into its caches while it runs other updates. */
#ifndef RUN_FETCHING_H
#define RUN_FETCHING_H

#include "agents/herds.h"
#include "base/prefetch.h"
#include "run/runner.h"

enum { AHEAD_LEAST = 8, AHEAD_MOST = 64, SETS_FETCHED = 8 };

/* Which entries a worker fetches while it runs others. */
struct fetching {
  uint32_t ahead; /* by how many entries it will probably move on, with a claim for each worker */
  uint32_t end;   /* end of the entries that may be looked at now */
};

static inline struct fetching fetching_for(const worker_state *state, const struct runner *runner,
                                           const batch_claim *claim) {
  const struct batch *batch = runner->batch;
  uint32_t ahead = (claim->end - claim->first) * runner->workers;
  ahead = ahead < AHEAD_LEAST ? AHEAD_LEAST : ahead < AHEAD_MOST ? ahead : AHEAD_MOST;
  return (struct fetching){ahead, state->early ? claim->end : batch->count};
}

PREFETCH_FUNCTION prefetch_row(const struct runner *runner, uint32_t entry_index) {
  uint32_t agent = runner->batch->entries[entry_index].agent;
  __builtin_prefetch(&runner->store->rows[agent]);
  __builtin_prefetch(&runner->store->places[agent]);
  if (runner->herds) __builtin_prefetch(&runner->herds->links[agent]);
}

/* The state is found through the row, so it is fetched later than the row. */
PREFETCH_FUNCTION prefetch_state(const struct runner *runner, uint32_t entry_index) {
  uint32_t agent = runner->batch->entries[entry_index].agent;
  const agent_row *row = &runner->store->rows[agent];
  const agent_type *type = &runner->types->types[row->type];
  if (type->states) __builtin_prefetch(type_state(type, row->state_slot));
  if (type->published) __builtin_prefetch(type_published(type, row->state_slot, 0), 1);
  if (type->herded) herds_prefetch(runner->herds, agent, false);
  if (!type->has_sets) return;
  __builtin_prefetch(&type->sets.passes[row->state_slot], 1);
  const set_state *states = sets_states_of(&type->sets, row->state_slot);
  for (uint32_t i = 0; i < type->sets.count && i < SETS_FETCHED; i += 2) __builtin_prefetch(&states[i], 1);
}

/* Agents stand in memory in no order of the batch: what coming entries need is fetched while this one runs. */
PREFETCH_FUNCTION prefetch_entries(const struct runner *runner, const struct fetching *fetching, uint32_t entry_index) {
  __builtin_prefetch(&runner->batch->entries[entry_index + 2 * fetching->ahead]); /* written by the caller, elsewhere */
  if (entry_index + fetching->ahead < fetching->end) prefetch_row(runner, entry_index + fetching->ahead);
  uint32_t sooner = entry_index + fetching->ahead / 2;
  if (sooner < fetching->end) prefetch_state(runner, sooner);
}

/* Fetches for the first entries that a worker takes in a frame, since no earlier update has fetched for them. */
PREFETCH_FUNCTION prefetch_claim(const worker_state *state, const struct runner *runner, const batch_claim *claim) {
  if (state->updates > 0) return;
  for (uint32_t i = claim->first; i < claim->end && i < claim->first + AHEAD_LEAST; i++) prefetch_row(runner, i);
}

#endif
