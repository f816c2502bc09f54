/* Cases of pool/group.h: a group's end is seen once, its memory may go at once, no waiter is lost. */
#include "cases.h"

#include "pool/group.h"
#include "pool/idle.h"
#include "pool/park.h"

enum { WAITERS = 2 };

struct state {
  struct group *group; /* of the schedule */
  idle_set waiting;
  struct parking parkings[WAITERS];
  uint8_t ended[4]; /* completers that are done with their job */
  uint32_t ends;    /* completions that uncovered a waiter */
};

static struct state *state;

static void prepare(void) {
  state = explore_memory(sizeof *state);
}

static void begin_two_jobs(void) {
  state->group = explore_new(sizeof *state->group);
  group_prepare(state->group, NULL);
  group_add(state->group, 2, 0);
}

/* As worker_complete does. */
static void complete(uint32_t count) {
  bool waited = group_complete(state->group, count);
  state->ends += waited;
  if (waited)
    for (uint32_t index; (index = idle_take(&state->waiting, WAITERS)) != IDLE_NONE;)
      park_wake(&state->parkings[index]);
}

/* As sleep_for_group does. */
static void wait_for(uint32_t index) {
  while (!group_is_complete(state->group)) {
    uint32_t ticket = park_ticket(&state->parkings[index]);
    idle_enter(&state->waiting, index);
    if (group_await(state->group)) park_wait(&state->parkings[index], ticket);
    idle_leave(&state->waiting, index);
  }
  EXPLORE_CHECK(state->ended[2] && state->ended[3]);
}

static void run_completer(uint32_t fibre) {
  explore_moment();
  state->ended[fibre] = 1;
  complete(1);
}

/* The owner frees the group as soon as it sees it complete; no other fibre may touch it then. */
static void run_free(uint32_t fibre) {
  if (fibre > 1) {
    run_completer(fibre);
  } else if (fibre == 0) {
    wait_for(0);
    explore_delete(state->group);
  }
}

static void run_two_waiters(uint32_t fibre) {
  if (fibre > 1)
    run_completer(fibre);
  else
    wait_for(fibre);
}

static void check_ends(void) {
  EXPLORE_CHECK(state->ends <= 1);
}

/* ----------------------------------------------------------------------------------------------------------- reuse */

static void begin_one_job(void) {
  begin_two_jobs();
  state->ended[3] = 1;
  complete(1);
}

/* The owner uses the group again, as it is, as soon as it is complete: nothing of the first time is left in it. */
static void run_reuse(uint32_t fibre) {
  if (fibre == 0) {
    wait_for(0);
    group_add(state->group, 1, 0);
    state->ended[2] = 0;
    state->ended[3] = 2;
    wait_for(0);
    explore_delete(state->group);
  } else if (fibre == 1) {
    while (state->ended[3] != 2) explore_yield();
    state->ended[2] = 1;
    complete(1);
  } else {
    run_completer(2);
  }
}

const explore_case group_cases[] = {
    {"group/free", 4, prepare, begin_two_jobs, run_free, check_ends, 0},
    {"group/two_waiters", 4, prepare, begin_two_jobs, run_two_waiters, check_ends, 0},
    {"group/reuse", 3, prepare, begin_one_job, run_reuse, NULL, 0},
    {0},
};
