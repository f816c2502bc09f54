/* blocking.c - the threads of jobs that block; see threads.h. */
#include "base/error.h"
#include "pool/threads.h"
#include "pool/worker.h"

static void *thread_main(void *argument) {
  struct seat *seat = argument;
  struct pool_entry entered;
  pool_enter_for_life(&entered, seat);
  blocking_run(seat);
  pool_leave(&entered);
  return NULL;
}

/* Starts one more thread, if more are allowed. False when the operating system refused it. */
static bool start_one(struct muster_pool *pool) {
  uint32_t idle = 0;
  while (!compare_exchange_ordered_u32(&pool->blocking_lock, &idle, 1)) {
    idle = 0;
    threads_yield();
  }
  uint32_t started = load_ordered_u32(&pool->blocking_started);
  bool wanted = started < pool->def.blocking_threads_max && !pool_is_stopping(pool);
  bool refused = wanted && !threads_start_one(pool, pool_first_blocking(pool) + started, thread_main, "-b");
  if (wanted && !refused) store_ordered_u32(&pool->blocking_started, started + 1);
  store_ordered_u32(&pool->blocking_lock, 0);
  return !refused;
}

muster_result blocking_provide(struct muster_pool *pool, bool *started) {
  *started = false;
  if (pool->def.blocking_threads_max == 0)
    return error_set(MUSTER_E_STATE, "jobs: the pool's blocking_threads_max is 0");
  if (load_ordered_u32(&pool->blocking_started)) return MUSTER_OK;
  *started = start_one(pool);
  if (*started) return MUSTER_OK;
  return error_set(MUSTER_E_SYSTEM, "the operating system refused a thread for blocking jobs");
}

static bool wake_one(struct muster_pool *pool) {
  uint32_t index = idle_take(&pool->blocking_idle, pool->seat_count);
  if (index != IDLE_NONE) park_wake(&pool->seats[index].parking);
  return index != IDLE_NONE;
}

void blocking_call(struct muster_pool *pool, bool more) {
  if (wake_one(pool) || !more || load_ordered_u32(&pool->blocking_started) == pool->def.blocking_threads_max) return;
  start_one(pool); /* if refused, the threads that exist run the job later */
}

void blocking_run(struct seat *seat) {
  struct muster_pool *pool = seat->pool;
  const struct lane *lane = &pool->queue.lanes[LANE_BLOCKING];
  bool woken = false;
  while (!pool_is_stopping(pool)) {
    uint32_t ticket = park_ticket(&seat->parking);
    /* A wake for another job may have been spent on this thread, which may be busy for long. */
    if (woken && lane_tail(lane) - lane_head(lane) > 1) blocking_call(pool, true);
    woken = false;
    uint32_t ran = 0;
    if (worker_serve_lane(seat, LANE_BLOCKING, &ran)) continue;
    idle_enter(&pool->blocking_idle, seat->index);
    if (!lane_has_work(lane) && !pool_is_stopping(pool)) park_wait(&seat->parking, ticket);
    idle_leave(&pool->blocking_idle, seat->index);
    woken = true;
  }
}
