#include "examples/physics_host.h"

#include <stdlib.h>

/* A task in flight. Muster keeps pointers to the group and the range until the group is complete, so both stay where
 * they are: in an array of slots, not on a caller's stack. */
struct slot {
  muster_group group; /* of this task alone, so that it can be waited for alone */
  muster_range range;
  physics_task *task;
  physics_range_task *range_task;
  void *task_context;
};

struct physics_host {
  struct slot slots[PHYSICS_TASKS_MAX];
  struct slot *free[PHYSICS_TASKS_MAX]; /* a stack: the engine calls from one thread, so nothing here needs a lock */
  uint32_t free_count;
  physics_refusal refusal;
  muster_pool *pool;
};

physics_host *physics_host_create(muster_pool *pool) {
  physics_host *host =
      aligned_alloc(_Alignof(physics_host), sizeof *host); /* groups stand on cache lines of their own */
  if (!host) return NULL;
  host->pool = pool;
  host->refusal = PHYSICS_ACCEPTED;
  host->free_count = 0;
  for (uint32_t i = PHYSICS_TASKS_MAX; i-- > 0;) {
    muster_group_init(&host->slots[i].group, pool); /* once: a complete group may be used again */
    host->free[host->free_count++] = &host->slots[i];
  }
  return host;
}

void physics_host_destroy(physics_host *host) {
  free(host);
}

uint32_t physics_host_workers(const physics_host *host) {
  /* Not muster_pool_workers(): a task may also run on other threads that wait in the pool while it is enqueued, and
   * those have indices behind the workers'. */
  return muster_pool_indices(host->pool);
}

physics_refusal physics_host_refusal(const physics_host *host) {
  return host->refusal;
}

static struct slot *take_slot(physics_host *host, bool sane) {
  host->refusal = !sane ? PHYSICS_NOT_A_TASK : host->free_count == 0 ? PHYSICS_TOO_MANY_IN_FLIGHT : PHYSICS_ACCEPTED;
  return host->refusal ? NULL : host->free[--host->free_count];
}

/* Hands the slot out as a handle, if Muster took the job. On an error nothing was submitted, and nothing is run here
 * instead: the task may be one of a gang. */
static void *keep_slot(physics_host *host, struct slot *slot, muster_result result) {
  if (result == MUSTER_OK) return slot;
  host->free[host->free_count++] = slot;
  host->refusal = result == MUSTER_E_FULL ? PHYSICS_QUEUE_FULL : PHYSICS_STOPPED;
  return NULL;
}

static void run_task(void *argument, uint32_t worker) {
  const struct slot *slot = argument;
  (void)worker; /* the modern shape has no use for it */
  slot->task(slot->task_context);
}

void *physics_enqueue(physics_task *task, void *task_context, void *user) {
  physics_host *host = user;
  struct slot *slot = take_slot(host, task != NULL);
  if (!slot) return NULL;
  slot->task = task;
  slot->task_context = task_context;
  /* A job and not a range of one: it costs least, and starts on the next worker that looks. */
  return keep_slot(host, slot, muster_job_submit(host->pool, PHYSICS_PRIORITY, run_task, slot, &slot->group));
}

static void run_piece(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  const struct slot *slot = argument;
  slot->range_task((int32_t)begin, (int32_t)end, worker, slot->task_context);
}

void *physics_enqueue_range(physics_range_task *task, int32_t item_count, int32_t min_range, void *task_context,
                            void *user) {
  physics_host *host = user;
  struct slot *slot = take_slot(host, task && item_count >= 0 && min_range >= 0);
  if (!slot) return NULL;
  slot->range_task = task;
  slot->task_context = task_context;
  /* muster_range_submit() and not muster_parallel_for(): enqueue returns at once, and any thread that comes runs
   * pieces. The engine's minimum is the grain; Muster makes pieces longer when they turn out to be short. */
  return keep_slot(host, slot,
                   muster_range_submit(&slot->range, host->pool, PHYSICS_PRIORITY, (uint64_t)item_count,
                                       (uint64_t)min_range, run_piece, slot, &slot->group));
}

void physics_finish(void *handle, void *user) {
  physics_host *host = user;
  struct slot *slot = handle;
  if (!slot) return;
  /* Three waits would do for some tasks, and only one for all:
   *
   * - muster_group_wait() runs this task if it has not started; but when it has, and spins for another one of its gang
   *   that no thread has come to yet, this thread has to run that one
   * - muster_group_wait_asleep() runs nothing: a gang of W would find W - 1 threads
   * - muster_group_wait_helping() runs this task first, then other tasks of the engine, and whatever else is as urgent;
   *   never anything long, which is less urgent by the rule in the header */
  muster_group_wait_helping(&slot->group, PHYSICS_PRIORITY);
  host->free[host->free_count++] = slot;
}
