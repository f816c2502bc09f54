/* conduct_tell.h - what the log says of runaways: which agent did what, what is done about it, and how it is lifted.
 * Few lines whatever happens. */
#ifndef CONDUCT_TELL_H
#define CONDUCT_TELL_H

#include "world/world.h"

#include <muster/conduct.h>

/* Called at the beginning of a judgement: a new second of simulation time allows new lines. */
void conduct_tell_turn(struct muster_world *world);

/* An agent blocked its worker, or goes on offending although no level is left and no quarantine was asked for. One line
 * for a type in a while; the next one says how many offences there were in between. */
void conduct_tell_offence(struct muster_world *world, const muster_offence *offence);

/* An agent was demoted to its current level, or put into quarantine, for its latest offence. */
void conduct_tell_demoted(struct muster_world *world, const muster_offence *offence);
void conduct_tell_quarantined(struct muster_world *world, const muster_offence *offence);

/* The same for a type; or the type is in quarantine because the host asked for it. */
void conduct_tell_type_demoted(struct muster_world *world, uint32_t type);
void conduct_tell_type_quarantined(struct muster_world *world, uint32_t type);
void conduct_tell_type_set_aside(struct muster_world *world, uint32_t type);

#endif
