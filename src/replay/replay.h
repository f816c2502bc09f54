/* replay.h - how a replay goes from frame to frame. */
#ifndef REPLAY_H
#define REPLAY_H

#include "record/recorder.h"

/* Repeats what the host did between two frames; the next frame is then in `frame`. False after trouble. */
bool replay_until_frame(struct muster_world *world, muster_frame *frame);

/* Loads the snapshot with which the record begins: the host has registered the types that there were. */
muster_result replay_load(struct muster_world *world);

/* Takes the asides of a record: a type to compare, and an agent that is spawned where it was in the recorded run. */
void replay_type(struct muster_world *world);
void replay_logged_spawn(struct muster_world *world);

/* Stage 7 in a replay of a run on the wall clock: runs what ran then. */
void replay_run(struct muster_world *world);

#endif
