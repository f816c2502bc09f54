/* Cases of pool/ring.h: every value comes out once, whole, and a producer's values in their order. */
#include "cases.h"

#include "pool/ring.h"

enum { VALUES = 4, CAPACITY = 2 };

struct value {
  uint64_t number, twice;
};

struct state {
  struct ring ring;
  struct arena arena;
  uint8_t got[VALUES];
  uint32_t got_count, pushed;
  int32_t last[2][2]; /* by consumer and producer: the last number plus one */
};

static struct state *state;

static void prepare(void) {
  state = explore_memory(sizeof *state);
  ring_create(&state->ring, CAPACITY, sizeof(struct value), &state->arena);
}

static void push(uint64_t number) {
  struct value value = {number, 2 * number};
  while (!ring_push(&state->ring, &value)) explore_yield();
}

static bool pop(uint64_t *number) {
  struct value value = {99, 99};
  if (!ring_pop(&state->ring, &value)) return false;
  EXPLORE_CHECK(value.number < VALUES && value.twice == 2 * value.number);
  EXPLORE_CHECK(!state->got[value.number]);
  state->got[value.number] = 1;
  state->got_count++;
  *number = value.number;
  return true;
}

static void pop_until(uint32_t consumer, uint32_t count) {
  while (state->got_count < count) {
    uint64_t number;
    if (!pop(&number)) {
      explore_yield();
      continue;
    }
    int32_t *last = &state->last[consumer][number / 2];
    EXPLORE_CHECK(*last < (int32_t)number + 1);
    *last = (int32_t)number + 1;
  }
}

static void check(void) {
  struct value value = {0, 0};
  for (uint32_t i = 0; i < CAPACITY; i++) EXPLORE_CHECK(ring_push(&state->ring, &value));
  EXPLORE_CHECK(!ring_push(&state->ring, &value) && ring_count(&state->ring) == CAPACITY);
  for (uint32_t i = 0; i < CAPACITY; i++) EXPLORE_CHECK(ring_pop(&state->ring, &value));
  EXPLORE_CHECK(!ring_pop(&state->ring, &value) && ring_count(&state->ring) == 0);
}

/* Two laps through a ring of two. */
static void run_each_once(uint32_t fibre) {
  if (fibre >= 2) {
    pop_until(fibre - 2, VALUES);
  } else {
    push(2 * fibre);
    push(2 * fibre + 1);
  }
}

/* Three values and room for two: one is refused. */
static void run_refused(uint32_t fibre) {
  struct value value = {fibre, 2 * fibre};
  if (ring_push(&state->ring, &value)) state->pushed++;
}

static void check_refused(void) {
  uint64_t number;
  EXPLORE_CHECK(state->pushed == CAPACITY);
  for (uint32_t i = 0; i < CAPACITY; i++) EXPLORE_CHECK(pop(&number));
  check();
}

/* Two values that go round among three fibres that each pop one and push it back: there is always room, sooner or
 * later. */
static void begin_sure(void) {
  push(0);
  push(1);
}

static void run_sure(uint32_t fibre) {
  (void)fibre;
  for (uint32_t round = 0; round < 2; round++) {
    struct value value;
    if (!ring_pop(&state->ring, &value)) continue;
    EXPLORE_CHECK(value.number < 2 && value.twice == 2 * value.number);
    EXPLORE_CHECK(!state->got[value.number]);
    state->got[value.number] = 1; /* no other fibre has it */
    explore_moment();
    state->got[value.number] = 0;
    ring_push_sure(&state->ring, &value);
  }
}

static void check_sure(void) {
  uint64_t number;
  EXPLORE_CHECK(pop(&number) && pop(&number));
  check();
}

const explore_case ring_cases[] = {
    {"ring/each_once", 4, prepare, NULL, run_each_once, check, 0},
    {"ring/refused", 3, prepare, NULL, run_refused, check_refused, 0},
    {"ring/sure", 3, prepare, begin_sure, run_sure, check_sure, 0},
    {0},
};
