/* Who runs what where: pinned jobs, guests, blocking threads; and what the host sees of the threads. */
#include "pool/jobs_support.h"

/* ------------------------------------------------------------------------------------------------------ pinned jobs */

typedef struct pinned_job {
  struct notes *notes;
  uint32_t id;
  pthread_t main;
  shared_u64 *elsewhere;
} pinned_job;

static void note_pinned(void *argument, uint32_t worker) {
  const pinned_job *job = argument;
  (void)worker;
  if (!pthread_equal(pthread_self(), job->main)) count_up(job->elsewhere);
  write_note(job->notes, job->id);
}

static void submit_pinned(muster_pool *pool, pinned_job *jobs, uint32_t count, struct notes *notes,
                          shared_u64 *elsewhere, muster_group *group) {
  for (uint32_t i = 0; i < count; i++) {
    jobs[i] = (pinned_job){notes, i, pthread_self(), elsewhere};
    cr_assert_eq(muster_job_submit_pinned(pool, note_pinned, &jobs[i], group), MUSTER_OK);
  }
}

static void *try_to_run_pinned(void *argument) {
  return (void *)(uintptr_t)muster_pool_run_pinned(argument, 100);
}

Test(jobs_places, pinned_jobs_run_on_the_main_thread_alone_in_order_as_many_as_it_allows) {
  enum { JOBS = 30 };
  muster_pool *pool = create_pool(4);
  struct notes notes = {0};
  shared_u64 elsewhere = {0};
  pinned_job jobs[JOBS];
  void *ran_elsewhere;
  submit_pinned(pool, jobs, JOBS, &notes, &elsewhere, NULL);
  pthread_join(start_thread(try_to_run_pinned, pool), &ran_elsewhere);
  cr_assert_null(ran_elsewhere, "another thread ran pinned jobs");
  cr_assert_eq(muster_pool_run_pinned(pool, 0), 0);
  cr_assert_eq(muster_pool_run_pinned(pool, 10), 10);
  check_notes_ascend(&notes, 10);
  cr_assert_eq(muster_pool_run_pinned(pool, UINT32_MAX), 20);
  cr_assert_eq(muster_pool_run_pinned(pool, UINT32_MAX), 0);
  check_notes_ascend(&notes, JOBS);
  cr_assert_eq(read_count(&elsewhere), 0);
  muster_pool_destroy(pool);
}

static void submit_pinned_again(void *argument, uint32_t worker) {
  (void)worker;
  muster_job_submit_pinned(argument, submit_pinned_again, argument, NULL);
}

Test(jobs_places, run_pinned_runs_those_that_wait_now_and_not_those_that_they_submit) {
  muster_pool *pool = create_pool(1);
  for (uint32_t i = 0; i < 3; i++)
    cr_assert_eq(muster_job_submit_pinned(pool, submit_pinned_again, pool, NULL), MUSTER_OK);
  for (uint32_t i = 0; i < 3; i++) cr_assert_eq(muster_pool_run_pinned(pool, UINT32_MAX), 3);
  muster_pool_destroy(pool);
}

Test(jobs_places, the_main_thread_runs_pinned_jobs_of_the_group_that_it_waits_for_and_no_others) {
  muster_pool *pool = create_pool(3);
  muster_group group = new_group(pool), other = new_group(pool);
  struct notes notes = {0}, others = {0};
  shared_u64 elsewhere = {0};
  pinned_job jobs[20], other_jobs[5];
  submit_pinned(pool, other_jobs, 5, &others, &elsewhere, &other);
  submit_pinned(pool, jobs, 20, &notes, &elsewhere, &group);
  wait_for(&group);
  check_notes_ascend(&notes, 20);
  cr_assert_eq(read_count(&others.count), 0);
  wait_for(&other);
  cr_assert_eq(read_count(&elsewhere), 0);
  muster_pool_destroy(pool);
}

typedef struct late_pinned {
  muster_pool *pool;
  muster_group *group;
  pinned_job *job;
} late_pinned;

static void submit_pinned_when_main_sleeps(void *argument, uint32_t worker) {
  const late_pinned *late = argument;
  (void)worker;
  await_sleep(late->pool, 0, 1);
  muster_job_submit_pinned(late->pool, note_pinned, late->job, late->group);
  await_count(&late->job->notes->count, 1);
}

Test(jobs_places, the_main_thread_wakes_for_a_pinned_job_while_it_waits) {
  muster_pool *pool = create_pool(2);
  muster_group group = new_group(pool);
  struct notes notes = {0};
  shared_u64 elsewhere = {0};
  pinned_job job = {&notes, 0, pthread_self(), &elsewhere};
  late_pinned late = {pool, &group, &job};
  cr_assert_eq(muster_job_submit_blocking(pool, submit_pinned_when_main_sleeps, &late, &group), MUSTER_OK);
  wait_for(&group);
  cr_assert_eq(read_count(&notes.count), 1);
  cr_assert_eq(read_count(&elsewhere), 0);
  muster_pool_destroy(pool);
}

static void *become_main(void *argument) {
  muster_pool_set_main(argument);
  return try_to_run_pinned(argument);
}

Test(jobs_places, the_main_thread_may_be_another) {
  muster_pool *pool = create_pool(2);
  shared_u64 ran = {0};
  void *ran_there;
  for (uint32_t i = 0; i < 5; i++) cr_assert_eq(muster_job_submit_pinned(pool, count_job, &ran, NULL), MUSTER_OK);
  pthread_join(start_thread(become_main, pool), &ran_there);
  cr_assert_eq((uintptr_t)ran_there, 5);
  cr_assert_eq(muster_job_submit_pinned(pool, count_job, &ran, NULL), MUSTER_OK);
  cr_assert_eq(muster_pool_run_pinned(pool, 1), 0, "this thread is not the main thread any more");
  muster_pool_set_main(pool);
  cr_assert_eq(muster_pool_run_pinned(pool, 1), 1);
  muster_pool_destroy(pool);
}

/* Seats for guests must not be what keeps the main thread from the pinned jobs that all guests wait for. */
Test(jobs_places, the_main_thread_runs_pinned_jobs_also_when_all_seats_are_taken_by_those_who_wait_for_them) {
  enum { WAITERS = 4 };
  muster_pool_def def = muster_default_pool_def();
  def.workers = 1;
  def.guests_max = 2;
  muster_pool *pool = create_pool_as(&def);
  muster_group groups[WAITERS];
  struct waiter waiters[WAITERS];
  shared_u64 ran = {0};
  for (uint32_t i = 0; i < WAITERS; i++) {
    muster_group_init(&groups[i], pool);
    cr_assert_eq(muster_job_submit_pinned(pool, count_job, &ran, &groups[i]), MUSTER_OK);
    waiters[i] = (struct waiter){.group = &groups[i], .way = WAIT_OWN};
    start_waiter(&waiters[i]);
  }
  await_sleep(pool, UINT32_MAX, 2);
  cr_assert_eq(muster_pool_run_pinned(pool, WAITERS), WAITERS);
  for (uint32_t i = 0; i < WAITERS; i++) join_waiter(&waiters[i]);
  muster_pool_destroy(pool);
}

/* ----------------------------------------------------------------------------------------------------------- guests */

enum { INDICES_MAX = 512 };

/* Who is inside under which index. */
typedef struct register_of_indices {
  muster_pool *pool;
  shared_u64 holders[INDICES_MAX];
  shared_u64 doubles, strangers, changed, calls;
} register_of_indices;

static uint64_t own_number(void) {
  static _Thread_local char own;
  return (uint64_t)(uintptr_t)&own;
}

static void enter_and_nest(register_of_indices *all, uint32_t worker, uint32_t depth);

struct nested {
  register_of_indices *all;
  uint32_t depth;
};

static void nested_job(void *argument, uint32_t worker) {
  const struct nested *nested = argument;
  enter_and_nest(nested->all, worker, nested->depth);
}

static void nested_piece(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  for (uint64_t i = begin; i < end; i++) nested_job(argument, worker);
}

/* A thread may find itself under its index, further out: it keeps it through nested calls. */
static void enter_and_nest(register_of_indices *all, uint32_t worker, uint32_t depth) {
  count_up(&all->calls);
  if (worker >= muster_pool_indices(all->pool)) {
    count_up(&all->strangers);
    return;
  }
  uint64_t nobody = 0;
  bool outermost = compare_exchange_ordered_u64(&all->holders[worker], &nobody, own_number());
  if (!outermost && nobody != own_number()) count_up(&all->doubles);
  if (muster_pool_current_index(all->pool) != worker) count_up(&all->changed);
  if (depth > 0) {
    struct nested inner = {all, depth - 1},
                  innermost = {all, 0}; /* blocking jobs that wait for such would use them all up */
    muster_group group;
    muster_group_init(&group, all->pool);
    muster_job_submit(all->pool, 4, nested_job, &inner, &group);
    muster_job_submit_blocking(all->pool, nested_job, &innermost, &group);
    muster_parallel_for(all->pool, 4, 3, 1, nested_piece, &inner);
    muster_group_wait_helping(&group, 7);
  } else {
    sched_yield();
  }
  if (muster_pool_current_index(all->pool) != worker) count_up(&all->changed);
  if (outermost) store_ordered_u64(&all->holders[worker], 0);
}

static void *nest_as_guest(void *argument) {
  struct nested nested = {argument, 2};
  for (uint32_t round = 0; round < 40 / SLOWER; round++) {
    muster_parallel_for(nested.all->pool, 3, 4, 1, nested_piece, &nested);
    muster_group group = new_group(nested.all->pool);
    muster_job_submit(nested.all->pool, 2, nested_job, &nested, &group);
    muster_group_wait(&group);
  }
  return NULL;
}

static void check_indices(uint32_t workers, uint32_t guests, uint32_t threads) {
  muster_pool_def def = muster_default_pool_def();
  def.workers = workers;
  def.guests_max = guests;
  def.blocking_threads_max = 3;
  register_of_indices *all = calloc(1, sizeof *all);
  all->pool = create_pool_as(&def);
  pthread_t *started = calloc(threads, sizeof *started);
  for (uint32_t i = 0; i < threads; i++) started[i] = start_thread(nest_as_guest, all);
  for (uint32_t i = 0; i < threads; i++) pthread_join(started[i], NULL);
  cr_assert_eq(read_count(&all->doubles), 0, "two threads at once under one index");
  cr_assert_eq(read_count(&all->strangers), 0, "an index too large");
  cr_assert_eq(read_count(&all->changed), 0, "a thread's index changed");
  cr_assert_gt(read_count(&all->calls), 0);
  muster_pool_destroy(all->pool);
  free(started);
  free(all);
}

Test(jobs_places, no_two_threads_are_ever_inside_under_one_index_and_each_keeps_its_own) {
  check_indices(3, 4, 4);
  check_indices(1, 3, 3);
}

Test(jobs_places, more_guests_than_seats_wait_for_one_of_them_to_leave) {
  check_indices(2, 1, 6);
  check_indices(4, 3, 12);
}
