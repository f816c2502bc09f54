/* pool/threads.h - the threads of a pool: starting and joining them (threads.c), which processors they sit on
 * (processors.c), and the threads for jobs that block (blocking.c): these are no workers, are started when they are
 * needed, and sleep otherwise.
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

/* Starts the thread of a seat, which runs `run` with the seat. False when it is refused. */
bool threads_start_one(struct muster_pool *pool, uint32_t index, void *(*run)(void *), const char *suffix);

/* Joins all threads. Set pool->stopping and wake all of them before. */
void threads_join(struct muster_pool *pool);

/* Before waking a worker: moves it, if it sits on the calling thread's processor. */
void threads_keep_apart(struct muster_pool *pool, uint32_t index);

/* Lets another thread run; or sleeps for a tenth of a millisecond, for waits that no thread would end by a wake. */
void threads_yield(void);
void threads_pause(void);

/* Makes sure that at least one thread will come to a blocking job pushed from now on; `started` tells whether it
 * started one, so that the job needs no other. MUSTER_E_STATE when none are allowed, MUSTER_E_SYSTEM when the first
 * cannot be started. Any thread. */
muster_result blocking_provide(struct muster_pool *pool, bool *started);

/* After a push: wakes a thread; when none sleeps, starts one if `more` is set and one is allowed. Any thread. */
void blocking_call(struct muster_pool *pool, bool more);

/* What a blocking thread does until the pool stops. */
void blocking_run(struct seat *seat);

#endif
