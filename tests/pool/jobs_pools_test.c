/* Several pools in one process, and jobs of one that wait for jobs of another. */
#include "pool/jobs_support.h"

enum { POOLS = 3 };

Test(jobs_pools, keep_their_jobs_apart) {
  muster_pool *pools[POOLS];
  muster_group groups[POOLS];
  shared_u64 ran[POOLS] = {{0}};
  for (uint32_t i = 0; i < POOLS; i++) {
    pools[i] = create_pool(i + 1);
    muster_group_init(&groups[i], pools[i]);
  }
  for (uint32_t round = 0; round < 1000; round++)
    for (uint32_t i = 0; i < POOLS; i++) submit(pools[i], round % 8, count_job, &ran[i], &groups[i]);
  for (uint32_t i = 0; i < POOLS; i++) {
    wait_for(&groups[i]);
    cr_assert_eq(read_count(&ran[i]), 1000);
    cr_assert_eq(muster_pool_current_index(pools[i]), UINT32_MAX);
  }
  for (uint32_t i = POOLS; i-- > 0;) muster_pool_destroy(pools[i]);
}

/* A job of pool a waits for one of pool b, which waits for one of pool a, and so on down. */
struct ladder {
  muster_pool *pools[2];
  uint32_t depth;
  shared_u64 *steps, *changed;
};

static void climb(void *argument, uint32_t worker) {
  const struct ladder *ladder = argument;
  muster_pool *here = ladder->pools[0], *there = ladder->pools[1];
  count_up(ladder->steps);
  if (muster_pool_current_index(here) != worker) count_up(ladder->changed);
  if (ladder->depth == 0) return;
  struct ladder next = {{there, here}, ladder->depth - 1, ladder->steps, ladder->changed};
  muster_group group = new_group(there);
  for (uint32_t i = 0; i < 2; i++) muster_job_submit(there, i * 7, climb, &next, &group);
  muster_group_wait(&group);
  if (muster_pool_current_index(here) != worker) count_up(ladder->changed);
}

static void *climb_from_outside(void *argument) {
  const struct ladder *ladder = argument;
  muster_group group = new_group(ladder->pools[0]);
  for (uint32_t i = 0; i < 40 / SLOWER; i++) {
    muster_job_submit(ladder->pools[0], i % 8, climb, argument, &group);
    muster_group_wait(&group);
  }
  return NULL;
}

static void climb_with(uint32_t workers, uint32_t threads) {
  enum { DEPTH = 7 };
  /* A worker slot for every thread that may wait at once. */
  muster_pool_def def = WITH(muster_pool_def, it.workers = workers, it.external_max = workers + threads);
  shared_u64 steps = {0}, changed = {0};
  SCOPED(close_pool) muster_pool *first = create_pool_as(def), *second = create_pool_as(def);
  struct ladder ladders[2] = {{{first, second}, DEPTH, &steps, &changed}, {{second, first}, DEPTH, &steps, &changed}};
  SCOPED(free_memory) pthread_t *started = calloc(threads, sizeof *started);
  for (uint32_t i = 0; i < threads; i++) started[i] = start_thread(climb_from_outside, &ladders[i % 2]);
  join_threads(started, threads);
  cr_assert_eq(read_count(&steps), (uint64_t)threads * (40 / SLOWER) * ((2u << DEPTH) - 1));
  cr_assert_eq(read_count(&changed), 0, "a thread's index changed");
}

Test(jobs_pools, may_wait_for_each_other_to_and_fro) {
  climb_with(3, 2);
  climb_with(1, 2);
  climb_with(8, 6);
}

static void use_a_pool_of_its_own(void *argument, uint32_t worker) {
  muster_pool_def def = muster_pool_def_default();
  muster_group group;
  (void)worker;
  def.workers = 2;
  SCOPED(close_pool) muster_pool *pool = muster_pool_create(&def);
  if (!pool) return;
  muster_group_init(&group, pool);
  for (uint32_t i = 0; i < 10; i++) muster_job_submit(pool, 4, count_job, argument, &group);
  muster_group_wait_asleep(&group);
}

Test(jobs_pools, may_be_created_and_destroyed_inside_a_job_of_another) {
  SCOPED(close_pool) muster_pool *pool = create_pool(3);
  muster_group group = new_group(pool);
  shared_u64 ran = {0};
  for (uint32_t i = 0; i < 50 / SLOWER; i++) submit(pool, 4, use_a_pool_of_its_own, &ran, &group);
  wait_for(&group);
  cr_assert_eq(read_count(&ran), 50 / SLOWER * 10);
}
