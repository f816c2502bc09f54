/* Muster's pool, through its public header. */
#include "builtin.h"
#include "pin.h"

#include <muster/jobs.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

struct adaptor {
  muster_group group;
  muster_range range;
  muster_pool *pool;
};

static void die(void) {
  fprintf(stderr, "muster bench: the pool refuses: %s\n", muster_last_error());
  abort();
}

static void *create_pool(const bench_wishes *wishes, muster_affinity affinity) {
  muster_pool_def def = muster_pool_def_default();
  def.workers = wishes->workers;
  def.affinity = affinity;
  if (def.jobs_max < wishes->jobs_max) def.jobs_max = wishes->jobs_max;
  struct adaptor *adaptor = aligned_alloc(_Alignof(struct adaptor), sizeof *adaptor);
  if (!adaptor) return NULL;
  adaptor->pool = muster_pool_create(&def);
  if (!adaptor->pool) die();
  muster_group_init(&adaptor->group, adaptor->pool);
  return adaptor;
}

static void *create_apart(const bench_wishes *wishes) {
  return create_pool(wishes, MUSTER_AFFINITY_APART);
}

static void *create_unpinned(const bench_wishes *wishes) {
  return create_pool(wishes, MUSTER_AFFINITY_NONE);
}

static void destroy(void *pool) {
  struct adaptor *adaptor = pool;
  muster_pool_destroy(adaptor->pool);
  free(adaptor);
}

/* A worker that the kernel takes away while it takes a job keeps the places behind it: on a laden machine the queue may
 * be full of those, and is until that worker runs again, whatever the group has done. */
static void submit_at(void *pool, uint32_t level, bench_job run, void *argument) {
  struct adaptor *adaptor = pool;
  muster_result result;
  while (__builtin_expect((result = muster_job_submit(adaptor->pool, level, run, argument, &adaptor->group)) != 0, 0)) {
    if (result != MUSTER_E_FULL || muster_group_wait(&adaptor->group) != MUSTER_OK) die();
    sched_yield();
  }
}

static void submit(void *pool, bench_job run, void *argument) {
  submit_at(pool, MUSTER_URGENCY_NORMAL, run, argument);
}

/* All jobs of the pool are of the group. Helping with any of them makes the caller take the most urgent first. */
static void wait_helping(void *pool) {
  struct adaptor *adaptor = pool;
  if (muster_group_wait_helping(&adaptor->group, MUSTER_URGENCIES - 1) != MUSTER_OK) die();
}

static void parallel_for(void *pool, uint64_t count, uint64_t grain, bench_range run, void *argument) {
  struct adaptor *adaptor = pool;
  if (muster_parallel_for(adaptor->pool, MUSTER_URGENCY_NORMAL, count, grain, run, argument) != MUSTER_OK) die();
}

static void submit_range_at(void *pool, uint32_t level, uint64_t count, uint64_t grain, bench_range run,
                            void *argument) {
  struct adaptor *adaptor = pool;
  if (muster_range_submit(&adaptor->range, adaptor->pool, level, count, grain, run, argument, &adaptor->group)) die();
}

static void count_claims(void *pool, uint64_t *jobs, uint64_t *claims) {
  struct adaptor *adaptor = pool;
  muster_pool_statistics statistics = muster_pool_statistics_default();
  if (muster_pool_statistics_read(adaptor->pool, UINT32_MAX, &statistics) != MUSTER_OK) die();
  *jobs = statistics.jobs;
  *claims = statistics.claims;
}

#define MUSTER_FUNCTIONS                                                                                               \
  .destroy = destroy, .inside = pin_inside, .submit = submit, .wait = wait_helping, .parallel_for = parallel_for,      \
  .levels = MUSTER_URGENCIES, .submit_at = submit_at, .submit_range_at = submit_range_at, .count = count_claims

const bench_system system_muster = {
    .key = "muster",
    .name = "Muster",
    .convention = "caller counted, works along in waits; as by default: worker threads kept off the caller's processor",
    .create = create_apart,
    MUSTER_FUNCTIONS,
};

const bench_system system_muster_unpinned = {
    .key = "unpinned",
    .name = "Muster, affinity none",
    .convention = "the same with MUSTER_AFFINITY_NONE: the operating system places the threads",
    .only = {"start-parked", "efficiency-frame"},
    .create = create_unpinned,
    MUSTER_FUNCTIONS,
};
