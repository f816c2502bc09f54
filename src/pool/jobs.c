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
  if (priority < MUSTER_PRIORITIES) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT, "jobs: priority %u must be 0..%d", priority, MUSTER_PRIORITIES - 1);
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
  static const char *const names[] = {"pinned", "blocking"};
  if (lane >= MUSTER_PRIORITIES)
    return error_set(MUSTER_E_FULL, "jobs: %u %s jobs wait already", pool->def.jobs_max, names[lane - LANE_PINNED]);
  return error_set(MUSTER_E_FULL, "jobs: %u jobs of priority %u wait already", pool->def.jobs_max, lane);
}

static muster_result check_prepared(const struct group *group) {
  if (group && group->pool) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT, "jobs: the group was not set by muster_group_init()");
}

static muster_result submit(muster_pool *pool, uint32_t lane, muster_job_function run, void *argument,
                            struct group *group) {
  muster_result result = request_check_group(pool, group);
  if (result) return result;
  struct job job = {run, argument, group};
  struct seat *seat = pool_own_seat(pool);
  if (group) group_add(group, 1, lane);
  if (worker_push(pool, seat, lane, &job)) return MUSTER_OK;
  if (group) worker_complete(pool, seat, group, 1);
  return request_full(pool, lane);
}

muster_result muster_job_submit(muster_pool *pool, uint32_t priority, muster_job_function run, void *argument,
                                muster_group *group) {
  muster_result result = request_check(pool, priority, run != NULL);
  return result ? result : submit(pool, priority, run, argument, inside(group));
}

muster_result muster_job_submit_pinned(muster_pool *pool, muster_job_function run, void *argument,
                                       muster_group *group) {
  muster_result result = request_check(pool, 0, run != NULL);
  return result ? result : submit(pool, LANE_PINNED, run, argument, inside(group));
}

muster_result muster_job_submit_blocking(muster_pool *pool, muster_job_function run, void *argument,
                                         muster_group *group) {
  muster_result result = request_check(pool, 0, run != NULL);
  bool started = false;
  if (!result) result = blocking_provide(pool, &started);
  if (!result) result = submit(pool, LANE_BLOCKING, run, argument, inside(group));
  if (!result) blocking_call(pool, !started);
  return result;
}

muster_result muster_job_submit_after(muster_group *given_after, uint32_t priority, muster_job_function run,
                                      void *argument, muster_group *given_group) {
  struct group *after = inside(given_after), *group = inside(given_group);
  muster_result result = check_prepared(after);
  if (result) return result;
  struct muster_pool *pool = after->pool;
  result = request_check(pool, priority, run != NULL);
  if (result) return result;
  if (group && (group->pool != pool || group->serial <= after->serial))
    return error_set(MUSTER_E_ARGUMENT, "jobs: the group of what follows must be of the same pool and have been "
                                        "prepared later than the group that it follows, else it could wait for itself");
  uint32_t node = followers_take(&pool->followers);
  if (node == FOLLOWER_NONE)
    return error_set(MUSTER_E_FULL, "jobs: continuations_max = %u continuations wait", pool->def.continuations_max);
  if (group) group_add(group, 1, priority);
  followers_fill(&pool->followers, node, &(struct job){run, argument, group}, priority, after);
  if (group_follow(after, &pool->followers, node)) {
    /* A thread that waits for the group may have to run jobs that come before it. */
    if (group) worker_ask(pool, pool_own_seat(pool), group);
    return MUSTER_OK;
  }
  followers_give_back(&pool->followers, node);
  if (worker_push(pool, pool_own_seat(pool), priority, &(struct job){run, argument, group})) return MUSTER_OK;
  if (group) worker_complete(pool, pool_own_seat(pool), group, 1);
  return request_full(pool, priority);
}

/* ------------------------------------------------------------------------------------------------------- groups */

void muster_group_init(muster_group *given, muster_pool *pool) {
  if (!given || !pool) error_missing("group", "group and its pool");
  if (given) group_prepare(inside(given), pool, pool ? fetch_add_relaxed_u64(&pool->serials, 1) + 1 : 0);
}

bool muster_group_is_complete(const muster_group *given) {
  if (!given) error_missing("group", "group");
  return !given || group_is_complete((const struct group *)(const void *)given);
}

static bool runs_inside(const struct seat *seat, const struct group *group) {
  for (const running_job *running = seat->running; running; running = running->outer)
    if (running->group == group) return true;
  return false;
}

static muster_result wait_for(muster_group *given, const wait_orders *orders) {
  struct group *group = inside(given);
  muster_result result = check_prepared(group);
  if (result) return result;
  struct pool_entry entered;
  struct seat *seat = pool_enter_unless(&entered, group->pool, group);
  if (!seat) return MUSTER_OK;
  if (runs_inside(seat, group))
    result = error_set(MUSTER_E_STATE, "jobs: a job cannot wait for its own group: it would wait for itself");
  else
    worker_wait(seat, group, orders);
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
  if (group && group->pool && group->pool->workers == 1 && !group_is_complete(group))
    return error_set(MUSTER_E_STATE, "jobs: in a pool of one worker no thread would run what this waits for");
  return wait_for(given, &(wait_orders){.patience_ns = UINT64_MAX, .asleep = true});
}

uint64_t muster_group_cancel(muster_group *given) {
  struct group *group = inside(given);
  uint64_t jobs = 0;
  if (check_prepared(group) || group_is_complete(group)) return 0;
  fetch_add_relaxed_u32(&group->cancels, 1);
  uint32_t entries = worker_take_out_all(group->pool, group, &jobs);
  if (entries) worker_complete(group->pool, pool_own_seat(group->pool), group, entries);
  return jobs;
}

/* ------------------------------------------------------------------------------------------------------ the rest */

uint32_t muster_job_yield(muster_pool *pool, uint32_t priority) {
  if ((!pool && error_missing("yield", "pool")) || check_priority(priority)) return 0;
  uint32_t more_urgent = (1u << priority) - 1u;
  if (!queue_may_have(&pool->queue, more_urgent)) return 0;
  struct pool_entry entered;
  uint32_t ran = worker_yield_to(pool_enter(&entered, pool), more_urgent);
  pool_leave(&entered);
  return ran;
}

void muster_pool_set_main(muster_pool *pool) {
  if (pool)
    store_ordered_u64(&pool->main_thread, pool_thread_number());
  else
    error_missing("main thread", "pool");
}

uint32_t muster_pool_run_pinned(muster_pool *pool, uint32_t most) {
  if (!pool) error_missing("pinned jobs", "pool");
  if (!pool || load_relaxed_u64(&pool->main_thread) != pool_thread_number()) return 0;
  struct pool_entry entered;
  struct seat *seat = pool_enter(&entered, pool);
  uint32_t ran = 0, waiting = (uint32_t)(lane_tail(&pool->queue.lanes[LANE_PINNED]) -
                                         lane_head(&pool->queue.lanes[LANE_PINNED]));
  if (most > waiting) most = waiting;
  while (ran < most && worker_serve_lane(seat, LANE_PINNED, &ran)) continue;
  pool_leave(&entered);
  return ran;
}

uint32_t muster_pool_workers(const muster_pool *pool) {
  if (!pool) error_missing("workers", "pool");
  return pool ? pool->workers : 0;
}

uint32_t muster_pool_indices(const muster_pool *pool) {
  if (!pool) error_missing("indices", "pool");
  return pool ? pool->seat_count : 0;
}

uint32_t muster_pool_current_index(const muster_pool *pool) {
  if (!pool) error_missing("index", "pool");
  const struct seat *seat = pool_own_seat(pool);
  return seat ? seat->index : UINT32_MAX;
}

static void add_statistics(muster_pool_statistics *sum, const seat_statistics *more) {
  sum->jobs += load_relaxed_u64(&more->jobs);
  sum->jobs_helped += load_relaxed_u64(&more->helped);
  sum->jobs_stolen += load_relaxed_u64(&more->stolen);
  sum->claims += load_relaxed_u64(&more->claims);
  sum->sleeps += load_relaxed_u64(&more->sleeps);
  sum->wakes += load_relaxed_u64(&more->wakes);
  sum->idle_looks += load_relaxed_u64(&more->idle_looks);
}

muster_result muster_pool_get_statistics(const muster_pool *pool, uint32_t worker, muster_pool_statistics *statistics) {
  muster_result result = sized_check(SIZED(pool_statistics), statistics);
  if (result) return result;
  if (!pool || (worker != UINT32_MAX && worker >= pool->seat_count))
    return error_set(MUSTER_E_ARGUMENT, "the pool must be given, and worker %u below muster_pool_indices()", worker);
  muster_pool_statistics sum = muster_default_pool_statistics();
  for (uint32_t i = 0; i < pool->seat_count; i++)
    if (worker == UINT32_MAX || worker == i) add_statistics(&sum, &pool->seats[i].statistics);
  return sized_write(SIZED(pool_statistics), &sum, statistics);
}
