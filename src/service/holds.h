/* service/holds.h - observers that stay where they were put, whatever the module of their world does with them: so
 * somebody at the live page can take a camera by the hand that walks a path of its own. Frames' thread. */
#ifndef SERVICE_HOLDS_H
#define SERVICE_HOLDS_H

#include <muster/muster.h>

enum { HOLDS_MAX = 64 };

struct hold {
  muster_observer observer;
  muster_position position;
};

/* Of one world; all zero to begin with. They are not in its snapshots. */
struct holds {
  uint32_t count;
  struct hold list[HOLDS_MAX];
};

/* Holds an observer at a place from the next frame on. MUSTER_E_FULL when HOLDS_MAX others are held. */
muster_result holds_put(struct holds *holds, muster_observer observer, muster_position position);

/* Leaves an observer to its world again. False: it was not held. */
bool holds_drop(struct holds *holds, muster_observer observer);

/* Whether it is held. */
bool holds_has(const struct holds *holds, muster_observer observer);

/* Moves all that are held to their places, and forgets those that are gone. Between the module's own moves and the
 * frame: the last word counts. */
void holds_apply(struct holds *holds, muster_world *world);

#endif
