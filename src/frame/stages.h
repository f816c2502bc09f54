/* stages.h - the stages that frame.c calls in order, and the parts of stage 8 that commit.c calls, as far as they have
 * a file of their own. Everything here is called on the frame's thread. */
#ifndef STAGES_H
#define STAGES_H

#include "plan/rank.h"
#include "world/world.h"

/* Stage 1: applies what was queued since the last frame. */
void intake_run(struct muster_world *world);

/* Stage 2: scores agents whose importance may have changed, on all workers. */
void rescore_run(struct muster_world *world);

/* Before stage 2: while the caller plans, the other workers begin with the agents that were held for them. */
void run_early(struct muster_world *world);

/* Before stage 6: on the wall clock the other workers run what is ranked while the caller goes on ranking. */
void run_beside_ranking(struct muster_world *world, rank_limits *limits);

/* End of stage 7 on the wall clock: notes what is left of the budget though agents wait, and why. In idle.c. */
void idle_note(struct muster_world *world);

/* End of the frame: learns from what it took for how little work workers are worth calling. */
void run_note_frame(struct muster_world *world);

/* Stage 8: settles the batch, runs action atoms, learns, and keeps the statistics. */
void commit_run(struct muster_world *world);

/* A part of stage 8, in act.c: runs the agents with waiting action atoms, as long as there is time. Action atoms are
 * the part of an update that may touch other agents. */
void act_run(struct muster_world *world);

/* A part of stage 8, in runaways.c: judges agents with atoms that took too long, by what was
 * noted since the last time. At the end of a commit, when every entry is settled. plan/overrun_table.h says which
 * agents have repeated overruns, world/penalties.h does what is due. */
void runaways_enforce(struct muster_world *world);

#endif
