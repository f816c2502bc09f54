/* pool/worker.h - what a thread at a worker slot does: claims jobs and runs them, helps a group to complete, takes over
 * what others have claimed, sleeps and wakes others. No threads and no clock of its own beyond how long jobs take: the
 * interleaving explorer runs this code as it is.
 *
 *            found something                    nothing for SPIN_NS              woken
 *   looking ----------------> running, looking ----------------> enlisted ------------------> looking
 *                                                                 |   ^
 *                                            last look: nothing   v   | last look found something
 *                                                               asleep
 */
#ifndef POOL_WORKER_H
#define POOL_WORKER_H

#include "pool/inside.h"

/* CLAIM_JOBS_MAX and JOB_CLAIM_NS: how many jobs a claim has at most, and how long it should take at most. When a whole
 * claim takes less than CLAIM_UNFAIR_NS, it need not leave a fair part to other workers. A worker that ran one
 * job shorter than CLAIM_TINY_NS pauses, so that more jobs come. */
enum { CLAIM_JOBS_MAX = 8, JOB_CLAIM_NS = 8000, CLAIM_UNFAIR_NS = 400, CLAIM_TINY_NS = 150 };

/* How many others a worker that was woken wakes, while there is work. */
enum { WORKER_WAKES = 2 };

/* Pushes a job that its group counts already, and wakes a thread for it. False when the lane is full. The group may be
 * complete and gone when this returns. Any thread; `slot` is null or the thread's own. */
bool worker_push(struct muster_pool *pool, struct worker_slot *slot, uint32_t lane, const struct job *job);

/* The same without waking any thread: the caller calls worker_wake() afterwards. Any thread. */
bool worker_push_quietly(struct muster_pool *pool, uint32_t lane, const struct job *job);

/* There is work of a group (null: of any): wakes one worker that sleeps, else every waiter that may run it. */
void worker_wake(struct muster_pool *pool, struct worker_slot *slot, const struct group *group);

/* Wakes one worker that sleeps; false when none does. */
bool worker_wake_one(struct muster_pool *pool, struct worker_slot *slot);

/* Wakes every thread that waits for the group (null: for any). */
void worker_ask(struct muster_pool *pool, struct worker_slot *slot, const struct group *group);

/* Claims from `lanes` (bits) and runs the jobs. False when there was nothing. */
bool worker_serve(struct worker_slot *slot, uint32_t lanes, uint32_t most);

/* Whether a job waits in `lanes` (bits). About a nanosecond when none does. */
bool worker_is_wanted(struct worker_slot *slot, uint32_t lanes);

/* Runs the jobs that wait in `more_urgent` lanes (bits) now; returns how many. About a nanosecond when there are none.
 * Called where updates and ranges give way. */
uint32_t worker_yield_to(struct worker_slot *slot, uint32_t more_urgent);

/* Runs one job that another worker has claimed and not started. */
bool worker_steal(struct worker_slot *slot, uint32_t lanes);

/* Runs one job of the group (with its neighbours of the same group) wherever it stands. `scan` is where the last call
 * stopped looking, by lane; begin with zeros. */
bool worker_help(struct worker_slot *slot, const struct group *group, uint64_t *scan);

/* Counts jobs out, and wakes the waiters of the group when these were the last. */
void worker_complete(struct muster_pool *pool, struct worker_slot *slot, struct group *group, uint32_t count);

/* Takes out all jobs of the group that have not started, and counts them out. */
void worker_take_out_all(struct muster_pool *pool, struct worker_slot *slot, struct group *group);

/* Looks at jobs that workers have claimed and not started yet, and that others may take out (claims.c). Takes a job of
 * `lanes` (bits), with a non-null `only` just of that group, out of a worker's claim; looks at worker slot `from`
 * first. False when there is none. Any thread. */
bool claims_take(struct muster_pool *pool, uint32_t from, uint32_t lanes, const struct group *only, struct job *job);

/* Whether a job of `lanes` (bits) waits in a worker's claim; clears the queue's bits of `lanes` when none does. About a
 * nanosecond when they are clear. Any thread. */
bool claims_settle(struct muster_pool *pool, uint32_t lanes);

/* Enters the set of idle workers, looks once more, sleeps. Returns when there may be something. */
void worker_sleep(struct worker_slot *slot);

/* Drops the jobs that wait in a lane, because the pool stops. */
void worker_drop(struct muster_pool *pool, uint32_t lane);

/* What a worker thread does until the pool stops. */
void worker_run(struct worker_slot *slot);

typedef struct wait_orders {
  uint32_t lanes;                       /* bits: jobs of these lanes, of any group, may run meanwhile */
  bool asleep;                          /* run nothing, not even jobs of the group */
  uint64_t patience_ns;                 /* spin until the clock reads this, at most SPIN_NS, then sleep */
  void (*before_sleep)(void *argument); /* called before the first sleep; may be null */
  void *argument;
} wait_orders;

/* Waits until the group is complete. */
void worker_wait(struct worker_slot *slot, struct group *group, const wait_orders *orders);

#endif
