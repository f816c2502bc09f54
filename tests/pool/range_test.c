/* Ranges: every index once, in pieces of at least the grain, however many, nested, or issued by several threads. */
#include "pool/jobs_support.h"

enum { INDICES = 20000 };

struct field {
  uint64_t count, grain;
  uint32_t indices_max; /* of workers */
  shared_u32 visits[INDICES];
  shared_u64 wrong, short_pieces, pieces;
};

static void visit_piece(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  struct field *field = argument;
  if (begin >= end || end > field->count || worker >= field->indices_max) {
    count_up(&field->wrong);
    return;
  }
  count_up(&field->pieces);
  if (end - begin < field->grain) count_up(&field->short_pieces);
  if (end - begin < field->grain && end != field->count) count_up(&field->wrong);
  for (uint64_t i = begin; i < end; i++) fetch_add_relaxed_u32(&field->visits[i], 1);
}

static void check_field(const struct field *field) {
  cr_assert_eq(read_count(&field->wrong), 0, "a piece out of bounds, shorter than the grain or under a strange index");
  cr_assert_leq(read_count(&field->short_pieces), 1);
  for (uint64_t i = 0; i < field->count; i++)
    cr_assert_eq(load_relaxed_u32(&field->visits[i]), 1, "index %u of %u was visited %u times", (unsigned)i,
                 (unsigned)field->count, load_relaxed_u32(&field->visits[i]));
}

static void check_count(muster_pool *pool, uint64_t count, uint64_t grain) {
  static struct field field;
  memset(&field, 0, sizeof field);
  field.count = count;
  field.grain = grain ? grain : 1;
  field.indices_max = muster_pool_indices(pool);
  cr_assert_eq(muster_parallel_for(pool, 4, count, grain, visit_piece, &field), MUSTER_OK);
  check_field(&field);
  cr_assert_leq(read_count(&field.pieces), count / field.grain + 1);
}

Test(range, visits_every_index_once_in_pieces_of_at_least_the_grain) {
  static const uint64_t counts[] = {1, 2, 3, 7, 64, 1000, INDICES - 1, INDICES};
  static const uint64_t grains[] = {0, 1, 2, 3, 63, 1000, INDICES, INDICES + 1, UINT64_MAX};
  for (uint32_t workers = 1; workers <= 8; workers = workers * 2 + 1) {
    SCOPED(close_pool) muster_pool *pool = create_pool(workers);
    for (uint32_t c = 0; c < COUNT_OF(counts); c++)
      for (uint32_t g = 0; g < COUNT_OF(grains); g++)
        for (uint32_t i = 0; i < 16 / SLOWER; i++) check_count(pool, counts[c], grains[g]);
  }
}

Test(range, of_nothing_is_nothing) {
  SCOPED(close_pool) muster_pool *pool = create_pool(2);
  muster_group group = new_group(pool);
  muster_range range;
  cr_assert_eq(muster_parallel_for(pool, 4, 0, 1, visit_piece, NULL), MUSTER_OK);
  cr_assert_eq(muster_range_submit(&range, pool, 4, 0, 1, visit_piece, NULL, &group), MUSTER_OK);
  cr_assert(muster_group_is_complete(&group));
}

/* Once a worker has gone to sleep, nothing but work wakes it. */
Test(range, of_nothing_wakes_nobody) {
  SCOPED(close_pool) muster_pool *pool = create_pool(2);
  muster_pool_statistics sum = muster_pool_statistics_default();
  while (sum.sleeps == 0) {
    cr_assert_eq(muster_pool_statistics_read(pool, UINT32_MAX, &sum), MUSTER_OK);
    sched_yield();
  }
  uint64_t before = sum.wakes;
  for (uint32_t i = 0; i < 100; i++) cr_assert_eq(muster_parallel_for(pool, 4, 0, 1, visit_piece, NULL), MUSTER_OK);
  cr_assert_eq(muster_pool_statistics_read(pool, UINT32_MAX, &sum), MUSTER_OK);
  cr_assert_eq(sum.wakes, before);
}

struct vastness {
  shared_u64 sum, pieces, wrong;
  uint64_t count;
};

static void measure_piece(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  struct vastness *vastness = argument;
  (void)worker;
  if (begin >= end || end > vastness->count) count_up(&vastness->wrong);
  fetch_add_relaxed_u64(&vastness->sum, end - begin);
  count_up(&vastness->pieces);
}

Test(range, counts_as_large_as_a_number_can_be_do_not_wrap_around) {
  SCOPED(close_pool) muster_pool *pool = create_pool(4);
  for (uint32_t round = 0; round < 500 / SLOWER; round++)
    for (uint32_t shift = 55; shift < 64; shift++) {
      struct vastness vastness = {.count = UINT64_MAX - round % 3};
      cr_assert_eq(muster_parallel_for(pool, 4, vastness.count, 1ull << shift, measure_piece, &vastness), MUSTER_OK);
      cr_assert_eq(read_count(&vastness.wrong), 0);
      cr_assert_eq(read_count(&vastness.sum), vastness.count);
      cr_assert_leq(read_count(&vastness.pieces), 1ull << (64 - shift));
    }
  struct vastness whole = {.count = UINT64_MAX};
  cr_assert_eq(muster_parallel_for(pool, 4, UINT64_MAX, UINT64_MAX, measure_piece, &whole), MUSTER_OK);
  cr_assert_eq(read_count(&whole.pieces), 1);
}

/* ------------------------------------------------------------------------------------------------ several at a time */

struct square {
  muster_pool *pool;
  uint64_t side;
  uint32_t depth;
  shared_u64 *cells;
  shared_u64 changed_index;
};

static void count_cells(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  struct square *square = argument;
  if (square->depth == 0) {
    fetch_add_relaxed_u64(square->cells, end - begin);
    return;
  }
  for (uint64_t i = begin; i < end; i++) {
    struct square inner = *square;
    inner.depth--;
    muster_parallel_for(square->pool, (uint32_t)(i % 8), square->side, 1, count_cells, &inner);
    if (muster_pool_current_index(square->pool) != worker) count_up(&square->changed_index);
  }
}

Test(range, may_be_nested_and_a_thread_keeps_its_index) {
  for (uint32_t workers = 1; workers <= 8; workers *= 2) {
    SCOPED(close_pool) muster_pool *pool = create_pool(workers);
    for (uint32_t round = 0; round < 16 / SLOWER; round++) {
      shared_u64 cells = {0};
      struct square square = {.pool = pool, .side = 12, .depth = 2, .cells = &cells};
      cr_assert_eq(muster_parallel_for(pool, 3, square.side, 1, count_cells, &square), MUSTER_OK);
      cr_assert_eq(read_count(&cells), 12 * 12 * 12);
      cr_assert_eq(read_count(&square.changed_index), 0);
    }
  }
}

struct issuer {
  muster_pool *pool;
  uint64_t rounds, wrong;
};

static void *issue_ranges(void *argument) {
  struct issuer *issuer = argument;
  for (uint64_t round = 0; round < issuer->rounds; round++) {
    struct vastness vastness = {.count = 100 + round % 900};
    issuer->wrong += muster_parallel_for(issuer->pool, (uint32_t)(round % 8), vastness.count, 1 + round % 7,
                                         measure_piece, &vastness) != MUSTER_OK;
    issuer->wrong += read_count(&vastness.sum) != vastness.count || read_count(&vastness.wrong) > 0;
  }
  return NULL;
}

Test(range, may_be_issued_by_more_threads_at_once_than_there_are_slots_for) {
  enum { THREADS = 12 };
  SCOPED(close_pool) muster_pool *pool = create_pool(3);
  pthread_t threads[THREADS];
  struct issuer issuers[THREADS];
  for (uint32_t i = 0; i < THREADS; i++) issuers[i] = (struct issuer){.pool = pool, .rounds = 1000 / SLOWER};
  start_threads(threads, THREADS, issue_ranges, issuers, sizeof *issuers);
  join_threads(threads, THREADS);
  for (uint32_t i = 0; i < THREADS; i++) cr_assert_eq(issuers[i].wrong, 0);
}

/* ----------------------------------------------------------------------------------------------------- on their own */

Test(range, submitted_runs_inside_its_group_beside_other_jobs) {
  enum { RANGES = 20 };
  for (uint32_t workers = 1; workers <= 4; workers++) {
    SCOPED(close_pool) muster_pool *pool = create_pool(workers);
    muster_group group = new_group(pool);
    muster_range ranges[RANGES];
    struct vastness vastness[RANGES];
    shared_u64 ran = {0};
    for (uint32_t round = 0; round < 100 / SLOWER; round++) {
      for (uint32_t i = 0; i < RANGES; i++) {
        vastness[i] = (struct vastness){.count = i * 50 + 1};
        cr_assert_eq(
            muster_range_submit(&ranges[i], pool, i % 8, vastness[i].count, 3, measure_piece, &vastness[i], &group),
            MUSTER_OK);
        submit(pool, i % 8, count_job, &ran, &group);
      }
      wait_for(&group);
      for (uint32_t i = 0; i < RANGES; i++) cr_assert_eq(read_count(&vastness[i].sum), vastness[i].count);
    }
  }
}

Test(range, submitted_to_a_full_priority_is_refused_and_a_parallel_for_is_done_by_its_caller) {
  SCOPED(close_pool) muster_pool *pool = create_pool_as(WITH(muster_pool_def, it.workers = 2, it.jobs_max = 64));
  muster_group held = new_group(pool), group = new_group(pool);
  muster_range range;
  struct gate gate = {0};
  hold_workers(pool, &gate, 1, &held);
  for (uint32_t i = 0; i < 64; i++) submit(pool, 4, do_nothing, NULL, &held);
  struct vastness vastness = {.count = 1000};
  cr_assert_eq(muster_range_submit(&range, pool, 4, 1000, 1, measure_piece, &vastness, &group), MUSTER_E_FULL);
  cr_assert(muster_group_is_complete(&group));
  cr_assert_eq(read_count(&vastness.pieces), 0);
  cr_assert_eq(muster_parallel_for(pool, 4, 1000, 1, measure_piece, &vastness), MUSTER_OK);
  cr_assert_eq(read_count(&vastness.sum), 1000);
  open_gate(&gate);
  wait_for(&held);
}

static void meet_in_piece(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  (void)begin, (void)end;
  meet(argument, worker);
}

/* As many pieces as workers, each of which waits for all others: without end unless every worker comes. */
Test(range, all_workers_come_to_a_parallel_for_and_to_a_submitted_one) {
  enum { WORKERS = 4 };
  SCOPED(close_pool) muster_pool *pool = create_pool(WORKERS);
  for (uint32_t round = 0; round < 1000 / SLOWER; round++) {
    struct meeting first = {.members = WORKERS}, second = {.members = WORKERS - 1};
    muster_group group = new_group(pool);
    muster_range range;
    cr_assert_eq(muster_parallel_for(pool, 4, WORKERS, 1, meet_in_piece, &first), MUSTER_OK);
    cr_assert_eq(muster_range_submit(&range, pool, 4, WORKERS - 1, 1, meet_in_piece, &second, &group), MUSTER_OK);
    wait_asleep(&group);
  }
}
