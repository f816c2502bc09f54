/* Jobs that follow groups: their order, chains and diamonds of them, the cycle that cannot be built, and that none is
 * lost when there is no room. */
#include "pool/jobs_support.h"

static void follow(muster_group *after, uint32_t priority, muster_job_function run, void *argument,
                   muster_group *group) {
  cr_assert_eq(muster_job_submit_after(after, priority, run, argument, group), MUSTER_OK, "%s", muster_last_error());
}

Test(group_follow, a_job_runs_after_all_jobs_of_the_group_and_not_before) {
  enum { JOBS = 100, ROUNDS = 300 / SLOWER };
  muster_pool *pool = create_pool(4);
  for (uint32_t round = 0; round < ROUNDS; round++) {
    muster_group first = new_group(pool), then = new_group(pool);
    struct notes notes = {0};
    noted_job early = {&notes, 1}, late = {&notes, 2};
    for (uint32_t i = 0; i < JOBS; i++) {
      submit(pool, MUSTER_PRIORITY_LOW, note_job, &early, &first);
      if (i == JOBS / 2) follow(&first, MUSTER_PRIORITY_URGENT, note_job, &late, &then);
    }
    /* The group may have been complete when the job was submitted after it, and be in use again. */
    wait_for(&then);
    wait_for(&first);
    cr_assert_eq(read_count(&notes.count), JOBS + 1);
    uint32_t before = 0;
    while (note_at(&notes, before) == 1) before++;
    cr_assert_geq(before, JOBS / 2 + 1, "the follower ran after %u jobs", before);
  }
  muster_pool_destroy(pool);
}

Test(group_follow, jobs_that_follow_one_group_are_queued_in_the_order_in_which_they_were_submitted) {
  enum { JOBS = 300 };
  muster_pool *pool = create_pool(1);
  muster_group first = new_group(pool), then = new_group(pool);
  struct notes notes = {0};
  noted_job jobs[JOBS];
  submit(pool, 0, do_nothing, NULL, &first);
  for (uint32_t i = 0; i < JOBS; i++) {
    jobs[i] = (noted_job){&notes, i};
    follow(&first, MUSTER_PRIORITY_NORMAL, note_job, &jobs[i], &then);
  }
  cr_assert_not(muster_group_is_complete(&then), "they count from their submission on");
  wait_for(&first);
  cr_assert_eq(read_count(&notes.count), 0);
  cr_assert_not(muster_group_is_complete(&then));
  wait_for(&then);
  check_notes_ascend(&notes, JOBS);
  muster_pool_destroy(pool);
}

Test(group_follow, a_follower_of_a_complete_group_is_submitted_at_once) {
  muster_pool *pool = create_pool(1);
  muster_group first = new_group(pool), then = new_group(pool);
  shared_u64 ran = {0};
  follow(&first, 0, count_job, &ran, &then); /* never used */
  submit(pool, 0, do_nothing, NULL, &first);
  wait_for(&first);
  follow(&first, 0, count_job, &ran, &then); /* complete again */
  cr_assert_eq(read_count(&ran), 0, "a submit ran something");
  wait_for(&then);
  cr_assert_eq(read_count(&ran), 2);
  muster_pool_destroy(pool);
}

Test(group_follow, a_follower_may_have_no_group) {
  muster_pool *pool = create_pool(2);
  muster_group first = new_group(pool);
  shared_u64 ran = {0};
  struct gate gate = {0};
  hold_workers(pool, &gate, 1, &first);
  follow(&first, 3, count_job, &ran, NULL);
  cr_assert_eq(read_count(&ran), 0);
  open_gate(&gate);
  await_count(&ran, 1);
  muster_pool_destroy(pool);
}

Test(group_follow, chains_run_in_order_at_any_length) {
  enum { LINKS = 500 };
  for (uint32_t workers = 1; workers <= 4; workers++) {
    muster_pool *pool = create_pool(workers);
    muster_group *groups = aligned_alloc(64, sizeof *groups * (LINKS + 1));
    struct notes notes = {0};
    noted_job links[LINKS];
    struct gate gate = {0};
    for (uint32_t i = 0; i <= LINKS; i++) muster_group_init(&groups[i], pool);
    cr_assert_eq(muster_job_submit_blocking(pool, stand_at_gate, &gate, &groups[0]), MUSTER_OK);
    for (uint32_t i = 0; i < LINKS; i++) {
      links[i] = (noted_job){&notes, i};
      follow(&groups[i], i % 8, note_job, &links[i], &groups[i + 1]);
    }
    open_gate(&gate);
    for (uint32_t i = 0; i <= LINKS; i++) wait_for(&groups[i]);
    check_notes_ascend(&notes, LINKS);
    free(groups);
    muster_pool_destroy(pool);
  }
}

Test(group_follow, a_cycle_cannot_be_built) {
  muster_pool *pool = create_pool(1);
  muster_group older = new_group(pool), younger = new_group(pool);
  shared_u64 ran = {0};
  submit(pool, 0, count_job, &ran, &older);
  submit(pool, 0, count_job, &ran, &younger);
  cr_assert_eq(muster_job_submit_after(&younger, 0, count_job, &ran, &older), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_job_submit_after(&older, 0, count_job, &ran, &older), MUSTER_E_ARGUMENT, "itself");
  follow(&older, 0, count_job, &ran, &younger);
  wait_for(&older);
  wait_for(&younger);
  cr_assert_eq(read_count(&ran), 3);
  muster_group_init(&older, pool); /* prepared anew, it is the younger one */
  submit(pool, 0, count_job, &ran, &younger);
  follow(&younger, 0, count_job, &ran, &older);
  wait_for(&younger);
  wait_for(&older);
  cr_assert_eq(read_count(&ran), 5);
  muster_pool_destroy(pool);
}

/* ------------------------------------------------------------------------------- waiting for what has to come first */

struct dependent {
  muster_pool *pool;
  uint64_t together;
  shared_u64 *arrived, *ran;
};

static void wait_for_a_chain(void *argument, uint32_t worker) {
  const struct dependent *dependent = argument;
  (void)worker;
  muster_group groups[4];
  for (uint32_t i = 0; i < 4; i++) muster_group_init(&groups[i], dependent->pool);
  count_up(dependent->arrived);
  await_count(dependent->arrived, dependent->together);
  muster_job_submit(dependent->pool, 4, count_job, dependent->ran, &groups[0]);
  for (uint32_t i = 0; i < 3; i++) muster_job_submit_after(&groups[i], 4, count_job, dependent->ran, &groups[i + 1]);
  muster_group_wait(&groups[3]);
}

Test(group_follow, a_wait_for_the_last_link_of_a_chain_ends_also_when_nobody_else_would_run_the_first) {
  muster_pool *pool = create_pool(1);
  shared_u64 arrived = {0}, ran = {0};
  struct dependent dependent = {pool, 1, &arrived, &ran};
  wait_for_a_chain(&dependent, 0);
  cr_assert_eq(read_count(&ran), 4);
  muster_pool_destroy(pool);
}

Test(group_follow, waits_for_the_last_links_of_chains_end_also_when_all_workers_are_inside_one) {
  enum { WORKERS = 4 };
  muster_pool *pool = create_pool(WORKERS);
  muster_group group = new_group(pool);
  shared_u64 arrived = {0}, ran = {0};
  struct dependent dependent = {pool, WORKERS, &arrived, &ran};
  for (uint32_t i = 0; i < WORKERS; i++) submit(pool, 4, wait_for_a_chain, &dependent, &group);
  wait_for(&group);
  cr_assert_eq(read_count(&ran), 4 * WORKERS);
  muster_pool_destroy(pool);
}

/* ----------------------------------------------------------------------------------------------------- without room */

enum { ROOM = 64 };

static muster_pool *create_small(uint32_t workers) {
  muster_pool_def def = muster_default_pool_def();
  def.workers = workers;
  def.jobs_max = ROOM;
  def.continuations_max = 1u << 18;
  return create_pool_as(&def);
}

static void fill_priority(muster_pool *pool, uint32_t priority, shared_u64 *ran, muster_group *group) {
  for (uint32_t i = 0; i < ROOM; i++) submit(pool, priority, count_job, ran, group);
}

Test(group_follow, followers_that_find_their_priority_full_run_on_the_thread_that_completes_the_group) {
  muster_pool *pool = create_small(1);
  muster_group first = new_group(pool), then = new_group(pool), last = new_group(pool), filler = new_group(pool);
  shared_u64 filled = {0}, ran = {0};
  submit(pool, 0, count_job, &ran, &first);
  fill_priority(pool, 4, &filled, &filler);
  for (uint32_t i = 0; i < 10; i++) follow(&first, 4, count_job, &ran, &then);
  follow(&then, 4, count_job, &ran, &last);
  wait_for(&first);
  cr_assert_eq(read_count(&ran), 12, "none is lost");
  cr_assert(muster_group_is_complete(&then) && muster_group_is_complete(&last));
  cr_assert_eq(read_count(&filled), 0);
  wait_for(&filler);
  muster_pool_destroy(pool);
}

Test(group_follow, a_follower_without_room_runs_also_when_a_cancel_completes_the_group) {
  muster_pool *pool = create_small(1);
  muster_group first = new_group(pool), then = new_group(pool), filler = new_group(pool);
  shared_u64 filled = {0}, dropped = {0}, ran = {0};
  submit(pool, 0, count_job, &dropped, &first);
  fill_priority(pool, 4, &filled, &filler);
  follow(&first, 4, count_job, &ran, &then);
  cr_assert_eq(muster_group_cancel(&first), 1);
  cr_assert_eq(read_count(&ran), 1);
  cr_assert_eq(read_count(&dropped), 0);
  wait_for(&filler);
  muster_pool_destroy(pool);
}

/* A chain as long as this would not fit on a stack link by link. */
enum { LONG = 200000 };

static muster_group *build_long_chain(muster_pool *pool, uint32_t priority, shared_u64 *ran) {
  muster_group *groups = aligned_alloc(64, sizeof *groups * (LONG + 1));
  for (uint32_t i = 0; i <= LONG; i++) muster_group_init(&groups[i], pool);
  submit(pool, 0, count_job, ran, &groups[0]);
  for (uint32_t i = 0; i < LONG; i++) follow(&groups[i], priority, count_job, ran, &groups[i + 1]);
  return groups;
}

Test(group_follow, a_long_chain_without_room_runs_on_one_stack) {
  muster_pool *pool = create_small(1);
  shared_u64 ran = {0}, filled = {0};
  muster_group *groups = build_long_chain(pool, 4, &ran);
  fill_priority(pool, 4, &filled, NULL);
  wait_for(&groups[0]);
  cr_assert_eq(read_count(&ran), LONG + 1);
  free(groups);
  muster_pool_destroy(pool);
}

Test(group_follow, a_long_chain_is_dropped_on_one_stack) {
  muster_pool *pool = create_small(1);
  shared_u64 ran = {0};
  muster_group *groups = build_long_chain(pool, 4, &ran);
  cr_assert_eq(muster_pool_stop(pool), LONG + 1);
  cr_assert(muster_group_is_complete(&groups[LONG]));
  cr_assert_eq(read_count(&ran), 0);
  free(groups);
  muster_pool_destroy(pool);
}

/* ------------------------------------------------------------------------------------------- racing with completion */

struct racer {
  muster_pool *pool;
  muster_group *after, *group;
  shared_u64 ran, rounds_begun, rounds_done;
  uint64_t rounds, wrong;
};

static void *follow_in_time(void *argument) {
  struct racer *racer = argument;
  for (uint64_t round = 1; round <= racer->rounds; round++) {
    await_count(&racer->rounds_begun, round);
    for (uint32_t i = 0; i < 5; i++)
      racer->wrong += muster_job_submit_after(racer->after, i, count_job, &racer->ran, racer->group) != MUSTER_OK;
    count_up(&racer->rounds_done);
  }
  return NULL;
}

Test(group_follow, no_follower_is_lost_or_run_twice_that_comes_while_the_group_completes) {
  enum { ROUNDS = 20000 / SLOWER };
  muster_pool *pool = create_pool(2);
  muster_group after = new_group(pool), group = new_group(pool);
  struct racer racer = {.pool = pool, .after = &after, .group = &group, .rounds = ROUNDS};
  pthread_t thread = start_thread(follow_in_time, &racer);
  for (uint64_t round = 1; round <= ROUNDS; round++) {
    for (uint32_t i = 0; i < round % 4; i++) submit(pool, 3, do_nothing, NULL, &after);
    count_up(&racer.rounds_begun);
    wait_for(&after);
    await_count(&racer.rounds_done, round);
    wait_for(&group);
    cr_assert_eq(read_count(&racer.ran), round * 5);
  }
  pthread_join(thread, NULL);
  cr_assert_eq(racer.wrong, 0);
  muster_pool_destroy(pool);
}
