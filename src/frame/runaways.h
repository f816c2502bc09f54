/* runaways.h - who has had atoms that took too long, and what is due for it: plan/offenders.h says who offends
 * repeatedly, world/conduct.h does it. */
#ifndef RUNAWAYS_H
#define RUNAWAYS_H

#include "world/world.h"

/* Judges what was noted since the last time: at the end of a commit, when every entry is settled. Frame's thread. */
void runaways_judge(struct muster_world *world);

#endif
