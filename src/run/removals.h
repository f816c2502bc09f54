/* run/removals.h - agents that a host has removed, until an intake takes them out.
 *
 * From the call on the agent is gone for its host. Each index has a mark beside its generation: it holds the generation
 * of the id that was removed last. So a removal always finds room. The agent stays as it is until the intake, which
 * finds it by a bit:
 *
 *   remover: look at the mark (acquire) [a]  ->  look whether the id is live  ->  swap the mark (ordered) [b]
 *            ->  set the bit (ordered)  ->  say that there are some (release) [c]
 *   worker:  ask whether there are some (relaxed), and then look at the bit  ->  start an update of the agent
 *   intake:  ask whether there are some, and say that there are none (acquire, pairs with [c])  ->  clear the bits that
 *            are found  ->  compare the marks
 *
 * Of several removers one wins the swap, so that one is told of success. [a] pairs with [b]: a remover that finds the
 * mark of a later agent of this index also finds that its own id is not live, and leaves that mark alone. The intake
 * says that there are none before it looks: whoever sets a bit behind its back says so again.
 *
 * The frame's thread may close an id while another thread removes it. Then the mark is that of an id which is not live,
 * and no harm is done. The bit may come to stand for the next agent of the index: the intake compares the mark, and a
 * worker leaves one update to the next frame. */
#ifndef RUN_REMOVALS_H
#define RUN_REMOVALS_H

#include "base/bits.h"
#include "pool/identity.h"

#include <muster/common.h>

struct removals {
  shared_u32 *marks;
  shared_u64 *bits;
  uint64_t *seen;      /* bitmap, of the frame's thread: the agents that it found when it last looked */
  uint32_t seen_count; /* 0: none of it is set */
  uint32_t seen_next;  /* the index from which removals_pop() goes on */
  _Alignas(64) shared_u32 any;
};

/* Reserves a mark and a bit for every agent. */
void removals_create(struct removals *removals, uint32_t agents_max, struct arena *arena);

/* Removes an agent; false when it is gone already. Any thread. */
bool removals_add(struct removals *removals, const struct identity *ids, uint32_t index, uint32_t generation);

/* Whether this agent is removed. Any thread. */
static inline bool removals_has(const struct removals *removals, uint32_t index, uint32_t generation) {
  return load_relaxed_u32(&removals->marks[index]) == generation;
}

/* Whether an agent waits to be taken out, for a worker that is about to start its update: one load when none does. No
 * intake runs meanwhile. Any thread. */
static inline bool removals_waits(const struct removals *removals, uint32_t index) {
  if (__builtin_expect(!load_relaxed_u32(&removals->any), true)) return false;
  return load_relaxed_u64(&removals->bits[index / 64]) >> (index % 64) & 1;
}

/* Marks a live agent that the frame's thread takes out later. */
static inline void removals_mark(struct removals *removals, uint32_t index, uint32_t generation) {
  store_relaxed_u32(&removals->marks[index], generation);
}

/* A live agent is not removed after all. Frame's thread. */
static inline void removals_unmark(struct removals *removals, uint32_t index) {
  store_relaxed_u32(&removals->marks[index], 0); /* no live id has this generation */
}

/* Looks for the agents that are removed now, for removals_saw() and removals_pop(); or takes them as well. What other
 * threads remove from here on is found by the next look. Frame's thread. O(indices used / 64) when there are any. */
void removals_look(struct removals *removals, const struct identity *ids);
void removals_take(struct removals *removals, const struct identity *ids);

/* Whether the last look found this agent. Frame's thread. */
static inline bool removals_saw(const struct removals *removals, uint32_t index) {
  return removals->seen_count > 0 && bits_has(removals->seen, index);
}

/* The next agent that the last look found, in order of agents; false when none is left. Frame's thread. */
bool removals_pop(struct removals *removals, uint32_t *index, uint32_t *generation);

#endif
