/* pool/pool.h - START HERE for the workers: how the pool works, and what other folders see of it.
 *
 *               submit                     claim                      start
 *   a thread ------------> lane ----------------------> claim ------------------> a job runs
 *      |                    |   of its priority: slots    |   of a worker: up to 8  |
 *                           |                             |                         | end
 *                           +--- take out of turn --------+---> a job runs          v
 *                                                                        its group counts one less
 *
 * A job is a function, its argument, and the group that counts it, if a thread wants to wait for it. A range is worked
 * off by jobs that share one number, the next index. A frame calls its team by jobs of the priority FRAME.
 *
 * A job lies in a slot of a lane: there is a lane for each priority. A worker claims several slots of a lane at once.
 * Such a job is still in its slot, but the lane's head has passed it; the worker slot of its worker says which slots it
 * holds, so that others find the job until it starts.
 *
 * Which thread may take it: a worker takes from the most urgent lane that has something, and from other threads' claims
 * before it turns to a less urgent lane. A waiter takes jobs of its group wherever they lie; other jobs only
 * if its call says so. The end of a team takes jobs out and does not run them. One compare-and-swap on the slot's state
 * decides which thread gets a job, whatever way the threads came.
 *
 * A thread needs a worker slot to work: workers keep theirs, others are external: they take one when they enter, and
 * leave it.
 *
 *                nothing found: spin       draw a ticket,           last look: nothing
 *   looking -------------------> spinning ----------------> in a set --------------------> asleep
 *      ^                            |      enter the set      |                              |
 *      +------ found something -----+------------ found ------+------ taken out, woken ------+
 *
 * A sleeper enters a set before its last look, and a waker publishes its work before it looks into the set. So one of
 * the two sees the other, and no work lies where all sleep. There are two sets: workers without work, and worker slots
 * that wait for a group. A thread that submits a job wakes one idle worker; without any, the waiters that may run it. A
 * worker that was woken and sees more work wakes the next. A thread that completes a group wakes its waiters.
 *
 *   lane.[ch]      slots, head and tail: claims, and jobs taken out of turn
 *   queue.[ch]     all lanes, and the bitmaps of those that have something, or claims that have not started
 *   group.[ch]     counts jobs; the threads that wait for them
 *   worker_slot.h  what a thread has while it works; enter.c how it gets one
 *   worker.[ch]    what it does there: claims, runs, helps, waits, sleeps, wakes; claims.c takes from others' claims
 *   idle.h         a set of sleepers; park.[ch] where one thread sleeps
 *   threads.[ch]   workers' threads; processors.c where the workers sit
 *   jobs.c, range.[ch]   the calls of muster/jobs.h; pool.c creates, stops, destroys; inside.h: the parts of a pool
 *   team.[ch]      how a frame calls for help; ticket.h hands out the frame's work by number
 *   identity.[ch], ring.[ch], leaving.[ch]   ids that go stale; a queue of values; callbacks that do not return
 *
 * What pairs with what (each use of atomics.h says it, too):
 *
 *   lane.c    push publishes the slot          start, take out and look read its state; these free it for push
 *   queue.c   push, then reads the bitmap      before its sleep a thread clears the bit, then looks at the lane
 *   worker.c  announces a claim, moves head    claims.c: a thread looks at the lanes, and at the claims after that
 *   worker.c  publishes, then looks for a      enters the set (idle.h) after its ticket (park.h), then looks at lanes
 *             sleeper to wake                  and claims; for a group, it marks the group instead (group.c)
 *   group.c   the swap that counts to zero     a thread that sees zero; a waiter's mark, which that swap takes away
 *   team.c    a call pushes, then looks at     the end clears `open`, then takes out what lies there
 *             `open`
 *   pool.c    sets `stopping`, then wakes      sleepers look at it last; worker.c: a thread that pushed drops the job
 *   enter.c   gives an external slot back      the next external's swap on the same word
 *   ring.c    a slot's sequence, both ways; identity.c: an id is opened, a thread that finds it live sees all before
 */
#ifndef POOL_POOL_H
#define POOL_POOL_H

#include "base/clock.h"

#include <muster/jobs.h>

struct group;
struct running_job;
struct worker_slot;

/* The most indices that a pool can have. */
enum { POOL_SLOTS_MAX = 384 };

/* ------------------------------------------------------------------------------------ which worlds and pools exist */

/* Part of a world or a pool. Its only purpose is to tell a handle that was destroyed already (its memory is gone and
 * cannot be read) from one that can be destroyed. This list belongs to the process, not to a world, and nothing is
 * scheduled by it: it is touched when worlds and pools are created and destroyed, and at no other time. */
struct living {
  struct living *next;
};

/* A world or pool has begun to exist. Any thread. */
void living_add(struct living *entry);

/* Takes out a world or pool that is about to be destroyed; false when it does not exist. The entry is only compared
 * until it is found. Any thread. */
bool living_take(struct living *entry);

/* Whether it exists now. Any thread. */
bool living_has(const struct living *entry);

/* Whether this is a pool that was not destroyed. Does not read the pool's memory. */
bool pool_exists(const struct muster_pool *pool);

/* A world uses the pool from here on, or no longer. The world must be destroyed before the pool. */
void pool_add_world(struct muster_pool *pool);
void pool_drop_world(struct muster_pool *pool);

/* The clock that the pool has calibrated. */
const clock_source *pool_clock(const struct muster_pool *pool);

/* ----------------------------------------------------------------------------------------------------- worker slots */

/* The worker slot that a thread has: its own for as long as it is inside the pool, or one for external threads. Entries
 * form a stack on each thread, so that a thread that works for several pools in turn (a job of one waits for a group of
 * another) finds its worker slot at each. */
struct pool_entry {
  struct muster_pool *pool;
  struct worker_slot *slot;
  struct pool_entry *outer;
  bool external; /* the worker slot was taken on entering */
};

/* Takes a worker slot, or the thread's own when it has one; waits when those for external threads are all taken. */
struct worker_slot *pool_enter(struct pool_entry *entered, struct muster_pool *pool);

/* The same, but null when the group is complete before there is a worker slot. */
struct worker_slot *pool_enter_unless(struct pool_entry *entered, struct muster_pool *pool, const struct group *group);

/* The same, but null when those for external threads are all taken. */
struct worker_slot *pool_try_enter(struct pool_entry *entered, struct muster_pool *pool);

/* Leaves the pool and gives an external thread's worker slot back. On the same thread, the latest entry first. */
void pool_leave(struct pool_entry *entered);

/* Where a thread is in the calls of pools. As long as it is the same as before, the thread has begun no job and no
 * piece of a range since, or they have ended. */
typedef struct pool_place {
  const struct pool_entry *entry; /* its latest; null: it is in none */
  const struct running_job *job;  /* the innermost there */
} pool_place;

/* Where the calling thread is now. Any thread. */
pool_place pool_place_now(void);

/* The index of the thread that has the worker slot. */
uint32_t pool_index_of(const struct worker_slot *slot);

/* A thread of the pool takes its worker slot for its lifetime. */
void pool_enter_for_life(struct pool_entry *entered, struct worker_slot *slot);

/* The worker slot that the thread has now; null when it has none. */
struct worker_slot *pool_own_slot(const struct muster_pool *pool);

/* Before a frame: how many workers may work on it. Those of a pool that was given their number; else one for each
 * processor that the process may use now: once a second it looks whether processors have come, for which it starts
 * threads, or gone. */
uint32_t threads_for_frame(struct muster_pool *pool);

/* The same, as it was before the last frame of any world. Any thread. */
uint32_t threads_useful(const struct muster_pool *pool);

/* Before a frame: moves the workers that sit on the calling thread's processor, if they are to be kept apart. */
void threads_keep_all_apart(struct muster_pool *pool);

#endif
