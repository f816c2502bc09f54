/* Cases of run/removals.h: of several removers one is told of success, what is removed is not started any more, and an
 * intake takes it. A removal that comes too late touches no later agent of the index. */
#include "cases.h"

#include "run/removals.h"

enum { AGENTS = 2 };

struct state {
  struct arena arena;
  struct identity ids;
  struct removals removals;
  uint32_t generations[AGENTS]; /* of an open id that is known; 0 = none */
  uint32_t told[AGENTS];        /* how many removers were told of success, */
  uint32_t taken[AGENTS];       /* and how often the intake took the agent */
  bool takes;                   /* the intake runs: no worker does */
};

static struct state *state;

static void open_id(void) {
  uint32_t index = identity_take(&state->ids);
  EXPLORE_CHECK(index != IDENTITY_NONE);
  state->generations[index] = identity_open(&state->ids, index);
}

static void prepare_some(uint32_t agents) {
  state = explore_memory(sizeof *state);
  identity_create(&state->ids, agents, &state->arena);
  removals_create(&state->removals, agents, &state->arena);
  for (uint32_t i = 0; i < agents; i++) open_id();
}

static bool remove_agent(uint32_t index, uint32_t generation) {
  bool first = removals_add(&state->removals, &state->ids, index, generation);
  EXPLORE_CHECK(removals_has(&state->removals, index, generation) || !identity_is_live(&state->ids, index, generation));
  return first;
}

/* ------------------------------------------------------------------------------------------------ one is told of it */

static void prepare_told(void) {
  prepare_some(AGENTS);
}

/* As an intake does: takes the agents out. */
static void take(void) {
  uint32_t index, generation;
  removals_take(&state->removals, &state->ids);
  while (removals_pop(&state->removals, &index, &generation)) {
    EXPLORE_CHECK(identity_is_live(&state->ids, index, generation) && generation == state->generations[index]);
    state->taken[index]++;
    identity_close(&state->ids, index);
  }
}

/* Two removers of the same agents, in another order; a worker; an intake. */
static void run_told(uint32_t fibre) {
  if (fibre == 3) {
    state->takes = true;
    take();
    state->takes = false;
    return;
  }
  for (uint32_t i = 0; i < AGENTS; i++) {
    uint32_t index = fibre == 1 ? AGENTS - 1 - i : i;
    if (fibre < 2) {
      state->told[index] += remove_agent(index, state->generations[index]);
      continue;
    }
    bool told = state->told[index] > 0;
    bool starts = !removals_waits(&state->removals, index);
    EXPLORE_CHECK(!told || !starts || state->takes || state->taken[index]);
  }
}

static void check_told(void) {
  take();
  for (uint32_t i = 0; i < AGENTS; i++) EXPLORE_CHECK(state->told[i] == 1 && state->taken[i] == 1);
}

/* ------------------------------------------------------------------------------------------- a removal that is late */

static void prepare_late(void) {
  prepare_some(1);
}

/* The frame's thread closes the id for another reason and opens the index again, while one fibre removes the old agent,
 * and two remove the new one. */
static void run_late(uint32_t fibre) {
  if (fibre == 0) {
    remove_agent(0, 1);
  } else if (fibre == 1) {
    identity_close(&state->ids, 0);
    identity_give_back(&state->ids, 0);
    open_id();
  } else {
    explore_moment();
    if (state->generations[0] == 3) state->told[0] += remove_agent(0, 3);
  }
}

static void check_late(void) {
  EXPLORE_CHECK(state->told[0] <= 1);
  EXPLORE_CHECK(removals_has(&state->removals, 0, 3) == (state->told[0] == 1));
  take();
  EXPLORE_CHECK(state->taken[0] == state->told[0]);
}

const explore_case removals_cases[] = {
    {"removals/told", 4, prepare_told, NULL, run_told, check_told, 0},
    {"removals/late", 4, prepare_late, NULL, run_late, check_late, 0},
    {0},
};
