/* Cases of pool/ticket.h: each partition is taken once, and no taker leaves while there is one that none has. */
#include "cases.h"

#include "pool/ticket.h"

enum { TAKERS = 3, PARTITIONS = 4 };

struct state {
  struct work_partitions partitions;
  uint32_t count;
  uint8_t taken[PARTITIONS];
};

static struct state *state;

static void prepare(void) {
  state = explore_memory(sizeof *state);
}

/* A partition for each of three takers, and one more. */
static void begin_more(void) {
  state->count = PARTITIONS;
  work_partitions_open(&state->partitions, state->count);
}

/* One partition for two: both look at it, one has it. */
static void begin_one(void) {
  state->count = 1;
  work_partitions_open(&state->partitions, state->count);
}

static void run(uint32_t fibre) {
  uint32_t partition;
  while ((partition = work_partitions_take(&state->partitions, fibre)) != PARTITION_NONE) {
    EXPLORE_CHECK(partition < state->count);
    EXPLORE_CHECK(!state->taken[partition]);
    state->taken[partition] = 1;
    explore_moment();
  }
  EXPLORE_CHECK(load_relaxed_u64(&state->partitions.left[0]) == 0);
}

static void check(void) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < PARTITIONS; i++) count += state->taken[i];
  EXPLORE_CHECK(count == state->count);
}

const explore_case partitions_cases[] = {
    {"partitions/three_takers", TAKERS, prepare, begin_more, run, check, 0},
    {"partitions/last_one", 2, prepare, begin_one, run, check, 0},
    {0},
};
