/* Cases of sleeping and waking (pool/idle.h, pool/park.h, worker_sleep, worker_push): no wake is lost, and one job
 * wakes one sleeper. The fibres are a submitter, which is no part of the pool, and workers. */
#include "cases.h"

#include "little_pool.h"

enum { JOBS = 3 };

struct state {
  struct muster_pool *pool;
  uint8_t ran[JOBS];
  struct parking met; /* of jobs that wait for each other */
  uint32_t arrived;   /* there */
  uint64_t submitted, dropped;
};

static struct state *state;

static void prepare_two(void) {
  state = little_pool_state(sizeof *state, 2, 1);
}

static void prepare_three(void) {
  state = little_pool_state(sizeof *state, 3, 1);
}

static void prepare_four(void) {
  state = little_pool_state(sizeof *state, 4, 1);
}

static void submit(uint32_t priority, uint32_t number) {
  EXPLORE_CHECK(!muster_job_submit(state->pool, priority, little_job, &state->ran[number], NULL));
  state->submitted++;
}

/* Nothing moves any more: whatever was submitted must have run. */
static void stop_quiet(void) {
  explore_until_quiet();
  for (uint32_t i = 0; i < state->submitted; i++)
    if (!state->ran[i]) explore_fail("all sleep, and job %u has not run", i);
  EXPLORE_CHECK(muster_pool_stop(state->pool) == 0);
}

static void run_one_worker(uint32_t fibre) {
  if (little_works(state->pool, fibre, 1)) return;
  submit(4, 0);
  submit(4, 1);
  stop_quiet();
}

static void run_two_submitters(uint32_t fibre) {
  if (fibre == 2) {
    little_worker(state->pool, 1, 2);
  } else {
    submit(4 + fibre, fibre);
    if (fibre == 0) stop_quiet();
  }
}

static void run_two_workers(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  for (uint32_t i = 0; i < JOBS; i++) submit(4 + i % 2, i);
  stop_quiet();
}

/* Both workers sleep: one job moves one event count, by one. */
static void run_directed(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  const struct worker_slot *slots = state->pool->slots;
  explore_until_quiet();
  uint32_t before = park_ticket(&slots[1].parking) + park_ticket(&slots[2].parking);
  submit(4, 0);
  explore_until_quiet();
  EXPLORE_CHECK(park_ticket(&slots[1].parking) + park_ticket(&slots[2].parking) == before + 1);
  stop_quiet();
}

/* Jobs of which each goes on only when all have begun: none may be held where a worker, asleep or about to sleep, does
 * not see it. */
static void meet(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
  state->ran[state->arrived++] = 1;
  park_wake(&state->met);
  for (uint32_t ticket; ticket = park_ticket(&state->met), state->arrived < state->submitted;)
    park_wait(&state->met, ticket);
}

static void run_gang_of(uint32_t fibre, uint32_t count) {
  if (little_works(state->pool, fibre, 3)) return;
  state->submitted = count;
  for (uint32_t i = 0; i < count; i++) EXPLORE_CHECK(!muster_job_submit(state->pool, 4, meet, state, NULL));
  stop_quiet();
}

static void run_gang(uint32_t fibre) {
  run_gang_of(fibre, 2);
}

static void run_gang_of_three(uint32_t fibre) {
  run_gang_of(fibre, 3);
}

/* The same when all sleep and one of them is woken for all three: each that gets one wakes the next. */
static void run_gang_by_one_wake(uint32_t fibre) {
  const struct job job = {meet, state, NULL};
  if (little_works(state->pool, fibre, 3)) return;
  explore_until_quiet();
  state->submitted = 3;
  for (uint32_t i = 0; i < 3; i++) EXPLORE_CHECK(queue_push(&state->pool->queue, 4, &job));
  worker_wake(state->pool, NULL, NULL);
  stop_quiet();
}

/* The workers' loop as it is, with spinning. */
static void run_spinning(uint32_t fibre) {
  if (fibre > 0) {
    little_spinning_worker(state->pool, fibre);
    return;
  }
  submit(4, 0);
  submit(2, 1);
  stop_quiet();
}

/* A stop at any moment: every worker leaves, and what was submitted has run or was dropped. */
static void run_stop(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  submit(4, 0);
  submit(4, 1);
  state->dropped = muster_pool_stop(state->pool);
}

static void check_stop(void) {
  EXPLORE_CHECK(state->ran[0] + state->ran[1] + state->dropped == 2);
  little_pool_check_empty(state->pool);
}

const explore_case sleep_cases[] = {
    {"sleep/one_worker", 2, prepare_two, NULL, run_one_worker, little_pool_state_check, 0},
    {"sleep/two_submitters", 3, prepare_two, NULL, run_two_submitters, little_pool_state_check, 0},
    {"sleep/two_workers", 3, prepare_three, NULL, run_two_workers, little_pool_state_check, 0},
    {"sleep/directed", 3, prepare_three, NULL, run_directed, little_pool_state_check, 0},
    {"sleep/gang", 3, prepare_three, NULL, run_gang, little_pool_state_check, 0},
    {"sleep/gang_of_three", 4, prepare_four, NULL, run_gang_of_three, little_pool_state_check, 0},
    {"sleep/gang_by_one_wake", 4, prepare_four, NULL, run_gang_by_one_wake, little_pool_state_check, 0},
    {"sleep/spinning", 2, prepare_two, NULL, run_spinning, little_pool_state_check, 0},
    {"sleep/stop", 3, prepare_three, NULL, run_stop, check_stop, 0},
    {0},
};
