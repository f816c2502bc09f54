/* plan/claim.h - into which claim an entry of the batch goes. */
#ifndef PLAN_CLAIM_H
#define PLAN_CLAIM_H

#include "plan/charge.h"

enum { SAMPLED_ONE_IN = 16, LEARNING_SAMPLES = 64 };

static inline bool claim_is_long(const struct filling *filling, const cost_estimate *estimate, const agent_type *type) {
  if (filling->entry_ns >= (float)CLAIM_NS) return true;
  return type->parallel_atoms > 1 && (float)estimate->high_ns * filling->part >= (float)CLAIM_NS;
}

/* Whether the update of the entry may need more than its slice: only then its worker reads the clock for it. */
static bool claim_may_be_cut(const struct filling *filling, const cost_estimate *estimate) {
  uint32_t slice_ns = filling->batch->passes[filling->batch->count].slice_ns;
  return slice_ns && 2.0f * (float)estimate->high_ns * filling->part >= (float)slice_ns;
}

/* Whether the entry is of an update that was cut inside an atom. */
static inline bool claim_goes_on_inside(const struct filling *filling, const agent_type *type,
                                        const batch_entry *entry) {
  return type->sliced && filling->store->rows[entry->agent].atom_next;
}

/* Whether the agent's update is timed for what it costs beside others: where that is in doubt, and at first, where the
 * agents of its type and level differ (where factors explain an eighth of the variance of costs), and updates take so
 * long that reading the clock for all of a claim costs little beside them. */
static inline bool claim_tells_factor(const cost_estimate *estimate, const agent_row *row) {
  enum { WORTH_NS = 2000 };
  const factor_fit *fit = &estimate->fit;
  if (row->factor_age >= FACTOR_YOUNG || estimate->predicted_ns < WORTH_NS) return row->doubted;
  return row->doubted | ((fit->both > 0.0f) & (8.0f * fit->both * fit->both > fit->costs * fit->factors));
}

/* Puts the entry, for which filling_begin() was called, into the last claim, or a new one. A long update has a claim of
 * its own. */
static inline void claim_for(struct filling *filling, const cost_estimate *estimate, const agent_type *type,
                             const batch_entry *entry) {
  struct batch *batch = filling->batch;
  uint32_t predicted_ns = entry->predicted_ns;
  if (__builtin_expect(filling->limits->appends, false))
    predicted_ns = 1 + (uint32_t)((float)predicted_ns * filling->limits->scale);
  const agent_row *row = &filling->store->rows[entry->agent];
  bool alone = claim_is_long(filling, estimate, type) || claim_goes_on_inside(filling, type, entry);
  batch_claim *claim = &batch->claims[batch->claim_count];
  if (filling->closed || alone || claim[-1].predicted_ns + predicted_ns > CLAIM_NS ||
      claim[-1].end - claim[-1].first == CLAIM_UPDATES_MAX) {
    *claim = (batch_claim){.first = batch->count, .timed = alone || batch->claim_count % SAMPLED_ONE_IN == 0};
    batch->claim_count++;
    filling->closed = alone;
  } else {
    claim--;
  }
  claim->predicted_ns += predicted_ns;
  claim->variance_ns2 += filling->entry_ns2;
  if (type->risk_ns > claim->risk_ns) claim->risk_ns = type->risk_ns;
  claim->timed |= (estimate->samples < LEARNING_SAMPLES) | type->watched | claim_tells_factor(estimate, row);
  if (type->has_sets && !type->rated) claim->timed |= claim_may_be_cut(filling, estimate);
  claim->end = batch->count + 1;
}

#endif
