/* timing.h - elapsed-time contracts, times that were asked for and gaps between wakes, from the frame's stages: joins
 * the timers (plan) with alarms (agents). Everything here is called on the frame's thread, but where it says otherwise.
 */
#ifndef TIMING_H
#define TIMING_H

#include "world/world.h"

struct settle_part;
struct batch_result;

/* Sets the agent's timer to the first of what it waits for. */
void timing_set(struct muster_world *world, uint32_t index);

/* Intake, commit: an agent is asked to run at a time, or at none with MUSTER_WAKE_NEVER. */
void timing_ask(struct muster_world *world, uint32_t index, uint64_t at_ns);

/* What an update, or a callback, asked for itself. */
void timing_ask_own(struct muster_world *world, uint32_t index, const struct batch_result *result);

/* Intake: whether a wake of an agent whose update is not under way comes within the gap: it is kept until then. */
bool timing_delays_wake(struct muster_world *world, uint32_t index);

/* The slow path of timing_complete(): for types whose contract is not plain, or that have a gap. */
uint64_t timing_complete_update(struct muster_world *world, struct settle_part *part, const agent_type *type,
                                uint32_t index, uint64_t began_ns);

/* Commit, before the agent's row changes: an update is complete. Returns the time that it brings its agent to. Agents
 * may be completed by different workers, each with a part of its own. */
static inline uint64_t timing_complete(struct muster_world *world, struct settle_part *part, const agent_type *type,
                                       uint32_t index, uint64_t began_ns) {
  if (!type->elapsed && !type->gapped) return began_ns;
  return timing_complete_update(world, part, type, index, began_ns);
}

/* The agent is gone: nothing of this must be left to the next holder of its index. */
void timing_forget(struct muster_world *world, uint32_t index);

/* Continues a hash over what an agent waits for. */
uint64_t timing_hash(const struct muster_world *world, uint32_t index, uint64_t hash);

#endif
