/* prepare.h - the state in which a world is saved. */
#ifndef SNAPSHOT_PREPARE_H
#define SNAPSHOT_PREPARE_H

struct muster_world;

/* Brings a world between two frames into the state in which it is saved: one that goes on behaves from here on like one
 * that was loaded. What the last commit had no time for is finished, and lists close up. A record says when this was
 * done, and a replay does it there. Frame's thread. */
void snapshot_prepare(struct muster_world *world);

#endif
