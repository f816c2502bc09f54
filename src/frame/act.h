/* act.h - stage 8: action atoms, the part of the commit that may touch others. */
#ifndef ACT_H
#define ACT_H

#include "world/world.h"

/* Runs the agents whose action atoms wait, as long as there is time. */
void act_run(struct muster_world *world);

#endif
