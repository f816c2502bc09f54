/* stages.h - the stages that frame.c calls in order, and that have a file of their own each. Everything here is called
 * on the frame's thread. */
#ifndef STAGES_H
#define STAGES_H

#include "world/world.h"

/* Stage 1: applies what was queued since the last frame. */
void intake_run(struct muster_world *world);

/* Stage 2: scores agents whose importance may have changed, on all workers. */
void rescore_run(struct muster_world *world);

/* Before stage 2: while the caller plans, the other workers begin with what the last frame held back for them. */
void run_early(struct muster_world *world);

/* Stage 8: settles the batch, runs action atoms, learns, and keeps the statistics. */
void commit_run(struct muster_world *world);

#endif
