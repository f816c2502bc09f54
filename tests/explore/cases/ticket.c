/* Cases of pool/ticket.h: each index of a batch is claimed once, also by fibres that come from the batch before. */
#include "cases.h"

#include "pool/ticket.h"

enum { FIRST = 1, SECOND = 3 };

struct state {
  shared_u64 ticket;
  uint8_t claimed[2][SECOND + 1]; /* by batch and index */
  uint32_t batch;                 /* that is open */
};

static struct state *state;

static void prepare(void) {
  state = explore_memory(sizeof *state);
}

static void begin_first(void) {
  ticket_open(&state->ticket, FIRST);
}

static bool take(void) {
  uint32_t index = ticket_take(&state->ticket);
  if (index == TICKET_NONE) return false;
  EXPLORE_CHECK(index < SECOND);
  /* Claims end with the read-modify-write, and nothing was opened since. */
  uint32_t batch = state->batch;
  EXPLORE_CHECK(index < (batch ? SECOND : FIRST));
  EXPLORE_CHECK(!state->claimed[batch][index]);
  state->claimed[batch][index] = 1;
  explore_moment();
  return true;
}

/* Three take all of one batch. */
static void begin_one_batch(void) {
  ticket_open(&state->ticket, SECOND);
  state->batch = 1;
}

static void run_one_batch(uint32_t fibre) {
  (void)fibre;
  while (take()) continue;
}

static void check_second(void) {
  while (take()) continue;
  for (uint32_t i = 0; i < SECOND; i++) EXPLORE_CHECK(state->claimed[1][i]);
}

/* A batch of three claims and then one of one, while two fibres that may have come too late for the first go on taking.
 * The opening is a store, and no taker is asked to know the batch: an index that only the first batch has is claimed at
 * most once, the other at most twice. */
static void run_two_batches(uint32_t fibre) {
  if (fibre == 0) ticket_open(&state->ticket, FIRST);
  for (uint32_t takes = 0; takes < 3; takes++) {
    uint32_t index = ticket_take(&state->ticket);
    if (index == TICKET_NONE) continue;
    EXPLORE_CHECK(index < SECOND);
    EXPLORE_CHECK(++state->claimed[0][index] <= (index < FIRST ? 2 : 1));
  }
}

static void check_two_batches(void) {
  for (uint32_t index; (index = ticket_take(&state->ticket)) != TICKET_NONE;) state->claimed[0][index]++;
  for (uint32_t i = 0; i < SECOND; i++)
    EXPLORE_CHECK(i < FIRST ? state->claimed[0][i] == 1 || state->claimed[0][i] == 2 : state->claimed[0][i] <= 1);
}

/* A batch of one claim grows to three while two fibres take: no claim is lost, and none is taken before it is there. */
static void run_growing(uint32_t fibre) {
  if (fibre == 0) {
    state->batch = 1; /* the claims are there, and are published then */
    ticket_grow(&state->ticket, SECOND - FIRST);
    return;
  }
  for (uint32_t takes = 0; takes < 2; takes++) {
    uint32_t index = ticket_take(&state->ticket);
    if (index == TICKET_NONE) continue;
    EXPLORE_CHECK(index < (state->batch ? SECOND : FIRST));
    EXPLORE_CHECK(!state->claimed[1][index]);
    state->claimed[1][index] = 1;
  }
}

const explore_case ticket_cases[] = {
    {"ticket/growing", 3, prepare, begin_first, run_growing, check_second, 0},
    {"ticket/one_batch", 3, prepare, begin_one_batch, run_one_batch, check_second, 0},
    {"ticket/two_batches", 3, prepare, begin_one_batch, run_two_batches, check_two_batches, 0},
    {0},
};
