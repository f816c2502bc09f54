/* plan/strands.h - which updates must wait for each other?
 *
 * Agents on one strand are updated one at a time (muster_type_def.strands), so the claims of such entries hold agents
 * of one strand: run/strands.h says how they run. Entries are ranked as all others are, and then gathered by strand
 * within a few bands of the order of rank, so that claims hold several entries, and what is ranked first still runs
 * first. In each band the entries without a strand come first. The order that results follows from ranks and strands
 * alone. */
#ifndef PLAN_STRANDS_H
#define PLAN_STRANDS_H

#include "plan/charge.h"

/* Notes the strand of the next entry of the batch. */
void strands_note(const struct filling *filling, const agent_type *type, const batch_entry *entry);

/* Gathers the entries that were ranked from `first_entry` on, and cuts their claims anew, from `first_claim` on.
 * O(entries). */
void strands_gather(struct filling *filling, uint32_t first_entry, uint32_t first_claim);

#endif
