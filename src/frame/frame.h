/* frame.h - the parts of a frame, for those who run one: muster_frame_run() in frame.c, and planner.c, where the host
 * stands in for stage 7. All in src/frame/frame.c and commit.c. */
#ifndef FRAME_H
#define FRAME_H

#include "world/world.h"

/* Whether a frame may begin: the same rules for both. */
muster_result frame_check(struct muster_world *world, const muster_frame *frame);

/* Opens a checked frame; the calling thread enters the pool for it. */
void frame_begin(struct muster_world *world, const muster_frame *frame);

/* Stages 1 to 6. */
void frame_plan(struct muster_world *world);

/* Stage 8. */
void frame_commit(struct muster_world *world);

/* Learns from the frame, adds it to the statistics and closes it; the calling thread leaves the pool. */
void frame_end(struct muster_world *world);

/* Runs a frame that was checked. */
void frame_run_checked(struct muster_world *world, const muster_frame *frame);

/* Settles what the last commit left over. Each frame begins with it, and so does every call between frames that looks
 * at agents, and the end of the world. The calling thread is inside the pool. */
void frame_settle(struct muster_world *world);

/* The same for a calling thread outside the pool. */
void frame_settle_between(struct muster_world *world);

/* The calling thread has the world in its hands, and enters the pool. */
void frame_enter(struct muster_world *world);

/* It leaves the pool, and the world to its host: who runs a plan, or may begin another frame. */
void frame_leave(struct muster_world *world, occupation next);

#endif
