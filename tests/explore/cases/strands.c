/* Cases of run/strands.h: claims on a strand run one at a time and in their order, each of them once, whoever draws
 * them; and nobody waits. */
#include "cases.h"

#include "pool/ticket.h"
#include "run/strands.h"

#include "agents/batch.h"

enum { CLAIMS = 6, EARLY = 3, STRANDS = 2 };

/* By claim: 1 + its strand, 0 = none. */
static const uint16_t strand_of[CLAIMS] = {1, 1, 2, 0, 1, 2};

struct state {
  struct runner runner;
  struct batch batch;
  batch_claim claims[CLAIMS + 1];
  shared_u64 ticket;
  uint8_t ran[CLAIMS];
  uint32_t following[CLAIMS];
  uint32_t inside[STRANDS + 1], last[STRANDS + 1]; /* of a strand: how many are on it, and 1 + the last claim */
};

static struct state *state;

static void prepare(void) {
  state = explore_memory(sizeof *state);
  state->runner.strands = explore_memory(MUSTER_STRANDS_MAX * sizeof *state->runner.strands);
  state->runner.batch = &state->batch;
  state->batch.claims = state->claims;
  state->batch.following = state->following;
}

static void begin(void) {
  state->batch.claim_count = CLAIMS;
  for (uint32_t i = 0; i < CLAIMS; i++) state->claims[i].strand = strand_of[i];
  strands_open(&state->runner);
  strands_link(&state->runner, 0, EARLY);
  ticket_open(&state->ticket, EARLY);
}

static void run_claim(uint32_t number) {
  uint32_t strand = strand_of[number];
  EXPLORE_CHECK(!state->ran[number]++);
  if (!strand) return;
  EXPLORE_CHECK(state->inside[strand]++ == 0);
  EXPLORE_CHECK(state->last[strand] < number + 1);
  state->last[strand] = number + 1;
  explore_moment();
  EXPLORE_CHECK(--state->inside[strand] == 0);
}

/* The frame's thread plans the others while workers run (run/runner.c); then it does as a worker does (run/taking.c).
 */
static void run(uint32_t fibre) {
  uint32_t number;
  if (fibre == 0) {
    strands_link(&state->runner, EARLY, CLAIMS);
    ticket_grow(&state->ticket, CLAIMS - EARLY);
  }
  while ((number = ticket_take(&state->ticket)) != TICKET_NONE) {
    uint32_t strand = strand_of[number];
    if (strand && !strands_enter(&state->runner, strand)) continue;
    if (!strand) {
      run_claim(number);
      continue;
    }
    do run_claim(strands_take(&state->runner, strand));
    while (strands_goes_on(&state->runner, strand));
  }
}

static void check(void) {
  for (uint32_t i = 0; i < CLAIMS; i++) EXPLORE_CHECK(state->ran[i]);
}

const explore_case strands_cases[] = {
    {"strands/three", 3, prepare, begin, run, check, 0},
    {"strands/two", 2, prepare, begin, run, check, 0},
    {0},
};
