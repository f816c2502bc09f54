/* conduct_tell.h - what the log says of runaways: who did what, what becomes of it, and how it is lifted. Few lines
 * whatever happens. */
#ifndef CONDUCT_TELL_H
#define CONDUCT_TELL_H

#include "world/world.h"

/* At the beginning of a judgement: in a new second of simulation time new lines may be written. */
void conduct_tell_turn(struct muster_world *world);

/* An agent blocked, or goes on offending where no level is left and no quarantine was asked for. One line for a type
 * and a while; the next one says how many there were in between. */
void conduct_tell_offence(struct muster_world *world, const muster_offence *offence);

/* An agent was demoted to its level of now, or put into quarantine, for its latest offence. */
void conduct_tell_demoted(struct muster_world *world, const muster_offence *offence);
void conduct_tell_quarantined(struct muster_world *world, const muster_offence *offence);

/* The same for a type; or it is in quarantine because the host says so. */
void conduct_tell_type_demoted(struct muster_world *world, uint32_t type);
void conduct_tell_type_quarantined(struct muster_world *world, uint32_t type);
void conduct_tell_type_set_aside(struct muster_world *world, uint32_t type);

#endif
