/* Cancelling a group: what had not started never runs and is counted exactly once; what runs is not disturbed. */
#include "pool/jobs_support.h"

Test(group_cancel, drops_what_has_not_started_and_says_how_many) {
  muster_pool *pool = create_pool(1);
  muster_group group = new_group(pool);
  shared_u64 ran = {0}, foreign = {0};
  for (uint32_t i = 0; i < 800; i++) {
    submit(pool, i % 8, count_job, &ran, &group);
    submit(pool, i % 8, count_job, &foreign, NULL);
  }
  cr_assert_eq(muster_group_cancel(&group), 800);
  cr_assert(muster_group_is_complete(&group));
  cr_assert_eq(muster_group_cancel(&group), 0, "nothing is left");
  cr_assert_eq(muster_job_yield(pool, 7), 700, "the others stay");
  cr_assert_eq(read_count(&ran), 0);
  submit(pool, 0, count_job, &ran, &group); /* it may be used again */
  wait_for(&group);
  cr_assert_eq(read_count(&ran), 1);
  muster_pool_destroy(pool);
}

Test(group_cancel, does_not_disturb_a_job_that_runs_and_the_group_is_complete_when_that_ends) {
  muster_pool *pool = create_pool(3);
  muster_group group = new_group(pool);
  struct gate gate = {0};
  shared_u64 ran = {0};
  hold_workers(pool, &gate, 2, &group);
  for (uint32_t i = 0; i < 50; i++) submit(pool, 4, count_job, &ran, &group);
  cr_assert_eq(muster_group_cancel(&group), 50);
  cr_assert_not(muster_group_is_complete(&group));
  open_gate(&gate);
  wait_for(&group);
  cr_assert_eq(read_count(&gate.left), 2);
  cr_assert_eq(read_count(&ran), 0);
  muster_pool_destroy(pool);
}

Test(group_cancel, drops_also_what_a_worker_has_claimed_and_not_started) {
  muster_pool *pool = create_pool(2);
  for (uint32_t round = 0; round < 100 / SLOWER; round++) {
    muster_group warm = new_group(pool), group = new_group(pool);
    struct gate before = {0}, gate = {0};
    shared_u64 ran = {0};
    for (uint32_t i = 0; i < 200; i++) submit(pool, 4, do_nothing, NULL, &warm); /* jobs are short: claims are long */
    cr_assert_eq(muster_group_wait_asleep(&warm), MUSTER_OK);
    hold_workers(pool, &before, 1, NULL);
    submit(pool, 4, stand_at_gate, &gate, NULL);
    for (uint32_t i = 0; i < 7; i++) submit(pool, 4, count_job, &ran, &group);
    open_gate(&before);
    await_count(&gate.arrived, 1);
    cr_assert_eq(muster_group_cancel(&group), 7);
    cr_assert(muster_group_is_complete(&group));
    open_gate(&gate);
    await_count(&gate.left, 1);
    cr_assert_eq(read_count(&ran), 0);
  }
  muster_pool_destroy(pool);
}

Test(group_cancel, wakes_those_who_wait) {
  muster_pool *pool = create_pool(2);
  for (uint32_t way = 0; way < 3; way++) {
    muster_group held = new_group(pool), group = new_group(pool);
    struct gate gate = {0};
    uint64_t slept = sleeps_of(pool, 0);
    hold_workers(pool, &gate, 1, &held);
    submit(pool, 7, do_nothing, NULL, &held);
    cr_assert_eq(muster_job_submit_after(&held, 7, do_nothing, NULL, &group), MUSTER_OK);
    struct waiter waiter = {.group = &held, .way = WAIT_ASLEEP};
    start_waiter(&waiter);
    await_sleep(pool, 0, slept + 1);
    cr_assert_eq(muster_group_cancel(&held), 1);
    open_gate(&gate);
    join_waiter(&waiter);
    wait_for(&group);
  }
  muster_pool_destroy(pool);
}

Test(group_cancel, drops_pinned_and_blocking_jobs_too) {
  muster_pool_def def = muster_default_pool_def();
  def.workers = 2;
  def.blocking_threads_max = 1;
  muster_pool *pool = create_pool_as(&def);
  muster_group group = new_group(pool), other = new_group(pool);
  struct gate gate = {0};
  shared_u64 ran = {0};
  cr_assert_eq(muster_job_submit_blocking(pool, stand_at_gate, &gate, &group), MUSTER_OK);
  await_count(&gate.arrived, 1);
  for (uint32_t i = 0; i < 10; i++) {
    cr_assert_eq(muster_job_submit_blocking(pool, count_job, &ran, &group), MUSTER_OK);
    cr_assert_eq(muster_job_submit_pinned(pool, count_job, &ran, &group), MUSTER_OK);
    cr_assert_eq(muster_job_submit_pinned(pool, count_job, &ran, &other), MUSTER_OK);
  }
  cr_assert_eq(muster_group_cancel(&group), 20);
  cr_assert_eq(muster_pool_run_pinned(pool, 4), 4, "cancelled jobs are not among those that run");
  cr_assert_eq(read_count(&ran), 4);
  cr_assert_eq(muster_pool_run_pinned(pool, 100), 6);
  cr_assert_eq(read_count(&ran), 10);
  open_gate(&gate);
  wait_for(&group);
  wait_for(&other);
  cr_assert_eq(read_count(&ran), 10);
  muster_pool_destroy(pool);
}

Test(group_cancel, leaves_continuations_that_wait_for_other_groups_and_fires_those_that_wait_for_this_one) {
  muster_pool *pool = create_pool(1);
  muster_group first = new_group(pool), second = new_group(pool), third = new_group(pool);
  shared_u64 ran = {0}, dropped = {0};
  submit(pool, 0, count_job, &ran, &first);
  cr_assert_eq(muster_job_submit_after(&first, 0, count_job, &ran, &second), MUSTER_OK);
  submit(pool, 0, count_job, &dropped, &second);
  cr_assert_eq(muster_job_submit_after(&second, 0, count_job, &ran, &third), MUSTER_OK);
  cr_assert_eq(muster_group_cancel(&second), 1);
  cr_assert_not(muster_group_is_complete(&second), "the continuation stays");
  wait_for(&first);
  wait_for(&second);
  wait_for(&third);
  cr_assert_eq(read_count(&ran), 3);
  cr_assert_eq(read_count(&dropped), 0);
  muster_pool_destroy(pool);
}

/* ----------------------------------------------------------------------------------------------------------- ranges */

static void count_indices(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  (void)worker;
  fetch_add_relaxed_u64(argument, end - begin);
}

Test(group_cancel, counts_a_range_once_when_none_of_it_had_started) {
  muster_pool *pool = create_pool(4);
  muster_group group = new_group(pool), held = new_group(pool);
  muster_range ranges[10];
  struct gate gate = {0};
  shared_u64 indices = {0}, ran = {0};
  hold_workers(pool, &gate, 3, &held);
  for (uint32_t i = 0; i < 10; i++) {
    cr_assert_eq(muster_range_submit(&ranges[i], pool, 4, 1000, 1, count_indices, &indices, &group), MUSTER_OK);
    submit(pool, 4, count_job, &ran, &group);
  }
  cr_assert_eq(muster_group_cancel(&group), 20);
  cr_assert(muster_group_is_complete(&group));
  open_gate(&gate);
  wait_for(&held);
  cr_assert_eq(read_count(&indices) + read_count(&ran), 0);
  muster_pool_destroy(pool);
}

typedef struct held_range {
  struct gate gate;
  shared_u64 pieces;
} held_range;

static void hold_piece(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  held_range *held = argument;
  (void)begin;
  (void)end;
  count_up(&held->pieces);
  stand_at_gate(&held->gate, worker);
}

Test(group_cancel, stops_a_range_that_runs_between_two_pieces_and_does_not_count_it) {
  enum { THREADS = 2 };
  muster_pool *pool = create_pool(THREADS + 1);
  for (uint32_t round = 0; round < 200 / SLOWER; round++) {
    muster_group group = new_group(pool);
    muster_range range;
    held_range held = {0};
    cr_assert_eq(muster_range_submit(&range, pool, 4, 1000, 1, hold_piece, &held, &group), MUSTER_OK);
    await_count(&held.gate.arrived, THREADS);
    cr_assert_eq(muster_group_cancel(&group), 0);
    cr_assert_not(muster_group_is_complete(&group), "pieces of it run");
    open_gate(&held.gate);
    wait_for(&group);
    cr_assert_eq(read_count(&held.pieces), THREADS, "a piece began after the cancel");
  }
  muster_pool_destroy(pool);
}

/* ----------------------------------------------------------------------------------------------------------- racing */

struct canceller {
  muster_group *group;
  shared_u64 rounds_begun, rounds_done;
  uint64_t rounds, dropped;
};

static void *cancel_in_time(void *argument) {
  struct canceller *canceller = argument;
  for (uint64_t round = 1; round <= canceller->rounds; round++) {
    await_count(&canceller->rounds_begun, round);
    canceller->dropped += muster_group_cancel(canceller->group);
    count_up(&canceller->rounds_done);
  }
  return NULL;
}

Test(group_cancel, racing_with_workers_and_a_waiter_every_job_either_runs_or_is_counted) {
  enum { ROUNDS = 600 / SLOWER, JOBS = 40 };
  muster_pool *pool = create_pool(3);
  muster_group group = new_group(pool);
  shared_u64 ran = {0};
  struct canceller canceller = {.group = &group, .rounds = ROUNDS};
  pthread_t thread = start_thread(cancel_in_time, &canceller);
  for (uint64_t round = 1; round <= ROUNDS; round++) {
    for (uint32_t i = 0; i < JOBS; i++) {
      submit(pool, i % 8, count_job, &ran, &group);
      if (i == round % JOBS) count_up(&canceller.rounds_begun);
    }
    if (round % 2) wait_for(&group);
    await_count(&canceller.rounds_done, round);
    wait_for(&group);
    cr_assert_eq(read_count(&ran) + canceller.dropped, round * JOBS);
  }
  pthread_join(thread, NULL);
  muster_pool_destroy(pool);
}

typedef struct touched_range {
  muster_range range;
  shared_u64 indices;
} touched_range;

Test(group_cancel, racing_with_workers_every_range_either_starts_or_is_counted) {
  enum { ROUNDS = 4000 / SLOWER, RANGES = 4 };
  muster_pool *pool = create_pool(3);
  muster_group group = new_group(pool);
  touched_range *ranges = aligned_alloc(64, RANGES * sizeof *ranges);
  struct canceller canceller = {.group = &group, .rounds = ROUNDS};
  pthread_t thread = start_thread(cancel_in_time, &canceller);
  uint64_t touched = 0;
  for (uint64_t round = 1; round <= ROUNDS; round++) {
    for (uint32_t i = 0; i < RANGES; i++) {
      ranges[i].indices = (shared_u64){0};
      muster_result result =
          muster_range_submit(&ranges[i].range, pool, 4, 100, 10, count_indices, &ranges[i].indices, &group);
      cr_assert_eq(result, MUSTER_OK);
      if (i == round % RANGES) count_up(&canceller.rounds_begun);
    }
    await_count(&canceller.rounds_done, round);
    wait_for(&group);
    for (uint32_t i = 0; i < RANGES; i++) touched += read_count(&ranges[i].indices) > 0;
    cr_assert_eq(touched + canceller.dropped, round * RANGES, "in round %u", (unsigned)round);
  }
  pthread_join(thread, NULL);
  free(ranges);
  muster_pool_destroy(pool);
}
