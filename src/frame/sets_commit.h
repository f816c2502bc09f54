/* sets_commit.h - stage 8 for types with sets: whoever is owed time does not wait for its period. Everything here is
 * called on the frame's thread. */
#ifndef SETS_COMMIT_H
#define SETS_COMMIT_H

#include "agents/passes.h"
#include "world/world.h"

/* An entry of a type with sets was run: how its pass ended. One that gave way, and that nobody went on with, is cut. */
batch_outcome sets_settle(struct muster_world *world, const batch_entry *entry, const batch_result *result,
                          batch_outcome outcome);

/* Counts what workers did with sets, and what atoms answered, since the last time. */
void sets_count(struct muster_world *world);

/* What is kept of the pass of an agent; null when its type has no sets. */
static inline const set_pass *sets_pass_of(const agent_type *type, const agent_row *row) {
  return type->has_sets ? &type->sets.passes[row->state_slot] : NULL;
}

#endif
