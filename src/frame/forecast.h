/* forecast.h - what a frame expects of itself, from what the frames before it took: how much updates can have, how
 * many entries it can hold, how long its commit takes. Joins plan's estimates and controller with the clock.
 *
 * Asked once, by forecast_frame(); the stages read world->frame->forecast. What the clock or the number of entries goes
 * into is computed from it at the moment at which that is known: the limits in stage 6, the commit's time behind it.
 * Everything here is called on the frame's thread, but where it says otherwise. */
#ifndef FORECAST_H
#define FORECAST_H

#include "world/frame_state.h"
#include "world/world.h"

struct rank_limits;

/* Behind stage 1, which applies what the host tuned: sets the forecast of this frame, and what stage 4 takes the
 * actions of each type to cost. */
void forecast_frame(struct muster_world *world);

/* What may be admitted now. */
struct rank_limits forecast_limits(struct muster_world *world);

/* x: as the world has it, or what such a capacity is worth in updates of mean cost; 0 = no limit. O(classes) then. */
uint32_t forecast_x(const struct muster_world *world, const struct rank_limits *limits);

/* What the commit of so many entries will take, action atoms and closing the frame with it. */
uint64_t forecast_commit_ns(const frame_forecast *forecast, uint32_t entries);

/* When the commit settles and acts no further: so long before the deadline that the frame can be closed until then. Any
 * worker. */
static inline uint64_t forecast_end_ns(const struct muster_world *world) {
  return world->frame->deadline_ns - world->frame->forecast.reserve_ns;
}

/* The forecast's gap_ns, as known now. */
double forecast_gap_ns(const struct muster_world *world);

/* What was held of the entries that a batch could not run: at the frame's end, and when the next finishes its commit.
 */
void forecast_learn_holding(struct muster_world *world);

/* What this frame teaches about the next: at its end. */
void forecast_learn(struct muster_world *world);

#endif
