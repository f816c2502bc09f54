/* plan/ready.h - released agents that have not run yet, in the order in which they should.
 *
 * While agents wait they age alike, so their order is fixed at release (Rankin, Acton & Katchabaw's priority with
 * uncapped ageing is an earliest-virtual-deadline order):
 *
 *     pri = eps i + zeta (t - t_last)/S - eta rc + theta p    <=>    key = t_last - (S/zeta)(eps i + theta p - eta rc)
 *
 * and the smallest key comes first. Tan & Wong's order (delays descending, then elapsed descending) is the key
 * "released in", then t_last.
 *
 * Most agents run in the frame of their release, so fresh ones are only noted, and sorted when their turn comes. Those
 * that were not admitted go where waiting costs nothing: by key into a ring of buckets, with one more for all that is
 * older than the ring. A bucket is sorted when its turn comes, 2,048 agents at a time, so that no backlog makes a frame
 * sort it all. Beside the ring stand two lines in order of arrival: the woken, who lead, and all who wait, by release:
 * whoever has waited longer than S leads the ring, first in, first out, so that nobody starves whatever the weights. */
#ifndef PLAN_READY_H
#define PLAN_READY_H

#include "agents/store.h"
#include "agents/types.h"
#include "plan/line.h"

enum {
  READY_BUCKETS = 4096,
  READY_PAST_BUCKETS = 3072,
  READY_OLDER = READY_BUCKETS,
  READY_LISTS,
  READY_SORTED_MAX = 2048,
  READY_FRESH_MAX = 16384 /* further ones go into the ring at once */
};

typedef struct ready_weights {
  muster_order order;
  double guarantee_ns;               /* S */
  double importance, runs, progress; /* epsilon, eta, theta, each over zeta */
} ready_weights;

/* Agents in order, each as its key and its index in one number. */
typedef struct ready_run {
  uint64_t *keys;
  uint32_t next, end;
} ready_run;

typedef struct ready_set {
  ready_weights weights;
  double importance_ns, runs_ns; /* what a 65535th of importance, and a 32768th of runs, are worth */
  const type_table *types;       /* for the progress of sliced updates */
  uint64_t now_ns;               /* simulation time of the frame */
  uint32_t width_shift;          /* a bucket is 2^width_shift ns wide */
  int64_t low;                   /* number of the ring's first bucket */
  uint32_t count;                /* ready agents */
  uint32_t begun;                /* of these, agents whose update was preempted */
  line woken, waiting;
  uint64_t occupied[READY_BUCKETS / 64];
  agent_list lists[READY_LISTS];
  uint32_t counts[READY_LISTS];
  list_store members;
  uint64_t *fresh, *fresh_too; /* READY_FRESH_MAX: keys of those released in this frame */
  uint32_t fresh_count;
  uint64_t *sorted, *sorted_too; /* READY_SORTED_MAX: keys of the buckets whose turn it is */
  ready_run fresh_run, ring_run;
  uint32_t walk_bucket;  /* 0 = the older ones, then the ring in order */
  uint32_t walk_listed;  /* of a bucket that is read in parts: agents read so far, */
  uint32_t walk_counted; /* and how many it had */
} ready_set;

/* Reserves an empty set for the world's weights. */
void ready_create(ready_set *ready, const muster_world_def *def, const type_table *types, arena *arena);

/* Makes the ring wide enough for agents that run every `longest_ns` at the most. Between frames. */
void ready_widen(ready_set *ready, agent_store *store, uint64_t longest_ns);

/* Moves the ring's window along; buckets that leave it are emptied into the one for older keys. Once per frame, before
 * anything else. */
void ready_advance(ready_set *ready, agent_store *store, uint64_t now_ns);

/* A due agent becomes ready: fresh, or in the woken line when row.woken is set. */
void ready_release(ready_set *ready, agent_store *store, uint32_t index, uint64_t now_ns, uint64_t frame);

/* Fresh agents that were not admitted begin to wait: into the ring and the line by release. At the end of stage 6. */
void ready_keep_fresh(ready_set *ready, agent_store *store);

/* A ready agent begins to wait: it becomes the last in the line by release. Nothing when it is in the line already. */
void ready_enlist(ready_set *ready, agent_store *store, uint32_t index);

/* Takes an agent out: it is admitted, or removed. It stays in the line by release when it is there. */
void ready_admit(ready_set *ready, agent_store *store, uint32_t index);

/* Puts an admitted agent back that did not run, or did not finish, with its age kept. */
void ready_put_back(ready_set *ready, agent_store *store, uint32_t index);

/* A ready agent is moved to the woken line. */
void ready_wake(ready_set *ready, agent_store *store, uint32_t index);

/* Takes an agent out of the line by release, if it is there: its update is complete or it is removed. */
static inline void ready_forget(ready_set *ready, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  if (!row->enlisted) return;
  row->enlisted = 0;
  line_leave(&ready->waiting);
}

/* Begins a walk over the ready agents in order, but for the woken. */
void ready_begin_walk(ready_set *ready);

/* The next agent in order; UINT32_MAX when there are no more. The caller may admit it before the next call. */
uint32_t ready_next(ready_set *ready, const agent_store *store);

/* Walks the woken in order: those at or after *place, which is moved on; UINT32_MAX when there are no more. Begin with
 * woken.head. */
uint32_t ready_next_woken(const ready_set *ready, const agent_store *store, uint32_t *place);

/* The same for all who wait, by release. Begin with waiting.head. */
uint32_t ready_next_waiting(const ready_set *ready, const agent_store *store, uint32_t *place);

#endif
