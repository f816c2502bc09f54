/* world_sound.h - whether a whole world is sound: what the status of an agent says of it, and every store, list and
 * queue that it may stand in. Debug builds look after the ranking and after every frame; fuzz targets always. */
#ifndef WORLD_SOUND_H
#define WORLD_SOUND_H

#include "base/sound.h"
#include "world/world.h"

/* When a world is looked at: that says where ADMITTED agents are. */
typedef enum world_moment {
  WORLD_RANKED, /* stage 6 is over: they are the batch, as far as it was not woken */
  WORLD_RESTS   /* a frame is over, or a call between two: they are held, or in what a commit left over */
} world_moment;

/* Whether one active agent is what its status says:
 *
 *   WAITING      in a wheel, or in no list when its type has no period
 *   READY        where plan/ready.h says; begun when it is in the middle of an update
 *   ADMITTED     in the batch or held, and in no list but the line by release
 *   ACTING       its bit is set among those who act, and it is in no list but the line by release
 *   QUARANTINED  in no list at all, and no member of its class */
bool agent_is_sound(const struct muster_world *world, uint32_t index, soundness *found);

/* Whether the whole world is: agents by status, and everything that counts or lists them. Frame's thread; others may
 * spawn and ask meanwhile. O(agents_max + classes + herds). */
bool world_is_sound(const struct muster_world *world, world_moment moment, soundness *found);

/* Whether every index is somebody's, free, or set aside, and only one of these. While no other thread knows the world;
 * not in one that replays, where the record says who has which. */
bool world_ids_are_sound(const struct muster_world *world, soundness *found);

#ifdef NDEBUG
static inline void world_check(const struct muster_world *world, world_moment moment) {
  (void)world, (void)moment;
}
#else
/* Looks at a world in debug builds, and ends the process with the first thing that is wrong. The more agents a world
 * has, the more seldom it looks, one frame in 64 at least, so that no frame takes much longer by it. Frame's thread. */
void world_check(const struct muster_world *world, world_moment moment);
#endif

#endif
