#include "run/strands.h"

#include "base/assert.h"

void runner_reserve_strands(struct runner *runner, struct arena *arena) {
  if (!runner->strands) runner->strands = arena_reserve(arena, MUSTER_STRANDS_MAX, sizeof *runner->strands);
}

void strands_open(struct runner *runner) {
  struct batch *batch = runner->batch;
  for (uint32_t k = 0; k < MUSTER_STRANDS_MAX; k++) {
    store_relaxed_u32(&runner->strands[k].told, 0);
    runner->strands[k].next = UINT32_MAX;
  }
  for (uint32_t number = batch->claim_count; number-- > 0;) {
    batch_claim *claim = &batch->claims[number];
    if (!claim->strand) continue;
    claim->next = runner->strands[claim->strand - 1].next;
    runner->strands[claim->strand - 1].next = number;
  }
}

/* Ordered: pairs with strands_goes_on(), so that who enters sees what the worker before it did on the strand. */
bool strands_enter(struct runner *runner, uint32_t strand) {
  ASSERT(strand > 0 && strand <= MUSTER_STRANDS_MAX);
  return fetch_add_ordered_u32(&runner->strands[strand - 1].told, 1) == 0;
}

uint32_t strands_take(struct runner *runner, uint32_t strand) {
  uint32_t number = runner->strands[strand - 1].next;
  ASSERT(number < runner->batch->claim_count && runner->batch->claims[number].strand == strand);
  runner->strands[strand - 1].next = runner->batch->claims[number].next;
  return number;
}

/* Ordered: pairs with strands_enter(). */
bool strands_goes_on(struct runner *runner, uint32_t strand) {
  return fetch_sub_ordered_u32(&runner->strands[strand - 1].told, 1) > 1;
}
