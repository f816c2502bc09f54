/* reactions.h - times by which agents must react, from the frame's stages: joins the timers and the ready set (plan)
 * with alarms (agents). Everything here is called on the frame's thread. */
#ifndef REACTIONS_H
#define REACTIONS_H

#include "world/world.h"

/* Intake: makes those due whose time comes, lifts their priority, and lets the most pressing go ahead. */
void reactions_run(struct muster_world *world);

/* What an update, or a callback, asked for itself. */
void reactions_ask_own(struct muster_world *world, uint32_t index, uint64_t by_ns);

/* The slow path of reactions_complete(). */
void reactions_complete_update(struct muster_world *world, uint32_t index, uint64_t began_ns);

/* Commit: an update is complete, maybe of an agent that must react. */
static inline void reactions_complete(struct muster_world *world, uint32_t index, uint64_t began_ns) {
  if (world->agents.store.rows[index].reacts) reactions_complete_update(world, index, began_ns);
}

/* The agent is gone, or is not run any more. */
void reactions_forget(struct muster_world *world, uint32_t index);

#endif
