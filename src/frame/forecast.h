/* forecast.h - what a frame expects of itself, from what the frames before it took: how much updates can have, how many
 * entries it can hold, how long its commit takes. Joins plan's estimates and controller with the clock.
 *
 * Computed once, by forecast_frame(); the stages read world->frame->forecast. Values that depend on the clock or on the
 * number of entries are computed from it as soon as these are known: the limits in stage 6, the commit's time behind
 * it. Everything here is called on the frame's thread unless a comment says otherwise. */
#ifndef FORECAST_H
#define FORECAST_H

#include "world/frame_state.h"
#include "world/world.h"

struct rank_limits;

/* Behind stage 1, which applies what the host tuned: sets the forecast of this frame, and the cost of each type's
 * actions that stage 4 uses. */
void forecast_frame(struct muster_world *world);

/* What a load that the host announced takes of this frame. */
uint64_t forecast_load_now_ns(const struct muster_world *world);

/* What may be admitted now. */
struct rank_limits forecast_limits(struct muster_world *world);

/* What is left of the frame before its commit, with so many entries to settle. */
uint64_t forecast_left_ns(const struct muster_world *world, uint32_t entries);

/* x: as the world has it, or the capacity in updates of mean cost; 0 = no limit. O(classes) in the latter case. */
uint32_t forecast_x(const struct muster_world *world, const struct rank_limits *limits);

/* What the commit of so many entries will take, with action atoms and closing the frame. */
uint64_t forecast_commit_ns(const frame_forecast *forecast, uint32_t entries);

/* When the commit stops settling and acting: so long before the deadline that the frame can be closed until then. Any
 * worker. */
static inline uint64_t forecast_end_ns(const struct muster_world *world) {
  return world->frame->deadline_ns - world->frame->forecast.reserve_ns;
}

/* The forecast's gap_ns, as it is known now. */
double forecast_gap_ns(const struct muster_world *world);

/* Learns how much was held of the entries that a batch could not run: at the frame's end, and when the next frame
 * finishes the commit. */
void forecast_learn_holding(struct muster_world *world);

/* Learns from this frame for the next: at its end. */
void forecast_learn(struct muster_world *world);

#endif
