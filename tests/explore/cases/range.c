/* Cases of pool/range.h: every index once, and no piece after the end. */
#include "cases.h"

#include "little_pool.h"
#include "pool/range.h"

enum { INDICES = 5 };

struct state {
  struct muster_pool *pool;
  uint8_t ran[2][INDICES]; /* by range and index */
  bool over[2];
  muster_group *group;
  muster_range *range;
};

static struct state *state;

static void prepare_two(void) {
  state = little_pool_state(sizeof *state, 2, 2);
}

static void prepare_three(void) {
  state = little_pool_state(sizeof *state, 3, 2);
}

static void begin(void) {
  state->range = explore_new(sizeof *state->range);
  state->group = explore_new(sizeof *state->group);
  muster_group_init(state->group, state->pool);
}

static void run_indices(uint32_t range, uint64_t begin, uint64_t end) {
  EXPLORE_CHECK(begin < end && end <= INDICES && !state->over[range]);
  for (uint64_t i = begin; i < end; i++) {
    EXPLORE_CHECK(!state->ran[range][i]);
    state->ran[range][i] = 1;
  }
  explore_spend(explore_draw(2) ? 1000 : 0); /* pieces grow when indices are cheap */
  explore_moment();
  EXPLORE_CHECK(!state->over[range]);
}

static void first(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  (void)argument, (void)worker;
  run_indices(0, begin, end);
}

static void second(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  (void)argument, (void)worker;
  run_indices(1, begin, end);
}

static void check_all(uint32_t range) {
  state->over[range] = true;
  for (uint32_t i = 0; i < INDICES; i++) EXPLORE_CHECK(state->ran[range][i]);
}

static void run_for(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  EXPLORE_CHECK(!muster_parallel_for(state->pool, 4, INDICES, 1, first, state));
  check_all(0);
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0);
}

/* Two threads that the pool does not own, and one worker. */
static void run_two_callers(uint32_t fibre) {
  if (fibre == 2) {
    little_worker(state->pool, 1, 2);
    return;
  }
  EXPLORE_CHECK(!muster_parallel_for(state->pool, 4, INDICES, 1, fibre ? second : first, state));
  check_all(fibre);
  if (fibre == 0) EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0);
}

/* The third index of the first range runs the second one. */
static void outer(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  (void)argument, (void)worker;
  run_indices(0, begin, end);
  if (begin > 2 || end <= 2) return;
  EXPLORE_CHECK(!muster_parallel_for(state->pool, 4, INDICES, 2, second, state));
  check_all(1);
}

static void run_nested(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  EXPLORE_CHECK(!muster_parallel_for(state->pool, 4, INDICES, 1, outer, state));
  check_all(0);
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0);
}

/* A range on its own: submitted, waited for, its memory freed. */
static void run_submitted(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  EXPLORE_CHECK(!muster_range_submit(state->range, state->pool, 4, INDICES, 1, first, state, state->group));
  EXPLORE_CHECK(!muster_group_wait(state->group));
  check_all(0);
  explore_delete(state->range);
  explore_delete(state->group);
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0);
}

/* The pool stops: the range is dropped as a whole when it had not started, else the thread that works on it does all of
 * it. */
static void run_stopped(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  EXPLORE_CHECK(!muster_range_submit(state->range, state->pool, 4, INDICES, 1, first, state, state->group));
  uint64_t dropped = muster_pool_stop(state->pool);
  EXPLORE_CHECK(muster_group_is_complete(state->group));
  state->over[0] = true;
  explore_delete(state->range);
  explore_delete(state->group);
  uint32_t ran = 0;
  for (uint32_t i = 0; i < INDICES; i++) ran += state->ran[0][i];
  EXPLORE_CHECK(dropped == (ran ? 0 : 1) && (ran == 0 || ran == INDICES));
}

const explore_case range_cases[] = {
    {"range/for", 3, prepare_three, NULL, run_for, little_pool_state_check, 0},
    {"range/two_callers", 3, prepare_two, NULL, run_two_callers, little_pool_state_check, 0},
    {"range/nested", 2, prepare_two, NULL, run_nested, little_pool_state_check, 0},
    {"range/submitted", 3, prepare_three, begin, run_submitted, little_pool_state_check, 0},
    {"range/stopped", 3, prepare_three, begin, run_stopped, little_pool_state_check, 0},
    {0},
};
