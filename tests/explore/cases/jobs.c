/* Cases of what muster/jobs.h adds to groups and workers: continuations, pinned and blocking jobs, stopping. */
#include "cases.h"

#include "little_pool.h"
#include "pool/threads.h"

enum { JOBS = 4, GROUPS = 2 };

struct state {
  struct muster_pool *pool;
  muster_group *groups[GROUPS]; /* of the schedule */
  uint8_t ran[JOBS];
  uint64_t submitted, dropped;
};

static void *prepare(void) {
  struct state *state = explore_memory(sizeof *state);
  state->pool = little_pool(2, 2);
  return state;
}

static void begin(void *argument) {
  struct state *state = argument;
  for (uint32_t i = 0; i < GROUPS; i++) {
    state->groups[i] = explore_new(sizeof(muster_group));
    muster_group_init(state->groups[i], state->pool);
  }
}

static void check(void *argument) {
  const struct state *state = argument;
  little_pool_check_empty(state->pool);
}

static void submit_plain(struct state *state, uint32_t number, uint32_t group) {
  EXPLORE_CHECK(!muster_job_submit(state->pool, 4, little_job, &state->ran[number], state->groups[group]));
}

static void wait_and_free(struct state *state, uint32_t group) {
  EXPLORE_CHECK(!muster_group_wait(state->groups[group]));
  explore_delete(state->groups[group]);
}

/* ---------------------------------------------------------------------------------------------------- continuations */

static void run_after(void *argument, uint32_t worker) {
  struct state *state = argument;
  EXPLORE_CHECK(state->ran[0] && state->ran[1]);
  little_job(&state->ran[2], worker);
}

/* What follows two jobs runs after both, once; both groups go as soon as they are complete. */
static void run_continuation(void *argument, uint32_t fibre) {
  struct state *state = argument;
  if (fibre > 0) {
    little_worker(state->pool, fibre, 2);
    return;
  }
  submit_plain(state, 0, 0);
  submit_plain(state, 1, 0);
  EXPLORE_CHECK(!muster_job_submit_after(state->groups[0], 4, run_after, state, state->groups[1]));
  wait_and_free(state, 0);
  wait_and_free(state, 1);
  EXPLORE_CHECK(state->ran[2]);
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0);
}

/* The follower's group is waited for asleep: whoever completes the first group must find it somebody. */
static void run_followed_asleep(void *argument, uint32_t fibre) {
  struct state *state = argument;
  if (fibre > 0) {
    little_worker(state->pool, fibre, 2);
    return;
  }
  state->ran[1] = 1;
  submit_plain(state, 0, 0);
  EXPLORE_CHECK(!muster_job_submit_after(state->groups[0], 2, run_after, state, state->groups[1]));
  EXPLORE_CHECK(!muster_group_wait_asleep(state->groups[1]));
  EXPLORE_CHECK(state->ran[2]);
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0);
}

/* Lanes are full: the job that follows is run by whoever completes the group. */
static void run_no_room(void *argument, uint32_t fibre) {
  struct state *state = argument;
  if (fibre > 0) {
    little_worker(state->pool, fibre, 2);
    return;
  }
  state->ran[1] = 1;
  submit_plain(state, 0, 0);
  EXPLORE_CHECK(!muster_job_submit_after(state->groups[0], 4, run_after, state, state->groups[1]));
  static const struct job filler = {little_job, NULL, NULL};
  unsigned char *ran = explore_new(8);
  for (uint32_t i = 0; i < 4; i++) {
    struct job job = filler;
    job.argument = &ran[i];
    if (muster_job_submit(state->pool, 4, job.run, job.argument, NULL)) ran[i] = 1; /* MUSTER_E_FULL */
  }
  wait_and_free(state, 1);
  EXPLORE_CHECK(state->ran[2]);
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0);
  EXPLORE_CHECK(ran[0] && ran[1] && ran[2] && ran[3]);
}

/* Two that each let a job follow another: nodes go from hand to hand. */
static void run_two_chains(void *argument, uint32_t fibre) {
  struct state *state = argument;
  if (fibre == 1) {
    little_worker(state->pool, 1, 2);
    return;
  }
  muster_group *group = state->groups[fibre / 2];
  EXPLORE_CHECK(!muster_job_submit(state->pool, 4, little_job, &state->ran[fibre], group));
  EXPLORE_CHECK(!muster_job_submit_after(group, 4, little_job, &state->ran[fibre + 1], NULL));
  if (fibre > 0) return;
  explore_until_quiet();
  for (uint32_t i = 0; i < JOBS; i++)
    if (!state->ran[i]) explore_fail("all sleep, and job %u has not run", i);
  EXPLORE_CHECK(muster_pool_stop(state->pool) == 0);
}

/* The only worker waits, inside of a job, for a group of which one job follows another group, and sleeps when it learns
 * of that: it has to run all of them itself. */
static void run_waiting(void *argument, uint32_t worker) {
  struct state *state = argument;
  (void)worker;
  EXPLORE_CHECK(!muster_group_wait(state->groups[1]));
  EXPLORE_CHECK(state->ran[0] && state->ran[1] && state->ran[2]);
  state->ran[3] = 1;
}

static void run_before(void *argument, uint32_t fibre) {
  struct state *state = argument;
  if (fibre > 0) {
    little_worker(state->pool, fibre, 2);
    return;
  }
  struct group *after = (struct group *)(void *)state->groups[1];
  group_add(after, 1, 4);
  EXPLORE_CHECK(!muster_job_submit(state->pool, 2, run_waiting, state, NULL));
  submit_plain(state, 0, 0);
  EXPLORE_CHECK(!muster_job_submit_after(state->groups[0], 4, little_job, &state->ran[2], state->groups[1]));
  if (explore_draw(2)) {
    EXPLORE_CHECK(worker_push(state->pool, NULL, 4, &(struct job){little_job, &state->ran[1], after}));
  } else { /* it comes to nothing: what follows is all that is left */
    state->ran[1] = 1;
    worker_complete(state->pool, NULL, after, 1);
  }
  explore_until_quiet();
  EXPLORE_CHECK(state->ran[3]);
  EXPLORE_CHECK(muster_pool_stop(state->pool) == 0);
}

/* ------------------------------------------------------------------------------------------------------ pinned jobs */

static void run_on_main(void *argument, uint32_t worker) {
  EXPLORE_CHECK(explore_fibre() == 0);
  little_job(argument, worker);
}

static void submit_pinned(void *argument, uint32_t worker) {
  struct state *state = argument;
  (void)worker;
  EXPLORE_CHECK(!muster_job_submit_pinned(state->pool, run_on_main, &state->ran[1], state->groups[0]));
}

/* The main thread, asleep in a wait, is woken for a pinned job of the group that it waits for. */
static void run_pinned(void *argument, uint32_t fibre) {
  struct state *state = argument;
  if (fibre > 0) {
    little_worker(state->pool, fibre, 2);
    return;
  }
  muster_pool_set_main(state->pool);
  EXPLORE_CHECK(!muster_job_submit(state->pool, 4, submit_pinned, state, state->groups[0]));
  wait_and_free(state, 0);
  EXPLORE_CHECK(state->ran[1]);
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0);
}

/* -------------------------------------------------------------------------------------------------------- blocking */

/* Fibre 2 is the one thread for blocking jobs, from when it is started. */
static void run_blocking(void *argument, uint32_t fibre) {
  struct state *state = argument;
  struct muster_pool *pool = state->pool;
  if (fibre == 2) {
    struct pool_entry entered;
    if (pool->threads_started == 0) explore_block(&pool->threads_started, 0);
    pool_enter_for_life(&entered, &pool->seats[pool_first_blocking(pool)]);
    blocking_run(entered.seat);
    pool_leave(&entered);
    return;
  }
  EXPLORE_CHECK(!muster_job_submit_blocking(pool, little_job, &state->ran[2 * fibre], NULL));
  EXPLORE_CHECK(!muster_job_submit_blocking(pool, little_job, &state->ran[2 * fibre + 1], NULL));
  if (fibre > 0) return;
  explore_until_quiet();
  for (uint32_t i = 0; i < JOBS; i++)
    if (!state->ran[i]) explore_fail("all sleep, and blocking job %u has not run", i);
  EXPLORE_CHECK(muster_pool_stop(pool) == 0);
}

/* -------------------------------------------------------------------------------------------------------- stopping */

/* Somebody submits and waits while the pool stops: what was accepted runs or is dropped, and the wait ends. */
static void run_stop(void *argument, uint32_t fibre) {
  struct state *state = argument;
  if (fibre == 0) {
    muster_pool_stop(state->pool);
  } else if (fibre == 1) {
    little_worker(state->pool, 1, 2);
  } else {
    for (uint32_t i = 0; i < 2; i++)
      if (!muster_job_submit(state->pool, 4, little_job, &state->ran[i], state->groups[0])) state->submitted++;
    EXPLORE_CHECK(!muster_group_wait_asleep(state->groups[0]));
    explore_delete(state->groups[0]);
  }
}

/* The job that follows is dropped, or runs, when the pool stops; its group ends either way. */
static void run_stop_followed(void *argument, uint32_t fibre) {
  struct state *state = argument;
  if (fibre == 0) {
    muster_pool_stop(state->pool);
  } else if (fibre == 1) {
    little_worker(state->pool, 1, 2);
  } else {
    state->ran[1] = 1;
    bool first = !muster_job_submit(state->pool, 4, little_job, &state->ran[0], state->groups[0]);
    if (!first) state->ran[0] = 1;
    muster_job_submit_after(state->groups[0], 4, little_job, &state->ran[2], state->groups[1]);
    EXPLORE_CHECK(!muster_group_wait_asleep(state->groups[0]));
    EXPLORE_CHECK(!muster_group_wait_asleep(state->groups[1]));
  }
}

const explore_case jobs_cases[] = {
    {"jobs/continuation", 2, prepare, begin, run_continuation, check, 0},
    {"jobs/followed_asleep", 2, prepare, begin, run_followed_asleep, check, 0},
    {"jobs/no_room", 2, prepare, begin, run_no_room, check, 0},
    {"jobs/two_chains", 3, prepare, begin, run_two_chains, check, 0},
    {"jobs/before", 2, prepare, begin, run_before, check, 0},
    {"jobs/pinned", 2, prepare, begin, run_pinned, check, 0},
    {"jobs/blocking", 3, prepare, begin, run_blocking, check, 0},
    {"jobs/stop", 3, prepare, begin, run_stop, check, 0},
    {"jobs/stop_followed", 3, prepare, begin, run_stop_followed, check, 0},
    {0},
};
