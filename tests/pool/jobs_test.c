/* Submitting jobs and groups of them: each runs once, in full view, never inside the submit; a group is complete when
 * the last has ended, and may then be used again or go. */
#include "pool/jobs_support.h"

Test(jobs, each_of_100000_runs_once) {
  enum { JOBS = 100000 / SLOWER };
  SCOPED(close_pool) muster_pool *pool = create_pool(4);
  muster_group group = new_group(pool);
  shared_u64 *runs = calloc(JOBS, sizeof *runs);
  for (uint32_t i = 0; i < JOBS; i++) submit(pool, i % MUSTER_URGENCIES, count_job, &runs[i], &group);
  wait_for(&group);
  for (uint32_t i = 0; i < JOBS; i++) cr_assert_eq(read_count(&runs[i]), 1, "job %u", i);
  free(runs);
}

Test(jobs, of_no_group_run_too) {
  enum { JOBS = 1000 };
  muster_pool *pool = create_pool(3);
  shared_u64 ran = {0};
  for (uint32_t i = 0; i < JOBS; i++) submit(pool, MUSTER_URGENCY_NORMAL, count_job, &ran, NULL);
  await_count(&ran, JOBS);
  muster_pool_destroy(pool);
  cr_assert_eq(read_count(&ran), JOBS);
}

/* --------------------------------------------------------------------------------------------------- where jobs run */

struct place {
  const muster_pool *pool;
  pthread_t thread;
  uint32_t worker, current;
};

static void write_place(void *argument, uint32_t worker) {
  struct place *place = argument;
  place->thread = pthread_self();
  place->worker = worker;
  place->current = muster_pool_current_index(place->pool);
}

Test(jobs, in_a_pool_of_one_worker_run_only_inside_a_wait_on_the_waiting_thread_as_index_zero) {
  SCOPED(close_pool) muster_pool *pool = create_pool(1);
  muster_group group = new_group(pool);
  struct place place = {.pool = pool};
  shared_u64 ran = {0};
  for (uint32_t i = 0; i < 100; i++) submit(pool, MUSTER_URGENCY_NORMAL, count_job, &ran, &group);
  submit(pool, MUSTER_URGENCY_NORMAL, write_place, &place, &group);
  cr_assert_eq(read_count(&ran), 0, "a submit ran something");
  cr_assert_not(muster_group_is_complete(&group));
  wait_for(&group);
  cr_assert_eq(read_count(&ran), 100);
  cr_assert(pthread_equal(place.thread, pthread_self()));
  cr_assert_eq(place.worker, 0);
  cr_assert_eq(place.current, 0);
  cr_assert_eq(muster_pool_current_index(pool), UINT32_MAX, "outside of calls a thread has no index");
}

typedef struct inner_submit {
  muster_pool *pool;
  muster_group *group;
  shared_u64 inside, ran_inside, ran;
} inner_submit;

static void notice_where(void *argument, uint32_t worker) {
  inner_submit *test = argument;
  (void)worker;
  if (read_count(&test->inside)) count_up(&test->ran_inside);
  count_up(&test->ran);
}

static void submit_many(void *argument, uint32_t worker) {
  inner_submit *test = argument;
  (void)worker;
  store_ordered_u64(&test->inside, 1);
  for (uint32_t i = 0; i < 50; i++) muster_job_submit(test->pool, 0, notice_where, test, test->group);
  store_ordered_u64(&test->inside, 0);
}

Test(jobs, submitted_inside_a_job_do_not_run_inside_the_submit_even_when_they_are_more_urgent) {
  SCOPED(close_pool) muster_pool *pool = create_pool(1);
  muster_group group = new_group(pool);
  inner_submit test = {.pool = pool, .group = &group};
  submit(pool, MUSTER_URGENCY_LOW, submit_many, &test, &group);
  wait_for(&group);
  cr_assert_eq(read_count(&test.ran), 50);
  cr_assert_eq(read_count(&test.ran_inside), 0);
}

/* ----------------------------------------------------------------------------------------------------------- groups */

Test(jobs, a_group_that_was_never_used_is_complete) {
  SCOPED(close_pool) muster_pool *pool = create_pool(2);
  muster_group group = new_group(pool);
  cr_assert(muster_group_is_complete(&group));
  cr_assert_eq(muster_group_wait(&group), MUSTER_OK);
  cr_assert_eq(muster_group_wait_helping(&group, 7), MUSTER_OK);
  wait_asleep(&group);
}

Test(jobs, a_group_is_incomplete_while_a_job_of_it_waits_or_runs) {
  SCOPED(close_pool) muster_pool *pool = create_pool(2);
  muster_group group = new_group(pool);
  struct gate gate = {0};
  hold_workers(pool, &gate, 1, &group);
  cr_assert_not(muster_group_is_complete(&group), "it runs");
  submit(pool, MUSTER_URGENCY_LOW, do_nothing, NULL, &group);
  cr_assert_not(muster_group_is_complete(&group));
  open_gate(&gate);
  AWAIT(muster_group_is_complete(&group));
  cr_assert_eq(read_count(&gate.left), 1, "complete although a job had not ended");
}

enum { WORDS = 512 };

struct page {
  uint64_t in[WORDS], out[WORDS]; /* plain: submit and completion must make them visible */
};

static void copy_page(void *argument, uint32_t worker) {
  struct page *page = argument;
  (void)worker;
  for (uint32_t i = 0; i < WORDS; i++) page->out[i] = page->in[i] * 3 + 1;
}

static uint64_t wrong_words(const struct page *page, uint64_t round) {
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < WORDS; i++) wrong += page->out[i] != (round + i) * 3 + 1;
  return wrong;
}

Test(jobs, what_the_submitter_wrote_is_visible_to_the_job_and_what_the_job_wrote_to_whoever_sees_it_complete) {
  enum { ROUNDS = 3000 / SLOWER, PAGES = 4 };
  SCOPED(close_pool) muster_pool *pool = create_pool(3);
  struct page *pages = calloc(PAGES, sizeof *pages);
  muster_group group = new_group(pool);
  for (uint64_t round = 0; round < ROUNDS; round++) {
    for (uint32_t p = 0; p < PAGES; p++) {
      for (uint64_t i = 0; i < WORDS; i++) pages[p].in[i] = round + i;
      submit(pool, MUSTER_URGENCY_NORMAL, copy_page, &pages[p], &group);
    }
    if (round % 3 == 0) wait_for(&group);
    if (round % 3 == 1) wait_asleep(&group);
    AWAIT(muster_group_is_complete(&group));
    for (uint32_t p = 0; p < PAGES; p++) cr_assert_eq(wrong_words(&pages[p], round), 0);
  }
  free(pages);
}

/* The group lies on the heap, so that AddressSanitizer sees an access to it once it is gone. */
Test(jobs, a_group_may_be_freed_as_soon_as_it_is_seen_complete) {
  enum { ROUNDS = 20000 / SLOWER };
  SCOPED(close_pool) muster_pool *pool = create_pool(4);
  shared_u64 ran = {0};
  for (uint32_t round = 0; round < ROUNDS; round++) {
    muster_group *group = aligned_alloc(64, sizeof *group);
    muster_group_init(group, pool);
    for (uint32_t i = 0; i <= round % 3; i++) submit(pool, round % 8, count_job, &ran, group);
    if (round % 2) wait_for(group);
    AWAIT(muster_group_is_complete(group));
    memset(group, 0xdd, sizeof *group);
    free(group);
  }
}

/* ----------------------------------------------------------------------------------------------------- many threads */

struct submitter {
  muster_pool *pool;
  shared_u64 ran;
  uint64_t rounds, wrong;
};

static void *submit_and_wait(void *argument) {
  struct submitter *submitter = argument;
  muster_group group = new_group(submitter->pool);
  for (uint64_t round = 1; round <= submitter->rounds; round++) {
    for (uint32_t i = 0; i < 10; i++)
      submitter->wrong += muster_job_submit(submitter->pool, i % 8, count_job, &submitter->ran, &group) != MUSTER_OK;
    submitter->wrong += muster_group_wait(&group) != MUSTER_OK;
    submitter->wrong += read_count(&submitter->ran) != round * 10;
  }
  return NULL;
}

Test(jobs, come_from_many_threads_at_once_that_the_pool_does_not_own) {
  enum { THREADS = 16 };
  SCOPED(close_pool) muster_pool *pool = create_pool(3);
  pthread_t threads[THREADS];
  struct submitter submitters[THREADS];
  for (uint32_t i = 0; i < THREADS; i++) submitters[i] = (struct submitter){.pool = pool, .rounds = 300 / SLOWER};
  start_threads(threads, THREADS, submit_and_wait, submitters, sizeof *submitters);
  join_threads(threads, THREADS);
  for (uint32_t i = 0; i < THREADS; i++) cr_assert_eq(submitters[i].wrong, 0);
}

/* ------------------------------------------------------------------------------------------------------- statistics */

static muster_pool_statistics statistics_of(const muster_pool *pool, uint32_t index) {
  muster_pool_statistics statistics = muster_pool_statistics_default();
  cr_assert_eq(muster_pool_statistics_read(pool, index, &statistics), MUSTER_OK);
  return statistics;
}

Test(jobs, are_counted_by_index_and_the_sums_add_up) {
  enum { JOBS = 5000 };
  SCOPED(close_pool) muster_pool *pool = create_pool(4);
  muster_group group = new_group(pool);
  for (uint32_t i = 0; i < JOBS; i++) submit(pool, i % 8, do_nothing, NULL, &group);
  wait_for(&group);
  muster_pool_statistics all = statistics_of(pool, UINT32_MAX);
  cr_assert_eq(all.jobs, JOBS);
  uint64_t jobs = 0;
  for (uint32_t i = 0; i < muster_pool_indices(pool); i++) {
    muster_pool_statistics one = statistics_of(pool, i);
    jobs += one.jobs;
    cr_assert_leq(one.jobs_helped + one.jobs_stolen, one.jobs, "index %u: %u helped and %u stolen of %u", i,
                  (unsigned)one.jobs_helped, (unsigned)one.jobs_stolen, (unsigned)one.jobs);
    cr_assert_leq(one.claims, all.claims);
  }
  cr_assert_eq(jobs, JOBS);
}

/* Jobs of two groups, the second one's first: what a claim finds taken out already did not run in it. */
Test(jobs, that_ran_inside_a_wait_are_counted_as_helped_and_no_others) {
  enum { JOBS = 64 };
  SCOPED(close_pool) muster_pool *pool = create_pool(1);
  muster_group first = new_group(pool), second = new_group(pool), third = new_group(pool);
  for (uint32_t round = 0; round < 20; round++) { /* jobs are known to be short by then, and claimed several at once */
    for (uint32_t i = 0; i < JOBS; i++) submit(pool, MUSTER_URGENCY_NORMAL, do_nothing, NULL, i % 8 ? &second : &first);
    wait_for(&second);
    wait_for(&first);
  }
  cr_assert_eq(statistics_of(pool, 0).jobs, 20 * JOBS);
  cr_assert_eq(statistics_of(pool, 0).jobs_helped, 20 * JOBS);
  for (uint32_t i = 0; i < JOBS; i++) submit(pool, MUSTER_URGENCY_NORMAL, do_nothing, NULL, i % 8 ? NULL : &third);
  cr_assert_eq(muster_group_wait_helping(&third, MUSTER_URGENCY_NORMAL), MUSTER_OK);
  muster_pool_statistics sum = statistics_of(pool, 0);
  cr_assert_eq(sum.jobs_helped, sum.jobs, "all of them ran inside waits");
}

Test(jobs, statistics_too_short_for_any_header_are_not_written) {
  SCOPED(close_pool) muster_pool *pool = create_pool(1);
  muster_pool_statistics statistics;
  memset(&statistics, 0xee, sizeof statistics);
  statistics.size = offsetof(muster_pool_statistics, jobs_helped);
  cr_assert_eq(muster_pool_statistics_read(pool, UINT32_MAX, &statistics), MUSTER_E_NOT_INITIALISED);
  cr_assert_eq(statistics.jobs, 0xeeeeeeeeeeeeeeee);
  cr_assert_eq(statistics.size, offsetof(muster_pool_statistics, jobs_helped));
}

/* The worker that claimed the gate together with jobs behind it stays at the gate: another has to take those jobs. How
 * much is claimed is up to the clock: the jobs before the gate show both workers that jobs are short, as what they
 * stood at before was long. It may take some rounds until there is something to take. */
Test(jobs, that_were_taken_from_what_another_had_claimed_are_counted_as_stolen) {
  enum { ROUNDS = 1000, SHORT = 400, JOBS = 30 };
  SCOPED(close_pool) muster_pool *pool = create_pool(3);
  for (uint32_t round = 0; round < ROUNDS && statistics_of(pool, UINT32_MAX).jobs_stolen == 0; round++) {
    muster_group group = new_group(pool);
    struct gate before = {0}, gate = {0};
    shared_u64 ran = {0};
    hold_workers(pool, &before, 2, NULL);
    for (uint32_t i = 0; i < SHORT; i++) submit(pool, 4, do_nothing, NULL, &group);
    submit(pool, 4, stand_at_gate, &gate, NULL);
    for (uint32_t i = 0; i < JOBS; i++) submit(pool, 4, count_job, &ran, &group);
    open_gate(&before);
    wait_asleep(&group);
    open_gate(&gate);
    await_count(&gate.left, 1);
    cr_assert_eq(read_count(&ran), JOBS);
  }
  cr_assert_gt(statistics_of(pool, UINT32_MAX).jobs_stolen, 0);
}
