#include "run/strands.h"

#include "base/assert.h"

void runner_reserve_strands(struct runner *runner, struct arena *arena) {
  if (!runner->strands) runner->strands = arena_reserve(arena, MUSTER_STRANDS_MAX, sizeof *runner->strands);
}

void strands_open(struct runner *runner) {
  for (uint32_t k = 0; k < MUSTER_STRANDS_MAX; k++) {
    struct strand *strand = &runner->strands[k];
    store_relaxed_u32(&strand->told, 0);
    strand->taken = strand->first = strand->last = UINT32_MAX;
  }
}

void strands_link(struct runner *runner, uint32_t first, uint32_t end) {
  const struct batch *batch = runner->batch;
  for (uint32_t number = first; number < end; number++) {
    if (!batch->claims[number].strand) continue;
    struct strand *strand = &runner->strands[batch->claims[number].strand - 1];
    *(strand->last == UINT32_MAX ? &strand->first : &batch->following[strand->last]) = number;
    strand->last = number;
  }
}

/* Ordered: pairs with strands_goes_on(), so that who enters sees what the worker before it did on the strand. */
bool strands_enter(struct runner *runner, uint32_t strand) {
  ASSERT(strand > 0 && strand <= MUSTER_STRANDS_MAX);
  return fetch_add_ordered_u32(&runner->strands[strand - 1].told, 1) == 0;
}

/* One more was told than was taken, so that there is a next one, and it was linked before it was published. */
uint32_t strands_take(struct runner *runner, uint32_t number) {
  struct strand *strand = &runner->strands[number - 1];
  strand->taken = strand->taken == UINT32_MAX ? strand->first : runner->batch->following[strand->taken];
  ASSERT(strand->taken != UINT32_MAX && runner->batch->claims[strand->taken].strand == number);
  return strand->taken;
}

/* Ordered: pairs with strands_enter(). */
bool strands_goes_on(struct runner *runner, uint32_t strand) {
  return fetch_sub_ordered_u32(&runner->strands[strand - 1].told, 1) > 1;
}
