/* pool/threads.h - the threads of a pool: starting and joining them, and which processors they sit on.
 *
 * A worker that a futex wakes is often put on its waker's own processor and then waits there until the scheduler's next
 * tick. So workers are bound to processors, one each, and whoever wakes one that is bound to the processor that it is
 * on itself, moves it away first. The host's threads stay as they are. */
#ifndef POOL_THREADS_H
#define POOL_THREADS_H

#include "pool/pool.h"

/* Fills processors: those that the process may use. False when memory is refused. */
bool threads_survey(struct muster_pool *pool);

/* Starts the worker threads. False with an error when one is refused; pool->workers is then how many there are. */
bool threads_start(struct muster_pool *pool);

/* Starts blocking thread `number`. False when it is refused. */
bool threads_start_blocking(struct muster_pool *pool, uint32_t number);

/* Joins all of them. After pool->stopping was set and all were woken. */
void threads_join(struct muster_pool *pool);

/* Before waking a worker, or a frame: moves the worker, if it sits on the calling thread's processor. */
void threads_keep_apart(struct muster_pool *pool, uint32_t index);

/* The same for all workers. */
void threads_keep_all_apart(struct muster_pool *pool);

/* Lets another thread run; or sleeps for a tenth of a millisecond, where nobody could wake the caller. */
void threads_yield(void);
void threads_pause(void);

#endif
