/* zone_spaces.h - which birth spaces a zone names (muster/zone.h): the upper 28 bits of ids. A space in which nobody is
 * born any more is free for others when nothing names it: no agent or ghost that is here, no mark of one that left, no
 * message, no company. What comes and goes between two looks is noted when it comes. Frame's thread. */
#ifndef WORLD_ZONE_SPACES_H
#define WORLD_ZONE_SPACES_H

#include "world/world.h"

#include <muster/zone.h>

enum { ZONE_SPACES_SLOTS = 2 * MUSTER_ZONE_SPACES_MAX };

/* A set of them, by hash. */
struct zone_spaces {
  uint32_t *slots; /* ZONE_SPACES_SLOTS; 0 = free, as no zone is number 0 */
  uint32_t count;
  bool many; /* more than MUSTER_ZONE_SPACES_MAX: each may be named */
};

/* An id, of an agent or an observer, is named here; null is none. An agent with all that came with it. */
void zone_spaces_note(struct zone_spaces *spaces, muster_agent id);
void zone_spaces_note_agent(struct muster_world *world, uint32_t index);

/* Adds all that the world names now. */
void zone_spaces_look(struct muster_world *world);

/* Empties it. */
void zone_spaces_clear(struct zone_spaces *spaces);

#endif
