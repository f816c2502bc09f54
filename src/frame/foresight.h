/* foresight.h - what a frame expects of itself, from what the frames before it took: how much updates can have, how
 * many entries it can hold, how many workers are worth calling. Joins plan's estimates and controller with the clock.
 * Everything here is called on the frame's thread. */
#ifndef FORESIGHT_H
#define FORESIGHT_H

#include "world/world.h"

/* U_d: what the workers can run, as a share of simulation time, and what the actions of updates will be taken to cost.
 * Infinite before the first frame period is known. */
double foresee_utilisation(struct muster_world *world);

/* What may be admitted now. */
rank_limits foresee_limits(const struct muster_world *world);

/* x: as the world has it, or what such a capacity is worth in updates of mean cost; 0 = no limit. O(classes) then. */
uint32_t foresee_x(const struct muster_world *world, const rank_limits *limits);

/* When the commit settles and acts no further: so long before the deadline that the frame can be closed until then. */
uint64_t foresee_end_ns(const struct muster_world *world);

/* What the commit of so many entries will take, action atoms and closing the frame with it. */
uint64_t predicted_commit_ns(const struct muster_world *world, uint32_t entries);

/* What was held of the entries that a batch could not run: at the frame's end, and when the next finishes its commit.
 */
void foresight_learn_holding(struct muster_world *world);

/* What this frame teaches about the next: at its end. */
void foresight_learn(struct muster_world *world);

/* Time of the other workers while the caller plans a frame, and a little more, so that they do not run dry. */
static inline double predicted_planning_gap(const struct muster_world *world) {
  return 1.3 * world->experience.plan.mean_ns * (world->runner.workers - 1);
}

#endif
