/* plan/ready.h - released agents that have not run yet, in the order in which they should.
 *
 * While agents wait they age alike, so their order is fixed at release (Rankin, Acton & Katchabaw's priority with
 * uncapped ageing is an earliest-virtual-deadline order):
 *
 *     pri = eps i + zeta (t - t_last)/S - eta rc + theta p    <=>    key = t_last - (S/zeta)(eps i + theta p - eta rc)
 *
 * and the smallest key comes first. Tan & Wong's order (delays descending, then elapsed descending) is the key
 * "released in", then t_last. Keys fall into a ring of buckets, with one more for all that is older than the ring; a
 * bucket is sorted when its turn comes, 2,048 agents at a time, so that no backlog makes a frame sort it all. Beside
 * the ring stand the lane of woken agents, which leads, and the list of all by release: whoever has waited longer
 * than S leads the ring, first in, first out, so that nobody starves whatever the weights. */
#ifndef PLAN_READY_H
#define PLAN_READY_H

#include "agents/store.h"
#include "agents/types.h"

enum {
  READY_BUCKETS = 4096,
  READY_PAST_BUCKETS = 3072,
  READY_OLDER = READY_BUCKETS,
  READY_WOKEN,
  READY_LISTS,
  READY_SORTED_MAX = 2048
};

typedef struct ready_weights {
  muster_order order;
  double guarantee_ns;               /* S */
  double importance, runs, progress; /* epsilon, eta, theta, each over zeta */
} ready_weights;

typedef struct ready_set {
  ready_weights weights;
  const type_table *types; /* for the progress of sliced updates */
  uint64_t now_ns;         /* simulation time of the frame */
  int64_t width_ns;        /* of a bucket */
  int64_t low;             /* number of the ring's first bucket */
  uint32_t count;
  uint32_t begun; /* of these, agents whose update was preempted */
  agent_link oldest, youngest;
  uint64_t occupied[READY_BUCKETS / 64];
  agent_link heads[READY_LISTS], tails[READY_LISTS];
  uint32_t counts[READY_LISTS];
  uint64_t *keys, *keys_too; /* READY_SORTED_MAX: the part of a bucket that is being sorted */
  uint32_t *sorted;          /* its agents in order */
} ready_set;

/* Reserves an empty set for the world's weights. */
void ready_create(ready_set *ready, const muster_world_def *def, const type_table *types, arena *arena);

/* Moves the ring's window along; buckets that leave it are emptied into the one for older keys. Once per frame, before
 * anything else. */
void ready_advance(ready_set *ready, agent_store *store, uint64_t now_ns);

/* A due agent becomes ready: in the ring, or the woken lane when row.woken is set. */
void ready_release(ready_set *ready, agent_store *store, uint32_t index, uint64_t now_ns, uint64_t frame);

/* A ready agent that was not admitted in the frame of its release begins to wait: it becomes the last in the list by
 * release. Nothing when it is in the list already. */
void ready_enlist(ready_set *ready, agent_store *store, uint32_t index);

/* Takes an agent out of its bucket: it is admitted. It stays in the list by release when it is there. */
void ready_admit(ready_set *ready, agent_store *store, uint32_t index);

/* Puts an admitted agent back that did not run, or did not finish, with its age kept. */
void ready_put_back(ready_set *ready, agent_store *store, uint32_t index);

/* A ready agent is moved to the woken lane. */
void ready_wake(ready_set *ready, agent_store *store, uint32_t index);

/* Takes an agent out of the list by release, if it is there: its update is complete or it is removed. */
void ready_forget(ready_set *ready, agent_store *store, uint32_t index);

/* Where a walk over the ranked agents stands; begin with zeros. */
typedef struct ready_cursor {
  uint32_t bucket; /* 0 = the older ones, then the ring in order */
  agent_link next; /* goes on inside a bucket */
} ready_cursor;

/* The next agents in order, at most READY_SORTED_MAX of one bucket, sorted; null when there are no more. The caller may
 * admit any of them before the next call, and nobody else. */
const uint32_t *ready_next(ready_set *ready, const agent_store *store, ready_cursor *cursor, uint32_t *count);

#endif
