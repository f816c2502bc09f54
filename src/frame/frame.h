/* frame.h - the parts of a frame, for the code that runs one: muster_frame_run() in frame.c, api/planner.c, where the
 * host stands in for stage 7, and replay/. The stages are listed in frame.c. */
#ifndef FRAME_H
#define FRAME_H

#include "world/world.h"

/* Whether a frame may begin: the same rules for frames and plans. */
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

/* Settles what the last commit left over. Each frame begins with it, and so do every call between frames that looks at
 * agents, and the end of the world. The calling thread is inside the pool. */
void frame_settle(struct muster_world *world);

/* The same for a calling thread outside the pool. */
void frame_settle_between(struct muster_world *world);

/* The calling thread leaves the pool, and leaves the world to its host, which runs a plan or may begin another
 * frame. */
void frame_leave(struct muster_world *world, enum occupation next);

/* The host has run what was planned: the calling thread takes the world again, and enters the pool. */
void frame_resume(struct muster_world *world);

/* A host has run its plan, on the wall clock: notes what is left of the budget though agents wait. In idle.c. */
void frame_note_idle(struct muster_world *world);

/* What is left for the host to run a plan in. In run.c. */
uint64_t frame_time_to_run(const struct muster_world *world);

/* The values of world->run_stage. Workers take updates from the dispatch queue, atom by atom, until the deadline; in a
 * world that records on the wall clock, what ran is written down. In run.c. */
void run_by_workers(struct muster_world *world);

/* Whether there is time for more than is in the batch, and an agent that waits for it. While no worker runs; the second
 * call in a row, with nothing run in between, is always false. In append.c. */
bool frame_append_is_due(struct muster_world *world);

/* Stage 6 once more: ranks more into the batch, if that is due; or as the record says, in a replay. False when nothing
 * more is ranked. While no worker runs. In append.c. */
bool frame_append(struct muster_world *world, bool due);

/* A type is registered: reserves what agents need to act beside others, when it is the first type with actions that
 * says so; arena->failed tells of refusal. In act.c. */
void act_reserve(struct muster_world *world, const agent_type *type);

#endif
