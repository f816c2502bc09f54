/* plan/ready_walk.h - the walk over the ready agents in order: it sorts fresh agents at once, and the ring a few
 * buckets at a time, as far as the walk gets. */
#ifndef PLAN_READY_WALK_H
#define PLAN_READY_WALK_H

#include "base/parts.h"
#include "base/prefetch.h"
#include "plan/ready.h"

/* Begins a walk over the ready agents in order, without those in the queue of the woken. Sorts the fresh; many of them
 * beside each other (base/parts.h). */
void ready_begin_walk(ready_set *ready, const struct parts *parts);

/* The slow part of ready_next: merges fresh agents and those of the ring. */
uint32_t ready_next_merged(ready_set *ready, const agent_store *store);

/* Fetches the rows of a group of fresh agents whose turn comes soon: a large release has left the cache by now. */
PREFETCH_FUNCTION ready_prefetch_fresh(const ready_run *run, const agent_store *store) {
  enum { TOGETHER = 16 };
  if (run->next % TOGETHER != 0) return;
  for (uint32_t at = run->next + TOGETHER; at < run->next + 2 * TOGETHER && at < run->end; at++)
    __builtin_prefetch(&store->rows[ring_agent(run->keys[at])], 1);
}

/* The next agent in order; UINT32_MAX when there are no more. The caller may admit it before the next call; any other
 * agent stays as it is until the walk ends. */
static inline uint32_t ready_next(ready_set *ready, const agent_store *store) {
  ready_run *fresh = &ready->fresh_run;
  while (ready->ring_done && !ready->met && fresh->next < fresh->end) {
    uint32_t index = ring_agent(fresh->keys[fresh->next++]);
    ready_prefetch_fresh(fresh, store);
    if (store->rows[index].status == AGENT_READY) return index;
  }
  return ready_next_merged(ready, store);
}

/* Ends the walk: agents of the ring that were not admitted are in it again. */
void ready_end_walk(ready_set *ready, const agent_store *store);

#endif
