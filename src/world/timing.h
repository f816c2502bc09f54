/* timing.h - elapsed-time contracts, requested times and gaps between wakes, from the frame's stages: joins the timers
 * (plan) with alarms (agents). Everything here is called on the frame's thread unless a comment says otherwise. */
#ifndef TIMING_H
#define TIMING_H

#include "world/world_agents.h"

#include <muster/report.h>

struct settle_part;
struct world_queues;
struct batch_result;

/* Sets the agent's timer to the earliest time that the agent waits for. */
void timing_set(struct world_agents *agents, struct world_queues *queues, uint32_t index);

/* Intake, commit: asks an agent to run at a time, or at none with MUSTER_WAKE_NEVER. */
void timing_ask(struct world_agents *agents, struct world_queues *queues, uint32_t index, uint64_t at_ns);

/* What an update or a callback asked for its own agent. */
void timing_ask_own(struct world_agents *agents, struct world_queues *queues, uint64_t now_ns, uint32_t index,
                    const struct batch_result *result);

/* Intake: whether a wake comes within the agent's gap, or finds the agent at this very time already; the wake is then
 * kept until the gap is over, or time has passed. No update of the agent may be under way. */
bool timing_delays_wake(struct world_agents *agents, struct world_queues *queues, muster_statistics *statistics,
                        uint64_t now_ns, uint32_t index);

/* The slow path of timing_complete(): for types with a contract that is not plain, or with a gap. */
uint64_t timing_complete_update(struct world_agents *agents, struct settle_part *part, const agent_type *type,
                                uint32_t index, uint64_t began_ns);

/* Commit, before the agent's row changes: an update is complete. Returns the time that the update brings its agent to.
 * Different workers may complete different agents, each worker with a part of its own. */
static inline uint64_t timing_complete(struct world_agents *agents, struct settle_part *part, const agent_type *type,
                                       uint32_t index, uint64_t began_ns) {
  if (!type->elapsed && !type->gapped) return began_ns;
  return timing_complete_update(agents, part, type, index, began_ns);
}

/* The agent is gone: none of its times may be left to the next agent with its index. */
void timing_forget(struct world_agents *agents, struct world_queues *queues, uint32_t index);

/* Continues a hash over what an agent waits for. */
uint64_t timing_hash(const struct world_agents *agents, const struct world_queues *queues, uint32_t index,
                     uint64_t hash);

#endif
