/* Cases of pool/group.h: a group's end is seen once, its memory may go at once, no waiter and no follower is lost. */
#include "cases.h"

#include "pool/group.h"
#include "pool/idle.h"
#include "pool/park.h"

enum { NODES = 2, WAITERS = 2 };

struct state {
  struct group *group; /* of the schedule */
  idle_set waiting;
  struct parking parkings[WAITERS];
  follower_table table;
  struct arena arena;
  uint8_t fired[NODES + 1];
  uint32_t order[NODES + 1], fired_count; /* as they were fired */
  uint8_t ended[4];                       /* completers that are done with their job */
  uint32_t ends;                          /* completions that uncovered something */
  bool both_follow;
};

static void *prepare(void) {
  struct state *state = explore_memory(sizeof *state);
  followers_create(&state->table, NODES, &state->arena);
  return state;
}

static void begin_two_jobs(void *argument) {
  struct state *state = argument;
  state->group = explore_new(sizeof *state->group);
  group_prepare(state->group, NULL, 1);
  group_add(state->group, 2, 0);
}

static void fire(struct state *state, uint32_t number) {
  EXPLORE_CHECK(number <= NODES && !state->fired[number]);
  state->fired[number] = 1;
  state->order[state->fired_count++] = number;
}

/* As worker_complete does. */
static void complete(struct state *state, uint32_t count) {
  group_end end = group_complete(state->group, count);
  state->ends += end.waited || end.followers;
  if (end.waited)
    for (uint32_t index; (index = idle_take(&state->waiting, WAITERS)) != IDLE_NONE;)
      park_wake(&state->parkings[index]);
  for (uint32_t head = followers_reverse(&state->table, end.followers), next; head; head = next) {
    struct follower *node = &state->table.nodes[head - 1];
    next = node->next;
    fire(state, (uint32_t)(uintptr_t)node->job.argument);
    followers_give_back(&state->table, head - 1);
  }
}

/* As sleep_for_group does. */
static void wait_for(struct state *state, uint32_t index) {
  while (!group_is_complete(state->group)) {
    uint32_t ticket = park_ticket(&state->parkings[index]);
    idle_enter(&state->waiting, index);
    if (group_await(state->group)) park_wait(&state->parkings[index], ticket);
    idle_leave(&state->waiting, index);
  }
  EXPLORE_CHECK(state->ended[2] && state->ended[3]);
}

static void run_completer(struct state *state, uint32_t fibre) {
  explore_moment();
  state->ended[fibre] = 1;
  complete(state, 1);
}

/* The owner frees the group as soon as it sees it complete; nobody may touch it then. */
static void run_free(void *argument, uint32_t fibre) {
  struct state *state = argument;
  if (fibre > 1) {
    run_completer(state, fibre);
  } else if (fibre == 0) {
    wait_for(state, 0);
    explore_delete(state->group);
  }
}

static void run_two_waiters(void *argument, uint32_t fibre) {
  struct state *state = argument;
  if (fibre > 1)
    run_completer(state, fibre);
  else
    wait_for(state, fibre);
}

static void check_ends(void *argument) {
  const struct state *state = argument;
  EXPLORE_CHECK(state->ends <= 1);
}

/* ------------------------------------------------------------------------------------------------------- followers */

/* False when the group was complete already. */
static bool follow(struct state *state, uint32_t number) {
  uint32_t node = followers_take(&state->table);
  EXPLORE_CHECK(node != FOLLOWER_NONE);
  state->table.nodes[node] = (struct follower){.job = {.argument = (void *)(uintptr_t)number}};
  if (group_follow(state->group, &state->table, node)) return true;
  followers_give_back(&state->table, node);
  fire(state, number);
  return false;
}

static void run_followers(void *argument, uint32_t fibre) {
  if (fibre > 1)
    run_completer(argument, fibre);
  else
    follow(argument, fibre);
}

static void check_followers(void *argument) {
  struct state *state = argument;
  for (uint32_t i = 0; i < NODES; i++) EXPLORE_CHECK(state->fired[i]);
  check_ends(state);
  /* All nodes are there again. */
  for (uint32_t i = 0; i < NODES; i++) EXPLORE_CHECK(followers_take(&state->table) != FOLLOWER_NONE);
}

/* The owner lets two follow, waits, and frees; in the order of their coming. */
static void run_in_order(void *argument, uint32_t fibre) {
  struct state *state = argument;
  if (fibre > 1) {
    run_completer(state, fibre);
  } else if (fibre == 0) {
    state->both_follow = follow(state, 0) & follow(state, 1);
    wait_for(state, 0);
    explore_delete(state->group);
  }
}

static void check_in_order(void *argument) {
  struct state *state = argument;
  check_followers(state);
  EXPLORE_CHECK(!state->both_follow || (state->order[0] == 0 && state->order[1] == 1));
}

/* ----------------------------------------------------------------------------------------------------------- reuse */

static void begin_one_job(void *argument) {
  struct state *state = argument;
  begin_two_jobs(state);
  state->ended[3] = 1;
  complete(state, 1);
}

/* The owner uses the group again, as it is, as soon as it is complete: nothing of the first time is left in it. */
static void run_reuse(void *argument, uint32_t fibre) {
  struct state *state = argument;
  if (fibre == 0) {
    follow(state, 0);
    wait_for(state, 0);
    group_add(state->group, 1, 0);
    state->ended[2] = 0;
    state->ended[3] = 2;
    wait_for(state, 0);
    explore_delete(state->group);
  } else if (fibre == 1) {
    while (state->ended[3] != 2) explore_yield();
    state->ended[2] = 1;
    complete(state, 1);
  } else {
    run_completer(state, 2);
  }
}

const explore_case group_cases[] = {
    {"group/free", 4, prepare, begin_two_jobs, run_free, check_ends, 0},
    {"group/two_waiters", 4, prepare, begin_two_jobs, run_two_waiters, check_ends, 0},
    {"group/followers", 4, prepare, begin_two_jobs, run_followers, check_followers, 0},
    {"group/in_order", 4, prepare, begin_two_jobs, run_in_order, check_in_order, 0},
    {"group/reuse", 3, prepare, begin_one_job, run_reuse, NULL, 0},
    {0},
};
