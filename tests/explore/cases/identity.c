/* Cases of pool/identity.h: an index has one holder, and an id that was closed is never live again. */
#include "cases.h"

#include "pool/identity.h"

enum { INDICES = 2 };

struct state {
  struct identity identity;
  struct arena arena;
  uint32_t holder[INDICES]; /* fibre + 1 */
  uint64_t known;           /* {generation:32 | index:32} of an open id, for others to look at; 0 = none */
  bool closed;              /* the known one */
};

static struct state *state;

static void prepare(void) {
  state = explore_memory(sizeof *state);
  identity_create(&state->identity, INDICES, &state->arena);
}

static uint32_t take(void) {
  uint32_t index;
  while ((index = identity_take(&state->identity)) == IDENTITY_NONE) explore_yield();
  EXPLORE_CHECK(index < INDICES && state->holder[index] == 0);
  state->holder[index] = explore_fibre() + 1;
  return index;
}

static void give_back(uint32_t index) {
  EXPLORE_CHECK(state->holder[index] == explore_fibre() + 1);
  state->holder[index] = 0;
  identity_give_back(&state->identity, index);
}

/* Three that each take one of two indices, twice. */
static void run_one_holder(uint32_t fibre) {
  (void)fibre;
  for (uint32_t round = 0; round < 2; round++) {
    uint32_t index = take();
    uint32_t generation = identity_open(&state->identity, index);
    EXPLORE_CHECK(identity_is_live(&state->identity, index, generation));
    identity_close(&state->identity, index);
    EXPLORE_CHECK(!identity_is_live(&state->identity, index, generation));
    give_back(index);
  }
}

static void check_one_holder(void) {
  EXPLORE_CHECK(identity_available(&state->identity) == INDICES);
  for (uint32_t i = 0; i < INDICES; i++) EXPLORE_CHECK(identity_take(&state->identity) != IDENTITY_NONE);
  EXPLORE_CHECK(identity_take(&state->identity) == IDENTITY_NONE);
}

/* A fibre looks whether an id is live, while another closes it and its index is opened again. */
static void run_stale(uint32_t fibre) {
  if (fibre == 0) {
    uint32_t index = take();
    state->known = (uint64_t)identity_open(&state->identity, index) << 32 | index;
    identity_close(&state->identity, index);
    state->closed = true;
    give_back(index);
    for (uint32_t round = 0; round < 2; round++) {
      index = take();
      identity_open(&state->identity, index);
      identity_close(&state->identity, index);
      give_back(index);
    }
    return;
  }
  for (uint32_t looks = 0; looks < 4; looks++) {
    explore_moment();
    if (!state->known) continue;
    bool closed = state->closed;
    bool live = identity_is_live(&state->identity, (uint32_t)state->known, (uint32_t)(state->known >> 32));
    EXPLORE_CHECK(!closed || !live);
  }
}

const explore_case identity_cases[] = {
    {"identity/one_holder", 3, prepare, NULL, run_one_holder, check_one_holder, 0},
    {"identity/stale", 3, prepare, NULL, run_stale, NULL, 0},
    {0},
};
