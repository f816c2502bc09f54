/* pool/threads.h - the threads of a pool: starting and joining them (threads.c), and which processors they sit on
 * (processors.c).
 *
 * A worker that a futex wakes is often put on its waker's own processor and then waits there until the scheduler's next
 * tick. So workers are bound to processors, one each, and a waker first moves a worker away that is bound to the
 * waker's own processor. The host's threads stay as they are. */
#ifndef POOL_THREADS_H
#define POOL_THREADS_H

#include "pool/inside.h"

/* How many workers there can ever be for `asked`, where 0 is as many as there are processors: those of the machine that
 * are online, which the process may not have yet. */
uint32_t threads_most(uint32_t asked);

/* Fills pool->processors with those that the process may use. False when memory is refused. */
bool threads_survey(struct muster_pool *pool);

/* Whether the calling thread may run elsewhere than when this was asked last. Then those that have come are added to
 * pool->processors, and `workers` tells how many there are processors for. The thread holds pool->placing. */
bool processors_look(struct muster_pool *pool, uint32_t *workers);

/* Starts worker threads until there are so many workers, the caller included. False with an error when one is refused.
 */
bool threads_start(struct muster_pool *pool, uint32_t workers);

/* How many workers there are now, the caller included. Any thread. */
static inline uint32_t threads_count(const struct muster_pool *pool) {
  return load_relaxed_u32(&pool->existing);
}

/* No more threads are started from here on. Set pool->stopping before. */
void threads_start_no_more(struct muster_pool *pool);

/* Joins all threads. Wake all of them before. */
void threads_join(struct muster_pool *pool);

/* Before waking a worker: moves it, if it sits on the calling thread's processor. */
void threads_keep_apart(struct muster_pool *pool, uint32_t index);

/* Sleeps for a tenth of a millisecond, for waits that no thread would end by a wake. */
void threads_pause(void);

#endif
