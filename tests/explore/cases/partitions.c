/* Cases of pool/ticket.h: each partition is taken once, and no taker leaves while there is one that none has. */
#include "cases.h"

#include "pool/ticket.h"

enum { TAKERS = 3, PARTITIONS = 4 };

struct state {
  struct work_partitions partitions;
  uint32_t count;
  uint8_t taken[PARTITIONS];
};

static void *prepare(void) {
  return explore_memory(sizeof(struct state));
}

/* A partition for each of three takers, and one more. */
static void begin_more(void *argument) {
  struct state *state = argument;
  state->count = PARTITIONS;
  work_partitions_open(&state->partitions, state->count);
}

/* One partition for two: both look at it, one has it. */
static void begin_one(void *argument) {
  struct state *state = argument;
  state->count = 1;
  work_partitions_open(&state->partitions, state->count);
}

static uint32_t count_taken(const struct state *state) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < PARTITIONS; i++) count += state->taken[i];
  return count;
}

static void run(void *argument, uint32_t fibre) {
  struct state *state = argument;
  uint32_t partition;
  while ((partition = work_partitions_take(&state->partitions, fibre)) != PARTITION_NONE) {
    EXPLORE_CHECK(partition < state->count);
    EXPLORE_CHECK(!state->taken[partition]);
    state->taken[partition] = 1;
    explore_moment();
  }
  EXPLORE_CHECK(load_relaxed_u64(&state->partitions.left[0]) == 0);
}

static void check(void *argument) {
  const struct state *state = argument;
  EXPLORE_CHECK(count_taken(state) == state->count);
}

const explore_case partitions_cases[] = {
    {"partitions/three_takers", TAKERS, prepare, begin_more, run, check, 0},
    {"partitions/last_one", 2, prepare, begin_one, run, check, 0},
    {0},
};
