/* conduct.h - runaways: what becomes of agents and types whose atoms take too long. frame/runaways.c judges; here it
 * is done. */
#ifndef CONDUCT_H
#define CONDUCT_H

#include "world/world.h"

/* An agent is brought down a capability level for an offence; or it is taken out of every list and out of its class,
 * which asks no time for it any more. Frame's thread, at the end of the commit. */
void conduct_demote_agent(struct muster_world *world, const muster_offence *offence);
void conduct_quarantine_agent(struct muster_world *world, const muster_offence *offence);

/* All agents of a type come down a level. Frame's thread, at the end of the commit. */
void conduct_demote_type(struct muster_world *world, uint32_t type);

/* Applies pardons, at the intake. The agent exists; it may be pending. */
void conduct_pardon(struct muster_world *world, uint32_t index);
void conduct_pardon_type(struct muster_world *world, uint32_t type);

/* Puts a type into quarantine: for its offences, or because the host says so. A no-op when it is there. Frame's thread.
 */
void conduct_quarantine_type(struct muster_world *world, uint32_t type, bool by_host);

/* Importance weighs otherwise from now on: everybody's class is to be looked at again, a part in each frame. */
void conduct_weigh_anew(struct muster_world *world);

/* Goes on with that, and with what floors of types have changed. Once in each frame. */
void conduct_go_on_regrading(struct muster_world *world);

#endif
