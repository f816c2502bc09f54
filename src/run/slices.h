/* run/slices.h - updates that are cut inside an atom (muster_type_def.slices). */
#ifndef RUN_SLICES_H
#define RUN_SLICES_H

#include "run/runner.h"

/* An atom answered neither NEXT nor FINISH. Whether its update is cut inside it, or the answer is refused. */
static inline bool slices_cut(worker_state *state, uint32_t atom, muster_atom_result answer) {
  bool cut = answer == MUSTER_ATOM_MORE && state->context.type->sliced && atom > 0;
  if (cut)
    state->context.result->cut_asks = state->context.asked;
  else
    state->results_refused++;
  return cut;
}

/* Which questions of the update's atoms are answered yes, in a type that has slices. */
static inline void slices_tell(update_context *context, const struct runner *runner) {
  const muster_type_slices *slices = &context->type->def.slices;
  context->yields = true;
  context->yield_ns = 0;
  context->share_ns = slices->slice_ns;
  context->asks = slices->asks;
  if (!runner->replays) context->result->cut_asks = 0;
}

/* In a replay an update is cut inside the last atom that the record has of it, or inside none. */
static inline uint32_t slices_asks(const batch_result *result, bool last) {
  return last && result->cut_asks ? result->cut_asks : UINT32_MAX;
}

#endif
