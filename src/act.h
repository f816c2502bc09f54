/* act.h - action atoms, the part of the commit that may touch others. */
#ifndef ACT_H
#define ACT_H

#include "world.h"

/* Runs the agents whose action atoms wait, in agent order and those of earlier frames first, as long as there is time.
 */
void act_run(struct muster_world *world);

#endif
