/* world_sound.h - whether a whole world is sound: whether every store, list and queue agrees with the status of each
 * agent that it holds. Debug builds look after the ranking and after every frame; fuzz targets always. */
#ifndef WORLD_SOUND_H
#define WORLD_SOUND_H

#include "base/sound.h"
#include "world/world.h"

/* When a world is looked at: this decides where ADMITTED agents are. */
typedef enum world_moment {
  WORLD_RANKED, /* stage 6 is over: they are the batch, except agents woken later */
  WORLD_RESTS   /* a frame, or a call between two, is over: they are held, or in what a commit left over */
} world_moment;

/* Whether one active agent is what its status says:
 *
 *   WAITING      scheduled, unless its type has no period
 *   READY        where plan/ready.h says; begun when it is in the middle of an update
 *   ADMITTED     in the batch or held, and in no list but the queue by release
 *   ACTING       its bit is set among the acting agents, and it is in no list but the queue by release
 *   QUARANTINED  in no list at all, and no member of its class */
bool agent_is_sound(const struct muster_world *world, uint32_t index, soundness *found);

/* Whether the whole world is sound: agents by status, and everything that counts or lists them. Frame's thread; other
 * threads may spawn and ask meanwhile. O(agents_max + classes + herds). */
bool world_is_sound(const struct muster_world *world, world_moment moment, soundness *found);

/* Whether every index is exactly one of: an agent's, free, or set aside. Only while no other thread knows the world;
 * not in a world that replays, where the record says which agent has which index. */
bool world_ids_are_sound(const struct muster_world *world, soundness *found);

#ifdef NDEBUG
static inline void world_check(const struct muster_world *world, world_moment moment) {
  (void)world, (void)moment;
}
#else
/* Looks at a world in debug builds, and ends the process at the first thing that is wrong. The more agents a world has,
 * the less often it looks, but at least one frame in 64, so that no frame takes much longer by it. Frame's thread. */
void world_check(const struct muster_world *world, world_moment moment);
#endif

#endif
