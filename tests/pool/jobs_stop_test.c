/* The end of a pool: what a stop drops and what it waits for, whatever happens at the same time. */
#include "pool/jobs_support.h"

static void do_piece(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  (void)worker;
  fetch_add_relaxed_u64(argument, end - begin);
}

static void *stop_pool(void *argument) {
  return (void *)(uintptr_t)muster_pool_stop(argument);
}

static uint64_t join_stop(pthread_t thread) {
  void *dropped;
  pthread_join(thread, &dropped);
  return (uintptr_t)dropped;
}

static void await_refusals(muster_pool *pool) {
  AWAIT(muster_parallel_for(pool, 0, 1, 1, do_piece, &(shared_u64){0}) == MUSTER_E_STATE);
}

Test(jobs_stop, drops_and_counts_what_has_not_started_and_completes_its_groups) {
  muster_pool *pool = create_pool(1);
  muster_group group = new_group(pool), other = new_group(pool);
  muster_range range;
  shared_u64 ran = {0};
  for (uint32_t i = 0; i < 16; i++) submit(pool, i % 8, count_job, &ran, i % 2 ? &group : NULL);
  cr_assert_eq(muster_range_submit(&range, pool, 4, 1000, 1, do_piece, &ran, &group), MUSTER_OK);
  for (uint32_t i = 0; i < 5; i++) submit(pool, 4, count_job, &ran, &other);
  cr_assert_eq(muster_pool_stop(pool), 16 + 1 + 5);
  cr_assert(muster_group_is_complete(&group) && muster_group_is_complete(&other));
  cr_assert_eq(muster_group_wait(&other), MUSTER_OK);
  cr_assert_eq(muster_pool_stop(pool), 0, "it was stopped already");
  muster_pool_destroy(pool);
  cr_assert_eq(read_count(&ran), 0);
}

Test(jobs_stop, afterwards_every_submit_is_refused) {
  muster_pool *pool = create_pool(2);
  muster_group group = new_group(pool);
  muster_range range;
  shared_u64 ran = {0};
  cr_assert_eq(muster_pool_stop(pool), 0);
  cr_assert_eq(muster_job_submit(pool, 0, count_job, &ran, &group), MUSTER_E_STATE);
  cr_assert_eq(muster_range_submit(&range, pool, 0, 10, 1, do_piece, &ran, &group), MUSTER_E_STATE);
  cr_assert_eq(muster_parallel_for(pool, 0, 10, 1, do_piece, &ran), MUSTER_E_STATE);
  cr_assert_eq(muster_group_wait(&group), MUSTER_OK);
  wait_asleep(&group);
  muster_pool_destroy(pool);
  cr_assert_eq(read_count(&ran), 0);
}

Test(jobs_stop, waits_for_what_runs_on_workers_and_drops_what_waits) {
  SCOPED(close_pool) muster_pool *pool = create_pool(3);
  muster_group group = new_group(pool), other = new_group(pool);
  struct gate gate = {0};
  shared_u64 ran = {0};
  hold_workers(pool, &gate, 2, &group);
  for (uint32_t i = 0; i < 8; i++) submit(pool, 4, count_job, &ran, &other);
  pthread_t thread = start_thread(stop_pool, pool);
  await_refusals(pool);
  cr_assert_not(muster_group_is_complete(&group), "two jobs of it run");
  open_gate(&gate);
  cr_assert_eq(join_stop(thread), 8, "what waited was dropped");
  cr_assert_eq(read_count(&gate.left), 2, "stopped before a job had ended");
  cr_assert(muster_group_is_complete(&other));
  cr_assert_eq(read_count(&ran), 0);
}

Test(jobs_stop, waits_for_a_job_that_runs_on_an_external_thread) {
  SCOPED(close_pool) muster_pool *pool = create_pool(1);
  muster_group group = new_group(pool);
  struct gate gate = {0};
  submit(pool, 0, stand_at_gate, &gate, &group);
  submit(pool, 0, do_nothing, NULL, &group);
  struct waiter waiter = {.group = &group, .way = WAIT_OWN};
  start_waiter(&waiter);
  await_count(&gate.arrived, 1);
  pthread_t thread = start_thread(stop_pool, pool);
  await_refusals(pool);
  open_gate(&gate);
  cr_assert_leq(join_stop(thread), 1);
  cr_assert_eq(read_count(&gate.left), 1);
  join_waiter(&waiter);
}

/* ------------------------------------------------------------------------------- jobs that wait for what is dropped */

enum { DROPPED = 2 };

struct hopeful {
  muster_pool *pool;
  muster_group sleepers;
  uint32_t jobs; /* that each sleeper waits for */
  shared_u64 arrived, waiting, done, ran;
};

/* No worker is free before both have come here, and none is afterwards. */
static void hold_both(struct hopeful *hopeful) {
  count_up(&hopeful->arrived);
  await_count(&hopeful->arrived, 2);
}

/* The waiter is asleep and runs no job itself, and no other thread will run the jobs. */
static void wait_in_vain(void *argument, uint32_t worker) {
  struct hopeful *hopeful = argument;
  muster_group group;
  hold_both(hopeful);
  muster_group_init(&group, hopeful->pool);
  for (uint32_t i = 0; i < hopeful->jobs; i++)
    muster_job_submit(hopeful->pool, worker % 8, count_job, &hopeful->ran, &group);
  count_up(&hopeful->waiting);
  muster_group_wait_asleep(&group);
  count_up(&hopeful->done);
}

/* This waiter would run the sleeper's job, but that has started; the jobs that the sleeper waits for are of another
 * group. */
static void wait_for_the_sleeper(void *argument, uint32_t worker) {
  struct hopeful *hopeful = argument;
  (void)worker;
  hold_both(hopeful);
  count_up(&hopeful->waiting);
  muster_group_wait(&hopeful->sleepers);
  count_up(&hopeful->done);
}

static void stop_over_waits(muster_job_function other, uint32_t jobs) {
  SCOPED(close_pool) muster_pool *pool = create_pool(3);
  struct hopeful hopeful = {.pool = pool, .sleepers = new_group(pool), .jobs = jobs};
  submit(pool, 0, wait_in_vain, &hopeful, &hopeful.sleepers);
  submit(pool, 0, other, &hopeful, NULL);
  await_count(&hopeful.waiting, 2);
  cr_assert_eq(muster_pool_stop(pool), DROPPED);
  cr_assert_eq(read_count(&hopeful.done), 2);
  cr_assert_eq(read_count(&hopeful.ran), 0);
}

Test(jobs_stop, ends_also_when_jobs_wait_for_jobs_that_nobody_will_run) {
  for (uint32_t round = 0; round < 24 / SLOWER + 3; round++) {
    stop_over_waits(wait_in_vain, DROPPED / 2);
    stop_over_waits(wait_for_the_sleeper, DROPPED);
  }
}

/* ------------------------------------------------------------------------------------------------------ from inside */

struct insider {
  muster_pool *pool;
  uint64_t dropped;
  muster_result after;
  shared_u64 calls;
};

static void stop_from_inside(void *argument, uint32_t worker) {
  struct insider *insider = argument;
  (void)worker;
  insider->dropped += muster_pool_stop(insider->pool);
  insider->after = muster_job_submit(insider->pool, 7, do_nothing, NULL, NULL);
  count_up(&insider->calls);
}

static void stop_from_a_piece(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  if (begin == 0 || end == 0) stop_from_inside(argument, worker);
}

Test(jobs_stop, inside_a_job_or_a_piece_of_a_range_nothing_happens) {
  for (uint32_t workers = 1; workers <= 3; workers++) {
    SCOPED(close_pool) muster_pool *pool = create_pool(workers);
    muster_group group = new_group(pool);
    struct insider insider = {.pool = pool};
    submit(pool, 0, stop_from_inside, &insider, &group);
    wait_for(&group);
    cr_assert_eq(insider.after, MUSTER_OK);
    cr_assert_eq(muster_parallel_for(pool, 4, 100, 1, stop_from_a_piece, &insider), MUSTER_OK);
    cr_assert_eq(insider.after, MUSTER_OK, "it was stopped by a piece of a range");
    cr_assert_eq(read_count(&insider.calls), 2);
    cr_assert_eq(insider.dropped, 0);
  }
}

/* ----------------------------------------------------------------------------------------------------------- racing */

typedef struct busy_host {
  muster_pool *pool;
  uint32_t number;
  pthread_t thread;
  shared_u64 *ran, *accepted;
  uint64_t half_done, refused_after_all;
} busy_host;

static void range_for(busy_host *host) {
  shared_u64 sum = {0};
  muster_result result = muster_parallel_for(host->pool, host->number % 8, 500, 1, do_piece, &sum);
  host->half_done += read_count(&sum) != (result == MUSTER_OK ? 500 : 0);
}

/* Submits and waits until the pool says that it was stopped. Whatever was accepted either runs or is dropped. */
static void *keep_busy(void *argument) {
  busy_host *host = argument;
  muster_group groups[2];
  muster_group_init(&groups[0], host->pool);
  muster_group_init(&groups[1], host->pool);
  for (muster_result result = MUSTER_OK; result == MUSTER_OK;) {
    for (uint32_t i = 0; i < 10 && result == MUSTER_OK; i++) {
      result = muster_job_submit(host->pool, i % 8, count_job, host->ran, i % 3 ? &groups[0] : NULL);
      if (result == MUSTER_OK) count_up(host->accepted);
    }
    if (!muster_job_submit(host->pool, 4, count_job, host->ran, &groups[1])) count_up(host->accepted);
    if (host->number % 2) range_for(host);
    for (uint32_t i = 0; i < 2; i++)
      if (host->number % 3)
        muster_group_wait(&groups[i]);
      else
        muster_group_wait_asleep(&groups[i]);
  }
  return NULL;
}

static void stop_a_busy_pool(uint32_t workers, uint32_t round) {
  enum { HOSTS = 4 };
  muster_pool *pool = create_pool(workers);
  shared_u64 ran = {0}, accepted = {0};
  busy_host hosts[HOSTS];
  for (uint32_t i = 0; i < HOSTS; i++) {
    hosts[i] = (busy_host){.pool = pool, .number = i + round, .ran = &ran, .accepted = &accepted};
    hosts[i].thread = start_thread(keep_busy, &hosts[i]);
  }
  await_count(&ran, round % 20 * 10);
  uint64_t dropped = muster_pool_stop(pool);
  for (uint32_t i = 0; i < HOSTS; i++) {
    pthread_join(hosts[i].thread, NULL);
    cr_assert_eq(hosts[i].half_done, 0, "a parallel-for said that it was done, and was not, in round %u", round);
  }
  /* Some of the jobs that were accepted while the pool stopped may have been dropped uncounted. */
  cr_assert_leq(read_count(&ran) + dropped, read_count(&accepted) + HOSTS * 8, "dropped %u", (unsigned)dropped);
  muster_pool_destroy(pool);
  cr_assert_leq(read_count(&ran), read_count(&accepted));
}

Test(jobs_stop, racing_with_submits_waits_and_ranges_leaves_nobody_waiting_and_nothing_half_done) {
  for (uint32_t round = 0; round < 100 / SLOWER; round++) stop_a_busy_pool(2 + round % 3, round);
}

/* The fewest pieces for which all workers are called: most of the time goes into calling them. */
enum { PIECES = 32 };

static void *range_until_refused(void *argument) {
  busy_host *host = argument;
  for (muster_result result = MUSTER_OK; result == MUSTER_OK;) {
    shared_u64 sum = {0};
    result = muster_parallel_for(host->pool, 4, PIECES, 1, do_piece, &sum);
    host->half_done += read_count(&sum) != (result == MUSTER_OK ? PIECES : 0);
    count_up(host->ran);
  }
  return NULL;
}

/* All workers are held, so that the calls for their help stand in the queue when the stop drops what is there. */
Test(jobs_stop, a_parallel_for_whose_help_is_dropped_is_finished_by_its_caller) {
  enum { WORKERS = PIECES };
  for (uint32_t round = 0; round < 60 / SLOWER; round++) {
    SCOPED(close_pool) muster_pool *pool = create_pool(WORKERS);
    struct gate gate = {0};
    shared_u64 ran = {0};
    busy_host host = {.pool = pool, .ran = &ran};
    hold_workers(pool, &gate, WORKERS - 1, NULL);
    host.thread = start_thread(range_until_refused, &host);
    await_count(&ran, 10 + round);
    pthread_t thread = start_thread(stop_pool, pool);
    pthread_join(host.thread, NULL);
    open_gate(&gate);
    join_stop(thread);
    cr_assert_eq(host.half_done, 0, "a parallel-for said that it was done, and was not, in round %u", round);
  }
}

Test(jobs_stop, destroying_a_pool_with_jobs_that_wait_drops_them) {
  for (uint32_t round = 0; round < 200 / SLOWER; round++) {
    muster_pool *pool = create_pool(1 + round % 4);
    shared_u64 ran = {0};
    for (uint32_t i = 0; i < 200; i++) submit(pool, i % 8, count_job, &ran, NULL);
    muster_pool_destroy(pool);
    cr_assert_leq(read_count(&ran), 200);
  }
}
