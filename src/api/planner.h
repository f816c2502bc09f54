/* planner.h - planner worlds: what world_api.c must know of planner.c. */
#ifndef PLANNER_H
#define PLANNER_H

#include "world/world.h"

/* Reserves what plans need, in a planner world. */
void planner_create(struct muster_world *world);

/* Ends the frame of a plan that will not be reported any more, as if no entry had run. Does nothing without a plan. */
void planner_abandon(struct muster_world *world);

#endif
