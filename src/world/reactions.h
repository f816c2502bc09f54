/* reactions.h - times by which agents must react, from the frame's stages: joins the timers and the ready set (plan)
 * with alarms (agents). Everything here is called on the frame's thread. */
#ifndef REACTIONS_H
#define REACTIONS_H

#include "world/world_agents.h"

#include <muster/report.h>

struct frame_state;
struct world_queues;

/* Intake: makes agents due when their time comes, lifts their priority, and lets the most pressing go ahead. */
void reactions_run(struct world_agents *agents, struct world_queues *queues, const struct frame_state *frame);

/* What an update or a callback asked for its own agent. */
void reactions_ask_own(struct world_agents *agents, struct world_queues *queues, uint64_t now_ns, uint32_t index,
                       uint64_t by_ns);

/* The slow path of reactions_complete(). */
void reactions_complete_update(struct world_agents *agents, struct world_queues *queues, muster_statistics *statistics,
                               uint32_t index, uint64_t began_ns);

/* Commit: an update is complete, maybe of an agent that must react. */
static inline void reactions_complete(struct world_agents *agents, struct world_queues *queues,
                                      muster_statistics *statistics, uint32_t index, uint64_t began_ns) {
  if (agents->store.rows[index].reacts) reactions_complete_update(agents, queues, statistics, index, began_ns);
}

/* The agent is gone, or is not run any more. */
void reactions_forget(struct world_agents *agents, struct world_queues *queues, uint32_t index);

#endif
