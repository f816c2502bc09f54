/* Bad input is refused with a sentence that says what was wrong, in every build; a full queue says so and nothing else
 * happens. */
#include "pool/jobs_support.h"

static bool refuses(const muster_pool_def *def) {
  SCOPED(close_pool) muster_pool *pool = muster_pool_create(def);
  cr_assert(pool || strlen(muster_last_error()) > 0);
  return !pool;
}

typedef struct field_case {
  size_t offset;
  uint32_t least, most; /* 1 below the least is refused, when there is such a number, and 1 above the most */
} field_case;

Test(jobs_limits, a_definition_with_a_field_out_of_range_is_refused_and_one_at_its_limits_is_not) {
  static const field_case cases[] = {
      {offsetof(muster_pool_def, workers), 0, MUSTER_WORKERS_MAX},
      {offsetof(muster_pool_def, affinity), MUSTER_AFFINITY_APART, MUSTER_AFFINITY_NONE},
      {offsetof(muster_pool_def, jobs_max), 64, 1u << 24},
      {offsetof(muster_pool_def, external_max), 1, MUSTER_EXTERNAL_MAX},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const uint32_t values[] = {cases[i].least, cases[i].most, cases[i].most + 1, UINT32_MAX, cases[i].least - 1};
    for (size_t k = 0; k < 5; k++) {
      muster_pool_def def = WITH(muster_pool_def, it.workers = 2);
      memcpy((char *)&def + cases[i].offset, &values[k], sizeof values[k]);
      cr_assert_eq(refuses(&def), k >= 2, "the field at %zu = %u", cases[i].offset, values[k]);
    }
  }
}

Test(jobs_limits, a_definition_that_nobody_filled_is_refused) {
  muster_pool_def zero = {0};
  cr_assert(refuses(&zero));
  cr_assert(refuses(NULL));
}

Test(jobs_limits, zero_workers_are_as_many_as_there_are_processors) {
  SCOPED(close_pool) muster_pool *pool = create_pool(0);
  cr_assert_geq(muster_pool_workers(pool), 1);
  cr_assert_leq(muster_pool_workers(pool), muster_available_processors());
}

Test(jobs_limits, indices_are_workers_and_further_external_threads) {
  SCOPED(close_pool) muster_pool *pool = create_pool_as(WITH(muster_pool_def, it.workers = 5, it.external_max = 7));
  cr_assert_eq(muster_pool_workers(pool), 5);
  cr_assert_eq(muster_pool_indices(pool), 5 + 6, "dense: one of the external threads is counted among the workers");
}

Test(jobs_limits, the_largest_pool_works) {
  muster_pool_def def = WITH(muster_pool_def, it.workers = MUSTER_WORKERS_MAX, it.external_max = MUSTER_EXTERNAL_MAX);
  def.jobs_max = 1u << 24; /* five gigabytes, of which next to nothing is touched */
  SCOPED(close_pool) muster_pool *pool = create_pool_as(def);
  muster_group group = new_group(pool);
  shared_u64 ran = {0};
  for (uint32_t i = 0; i < 20000 / SLOWER; i++) submit(pool, i % 8, count_job, &ran, &group);
  wait_for(&group);
  cr_assert_eq(read_count(&ran), 20000 / SLOWER);
}

/* -------------------------------------------------------------------------------------------------------- bad input */

static void do_no_piece(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  (void)begin, (void)end;
  do_nothing(argument, worker);
}

Test(jobs_limits, submits_without_a_pool_a_function_or_a_priority_are_refused) {
  SCOPED(close_pool) muster_pool *pool = create_pool(2);
  muster_group group = new_group(pool);
  muster_range range;
  for (uint32_t priority = 8; priority; priority *= 2) {
    cr_assert_eq(muster_job_submit(pool, priority, do_nothing, NULL, &group), MUSTER_E_ARGUMENT);
    cr_assert_eq(muster_parallel_for(pool, priority, 10, 1, do_no_piece, NULL), MUSTER_E_ARGUMENT);
    cr_assert_eq(muster_range_submit(&range, pool, priority, 10, 1, do_no_piece, NULL, &group), MUSTER_E_ARGUMENT);
    cr_assert_eq(muster_group_wait_helping(&group, priority), MUSTER_E_ARGUMENT);
  }
  cr_assert_eq(muster_job_submit(NULL, 0, do_nothing, NULL, NULL), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_job_submit(pool, 0, NULL, NULL, NULL), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_parallel_for(NULL, 0, 10, 1, do_no_piece, NULL), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_parallel_for(pool, 0, 10, 1, NULL, NULL), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_range_submit(NULL, pool, 0, 10, 1, do_no_piece, NULL, &group), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_range_submit(&range, NULL, 0, 10, 1, do_no_piece, NULL, &group), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_range_submit(&range, pool, 0, 10, 1, NULL, NULL, &group), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_range_submit(&range, pool, 0, 10, 1, do_no_piece, NULL, NULL), MUSTER_E_ARGUMENT);
  cr_assert(muster_group_is_complete(&group), "a refused submit counted something");
}

Test(jobs_limits, a_group_of_another_pool_is_refused) {
  SCOPED(close_pool) muster_pool *pool = create_pool(2), *other = create_pool(2);
  muster_group foreign = new_group(other);
  muster_range range;
  cr_assert_eq(muster_job_submit(pool, 0, do_nothing, NULL, &foreign), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_range_submit(&range, pool, 0, 10, 1, do_no_piece, NULL, &foreign), MUSTER_E_ARGUMENT);
  cr_assert(muster_group_is_complete(&foreign));
}

static void check_uninitialised(muster_pool *pool, muster_group *zeroed) {
  muster_range range;
  cr_assert_eq(muster_job_submit(pool, 0, do_nothing, NULL, zeroed), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_range_submit(&range, pool, 0, 10, 1, do_no_piece, NULL, zeroed), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_group_wait(zeroed), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_group_wait_helping(zeroed, 0), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_group_wait_asleep(zeroed), MUSTER_E_ARGUMENT);
  cr_assert(muster_group_is_complete(zeroed));
}

Test(jobs_limits, a_group_that_was_never_initialised_is_refused) {
  SCOPED(close_pool) muster_pool *pool = create_pool(2);
  muster_group zeroed = {{0}};
  check_uninitialised(pool, &zeroed);
}

Test(jobs_limits, a_group_initialised_without_a_pool_is_as_one_that_never_was) {
  SCOPED(close_pool) muster_pool *pool = create_pool(2);
  muster_group group;
  memset(&group, 0xab, sizeof group);
  muster_group_init(&group, NULL);
  check_uninitialised(pool, &group);
  muster_group_init(NULL, pool);
}

Test(jobs_limits, nothing_is_a_group_too_and_has_no_jobs) {
  cr_assert_eq(muster_group_wait(NULL), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_group_wait_helping(NULL, 0), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_group_wait_asleep(NULL), MUSTER_E_ARGUMENT);
  cr_assert(muster_group_is_complete(NULL));
}

Test(jobs_limits, without_a_pool_the_other_calls_do_nothing) {
  muster_pool_statistics statistics = muster_pool_statistics_default(), zero = {0};
  cr_assert_eq(muster_pool_stop(NULL), 0);
  cr_assert_eq(muster_pool_current_index(NULL), UINT32_MAX);
  cr_assert_eq(muster_pool_workers(NULL), 0);
  cr_assert_eq(muster_pool_indices(NULL), 0);
  cr_assert_eq(muster_pool_statistics_read(NULL, 0, &statistics), MUSTER_E_ARGUMENT);
  SCOPED(close_pool) muster_pool *pool = create_pool(1);
  cr_assert_eq(muster_pool_statistics_read(pool, muster_pool_indices(pool), &statistics), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_pool_statistics_read(pool, 0, NULL), MUSTER_E_NOT_INITIALISED);
  cr_assert_eq(muster_pool_statistics_read(pool, 0, &zero), MUSTER_E_NOT_INITIALISED);
}

/* ---------------------------------------------------------------------------------------------------- back-pressure */

enum { ROOM = 64 };

static muster_pool *create_small(uint32_t workers) {
  return create_pool_as(WITH(muster_pool_def, it.workers = workers, it.jobs_max = ROOM));
}

Test(jobs_limits, a_full_priority_says_so_changes_nothing_and_leaves_the_others_alone) {
  SCOPED(close_pool) muster_pool *pool = create_small(1);
  for (uint32_t priority = 0; priority < MUSTER_URGENCIES; priority++) {
    muster_group group = new_group(pool), refused = new_group(pool);
    muster_range range;
    shared_u64 ran = {0};
    for (uint32_t i = 0; i < ROOM; i++) submit(pool, priority, count_job, &ran, &group);
    cr_assert_eq(muster_job_submit(pool, priority, count_job, &ran, &group), MUSTER_E_FULL);
    cr_assert_eq(muster_job_submit(pool, priority, count_job, &ran, &refused), MUSTER_E_FULL);
    cr_assert_eq(muster_range_submit(&range, pool, priority, 10, 1, do_no_piece, NULL, &refused), MUSTER_E_FULL);
    cr_assert(strlen(muster_last_error()) > 0);
    cr_assert_eq(read_count(&ran), 0, "a submit ran something");
    cr_assert(muster_group_is_complete(&refused));
    wait_for(&group);
    cr_assert_eq(read_count(&ran), ROOM);
    submit(pool, priority, count_job, &ran, &group);
    wait_for(&group);
    cr_assert_eq(read_count(&ran), ROOM + 1);
  }
}

Test(jobs_limits, jobs_max_is_rounded_up_to_a_power_of_two) {
  SCOPED(close_pool) muster_pool *pool = create_pool_as(WITH(muster_pool_def, it.workers = 1, it.jobs_max = 65));
  for (uint32_t i = 0; i < 128; i++) submit(pool, 3, do_nothing, NULL, NULL);
  cr_assert_eq(muster_job_submit(pool, 3, do_nothing, NULL, NULL), MUSTER_E_FULL);
}

/* A job of another group stands in front and no thread runs it yet: places behind it are free once it has started. */
Test(jobs_limits, places_of_jobs_that_ran_out_of_their_turn_are_free_when_the_oldest_has_started) {
  SCOPED(close_pool) muster_pool *pool = create_small(1);
  muster_group group = new_group(pool), first = new_group(pool);
  shared_u64 ran = {0};
  for (uint32_t round = 0; round < 20; round++) {
    submit(pool, MUSTER_URGENCY_NORMAL, count_job, &ran, &first);
    for (uint32_t i = 0; i < ROOM - 1; i++) {
      submit(pool, MUSTER_URGENCY_NORMAL, count_job, &ran, &group);
      wait_for(&group);
    }
    wait_for(&first);
  }
  cr_assert_eq(read_count(&ran), 20 * ROOM);
}
