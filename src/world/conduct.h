/* conduct.h - runaways: what is done to agents and types with atoms that take too long. frame/runaways.c judges
 * them. */
#ifndef CONDUCT_H
#define CONDUCT_H

#include "world/world.h"

#include <muster/conduct.h>

/* Lowers an agent by a capability level for an offence; or takes it out of every list and out of its class, so that the
 * class asks no time for it any more. Frame's thread, at the end of the commit. */
void conduct_demote_agent(struct muster_world *world, const muster_offence *offence);
void conduct_quarantine_agent(struct muster_world *world, const muster_offence *offence);

/* Lowers all agents of a type by a level. Frame's thread, at the end of the commit. */
void conduct_demote_type(struct muster_world *world, uint32_t type);

/* Applies pardons, at the intake. The agent exists; it may be pending. */
void conduct_pardon(struct muster_world *world, uint32_t index);
void conduct_pardon_type(struct muster_world *world, uint32_t type);

/* Puts a type into quarantine: for its offences, or because the host asks for it. A no-op when it is there already.
 * Frame's thread. */
void conduct_quarantine_type(struct muster_world *world, uint32_t type, bool by_host);

/* Importance weighs otherwise from now on: the class of every agent is looked at again, of a part of the agents in each
 * frame. */
void conduct_weigh_anew(struct muster_world *world);

/* Goes on with that, and with the agents of types with a changed floor. Once in each frame. */
void conduct_go_on_regrading(struct muster_world *world);

#endif
