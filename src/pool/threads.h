/* pool/threads.h - the threads of a pool: starting and joining them (threads.c), and which processors they sit on
 * (processors.c).
 *
 * A worker that a futex wakes is often put on its waker's own processor and then waits there until the scheduler's next
 * tick. So workers are bound to processors, one each, and a waker first moves a worker away that is bound to the
 * waker's own processor. The host's threads stay as they are. */
#ifndef POOL_THREADS_H
#define POOL_THREADS_H

#include "pool/inside.h"

/* Fills pool->processors with those that the process may use. False when memory is refused. */
bool threads_survey(struct muster_pool *pool);

/* Starts the worker threads. False with an error when one is refused; pool->workers is then how many there are. */
bool threads_start(struct muster_pool *pool);

/* Joins all threads. Set pool->stopping and wake all of them before. */
void threads_join(struct muster_pool *pool);

/* Before waking a worker: moves it, if it sits on the calling thread's processor. */
void threads_keep_apart(struct muster_pool *pool, uint32_t index);

/* Sleeps for a tenth of a millisecond, for waits that no thread would end by a wake. */
void threads_pause(void);

#endif
