/* overruns_log.h - what the log says of runaways: which agent did what, what is done about it, and how it is lifted.
 * Few lines whatever happens. */
#ifndef OVERRUNS_LOG_H
#define OVERRUNS_LOG_H

#include "world/world.h"

#include <muster/overruns.h>

/* Called at the beginning of a judgement: a new second of simulation time allows new lines. */
void overruns_log_turn(struct muster_world *world);

/* An agent blocked its worker, or repeats its overruns although no level is left and no quarantine was asked for. One
 * line for a type in a while; the next one says how many overruns there were in between. */
void overruns_log_overrun(struct muster_world *world, const muster_overrun *overrun);

/* An agent was demoted to its current level, or put into quarantine, for its latest overrun. */
void overruns_log_demoted(struct muster_world *world, uint32_t level, const muster_overrun *overrun);
void overruns_log_quarantined(struct muster_world *world, const muster_overrun *overrun);

/* The same for a type; or the type is in quarantine because the host asked for it. */
void overruns_log_type_demoted(struct muster_world *world, uint32_t type);
void overruns_log_type_quarantined(struct muster_world *world, uint32_t type);
void overruns_log_set_aside(struct muster_world *world, uint32_t index);
void overruns_log_type_set_aside(struct muster_world *world, uint32_t type);

#endif
