/* pool/threads.h - the threads of a pool: starting and joining them (threads.c), which processors they sit on
 * (processors.c), and those for jobs that block (blocking.c): outside the workers, started when they are needed, asleep
 * otherwise.
 *
 * A worker that a futex wakes is often put on its waker's own processor and then waits there until the scheduler's next
 * tick. So workers are bound to processors, one each, and whoever wakes one that is bound to the processor that it is
 * on itself, moves it away first. The host's threads stay as they are. */
#ifndef POOL_THREADS_H
#define POOL_THREADS_H

#include "pool/inside.h"

/* Fills processors: those that the process may use. False when memory is refused. */
bool threads_survey(struct muster_pool *pool);

/* Starts the worker threads. False with an error when one is refused; pool->workers is then how many there are. */
bool threads_start(struct muster_pool *pool);

/* Starts the thread of a seat, which runs `run` with the seat. False when it is refused. */
bool threads_start_one(struct muster_pool *pool, uint32_t index, void *(*run)(void *), const char *suffix);

/* Joins all of them. After pool->stopping was set and all were woken. */
void threads_join(struct muster_pool *pool);

/* Before waking a worker: moves it, if it sits on the calling thread's processor. */
void threads_keep_apart(struct muster_pool *pool, uint32_t index);

/* Lets another thread run; or sleeps for a tenth of a millisecond, where nobody could wake the caller. */
void threads_yield(void);
void threads_pause(void);

/* Makes sure that there is a thread at all that will come to a blocking job pushed from now on; tells whether it
 * `started` one, so that the job needs no other. MUSTER_E_STATE when none are allowed, MUSTER_E_SYSTEM when the first
 * cannot be started. Any thread. */
muster_result blocking_provide(struct muster_pool *pool, bool *started);

/* After a push: wakes a thread, or starts one `more` when none sleeps and that is allowed. Any thread. */
void blocking_call(struct muster_pool *pool, bool more);

/* A blocking thread's life: until the pool stops. */
void blocking_run(struct seat *seat);

#endif
