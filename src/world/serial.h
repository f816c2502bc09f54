/* serial.h - the serial stages of a frame: how their time is measured, and workers that are called to help in one.
 *
 * The caller's own time is its thread CPU time with audit, else wall time. With audit, what lies after the end that was
 * promised to the host is own overrun, but no more than the wall time past that end. Own time in which another worker
 * might work is told apart: while a team is called to help in a stage, and during planning from when the early claims
 * are open until they are all taken and the last worker has left them. What planning took before and after that moment
 * is estimated by wall time, so that workers need no clock read for it. Everything here is called on the frame's
 * thread.
 */
#ifndef SERIAL_H
#define SERIAL_H

#include "pool/team.h"
#include "world/world.h"

/* Work of a serial stage that is worth calling a worker for. */
uint64_t serial_help_worth_ns(const struct muster_world *world);

/* How many of `most` workers are worth calling for so much work, when each has to be worth that. */
static inline uint32_t serial_worth(uint64_t work_ns, uint64_t worth_ns, uint32_t most) {
  uint64_t helpers = work_ns / worth_ns;
  return helpers < most ? (uint32_t)helpers : most;
}

/* While work grows: whether to call workers now, when so many are wanted and were called. */
static inline bool serial_calls_now(uint32_t wanted, uint32_t called) {
  return wanted > called && wanted >= 2 * called;
}

/* How many workers to call for so much work: a sleeping worker takes a while to come and begins with cold caches, so
 * the work must be worth it, or the help must be needed. */
uint32_t serial_helpers_for(const struct muster_world *world, uint64_t work_ns);
uint32_t serial_helpers_worth(const struct muster_world *world, uint64_t work_ns, uint64_t worth_ns);

/* Runs a team beside the caller in a serial stage; `work` takes the world. With audit, the time for which the caller
 * sleeps until the last worker leaves is told apart from the caller's own time, and from what the kernel takes. */
void serial_run_team(struct muster_world *world, team_work work, uint32_t helpers);

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

/* The serial work since the last mark is over. Nothing under the virtual clock. */
void serial_mark(struct muster_world *world);

/* The same, on the wall clock, which reads `now_ns`. */
void serial_mark_at(struct muster_world *world, uint64_t now_ns);

/* Own time since the last mark, which is set anew; the part after the promised end is noted as late. */
uint64_t serial_take_interval(struct muster_world *world, uint64_t now_ns, uint64_t *wall_ns);

/* Workers may begin with the early claims from now on. On the wall clock. */
void serial_open_early(struct muster_world *world);

/* Ranking begins, whose claims others may take: where no claim is left of those that were held and take `held_ns`, no
 * other worker has had any for a while. On the wall clock, with other workers. */
void serial_note_dry(struct muster_world *world, uint64_t held_ns);

/* Whether other workers may still take early claims. On the wall clock. */
bool serial_early_are_left(const struct muster_world *world);

/* All workers have left the early claims: tells what of planning, which ended at the last mark, other workers might
 * work in. `left` is what serial_early_are_left() said at that mark. */
void serial_count_early(struct muster_world *world, bool left);

/* Own time of the frame so far in which no other worker might work; 0 under the virtual clock. */
uint64_t serial_alone_ns(const struct muster_world *world);

#endif
