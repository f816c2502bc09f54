/* pool/group.h - in one word: how many jobs of a group have not ended, whether a thread waits, and what follows them:
 *
 *     { waited:1 | spare:11 | follower:20 | count:32 }
 *
 * `follower` heads a list of nodes in the pool's table: jobs that wait for this group. One compare-and-swap takes the
 * count to zero and the list and the waited bit away. So exactly one thread gets to start what follows, and no thread
 * touches the group's memory after that: its owner may reuse or free it as soon as it sees the count at zero.
 *
 *   add: relaxed, by a holder that keeps the group from completing (its owner, a job of it, a follower's node)
 *   complete: [c] release (what the job wrote), acquire (what the other jobs wrote, for the followers)
 *   a thread that sees zero: acquire, pairs with [c]
 *   a waiter: enters the pool's set of waiters  ->  sets `waited` while the count is above zero (ordered)  ->  sleeps;
 *             the thread that completes the group then sees the bit, and after it the waiter in the set */
#ifndef POOL_GROUP_H
#define POOL_GROUP_H

#include "pool/identity.h"
#include "pool/lane.h"

struct group {
  shared_u64 word;
  uint64_t serial; /* number of its preparation; the group of a follower has a higher one */
  struct muster_pool *pool;
  shared_u32 lanes;   /* bits: where jobs of it were pushed to */
  shared_u32 cancels; /* how often it was cancelled; that stops its ranges */
};

struct follower {
  struct job job;
  uint32_t lane;
  uint32_t next; /* index + 1 */
  /* Addresses of the groups, for threads that trace what a group waits for; only ever compared. 0 = a free node. */
  shared_u64 after, group;
};

/* The nodes of all jobs that wait for groups. */
typedef struct follower_table {
  struct follower *nodes;
  struct identity ids; /* of the nodes; only taken and given back */
} follower_table;

#define FOLLOWER_NONE IDENTITY_NONE

/* What the last job of a group to complete has set free. */
typedef struct group_end {
  bool waited;        /* a thread sleeps until the group is complete */
  uint32_t followers; /* head of the list, index + 1, the latest first; 0 = none */
} group_end;

static inline void group_prepare(struct group *group, struct muster_pool *pool, uint64_t serial) {
  *group = (struct group){.serial = serial, .pool = pool};
}

/* Counts jobs in, before they are pushed to `lane`. */
void group_add(struct group *group, uint32_t count, uint32_t lane);

/* Counts out jobs that ended or were dropped. The group's memory must not be touched afterwards. */
group_end group_complete(struct group *group, uint32_t count);

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

/* Puts a node in the list of followers; false when the group is complete already. */
bool group_follow(struct group *group, follower_table *table, uint32_t node);

/* Reserves `maximum` nodes, at most 2^20 - 1. */
void followers_create(follower_table *table, uint32_t maximum, struct arena *arena);

/* Takes a free node; FOLLOWER_NONE when there is none. Any thread. */
uint32_t followers_take(follower_table *table);

/* Fills a node that was taken: a job for `lane` that follows a group. */
void followers_fill(follower_table *table, uint32_t node, const struct job *job, uint32_t lane,
                    const struct group *after);

/* Appends to groups[0 .. count-1] the groups that their jobs wait for, and the groups before those, each once. Returns
 * how many there are then, at most `capacity`. These groups may be gone at any time: only compare their addresses. */
uint32_t followers_trace(const follower_table *table, const struct group **groups, uint32_t count, uint32_t capacity);

/* Gives a node back. Any thread. */
void followers_give_back(follower_table *table, uint32_t node);

/* Turns a list round, so that the earliest comes first; returns its head. */
uint32_t followers_reverse(follower_table *table, uint32_t head);

#endif
