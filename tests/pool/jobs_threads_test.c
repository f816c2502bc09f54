/* The threads of a pool as the host sees them: blocking threads, hooks, names and affinity. */
#include "pool/jobs_support.h"

#include <dirent.h>
#include <stdio.h>

/* ------------------------------------------------------------------------------------------------- blocking threads */

static muster_pool *create_for_blocking(uint32_t workers, uint32_t threads) {
  muster_pool_def def = muster_default_pool_def();
  def.workers = workers;
  def.blocking_threads_max = threads;
  return create_pool_as(&def);
}

Test(jobs_threads, blocking_jobs_run_beside_each_other_outside_the_workers_up_to_the_maximum) {
  enum { THREADS = 5 };
  muster_pool *pool = create_for_blocking(2, THREADS);
  for (uint32_t round = 0; round < 50 / SLOWER; round++) {
    muster_group blocking = new_group(pool), group = new_group(pool);
    struct gate gate = {0};
    shared_u64 ran = {0};
    for (uint32_t i = 0; i < 2 * THREADS; i++)
      cr_assert_eq(muster_job_submit_blocking(pool, stand_at_gate, &gate, &blocking), MUSTER_OK);
    await_count(&gate.arrived, THREADS);
    for (uint32_t i = 0; i < 100; i++) submit(pool, 7, count_job, &ran, &group);
    cr_assert_eq(muster_group_wait_asleep(&group), MUSTER_OK, "the workers are free");
    cr_assert_eq(read_count(&gate.arrived), THREADS, "more run at once than there may be threads");
    open_gate(&gate);
    wait_for(&blocking);
    cr_assert_eq(read_count(&gate.left), 2 * THREADS);
  }
  muster_pool_destroy(pool);
}

typedef struct chained_block {
  shared_u64 *turn;
  uint64_t number, count;
} chained_block;

static void wait_for_the_later_ones(void *argument, uint32_t worker) {
  const chained_block *block = argument;
  (void)worker;
  await_count(block->turn, block->count - block->number - 1);
  count_up(block->turn);
}

typedef struct block_submitter {
  muster_pool *pool;
  muster_group *group;
  shared_u64 *turn, *begun;
  chained_block blocks[2];
  uint64_t wrong;
} block_submitter;

static void *submit_blocks(void *argument) {
  block_submitter *submitter = argument;
  count_up(submitter->begun);
  await_count(submitter->begun, 2);
  for (uint32_t i = 0; i < 2; i++)
    submitter->wrong += muster_job_submit_blocking(submitter->pool, wait_for_the_later_ones, &submitter->blocks[i],
                                                   submitter->group) != MUSTER_OK;
  return NULL;
}

/* Each waits for those after it, so that it never ends when two count on one thread that sleeps. */
Test(jobs_threads, a_blocking_job_gets_a_thread_while_there_are_fewer_than_the_maximum) {
  enum { JOBS = 4 };
  muster_pool *pool = create_for_blocking(2, JOBS);
  for (uint32_t round = 0; round < 600 / SLOWER; round++) {
    muster_group group = new_group(pool);
    shared_u64 turn = {0}, begun = {0};
    block_submitter submitters[2];
    pthread_t threads[2];
    for (uint32_t i = 0; i < 2; i++) {
      submitters[i] = (block_submitter){pool, &group, &turn, &begun, {{0}}, 0};
      for (uint64_t k = 0; k < 2; k++) submitters[i].blocks[k] = (chained_block){&turn, i + k * 2, JOBS};
      threads[i] = start_thread(submit_blocks, &submitters[i]);
    }
    for (uint32_t i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    wait_for(&group);
    cr_assert_eq(submitters[0].wrong + submitters[1].wrong, 0);
  }
  muster_pool_destroy(pool);
}

static void wait_for_ordinary_jobs(void *argument, uint32_t worker) {
  muster_pool *pool = argument;
  muster_group group;
  shared_u64 ran = {0};
  (void)worker;
  muster_group_init(&group, pool);
  for (uint32_t i = 0; i < 20; i++) muster_job_submit(pool, i % 8, count_job, &ran, &group);
  muster_group_wait(&group);
}

Test(jobs_threads, a_blocking_job_may_wait_for_other_jobs) {
  muster_pool *pool = create_for_blocking(1, 2);
  muster_group group = new_group(pool);
  for (uint32_t i = 0; i < 100; i++)
    cr_assert_eq(muster_job_submit_blocking(pool, wait_for_ordinary_jobs, pool, &group), MUSTER_OK);
  wait_for(&group);
  muster_pool_destroy(pool);
}

Test(jobs_threads, without_threads_for_them_blocking_jobs_are_refused) {
  muster_pool *pool = create_for_blocking(2, 0);
  muster_group group = new_group(pool);
  cr_assert_eq(muster_job_submit_blocking(pool, do_nothing, NULL, &group), MUSTER_E_STATE);
  cr_assert(muster_group_is_complete(&group));
  muster_pool_destroy(pool);
}

/* ------------------------------------------------------------------------------------------------------------ names */

/* How many threads of this process have a name that begins so. */
static uint32_t threads_named(const char *prefix) {
  char path[64], name[32];
  uint32_t count = 0;
  DIR *folder = opendir("/proc/self/task");
  cr_assert_not_null(folder);
  for (const struct dirent *entry; (entry = readdir(folder));) {
    snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", entry->d_name);
    FILE *file = fopen(path, "re");
    if (!file) continue;
    if (fgets(name, sizeof name, file)) count += strncmp(name, prefix, strlen(prefix)) == 0;
    fclose(file);
  }
  closedir(folder);
  return count;
}

Test(jobs_threads, threads_bear_the_pools_name_and_their_number) {
  char name[] = "abcdefghijklmn";
  muster_pool_def def = muster_default_pool_def();
  def.workers = 4;
  def.name = name;
  muster_pool *pool = create_pool_as(&def), *unnamed = create_pool(3);
  memset(name, 'z', sizeof name - 1); /* it was copied */
  cr_assert_eq(threads_named("abcdefghij-1\n"), 1);
  cr_assert_eq(threads_named("abcdefghij-2\n"), 1);
  cr_assert_eq(threads_named("abcdefghij-"), 3, "three workers, and blocking threads only when they are needed");
  cr_assert_eq(threads_named("muster-"), 2);
  cr_assert_eq(muster_job_submit_blocking(pool, do_nothing, NULL, NULL), MUSTER_OK);
  cr_assert_eq(threads_named("abcdefghij-"), 4);
  muster_pool_destroy(unnamed);
  cr_assert_eq(threads_named("muster-"), 0);
  muster_pool_destroy(pool);
  cr_assert_eq(threads_named("abcdefghij"), 0);
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
  muster_pool_def def = muster_default_pool_def();
  def.workers = WORKERS;
  def.on_worker_start = on_start;
  def.on_worker_sleep = on_sleep;
  def.on_worker_wake = on_wake;
  def.on_worker_stop = on_stop;
  def.hook_user = hooks;
  return create_pool_as(&def);
}

Test(jobs_threads, hooks_tell_of_each_start_sleep_wake_and_stop_in_pairs) {
  for (uint32_t round = 0; round < 20; round++) {
    struct hooks hooks = {0};
    muster_pool *pool = create_hooked(&hooks);
    muster_group group = new_group(pool);
    for (uint32_t i = 1; i < WORKERS; i++) await_sleep(pool, i, 1);
    submit(pool, 4, do_nothing, NULL, &group);
    cr_assert_eq(muster_group_wait_asleep(&group), MUSTER_OK);
    cr_assert_eq(muster_job_submit_blocking(pool, do_nothing, NULL, &group), MUSTER_OK);
    wait_for(&group);
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
  muster_group group;
  muster_group_init(&group, wait->pool);
  uint64_t slept = read_count(&wait->hooks->slept[worker]);
  muster_job_submit_blocking(wait->pool, stand_at_gate, &wait->gate, &group);
  muster_group_wait(&group);
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
  cr_assert_eq(muster_group_wait_asleep(&group), MUSTER_OK);
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

typedef struct blocking_in_job {
  muster_pool *pool;
  muster_group *group;
  struct mask mask;
} blocking_in_job;

static void submit_blocking_in_job(void *argument, uint32_t worker) {
  blocking_in_job *test = argument;
  (void)worker;
  muster_job_submit_blocking(test->pool, read_mask, &test->mask, test->group);
}

Test(jobs_threads, the_affinity_of_the_host_is_left_alone_and_blocking_threads_have_the_same) {
  struct mask before = {0}, after = {0}, blocking = {0};
  read_mask(&before, 0);
  muster_pool *pool = create_pool(0);
  muster_group group = new_group(pool);
  blocking_in_job test = {.pool = pool, .group = &group};
  for (uint32_t i = 0; i < 1000; i++) submit(pool, 4, do_nothing, NULL, &group);
  wait_for(&group);
  submit(pool, 4, submit_blocking_in_job, &test, &group); /* on a worker, which may be bound to a processor */
  cr_assert(muster_pool_workers(pool) == 1 || muster_group_wait_asleep(&group) == MUSTER_OK);
  wait_for(&group);
  cr_assert(test.mask.read && CPU_EQUAL(&test.mask.set, &before.set), "a blocking thread is bound");
  cr_assert_eq(muster_job_submit_blocking(pool, read_mask, &blocking, &group), MUSTER_OK);
  wait_for(&group);
  cr_assert(blocking.read && CPU_EQUAL(&blocking.set, &before.set));
  read_mask(&after, 0);
  cr_assert(before.read && after.read && CPU_EQUAL(&before.set, &after.set), "the caller's own affinity was touched");
  muster_pool_destroy(pool);
}

Test(jobs_threads, workers_are_bound_to_nothing_when_that_is_asked_for) {
  struct mask host = {0}, worker = {0};
  read_mask(&host, 0);
  muster_pool_def def = muster_default_pool_def();
  def.workers = 2;
  def.affinity = MUSTER_AFFINITY_NONE;
  muster_pool *pool = create_pool_as(&def);
  muster_group group = new_group(pool);
  submit(pool, 4, read_mask, &worker, &group);
  cr_assert_eq(muster_group_wait_asleep(&group), MUSTER_OK);
  cr_assert(worker.read && CPU_EQUAL(&worker.set, &host.set));
  muster_pool_destroy(pool);
}
