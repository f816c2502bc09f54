#include "plan/ready_walk.h"

#include "base/assert.h"
#include "plan/ready_fresh.h"

void ready_begin_walk(ready_set *ready, const struct parts *parts) {
  ASSERT(!ready->walks);
  ready_sort_fresh(ready, parts);
  ready->fresh_run = (ready_run){ready->fresh, 0, ready->fresh_count};
  ready->ring_run = (ready_run){0};
  ready->ring_done = false;
  ready->met = 0;
  ready->walks = true;
}

/* An agent of the ring that the walk leaves as it is goes back to where it was. */
static void leave_waiting(ready_set *ready, const agent_store *store, uint64_t entry) {
  if (store->rows[ring_agent(entry)].status == AGENT_READY) ready_ring_set_aside(&ready->ring, entry);
}

/* The agent that the walk has met last was admitted, or goes back. */
static inline void keep_met(ready_set *ready, const agent_store *store) {
  if (ready->met) leave_waiting(ready, store, ready->met);
  ready->met = 0;
}

/* Takes the next part of the ring, without the entries of agents that have left. */
static void refill(ready_set *ready, const agent_store *store) {
  uint32_t count = ready_ring_take(&ready->ring), live = ready_keep_live(store, ready->ring.sorted, count);
  ready_ring_sort(&ready->ring.sorted, &ready->ring.other, live);
  ready->ring_run = (ready_run){ready->ring.sorted, 0, ready_drop_twins(ready->ring.sorted, live)};
  ready->ring_done = count == 0;
}

/* Whether the next fresh agent comes before the next one of the ring. */
static bool leads(const ready_run *fresh, const ready_run *ring) {
  return fresh->keys[fresh->next] < ring->keys[ring->next];
}

uint32_t ready_next_merged(ready_set *ready, const agent_store *store) {
  ready_run *ring = &ready->ring_run, *fresh = &ready->fresh_run;
  keep_met(ready, store);
  for (;;) {
    while (!ready->ring_done && ring->next == ring->end) refill(ready, store);
    bool fresh_left = fresh->next < fresh->end;
    if (ready->ring_done && !fresh_left) return UINT32_MAX;
    if (ready->ring_done || (fresh_left && leads(fresh, ring))) {
      uint32_t index = ring_agent(fresh->keys[fresh->next++]);
      ready_prefetch_fresh(fresh, store);
      if (store->rows[index].status == AGENT_READY) return index;
      continue;
    }
    uint64_t entry = ring->keys[ring->next++];
    if (store->rows[ring_agent(entry)].status != AGENT_READY) continue;
    ready->met = entry;
    return ring_agent(entry);
  }
}

void ready_end_walk(ready_set *ready, const agent_store *store) {
  ASSERT(ready->walks);
  keep_met(ready, store);
  ready_run *ring = &ready->ring_run;
  for (; ring->next < ring->end; ring->next++) leave_waiting(ready, store, ring->keys[ring->next]);
  ready_ring_restore(&ready->ring);
  ready->walks = false;
}
