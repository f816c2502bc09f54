/* planner.h - planner worlds: what world_api.c must know of planner.c. */
#ifndef PLANNER_H
#define PLANNER_H

#include "world/world.h"

/* Reserves what plans need, in a planner world. */
void planner_create(struct muster_world *world);

/* Ends the frame of a plan that nobody will report any more, as if nobody had run. Nothing when there is none. */
void planner_abandon(struct muster_world *world);

#endif
