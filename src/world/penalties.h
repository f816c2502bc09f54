/* penalties.h - what is done to agents and types with atoms that take too long. frame/runaways.c decides
 * when. */
#ifndef PENALTIES_H
#define PENALTIES_H

#include "world/world.h"

#include <muster/overruns.h>

/* Lowers an agent by a capability level for an overrun; or takes it out of every list and out of its class, so that the
 * class asks no time for it any more. Frame's thread, at the end of the commit. */
void penalties_demote_agent(struct muster_world *world, uint32_t index, const muster_overrun *overrun);
void penalties_quarantine_agent(struct muster_world *world, uint32_t index, const muster_overrun *overrun);

/* Puts an active agent into quarantine without a word: it was there elsewhere. Between frames, too. */
void penalties_put_aside(struct muster_world *world, uint32_t index);

/* Lowers all agents of a type by a level. Frame's thread, at the end of the commit. */
void penalties_demote_type(struct muster_world *world, uint32_t type);

/* Reinstate an agent or a type, at the intake. The agent exists; it may be pending. */
void penalties_reinstate(struct muster_world *world, uint32_t index);
void penalties_reinstate_type(struct muster_world *world, uint32_t type);

/* Puts an agent into quarantine because the host asks for it. A no-op when it is there already, is pending, or is a
 * block of herds. */
void penalties_set_aside(struct muster_world *world, uint32_t index);

/* Puts a type into quarantine: for its overruns, or because the host asks for it. A no-op when it is there already.
 * Frame's thread. */
void penalties_quarantine_type(struct muster_world *world, uint32_t type, bool by_host);

/* Importance weighs otherwise from now on: the class of every agent is looked at again, of a part of the agents in each
 * frame. */
void penalties_weigh_anew(struct muster_world *world);

/* Goes on with that, and with the agents of types with a changed floor. Once in each frame. */
void penalties_go_on_regrading(struct muster_world *world);

#endif
