/* What the machine itself allows, as a reference for all others: one thread behind a bare futex, a static split of the
 * jobs over threads that never sleep, and the caller alone. */
#include "builtin.h"
#include "pin.h"

#include "pool/atomics.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS_MAX = 256 };

static void pin(uint32_t number) {
  cpu_set_t all = pin_processors();
  pin_to(&all, number);
}

/* ------------------------------------------------------------------------------------------------------- bare futex */

typedef struct futex_pool {
  pthread_t thread;
  bool pinned;
  bench_job run; /* null ends the thread */
  void *argument;
  _Alignas(128) shared_u32 posted; /* counts jobs; the thread sleeps on it */
  _Alignas(128) shared_u32 done;   /* the number of the last job done */
} futex_pool;

static void futex_call(shared_u32 *word, int operation, uint32_t value) {
  syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static void *futex_thread(void *argument) {
  futex_pool *pool = argument;
  if (pool->pinned) pin(1);
  for (uint32_t seen = 0;;) {
    uint32_t posted;
    while ((posted = load_acquire_u32(&pool->posted)) == seen) futex_call(&pool->posted, FUTEX_WAIT, seen);
    seen = posted;
    if (!pool->run) return NULL;
    pool->run(pool->argument, 1);
    store_release_u32(&pool->done, seen); /* pairs with futex_wait */
  }
}

static void *futex_create_pool(bool pinned) {
  futex_pool *pool = aligned_alloc(_Alignof(struct futex_pool), sizeof *pool);
  if (!pool) return NULL;
  *pool = (futex_pool){.pinned = pinned};
  if (pthread_create(&pool->thread, NULL, futex_thread, pool) != 0) abort();
  if (pinned) pin(0);
  return pool;
}

static void *futex_create(const bench_wishes *wishes) {
  (void)wishes;
  return futex_create_pool(false);
}

static void *futex_create_pinned(const bench_wishes *wishes) {
  (void)wishes;
  return futex_create_pool(true);
}

/* One job at a time. */
static void futex_submit(void *system_pool, bench_job run, void *argument) {
  futex_pool *pool = system_pool;
  pool->run = run;
  pool->argument = argument;
  store_release_u32(&pool->posted, load_relaxed_u32(&pool->posted) + 1); /* pairs with futex_thread */
  futex_call(&pool->posted, FUTEX_WAKE, 1);
}

static void futex_wait(void *system_pool) {
  futex_pool *pool = system_pool;
  while (load_acquire_u32(&pool->done) != load_relaxed_u32(&pool->posted)) pause_processor();
}

static void futex_destroy(void *system_pool) {
  futex_pool *pool = system_pool;
  futex_submit(pool, NULL, NULL);
  pthread_join(pool->thread, NULL);
  free(pool);
}

#define FUTEX_FUNCTIONS                                                                                                \
  .only = {"start-parked"}, .destroy = futex_destroy, .inside = pin_inside, .submit = futex_submit, .wait = futex_wait

const bench_system system_futex = {
    .key = "futex",
    .name = "a bare futex",
    .convention = "one thread in FUTEX_WAIT, from before FUTEX_WAKE until it runs; no queue, no pool",
    .create = futex_create,
    FUTEX_FUNCTIONS,
};

const bench_system system_futex_pinned = {
    .key = "futex-pin",
    .name = "a bare futex, pinned apart",
    .convention = "the same, waker and thread each pinned to a processor of its own",
    .create = futex_create_pinned,
    FUTEX_FUNCTIONS,
};

/* ----------------------------------------------------------------------------------------------------- static split */

typedef struct split_job {
  bench_job run;
  void *argument;
} split_job;

typedef struct split_pool split_pool;

typedef struct split_thread {
  split_pool *pool;
  pthread_t thread;
  uint32_t index;
} split_thread;

struct split_pool {
  uint32_t workers, count;
  split_job *jobs;
  _Alignas(128) shared_u32 session;  /* counted up when the jobs are there */
  _Alignas(128) shared_u32 stopping; /* 1: the next session ends the threads */
  _Alignas(128) shared_u64 running;  /* threads that have not finished the session */
  split_thread threads[THREADS_MAX];
};

static void split_work(split_pool *pool, uint32_t index) {
  uint64_t count = pool->count;
  uint32_t begin = (uint32_t)(count * index / pool->workers), end = (uint32_t)(count * (index + 1) / pool->workers);
  for (uint32_t i = begin; i < end; i++) pool->jobs[i].run(pool->jobs[i].argument, index);
}

static void *split_main(void *argument) {
  split_thread *thread = argument;
  split_pool *pool = thread->pool;
  pin(thread->index);
  for (uint32_t seen = 0;;) {
    uint32_t session;
    while ((session = load_acquire_u32(&pool->session)) == seen) pause_processor(); /* pairs with split_wait */
    if (load_relaxed_u32(&pool->stopping)) return NULL;
    seen = session;
    split_work(pool, thread->index);
    fetch_sub_release_u64(&pool->running, 1);
  }
}

static split_pool *split_create_pool(uint32_t workers, uint32_t jobs_max) {
  split_pool *pool = aligned_alloc(_Alignof(struct split_pool), sizeof *pool);
  if (!pool) return NULL;
  *pool = (split_pool){.workers = workers, .jobs = calloc(jobs_max, sizeof(split_job))};
  if (!pool->jobs) abort();
  for (uint32_t i = 1; i < pool->workers; i++) {
    pool->threads[i] = (split_thread){.pool = pool, .index = i};
    if (pthread_create(&pool->threads[i].thread, NULL, split_main, &pool->threads[i]) != 0) abort();
  }
  return pool;
}

static void *split_create(const bench_wishes *wishes) {
  split_pool *pool = split_create_pool(wishes->workers, wishes->jobs_max);
  pin(0);
  return pool;
}

static void *alone_create(const bench_wishes *wishes) {
  return split_create_pool(1, wishes->jobs_max);
}

static void split_submit(void *system_pool, bench_job run, void *argument) {
  split_pool *pool = system_pool;
  pool->jobs[pool->count++] = (split_job){run, argument};
}

static void split_wait(void *system_pool) {
  split_pool *pool = system_pool;
  store_relaxed_u64(&pool->running, pool->workers - 1);
  store_release_u32(&pool->session, load_relaxed_u32(&pool->session) + 1);
  split_work(pool, 0);
  while (load_acquire_u64(&pool->running) > 0) pause_processor(); /* pairs with the threads' release */
  pool->count = 0;
}

static void split_destroy(void *system_pool) {
  split_pool *pool = system_pool;
  store_relaxed_u32(&pool->stopping, 1);
  store_release_u32(&pool->session, load_relaxed_u32(&pool->session) + 1); /* publishes it */
  for (uint32_t i = 1; i < pool->workers; i++) pthread_join(pool->threads[i].thread, NULL);
  free(pool->jobs);
  free(pool);
}

#define SPLIT_FUNCTIONS .destroy = split_destroy, .inside = pin_inside, .submit = split_submit, .wait = split_wait

const bench_system system_split = {
    .key = "split",
    .name = "a static split",
    .convention =
        "caller counted; pinned apart, the threads spin all the time and know their share: the machine's ceiling",
    .only = {"efficiency-frame", "efficiency-1us-jobs"},
    .create = split_create,
    SPLIT_FUNCTIONS,
};

const bench_system system_alone = {
    .key = "alone",
    .name = "the caller alone",
    .convention =
        "one thread, no other: efficiency is 1/workers, and its CPU is what sleeping for a frame costs anyway",
    .only = {"efficiency-frame"},
    .create = alone_create,
    SPLIT_FUNCTIONS,
};
