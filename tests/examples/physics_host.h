/* physics_host.h - an example to copy: a pool as the job system of a physics engine.
 *
 * Engines such as Box2D v3 bring no threads. They ask their host for two callbacks: `enqueue` hands a task over and
 * returns a handle, `finish` comes back when that task has run. Both shapes that are in use are here:
 *
 *   modern   enqueue(task, task_context, user): a function that runs once
 *   older    enqueue(task, item_count, min_range, task_context, user): a function over a range of items, which is told
 *            the index of the worker that runs a piece, so that it may index scratch memory by it
 *
 * What such an engine relies on, and where it comes from:
 *
 *   - each task runs once: a job, or a range
 *   - enqueue never runs anything on the caller, not even when there is no room: a submit never does. Tasks may be a
 * gang that spin on each other, and one that ran inside enqueue would spin for ever
 *   - up to 256 in flight, handles valid until they are finished, in any order: a slot for each, with a group of its
 * own
 *   - finish runs its own task if it has not started, but no unrelated long one: muster_group_wait_helping() down to
 *     PHYSICS_PRIORITY runs tasks of the engine, and what else is as urgent and short
 *   - worker indices are dense: the pool's are; allocate physics_host_workers() of everything
 *
 * One host serves one engine, whose calls come from one thread at a time. Two gangs at once on one pool need threads
 * for all members of both: step such worlds one after the other, or give each a pool.
 */
#ifndef EXAMPLES_PHYSICS_HOST_H
#define EXAMPLES_PHYSICS_HOST_H

#include <muster/jobs.h>

/* In flight at a time. */
enum { PHYSICS_TASKS_MAX = 256 };

/* The engine's tasks. The rule that goes with it: whatever else the program submits at this priority or a more urgent
 * one is short, because finish may run it. Long jobs go to MUSTER_URGENCY_NORMAL and below. */
enum { PHYSICS_PRIORITY = 1 };

typedef void physics_task(void *task_context);
typedef void physics_range_task(int32_t start, int32_t end, uint32_t worker, void *task_context);

/* Why the last enqueue returned null. */
typedef enum physics_refusal {
  PHYSICS_ACCEPTED = 0,
  PHYSICS_TOO_MANY_IN_FLIGHT, /* PHYSICS_TASKS_MAX: finish one first */
  PHYSICS_QUEUE_FULL,         /* the pool's: finish one first */
  PHYSICS_NOT_A_TASK,         /* null, or a count or a range below zero */
  PHYSICS_STOPPED             /* the pool was stopped: none will run any more */
} physics_refusal;

typedef struct physics_host physics_host;

/* Null when there is no memory. The pool must outlive the host. */
physics_host *physics_host_create(muster_pool *pool);

/* Frees it; all tasks must have been finished. Null is a no-op. */
void physics_host_destroy(physics_host *host);

/* How much per-worker memory the engine needs: every index that a task is told is below this. */
uint32_t physics_host_workers(const physics_host *host);

/* The modern shape. `user` is the host. Null when the task was refused: it has not run and will not (engines that take
 * null for "has run already" must be told; Box2D never has more than 256 in flight and so never meets it). */
void *physics_enqueue(physics_task *task, void *task_context, void *user);

/* The older shape. Pieces have `min_range` items or more, but for the last. No items are a task that has run. */
void *physics_enqueue_range(physics_range_task *task, int32_t item_count, int32_t min_range, void *task_context,
                            void *user);

/* Returns when the task has run. Its handle is void from then on. Null is a no-op. Of both shapes. */
void physics_finish(void *handle, void *user);

/* Why the last enqueue returned null. */
physics_refusal physics_host_refusal(const physics_host *host);

#endif
