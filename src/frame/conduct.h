/* conduct.h - runaways: what becomes of agents and types whose atoms take too long. plan/offenders.h says who offends
 * repeatedly; here it is done. */
#ifndef CONDUCT_H
#define CONDUCT_H

#include "world/world.h"

/* Judges what was noted since the last time: at the end of a commit, when every entry is settled. Frame's thread. */
void conduct_judge(struct muster_world *world);

/* An active agent that is in no list any more is about to be removed: it is nobody's offender and a member of its class
 * again. Frame's thread. */
void conduct_forget(struct muster_world *world, uint32_t index);

/* Applies pardons, at the intake. The agent exists; it may be pending. */
void conduct_pardon(struct muster_world *world, uint32_t index);
void conduct_pardon_type(struct muster_world *world, uint32_t type);

/* Puts a type into quarantine because the host says so, at the intake. A no-op when it is there. */
void conduct_quarantine_type(struct muster_world *world, uint32_t type);

/* Importance weighs otherwise from now on: everybody's class is to be looked at again, a part in each frame. */
void conduct_weigh_anew(struct muster_world *world);

#endif
