/* act.h - stage 8: action atoms, the part of the commit that may touch others. */
#ifndef ACT_H
#define ACT_H

#include "world/world.h"

/* A type is registered: reserves what agents that act beside others need, when it is the first that says so;
 * arena->failed tells of refusal. */
void act_reserve(struct muster_world *world, const agent_type *type);

/* Runs the agents whose action atoms wait, as long as there is time. */
void act_run(struct muster_world *world);

#endif
