/* serial.h - the serial stages of a frame: how their time is measured, and workers that are called to help in one.
 *
 * With audit, the caller's CPU time after the end that was promised to the host is own overrun, but no more than the
 * wall time past that end. Everything here is called on the frame's thread. */
#ifndef SERIAL_H
#define SERIAL_H

#include "pool/team.h"
#include "world/world.h"

/* How many workers to call for so much work: a sleeping worker takes a while to come and begins with cold caches, so
 * the work must be worth it, or the help must be needed. */
uint32_t serial_helpers_for(const struct muster_world *world, uint64_t work_ns);

/* Runs a team beside the caller in a serial stage; `work` takes the world. With audit, the time for which the caller
 * sleeps until the last worker leaves is told apart from the caller's own time, and from what the kernel takes. */
void serial_run_team(struct muster_world *world, struct team *team, team_work work, uint32_t helpers);

/* What a worker that helps in a serial stage takes: the caller's time is the stage's, and measured there. */
typedef struct serial_help {
  bool helps, audited;
  uint64_t begin_ns, begin_cpu_ns;
} serial_help;

/* A team's worker begins its part of a stage, and ends it. On that worker. */
serial_help serial_begin_help(const struct muster_world *world, uint32_t worker);
void serial_end_help(struct muster_world *world, uint32_t worker, const serial_help *help);

/* Whether the time is over for work that may go on later; never when `end_ns` is UINT64_MAX. */
bool serial_is_over(const struct muster_world *world, uint64_t end_ns);

/* Whether the caller's time is measured: with audit, on the wall clock. */
bool serial_is_audited(const struct muster_world *world);

/* With audit: the serial work since the last mark is over. */
void serial_mark(struct muster_world *world);

/* CPU time since the last mark, which is set anew; the part after the promised end is noted as late. */
uint64_t serial_take_interval(struct muster_world *world, uint64_t *wall_ns);

#endif
