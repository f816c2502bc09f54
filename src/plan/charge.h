/* plan/charge.h - what an update is charged while a batch is filled (plan/rank.h). Under the virtual clock the charge
 * is the schedule: what is charged here is what the workers run. */
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
  double variance_ns2; /* wall clock: of what was admitted; */
  double unsure_ns;    /* and how far its mean may be off, where few updates were measured */
  float part;          /* what the agent of the next entry costs, in parts of the mean of its type and level; */
  float entry_ns;      /* its update whole; */
  float entry_ns2;     /* and how far that may be off, as a variance */
  uint32_t published;  /* claims */
  bool closed;         /* the last claim takes no more */
  uint64_t weight;     /* sum of the priorities of ready agents of types that have one */
};

/* How much of the capacity the batch takes. */
static inline uint64_t filling_taken_ns(const struct filling *filling) {
  return filling->result.predicted_ns +
         (filling->batch->count - filling->limits->entries_ran) * filling->limits->entry_ns;
}

/* The next entry is of this agent. */
static inline void filling_begin(struct filling *filling, const cost_estimate *estimate, const agent_row *row) {
  float part = costs_part(estimate, row->cost_factor, filling->limits->now_ns - row->last_update_ns);
  filling->part = part;
  filling->entry_ns = (float)estimate->predicted_ns * part;
  filling->entry_ns2 = estimate->variance_ns2 * part * part;
}

/* Virtual clock: charges the update of an entry atom by atom up to the capacity; false when not even one fits. */
bool charge_model(struct filling *filling, const agent_type *type, batch_entry *entry);

/* The same for a type with sets, after charge_begin_pass(): charges the steps of the pass. One call of an atom in each
 * pass is charged; atoms behind one that returns MUSTER_ATOM_MORE are charged and not run. */
bool charge_model_pass(struct filling *filling, const agent_type *type, batch_entry *entry);

/* The same for a type whose sets the host runs: charges those that are due, all or none. */
bool charge_model_sets(struct filling *filling, const agent_type *type, batch_entry *entry);

/* Charges as many cycles as importance gives and the capacity holds, to an entry that will run whole and is no pass.
 * Its costs stay those of one cycle, except for the prediction by which claims are cut. */
void charge_cycles(struct filling *filling, const agent_type *type, batch_entry *entry);

/* Begins the pass of the next entry: sets whether it continues one, and its slice. What is left of the frame is divided
 * by priority among the ready agents. */
void charge_begin_pass(struct filling *filling, const agent_type *type, const batch_entry *entry);

/* Sums up the weight of all ready agents. O(types). */
void charge_weigh(struct filling *filling);

#endif
