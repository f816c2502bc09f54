/* prepare.h - the state in which a world is saved. */
#ifndef SNAPSHOT_PREPARE_H
#define SNAPSHOT_PREPARE_H

#include <muster/snapshot.h>

/* Brings a world between two frames into the state in which it is saved: one that goes on behaves from here on like one
 * that was loaded. What the last commit had no time for is finished, and lists close up. A record says when this was
 * done, and a replay does it there. Frame's thread. */
void snapshot_prepare(struct muster_world *world);

/* Finishes what the last commit had no time for, and no more: all agents may be looked at. A record and a replay do as
 * above. */
void snapshot_finish_commit(struct muster_world *world);

/* As muster_world_save(), without the hash of the world: a record checks what came of it. */
muster_result snapshot_save_unhashed(muster_world *world, const muster_save_def *def);

#endif
