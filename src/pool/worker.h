/* pool/worker.h - what a thread at a seat does: claims jobs and runs them, helps a group to complete, takes over what
 * others have claimed, sleeps and wakes others. No threads and no clock of its own beyond how long jobs take: the
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

/* How many jobs a claim has at most, and what it is expected to take at most; of jobs that are so short that a whole
 * claim takes CLAIM_UNFAIR_NS nobody is left a fair part; shorter ones than CLAIM_TINY_NS are waited for. */
enum { CLAIM_JOBS_MAX = 8, JOB_CLAIM_NS = 8000, CLAIM_UNFAIR_NS = 400, CLAIM_TINY_NS = 150 };

/* Pushes a job that its group counts already, and wakes somebody for it. False when the lane is full. The group may be
 * complete and gone when this returns. Any thread; `seat` is null or the thread's own. */
bool worker_push(struct muster_pool *pool, struct seat *seat, uint32_t lane, const struct job *job);

/* There is work of a group (null: of any): wakes one worker that sleeps, else everybody who waits and may run it. */
void worker_wake(struct muster_pool *pool, struct seat *seat, const struct group *group);

/* Wakes one worker that sleeps; false when none does. */
bool worker_rouse(struct muster_pool *pool, struct seat *seat);

/* Wakes everybody who waits for the group (null: for any). */
void worker_ask(struct muster_pool *pool, struct seat *seat, const struct group *group);

/* Claims from `lanes` (bits) and runs what it got. False when there was nothing. */
bool worker_serve(struct seat *seat, uint32_t lanes, uint32_t most);

/* Claims the next place of one lane, of pinned or blocking jobs, and runs the job if it is still there; counts it in
 * `ran` then. False when there was nothing to claim. */
bool worker_serve_lane(struct seat *seat, uint32_t lane, uint32_t *ran);

/* Whether a job waits in `lanes` (bits). About a nanosecond when none does. */
bool worker_is_wanted(struct seat *seat, uint32_t lanes);

/* Runs the jobs that wait in `more_urgent` lanes (bits) now; returns how many. About a nanosecond when there are none.
 * What makes updates, ranges and long jobs give way. */
uint32_t worker_give_way(struct seat *seat, uint32_t more_urgent);

/* Runs one job that another worker has claimed and not started. */
bool worker_steal(struct seat *seat, uint32_t lanes);

/* Runs one job of the group (with its neighbours of the same group) wherever it stands. `scan` is where the last call
 * stopped looking, by lane; begin with zeros. */
bool worker_help(struct seat *seat, const struct group *group, uint64_t *scan);

/* Runs one job that must end before jobs of the group can even wait: of a group that they follow, or one before that.
 * `any` tells whether there are such groups. */
bool worker_help_before(struct seat *seat, const struct group *group, bool *any);

/* Counts jobs out, and does what follows: wakes those who wait, pushes what was to follow (drops it when the pool
 * stops). */
void worker_complete(struct muster_pool *pool, struct seat *seat, struct group *group, uint32_t count);

/* Takes out all jobs of the group that have not started; returns how many entries, and in `jobs` how many jobs. */
uint32_t worker_take_out_all(struct muster_pool *pool, const struct group *group, uint64_t *jobs);

/* What workers have claimed of a lane and not started yet, for others to take out (claims.c). Takes a job of `lanes`
 * (bits), with `only` not null one of that group, out of somebody's claim; looks at seat `from` first. False when there
 * is none. Any thread. */
bool claims_take(struct muster_pool *pool, uint32_t from, uint32_t lanes, const struct group *only, struct job *job);

/* Whether a job of `lanes` (bits) waits in somebody's claim; clears the queue's bits of `lanes` when none does. About a
 * nanosecond when they are clear. Any thread. */
bool claims_settle(struct muster_pool *pool, uint32_t lanes);

/* Enlists, looks once more, sleeps. Returns when there may be something. */
void worker_sleep(struct seat *seat);

/* Drops the jobs that wait in a lane, because the pool stops. */
void worker_drop(struct muster_pool *pool, uint32_t lane);

/* A worker thread's life: until the pool stops. */
void worker_run(struct seat *seat);

typedef struct wait_orders {
  uint32_t lanes;                       /* bits: jobs of any group that may be run meanwhile */
  bool asleep;                          /* run nothing, not even jobs of the group */
  uint64_t patience_ns;                 /* spin until the clock reads this, at most SPIN_NS, then sleep */
  void (*before_sleep)(void *argument); /* told before the first sleep; may be null */
  void *argument;
} wait_orders;

/* Returns when the group is complete. */
void worker_wait(struct seat *seat, struct group *group, const wait_orders *orders);

#endif
