/* pool/group.h - in one word: how many jobs of a group have not ended, and whether a thread waits for that:
 *
 *     { waited:1 | spare:31 | count:32 }
 *
 * One compare-and-swap takes the count to zero and the waited bit away. So exactly one thread gets to wake the waiters,
 * and no thread touches the group's memory after that: its owner may reuse or free it as soon as it sees the count at
 * zero.
 *
 *   add: relaxed, by a holder that keeps the group from completing (its owner, or a job of it)
 *   complete: [c] release (what the job wrote), acquire (what the other jobs wrote)
 *   a thread that sees zero: acquire, pairs with [c]
 *   a waiter: enters the pool's set of waiters  ->  sets `waited` while the count is above zero (ordered)  ->  sleeps;
 *             the thread that completes the group then sees the bit, and after it the waiter in the set */
#ifndef POOL_GROUP_H
#define POOL_GROUP_H

#include "pool/lane.h"

struct group {
  shared_u64 word;
  struct muster_pool *pool;
  shared_u32 lanes; /* bits: where jobs of it were pushed to */
};

static inline void group_prepare(struct group *group, struct muster_pool *pool) {
  *group = (struct group){.pool = pool};
}

/* Counts jobs in, before they are pushed to `lane`. */
void group_add(struct group *group, uint32_t count, uint32_t lane);

/* Counts out jobs that ended or were dropped; true when these were the last, and a thread sleeps until then. The
 * group's memory must not be touched afterwards. */
bool group_complete(struct group *group, uint32_t count);

/* How many jobs have not ended, about. */
static inline uint32_t group_count(const struct group *group) {
  return (uint32_t)load_relaxed_u64(&group->word);
}

/* Whether all jobs ended. */
static inline bool group_is_complete(const struct group *group) {
  /* Ordered: pairs with [c]. */
  return (uint32_t)load_ordered_u64(&group->word) == 0;
}

/* Marks the group as waited for, before a waiter sleeps. False when the group is complete already. */
bool group_await(struct group *group);

#endif
