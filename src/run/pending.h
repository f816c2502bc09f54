/* run/pending.h - agents that any thread has spawned, until the intake takes them: a bit for each.
 *
 *   spawner: write the agent  ->  set its bit (ordered) [p]  ->  count one more
 *   intake:  look at the count  ->  find bits (acquire, pairs with [p])  ->  clear them (ordered)  ->  count them off
 *
 * The bit is set before it is counted, so as many bits are found as were counted. Several spawners may share a word,
 * and so may the intake, hence the read-modify-writes. Taken in order of agents, from where the last one was found. */
#ifndef RUN_PENDING_H
#define RUN_PENDING_H

#include "base/arena.h"
#include "pool/atomics.h"

typedef struct pending {
  shared_u64 *bits;
  uint32_t words;
  uint32_t next; /* agent from which the intake goes on */
  _Alignas(64) shared_u32 count;
} pending;

/* Reserves a bit for every agent. */
void pending_create(pending *pending, uint32_t agents_max, arena *arena);

/* A written agent, which its spawner does not touch any more, waits for the intake. Any thread. */
static inline void pending_add(pending *pending, uint32_t agent) {
  fetch_or_ordered_u64(&pending->bits[agent / 64], 1ull << (agent % 64));
  fetch_add_relaxed_u32(&pending->count, 1);
}

/* How many wait, at least. Any thread. */
static inline uint32_t pending_count(const pending *pending) {
  return load_relaxed_u32(&pending->count);
}

/* Whether an agent waits. Any thread. */
static inline bool pending_has(const pending *pending, uint32_t agent) {
  return load_acquire_u64(&pending->bits[agent / 64]) >> (agent % 64) & 1;
}

/* Takes up to `most` agents; returns how many. One thread. O(taken + words passed over). */
uint32_t pending_take(pending *pending, uint32_t *agents, uint32_t most);

#endif
