/* units.h - values that the host seems to count in other units: nothing of it is wrong by itself, so it is said once in
 * the log, and nothing is refused. */
#ifndef UNITS_H
#define UNITS_H

#include "world/world.h"

/* The frame has begun; its report is being filled. Frame's thread. */
void units_look(struct muster_world *world);

#endif
