/* jobs.c - the calls of muster/jobs.h that take jobs and groups; what they do is in worker.c and group.c. */
#include "base/error.h"
#include "base/sized.h"
#include "pool/threads.h"
#include "pool/worker.h"

#include <string.h>

_Static_assert(sizeof(struct group) <= sizeof(muster_group), "a group fits what the caller provides");

static struct group *inside(muster_group *given) {
  return (struct group *)(void *)given;
}

/* ----------------------------------------------------------------------------------------------------- requests */

static muster_result check_priority(uint32_t priority) {
  if (priority < MUSTER_URGENCIES) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT, "jobs: priority %u must be 0..%d", priority, MUSTER_URGENCIES - 1);
}

muster_result request_check(const struct muster_pool *pool, uint32_t priority, bool complete) {
  if (!pool || !complete) return error_missing("jobs", "pool, the function, and a range with its group");
  muster_result result = check_priority(priority);
  if (result) return result;
  if (pool_is_stopping(pool)) return error_set(MUSTER_E_STATE, "jobs: the pool was stopped");
  return MUSTER_OK;
}

muster_result request_check_group(const struct muster_pool *pool, const struct group *group) {
  if (!group || group->pool == pool) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT, "jobs: the group was not set by muster_group_init() for this pool");
}

muster_result request_full(const struct muster_pool *pool, uint32_t lane) {
  return error_set(MUSTER_E_FULL, "jobs: %u jobs of priority %u wait already", pool->def.jobs_max, lane);
}

static muster_result check_prepared(const struct group *group) {
  if (group && group->pool) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT, "jobs: the group was not set by muster_group_init()");
}

muster_result muster_job_submit(muster_pool *pool, uint32_t priority, muster_job_function run, void *argument,
                                muster_group *given) {
  struct group *group = inside(given);
  muster_result result = request_check(pool, priority, run != NULL);
  if (!result) result = request_check_group(pool, group);
  if (result) return result;
  struct job job = {run, argument, group};
  struct worker_slot *slot = pool_own_slot(pool);
  if (group) group_add(group, 1, priority);
  if (worker_push(pool, slot, priority, &job)) return MUSTER_OK;
  if (group) worker_complete(pool, slot, group, 1);
  return request_full(pool, priority);
}

/* ------------------------------------------------------------------------------------------------------- groups */

void muster_group_init(muster_group *given, muster_pool *pool) {
  if (!given || !pool) error_missing("group", "group and its pool");
  if (given) group_prepare(inside(given), pool);
}

bool muster_group_is_complete(const muster_group *given) {
  if (!given) error_missing("group", "group");
  return !given || group_is_complete((const struct group *)(const void *)given);
}

static bool runs_inside(const struct worker_slot *slot, const struct group *group) {
  for (const running_job *running = slot->running; running; running = running->outer)
    if (running->group == group) return true;
  return false;
}

static muster_result wait_for(muster_group *given, const wait_orders *orders) {
  struct group *group = inside(given);
  muster_result result = check_prepared(group);
  if (result) return result;
  struct pool_entry entered;
  struct worker_slot *slot = pool_enter_unless(&entered, group->pool, group);
  if (!slot) return MUSTER_OK;
  if (runs_inside(slot, group))
    result = error_set(MUSTER_E_STATE, "jobs: a job cannot wait for its own group: it would wait for itself");
  else
    worker_wait(slot, group, orders);
  pool_leave(&entered);
  return result;
}

muster_result muster_group_wait(muster_group *group) {
  return wait_for(group, &(wait_orders){.patience_ns = UINT64_MAX});
}

muster_result muster_group_wait_helping(muster_group *group, uint32_t least_urgent) {
  muster_result result = check_priority(least_urgent);
  return result ? result
                : wait_for(group, &(wait_orders){.patience_ns = UINT64_MAX, .lanes = (2u << least_urgent) - 1u});
}

muster_result muster_group_wait_asleep(muster_group *given) {
  const struct group *group = inside(given);
  if (group && group->pool && threads_count(group->pool) == 1 && !group_is_complete(group))
    return error_set(MUSTER_E_STATE, "jobs: in a pool of one worker no thread would run what this waits for");
  return wait_for(given, &(wait_orders){.patience_ns = UINT64_MAX, .asleep = true});
}

/* ------------------------------------------------------------------------------------------------------ the rest */

uint32_t muster_pool_workers(const muster_pool *pool) {
  if (!pool) error_missing("workers", "pool");
  return pool ? threads_count(pool) : 0;
}

uint32_t muster_pool_indices(const muster_pool *pool) {
  if (!pool) error_missing("indices", "pool");
  return pool ? pool->slot_count : 0;
}

uint32_t muster_pool_current_index(const muster_pool *pool) {
  if (!pool) error_missing("index", "pool");
  const struct worker_slot *slot = pool_own_slot(pool);
  return slot ? slot->index : UINT32_MAX;
}

static void add_statistics(muster_pool_statistics *sum, const worker_slot_statistics *more) {
  sum->jobs += load_relaxed_u64(&more->jobs);
  sum->jobs_helped += load_relaxed_u64(&more->helped);
  sum->jobs_stolen += load_relaxed_u64(&more->stolen);
  sum->claims += load_relaxed_u64(&more->claims);
  sum->sleeps += load_relaxed_u64(&more->sleeps);
  sum->wakes += load_relaxed_u64(&more->wakes);
  sum->idle_looks += load_relaxed_u64(&more->idle_looks);
}

muster_result muster_pool_statistics_read(const muster_pool *pool, uint32_t worker,
                                          muster_pool_statistics *statistics) {
  muster_result result = sized_check(SIZED(pool_statistics), statistics);
  if (result) return result;
  if (!pool || (worker != UINT32_MAX && worker >= pool->slot_count))
    return error_set(MUSTER_E_ARGUMENT, "the pool must be given, and worker %u below muster_pool_indices()", worker);
  muster_pool_statistics sum = muster_pool_statistics_default();
  for (uint32_t i = 0; i < pool->slot_count; i++)
    if (worker == UINT32_MAX || worker == i) add_statistics(&sum, &pool->slots[i].statistics);
  return sized_write(SIZED(pool_statistics), &sum, statistics);
}
