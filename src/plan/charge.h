/* plan/charge.h - what an update is charged while a batch is filled (plan/rank.h). Under the virtual clock that is its
 * schedule: what is charged here is what the workers run. */
#ifndef PLAN_CHARGE_H
#define PLAN_CHARGE_H

#include "plan/rank.h"

struct filling {
  ready_set *ready;
  agent_store *store;
  const type_table *types;
  const cost_table *costs;
  const rank_limits *limits;
  struct batch *batch;
  rank_result result;
  uint32_t passed_over;
  bool closed;     /* the last claim takes no more */
  uint64_t weight; /* sum of the priorities of ready agents of types that have one */
};

/* What the batch takes of the capacity. */
static inline uint64_t filling_taken_ns(const struct filling *filling) {
  return filling->result.predicted_ns + filling->batch->count * filling->limits->entry_ns;
}

/* Virtual clock: charges the update of an entry atom by atom up to the capacity; false when not even one fits. */
bool charge_model(struct filling *filling, const agent_type *type, batch_entry *entry);

/* The same for a type with sets, whose pass was begun: its steps. One call of an atom in each pass is charged; what
 * stands behind one that returns MUSTER_ATOM_MORE is charged and not run. */
bool charge_model_pass(struct filling *filling, const agent_type *type, batch_entry *entry);

/* Charges as many cycles as importance gives and the capacity holds, to an entry that will run whole and is no pass.
 * Its costs stay those of one, but for the prediction that claims are cut by. */
void charge_cycles(struct filling *filling, const agent_type *type, batch_entry *entry);

/* Begins the pass of the entry that is next: whether it continues one, and its slice: what is left of the frame is
 * divided by priority among the agents that are ready. */
void charge_begin_pass(struct filling *filling, const agent_type *type, const batch_entry *entry);

/* Sums up the weight of all who are ready. O(types). */
void charge_weigh(struct filling *filling);

#endif
