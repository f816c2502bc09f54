/* settle_fetching.h - stage 8: what is fetched into the caches ahead of the entries that are settled. */
#ifndef SETTLE_FETCHING_H
#define SETTLE_FETCHING_H

#include "agents/batch.h"
#include "base/prefetch.h"
#include "plan/due.h"
#include "world/world.h"
#include "world/world_herds.h"
#include "world/world_queues.h"

/* What settling an entry touches is fetched for a group of entries at once, since fetches that miss the cache overlap
 * when they follow one another without other work between them. What is known only from what was fetched before is
 * fetched a group later. */
enum { FETCHED_TOGETHER = 16 };

static inline bool is_settled(const struct muster_world *world, uint32_t entry) {
  return world->batch->outcomes[entry] >= OUTCOME_SETTLED;
}

/* What follows from the entry alone. */
PREFETCH_FUNCTION prefetch_entry(const struct muster_world *world, uint32_t entry) {
  const class_table *classes = &world->queues->classes;
  uint32_t agent = world->batch->entries[entry].agent;
  if (is_settled(world, entry)) return;
  __builtin_prefetch(world_row(world, agent), 1);
  due_prefetch(classes, agent);
  __builtin_prefetch(&world->batch->results[entry]);
  activation_prefetch(&classes->activation, agent);
  changes_prefetch(&world->agents.store.changes, agent);
  if (world->herds->table.links) __builtin_prefetch(&world->herds->table.links[agent]);
}

/* What its agent's row and its result tell. */
PREFETCH_FUNCTION prefetch_effects(const struct muster_world *world, uint32_t entry) {
  uint32_t agent = world->batch->entries[entry].agent;
  const batch_result *result = &world->batch->results[entry];
  if (is_settled(world, entry)) return;
  due_prefetch_line(&world->queues->classes, world_row(world, agent), agent);
  if (world->herds->table.links) herds_prefetch(&world->herds->table, agent, true);
  if (!result->moved || world->batch->outcomes[entry] == OUTCOME_NOT_RUN) return;
  __builtin_prefetch(&world->agents.store.places[agent], 1);
}

/* The grid's lists, where the agent moves from one to another. */
PREFETCH_FUNCTION prefetch_lists(const struct muster_world *world, uint32_t entry) {
  const batch_result *result = &world->batch->results[entry];
  if (!result->moved || is_settled(world, entry) || world->batch->outcomes[entry] == OUTCOME_NOT_RUN) return;
  const agent_place *place = &world->agents.store.places[world->batch->entries[entry].agent];
  space_prefetch_move(&world->agents.space, place, result->moved_to);
}

/* Fetches for the groups behind the one that begins with the i-th of some entries: of a list, or of all. */
PREFETCH_FUNCTION prefetch_settled(const struct muster_world *world, const uint32_t *list, uint32_t i, uint32_t count) {
  enum { EACH = FETCHED_TOGETHER };
  if (i % EACH) return;
  for (uint32_t k = i ? i + 2 * EACH : 0; k < i + 3 * EACH && k < count; k++) prefetch_entry(world, list ? list[k] : k);
  for (uint32_t k = i ? i + EACH : 0; k < i + 2 * EACH && k < count; k++) prefetch_effects(world, list ? list[k] : k);
  for (uint32_t k = i; k < i + EACH && k < count; k++) prefetch_lists(world, list ? list[k] : k);
}

#endif
