/* Cases of pool/ticket.h: each share is taken once, and nobody leaves while there is one that nobody has. */
#include "cases.h"

#include "pool/ticket.h"

enum { TAKERS = 3, SHARES = 4 };

struct state {
  struct shares partitions;
  uint32_t count;
  uint8_t taken[SHARES];
};

static void *prepare(void) {
  return explore_memory(sizeof(struct state));
}

/* A share for each of three takers, and one more. */
static void begin_more(void *argument) {
  struct state *state = argument;
  state->count = SHARES;
  shares_open(&state->partitions, state->count);
}

/* One share for two: both look at it, one has it. */
static void begin_one(void *argument) {
  struct state *state = argument;
  state->count = 1;
  shares_open(&state->partitions, state->count);
}

static uint32_t count_taken(const struct state *state) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < SHARES; i++) count += state->taken[i];
  return count;
}

static void run(void *argument, uint32_t fibre) {
  struct state *state = argument;
  uint32_t share;
  while ((share = shares_take(&state->partitions, fibre)) != PARTITION_NONE) {
    EXPLORE_CHECK(share < state->count);
    EXPLORE_CHECK(!state->taken[share]);
    state->taken[share] = 1;
    explore_moment();
  }
  EXPLORE_CHECK(load_relaxed_u32(&state->partitions.left) == 0);
}

static void check(void *argument) {
  const struct state *state = argument;
  EXPLORE_CHECK(count_taken(state) == state->count);
}

const explore_case partitions_cases[] = {
    {"shares/three_takers", TAKERS, prepare, begin_more, run, check, 0},
    {"shares/last_one", 2, prepare, begin_one, run, check, 0},
    {0},
};
