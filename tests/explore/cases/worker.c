/* Cases of pool/worker.h: groups that are waited for, from outside and inside of jobs; what is claimed by one and
 * wanted by another; urgent jobs; waiting that helps, and that does not. Fibre 0 is an external thread unless a case
 * says otherwise; the others are workers. Groups are freed as soon as they are seen complete. */
#include "cases.h"

#include "little_pool.h"

enum { JOBS = 4, GROUPS = 3 };

struct state {
  struct muster_pool *pool;
  muster_group *groups[GROUPS]; /* of the schedule */
  uint8_t ran[JOBS];
  struct parking event; /* something that jobs wait for */
  uint32_t happened;
  bool urgent_in, urgent_ran, urgent_before; /* submitted; ran; submitted when the last job ended */
  uint8_t inside[8];                         /* by worker index: fibre + 1 that runs something there */
};

static struct state *state;

static void prepare_two(void) {
  state = little_pool_state(sizeof *state, 2, 2);
}

static void prepare_three(void) {
  state = little_pool_state(sizeof *state, 3, 2);
}

static void begin(void) {
  for (uint32_t i = 0; i < GROUPS; i++) {
    state->groups[i] = explore_new(sizeof(muster_group));
    muster_group_init(state->groups[i], state->pool);
  }
}

static void submit(uint32_t priority, muster_job_function run, void *argument, uint32_t group) {
  EXPLORE_CHECK(!muster_job_submit(state->pool, priority, run, argument, group < GROUPS ? state->groups[group] : NULL));
}

static void submit_plain(uint32_t number, uint32_t group) {
  submit(4, little_job, &state->ran[number], group);
}

/* The same for a job that its group counts already, so that a fibre may wait for the group before the job is there. */
static void push_counted(uint32_t number, uint32_t group) {
  struct job job = {little_job, &state->ran[number], (struct group *)(void *)state->groups[group]};
  EXPLORE_CHECK(worker_push(state->pool, NULL, 4, &job));
}

static void count_in(uint32_t group) {
  group_add((struct group *)(void *)state->groups[group], 1, 4);
}

static void wait_and_free(uint32_t group) {
  EXPLORE_CHECK(!muster_group_wait(state->groups[group]));
  explore_delete(state->groups[group]);
}

static void let_happen(void) {
  state->happened++;
  park_wake(&state->event);
}

/* A job that lasts until something has happened. */
static void wait_for_event(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
  for (uint32_t ticket; ticket = park_ticket(&state->event), !state->happened;) park_wait(&state->event, ticket);
}

/* ---------------------------------------------------------------------------------------------------------- waiting */

static void run_wait(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  for (uint32_t i = 0; i < 3; i++) submit_plain(i, 0);
  wait_and_free(0);
  EXPLORE_CHECK(state->ran[0] && state->ran[1] && state->ran[2]);
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0);
}

static void run_wait_asleep(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  submit_plain(0, 0);
  submit_plain(1, 0);
  EXPLORE_CHECK(!muster_group_wait_asleep(state->groups[0]));
  explore_delete(state->groups[0]);
  EXPLORE_CHECK(state->ran[0] && state->ran[1]);
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0);
}

/* A job that submits another of its own group. */
static void run_and_add(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
  submit_plain(1, 0);
  state->ran[0] = 1;
}

static void run_added(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  submit(4, run_and_add, state, 0);
  wait_and_free(0);
  EXPLORE_CHECK(state->ran[0] && state->ran[1]);
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0);
}

/* ------------------------------------------------------------------------------------------ waiting inside of jobs */

/* A job with a group of its own, which it frees. */
static void run_inner(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
  submit_plain(0, 1);
  submit_plain(1, 1);
  wait_and_free(1);
  EXPLORE_CHECK(state->ran[0] && state->ran[1]);
  state->ran[2] = 1;
}

static void run_nested(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  submit(4, run_inner, state, 0);
  wait_and_free(0);
  EXPLORE_CHECK(state->ran[2]);
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0);
}

/* Two claims of two jobs, of which the first waits for a job that may stand second in the other's claim. */
static struct waiting {
  uint32_t group, job, own; /* waits for a group, in which a job has run then; its own number */
} first = {0, 0, 2}, second = {1, 1, 3}, middle = {1, 2, 3};

static void wait_for_group(void *argument, uint32_t worker) {
  const struct waiting *waiting = argument;
  (void)worker;
  EXPLORE_CHECK(!muster_group_wait(state->groups[waiting->group]));
  EXPLORE_CHECK(state->ran[waiting->job]);
  state->ran[waiting->own] = 1;
}

static void run_crossed(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  count_in(0);
  count_in(1);
  submit(4, wait_for_group, &first, GROUPS);
  push_counted(1, 1);
  submit(4, wait_for_group, &second, GROUPS);
  push_counted(0, 0);
  explore_until_quiet();
  EXPLORE_CHECK(state->ran[2] && state->ran[3]);
  EXPLORE_CHECK(muster_pool_stop(state->pool) == 0);
}

/* The same inside of one claim: it waits for a job that the waiter itself holds. */
static void run_own_claim(uint32_t fibre) {
  if (little_works(state->pool, fibre, 3)) return;
  count_in(0);
  submit(4, wait_for_group, &first, GROUPS);
  submit_plain(1, 1);
  push_counted(0, 0);
  explore_until_quiet();
  EXPLORE_CHECK(state->ran[1] && state->ran[2]);
  EXPLORE_CHECK(muster_pool_stop(state->pool) == 0);
}

/* A chain: a job waits for a job that waits for a job. The worker that sleeps at the first link must come when the last
 * job stands behind the middle one in another worker's claim. */
static void run_chain(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  count_in(0);
  submit(4, wait_for_group, &first, 1);
  submit(4, wait_for_group, &middle, GROUPS);
  push_counted(0, 0);
  explore_until_quiet();
  for (uint32_t i = 0; i < JOBS; i++)
    if (i != 1 && !state->ran[i]) explore_fail("all sleep, and job %u has not ended", i);
  EXPLORE_CHECK(muster_pool_stop(state->pool) == 0);
}

/* ----------------------------------------------------------------------------------------------- out of one's sight */

/* Two jobs wait, and a worker may claim both at any moment; the first lasts until fibre 0 has looked for the second. */
static void begin_sight(void) {
  begin();
  submit(4, wait_for_event, state, GROUPS);
  count_in(0);
  push_counted(0, 0);
}

/* A waiter's one look finds it, wherever it stands. */
static void run_sight(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  struct pool_entry entered;
  uint64_t scan[MUSTER_URGENCIES] = {0};
  struct worker_slot *slot = pool_enter(&entered, state->pool);
  EXPLORE_CHECK(worker_help(slot, (const struct group *)(const void *)state->groups[0], scan));
  pool_leave(&entered);
  let_happen();
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0 && state->ran[0]);
}

/* A fibre that takes out all jobs of the group finds it, too. */
static void run_sight_take_out(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  worker_take_out_all(state->pool, NULL, (struct group *)(void *)state->groups[0]);
  EXPLORE_CHECK(muster_group_is_complete(state->groups[0]));
  let_happen();
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0 && !state->ran[0]);
}

/* ---------------------------------------------------------------------------------------------------------- urgency */

/* With one worker: a job that is not urgent begins only if none was in when the job before it ended. */
static void run_patient(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
  EXPLORE_CHECK(!state->urgent_before || state->urgent_ran);
  explore_moment();
  state->urgent_before = state->urgent_in;
  state->happened++;
}

static void run_urgent(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
  state->urgent_ran = true;
}

static void run_urgency(uint32_t fibre) {
  if (little_works(state->pool, fibre, 3)) return;
  for (uint32_t i = 0; i < 3; i++) submit(4, run_patient, state, GROUPS);
  submit(1, run_urgent, state, GROUPS);
  state->urgent_in = true;
  explore_until_quiet();
  EXPLORE_CHECK(state->happened == 3 && state->urgent_ran);
  EXPLORE_CHECK(muster_pool_stop(state->pool) == 0);
}

static void make_event(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
  let_happen();
}

/* Two urgent jobs, of which the first waits for the second, and one that is not urgent and waits for it, too: when one
 * worker claimed both, the other must not turn to the third before it has taken the second out of the claim. */
static void run_inversion_after(uint32_t fibre, bool others) {
  if (little_works(state->pool, fibre, 2)) return;
  for (uint32_t i = 0; others && i < 3; i++) submit(i < 2 ? 1 : 4, little_job, &state->ran[i], GROUPS);
  submit(1, wait_for_event, state, 0);
  submit(1, make_event, state, 0);
  submit(4, wait_for_event, state, 0);
  explore_until_quiet();
  EXPLORE_CHECK(group_is_complete((struct group *)state->groups[0]));
  EXPLORE_CHECK(muster_pool_stop(state->pool) == 0);
}

static void run_inversion(uint32_t fibre) {
  run_inversion_after(fibre, false);
}

/* The same after others of both kinds, so that the bits of claims are stale. */
static void run_inversion_again(uint32_t fibre) {
  run_inversion_after(fibre, true);
}

/* ------------------------------------------------------------------------------------------------- helping a waiter */

/* The group's job waits for a job without a group: some fibre must run that, the helping waiter if no other does. */
static void run_helping(uint32_t fibre) {
  if (fibre == 1) {
    little_worker(state->pool, 1, 2);
  } else if (fibre == 2) {
    submit(1, make_event, state, GROUPS);
  } else {
    submit(4, wait_for_event, state, 0);
    EXPLORE_CHECK(!muster_group_wait_helping(state->groups[0], 2));
    explore_delete(state->groups[0]);
    little_pool_stop_quiet(state->pool);
  }
}

/* A waiter that does not help leaves jobs alone that are not of its group. */
static void not_on_the_external(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
  EXPLORE_CHECK(explore_fibre() != 0);
  state->ran[2] = 1;
}

static void run_restricted(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  submit_plain(0, 0);
  submit(4, not_on_the_external, state, GROUPS);
  submit_plain(1, 0);
  wait_and_free(0);
  EXPLORE_CHECK(state->ran[0] && state->ran[1]);
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0 && state->ran[2]);
}

/* -------------------------------------------------------------------------------------------------------- taken out */

static void run_take_out(uint32_t fibre) {
  if (little_works(state->pool, fibre, 2)) return;
  for (uint32_t i = 0; i < 3; i++) submit_plain(i, 0);
  worker_take_out_all(state->pool, NULL, (struct group *)(void *)state->groups[0]);
  wait_and_free(0);
  uint32_t ran = state->ran[0] + state->ran[1] + state->ran[2];
  EXPLORE_CHECK(little_pool_stop_quiet(state->pool) == 0);
  EXPLORE_CHECK(ran == (uint32_t)(state->ran[0] + state->ran[1] + state->ran[2]));
}

/* ----------------------------------------------------------------------------------------------------- worker slots */

static void sit_alone(void *argument, uint32_t worker) {
  (void)argument;
  EXPLORE_CHECK(worker < muster_pool_indices(state->pool));
  EXPLORE_CHECK(worker == muster_pool_current_index(state->pool));
  EXPLORE_CHECK(!state->inside[worker]);
  state->inside[worker] = 1;
  explore_moment();
  state->inside[worker] = 0;
}

/* Three external threads for two worker slots, and no workers: each gets a worker slot in time, and none is shared. */
static void run_slots(uint32_t fibre) {
  submit(4, sit_alone, state, fibre);
  wait_and_free(fibre);
}

/* Checks the worker slots only: a job that was taken out stays in its lane until a claim, and no fibre is left to
 * claim. */
static void check_slots(void) {
  EXPLORE_CHECK(load_relaxed_u64(&state->pool->free_external) == pool_all_external(state->pool));
}

const explore_case worker_cases[] = {
    {"worker/wait", 3, prepare_three, begin, run_wait, little_pool_state_check, 0},
    {"worker/wait_asleep", 3, prepare_three, begin, run_wait_asleep, little_pool_state_check, 0},
    {"worker/added", 2, prepare_two, begin, run_added, little_pool_state_check, 0},
    {"worker/nested", 3, prepare_three, begin, run_nested, little_pool_state_check, 0},
    {"worker/crossed", 3, prepare_three, begin, run_crossed, little_pool_state_check, 0},
    {"worker/own_claim", 2, prepare_two, begin, run_own_claim, little_pool_state_check, 0},
    {"worker/chain", 3, prepare_three, begin, run_chain, little_pool_state_check, 0},
    {"worker/sight", 2, prepare_two, begin_sight, run_sight, little_pool_state_check, 0},
    {"worker/sight_take_out", 2, prepare_two, begin_sight, run_sight_take_out, little_pool_state_check, 0},
    {"worker/urgency", 2, prepare_two, begin, run_urgency, little_pool_state_check, 0},
    {"worker/inversion", 3, prepare_three, begin, run_inversion, little_pool_state_check, 0},
    {"worker/inversion_again", 3, prepare_three, begin, run_inversion_again, little_pool_state_check, 0},
    {"worker/helping", 3, prepare_two, begin, run_helping, little_pool_state_check, 0},
    {"worker/restricted", 2, prepare_two, begin, run_restricted, little_pool_state_check, 0},
    {"worker/take_out", 3, prepare_three, begin, run_take_out, little_pool_state_check, 0},
    {"worker/slots", 3, prepare_two, begin, run_slots, check_slots, 0},
    {0},
};
