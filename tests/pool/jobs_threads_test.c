/* The threads of a pool as the host sees them: hooks, names and affinity. */
#include "pool/jobs_support.h"
#include "support/thread_names.h"

/* ------------------------------------------------------------------------------------------------------------ names */

/* Each thread names itself when it begins, which may be after the pool was made. */
static void await_named(const char *prefix, uint32_t count) {
  AWAIT(thread_names_count(getpid(), prefix) == count);
}

Test(jobs_threads, threads_bear_the_pools_name_and_their_number) {
  char name[] = "abcdefghijklmn";
  muster_pool *pool = create_pool_as(WITH(muster_pool_def, it.workers = 4, it.name = name)), *unnamed = create_pool(3);
  memset(name, 'z', sizeof name - 1); /* it was copied */
  await_named("abcdefghij-1\n", 1);
  await_named("abcdefghij-2\n", 1);
  await_named("abcdefghij-", 3);
  await_named("muster-", 2);
  muster_pool_destroy(unnamed);
  cr_assert_eq(thread_names_count(getpid(), "muster-"), 0);
  muster_pool_destroy(pool);
  cr_assert_eq(thread_names_count(getpid(), "abcdefghij"), 0);
}

/* ------------------------------------------------------------------------------------------------------------ hooks */

enum { WORKERS = 5 };

struct hooks {
  shared_u64 started[WORKERS], slept[WORKERS], woken[WORKERS], stopped[WORKERS];
  shared_u64 wrong;
};

static void on_start(uint32_t worker, void *user) {
  struct hooks *hooks = user;
  if (worker == 0 || worker >= WORKERS || count_up(&hooks->started[worker]) != 1) count_up(&hooks->wrong);
}

static void on_sleep(uint32_t worker, void *user) {
  struct hooks *hooks = user;
  if (count_up(&hooks->slept[worker]) != read_count(&hooks->woken[worker]) + 1) count_up(&hooks->wrong);
}

static void on_wake(uint32_t worker, void *user) {
  struct hooks *hooks = user;
  if (count_up(&hooks->woken[worker]) != read_count(&hooks->slept[worker])) count_up(&hooks->wrong);
}

static void on_stop(uint32_t worker, void *user) {
  struct hooks *hooks = user;
  if (read_count(&hooks->woken[worker]) != read_count(&hooks->slept[worker])) count_up(&hooks->wrong);
  if (count_up(&hooks->stopped[worker]) != 1) count_up(&hooks->wrong);
}

static muster_pool *create_hooked(struct hooks *hooks) {
  muster_pool_def def =
      WITH(muster_pool_def, it.workers = WORKERS, it.on_worker_start = on_start, it.on_worker_sleep = on_sleep,
           it.on_worker_wake = on_wake, it.on_worker_stop = on_stop, it.hook_user = hooks);
  return create_pool_as(def);
}

Test(jobs_threads, hooks_tell_of_each_start_sleep_wake_and_stop_in_pairs) {
  for (uint32_t round = 0; round < 20; round++) {
    struct hooks hooks = {0};
    muster_pool *pool = create_hooked(&hooks);
    muster_group group = new_group(pool);
    for (uint32_t i = 1; i < WORKERS; i++) await_sleep(pool, i, 1);
    submit(pool, 4, do_nothing, NULL, &group);
    wait_asleep(&group);
    muster_pool_destroy(pool);
    cr_assert_eq(read_count(&hooks.wrong), 0);
    for (uint32_t i = 1; i < WORKERS; i++) {
      cr_assert_eq(read_count(&hooks.started[i]), 1);
      cr_assert_geq(read_count(&hooks.slept[i]), 1);
      cr_assert_eq(read_count(&hooks.slept[i]), read_count(&hooks.woken[i]));
      cr_assert_eq(read_count(&hooks.stopped[i]), 1);
    }
  }
}

typedef struct long_wait {
  muster_pool *pool;
  struct hooks *hooks;
  struct gate gate;
  shared_u64 told;
} long_wait;

static void wait_for_gate(void *argument, uint32_t worker) {
  long_wait *wait = argument;
  muster_group group = new_group(wait->pool);
  uint64_t slept = read_count(&wait->hooks->slept[worker]);
  muster_job_submit(wait->pool, 4, stand_at_gate, &wait->gate, &group);
  muster_group_wait_asleep(&group);
  if (read_count(&wait->hooks->slept[worker]) > slept) count_up(&wait->told);
}

Test(jobs_threads, hooks_tell_also_of_a_worker_that_sleeps_inside_a_wait) {
  struct hooks hooks = {0};
  muster_pool *pool = create_hooked(&hooks);
  muster_group group = new_group(pool);
  for (uint32_t i = 1; i < WORKERS; i++) await_sleep(pool, i, 1);
  uint64_t slept = sleeps_of(pool, UINT32_MAX);
  long_wait wait = {.pool = pool, .hooks = &hooks};
  submit(pool, 4, wait_for_gate, &wait, &group);
  await_count(&wait.gate.arrived, 1);
  await_sleep(pool, UINT32_MAX, slept + 1);
  open_gate(&wait.gate);
  wait_asleep(&group);
  cr_assert_eq(read_count(&wait.told), 1);
  muster_pool_destroy(pool);
  cr_assert_eq(read_count(&hooks.wrong), 0);
}

/* --------------------------------------------------------------------------------------------------------- affinity */

struct mask {
  cpu_set_t set;
  bool read;
};

static void read_mask(void *argument, uint32_t worker) {
  struct mask *mask = argument;
  (void)worker;
  mask->read = sched_getaffinity(0, sizeof mask->set, &mask->set) == 0;
}

Test(jobs_threads, the_affinity_of_the_host_is_left_alone) {
  struct mask before = {0}, after = {0};
  read_mask(&before, 0);
  SCOPED(close_pool) muster_pool *pool = create_pool(0);
  muster_group group = new_group(pool);
  for (uint32_t i = 0; i < 1000; i++) submit(pool, 4, do_nothing, NULL, &group);
  wait_for(&group);
  read_mask(&after, 0);
  cr_assert(before.read && after.read && CPU_EQUAL(&before.set, &after.set), "the caller's own affinity was touched");
}

Test(jobs_threads, workers_are_bound_to_nothing_when_that_is_asked_for) {
  struct mask host = {0}, worker = {0};
  read_mask(&host, 0);
  SCOPED(close_pool)
  muster_pool *pool = create_pool_as(WITH(muster_pool_def, it.workers = 2, it.affinity = MUSTER_AFFINITY_NONE));
  muster_group group = new_group(pool);
  submit(pool, 4, read_mask, &worker, &group);
  wait_asleep(&group);
  cr_assert(worker.read && CPU_EQUAL(&worker.set, &host.set));
}
