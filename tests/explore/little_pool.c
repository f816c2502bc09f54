#include "little_pool.h"

#include "pool/threads.h"

enum { LANE_JOBS = 4 };

static struct muster_pool **state_with_pool;

struct muster_pool *little_pool(uint32_t workers, uint32_t external) {
  struct muster_pool *pool = explore_memory(sizeof *pool);
  pool->def = muster_pool_def_default();
  pool->def.external_max = external;
  pool->def.jobs_max = LANE_JOBS;
  pool->workers = pool->existing.value = workers;
  pool->slot_count = pool_external_index(pool, external);
  pool->slots = explore_memory(pool->slot_count * sizeof *pool->slots);
  for (uint32_t i = 0; i < pool->slot_count; i++)
    pool->slots[i] = (struct worker_slot){.pool = pool, .index = i, .processor = {UINT32_MAX}};
  pool->free_external.value = pool_all_external(pool);
  queue_create(&pool->queue, LANE_JOBS, &pool->arena);
  return pool;
}

void little_worker(struct muster_pool *pool, uint32_t index, uint32_t claim_most) {
  struct pool_entry entered;
  struct worker_slot *slot = &pool->slots[index];
  pool_enter_for_life(&entered, slot);
  while (!pool_is_stopping(pool))
    if (!worker_serve(slot, QUEUE_ALL, claim_most) && !worker_steal(slot, QUEUE_ALL)) worker_sleep(slot);
  pool_leave(&entered);
}

bool little_works(struct muster_pool *pool, uint32_t fibre, uint32_t claim_most) {
  if (fibre > 0) little_worker(pool, fibre, claim_most);
  return fibre > 0;
}

void little_spinning_worker(struct muster_pool *pool, uint32_t index) {
  struct pool_entry entered;
  pool_enter_for_life(&entered, &pool->slots[index]);
  worker_run(&pool->slots[index]);
  pool_leave(&entered);
}

uint64_t little_pool_stop_quiet(struct muster_pool *pool) {
  explore_until_quiet();
  return muster_pool_stop(pool);
}

void little_pool_check_empty(struct muster_pool *pool) {
  for (uint32_t i = 0; i < MUSTER_URGENCIES; i++) {
    EXPLORE_CHECK(!lane_has_work(&pool->queue.lanes[i]));
    EXPLORE_CHECK(lane_head(&pool->queue.lanes[i]) == lane_tail(&pool->queue.lanes[i]));
  }
  for (uint32_t i = 0; i < pool->slot_count; i++) {
    EXPLORE_CHECK(load_relaxed_u64(&pool->slots[i].claim) == 0);
    EXPLORE_CHECK(!pool->slots[i].running);
  }
  EXPLORE_CHECK(idle_take(&pool->idle, pool->slot_count) == IDLE_NONE);
  EXPLORE_CHECK(idle_take(&pool->waiting, pool->slot_count) == IDLE_NONE);
  EXPLORE_CHECK(load_relaxed_u64(&pool->free_external) == pool_all_external(pool));
}

void *little_pool_state(size_t bytes, uint32_t workers, uint32_t external) {
  state_with_pool = explore_memory(bytes);
  *state_with_pool = little_pool(workers, external);
  return state_with_pool;
}

void little_pool_state_check(void) {
  little_pool_check_empty(*state_with_pool);
}

void little_job(void *argument, uint32_t worker) {
  unsigned char *ran = argument;
  (void)worker;
  EXPLORE_CHECK(*ran == 0);
  *ran = 1;
  explore_moment();
}
