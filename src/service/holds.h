/* service/holds.h - observers that stay where they were put, even if the module of their world moves them: so a user of
 * the live page can take over a camera that walks a path of its own. Frames' thread. */
#ifndef SERVICE_HOLDS_H
#define SERVICE_HOLDS_H

#include <muster/muster.h>

enum { HOLDS_MAX = 64 };

struct hold {
  muster_observer observer;
  muster_position position;
};

/* The held observers of one world; all zero at first. They are not in its snapshots. */
struct holds {
  uint32_t count;
  struct hold list[HOLDS_MAX];
};

/* Whether there is room for an observer: MUSTER_E_FULL when HOLDS_MAX others are held. */
muster_result holds_check(const struct holds *holds, muster_observer observer);

/* Holds an observer at a place from the next frame on. MUSTER_E_FULL when HOLDS_MAX others are held. */
muster_result holds_put(struct holds *holds, muster_observer observer, muster_position position);

/* Lets the world move an observer again. False: it was not held. */
bool holds_drop(struct holds *holds, muster_observer observer);

/* Whether it is held. */
bool holds_has(const struct holds *holds, muster_observer observer);

/* Moves all held observers to their places, and forgets those that are gone. Called between the module's own moves and
 * the frame, since the last move counts. */
void holds_apply(struct holds *holds, muster_world *world);

#endif
