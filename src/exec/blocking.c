#include "exec/blocking.h"

#include "base/error.h"
#include "exec/threads.h"
#include "exec/worker.h"

static bool somebody_sleeps(const struct muster_pool *pool) {
  for (uint32_t word = 0; word < IDLE_WORDS; word++)
    if (load_ordered_u64(&pool->blocking_idle.words[word])) return true;
  return false;
}

muster_result blocking_provide(struct muster_pool *pool) {
  uint32_t most = pool->def.blocking_threads_max, started = load_ordered_u32(&pool->blocking_started), idle = 0;
  if (most == 0) return error_set(MUSTER_E_STATE, "jobs: the pool's blocking_threads_max is 0");
  if (started == most || (started && somebody_sleeps(pool))) return MUSTER_OK;
  if (!compare_exchange_ordered_u32(&pool->blocking_lock, &idle, 1)) {
    /* Somebody starts one: the first has to be there, more are a matter of speed. */
    while (load_ordered_u32(&pool->blocking_started) == 0 && load_ordered_u32(&pool->blocking_lock)) threads_yield();
    return load_ordered_u32(&pool->blocking_started) ? MUSTER_OK : blocking_provide(pool);
  }
  started = load_ordered_u32(&pool->blocking_started);
  bool stopping = pool_is_stopping(pool);
  bool start = started < most && !stopping && threads_start_blocking(pool, started);
  if (start) store_ordered_u32(&pool->blocking_started, started + 1);
  store_ordered_u32(&pool->blocking_lock, 0);
  if (stopping) return error_set(MUSTER_E_STATE, "jobs: the pool was stopped");
  if (!start && started == 0)
    return error_set(MUSTER_E_SYSTEM, "the operating system refused a thread for blocking jobs");
  return MUSTER_OK;
}

void blocking_wake(struct muster_pool *pool) {
  uint32_t index = idle_take(&pool->blocking_idle, pool->seat_count);
  if (index != IDLE_NONE) park_wake(&pool->seats[index].parking);
}

void blocking_run(seat *seat) {
  struct muster_pool *pool = seat->pool;
  while (!pool_is_stopping(pool)) {
    uint32_t ticket = park_ticket(&seat->parking);
    if (worker_serve_lane(seat, LANE_BLOCKING)) continue;
    idle_enter(&pool->blocking_idle, seat->index);
    if (!lane_has_work(&pool->queue.lanes[LANE_BLOCKING]) && !pool_is_stopping(pool)) park_wait(&seat->parking, ticket);
    idle_leave(&pool->blocking_idle, seat->index);
  }
}
