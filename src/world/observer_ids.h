/* observer_ids.h - ids of observers. In a zone they are those of a larger world, as ids of agents are (run/zone_ids.h):
 * then a handle, which the library uses inside, is not the id. Any thread, unless a comment says otherwise. */
#ifndef WORLD_OBSERVER_IDS_H
#define WORLD_OBSERVER_IDS_H

#include "world/world_observers.h"
#include "world/world_zone.h"

/* The handle of an id; null in a zone when it has no such observer. In a world that is no zone it is the id. */
static inline muster_observer observer_ids_find(const struct muster_world *world, muster_observer id) {
  if (!world->zone) return id;
  muster_agent found = zone_ids_find(&world->zone->observer_ids, (muster_agent){id.value});
  return (muster_observer){found.value};
}

/* The id of an index that an observer has. */
static inline muster_observer observer_ids_at(const struct muster_world *world, uint32_t index) {
  if (!world->zone) return muster_observer_make(index, identity_generation(&world->observers->ids, index));
  return (muster_observer){zone_ids_at(&world->zone->observer_ids, index).value};
}

/* Whether a handle is live now. */
static inline bool observer_ids_is_live(const struct muster_world *world, muster_observer observer) {
  return identity_is_live(&world->observers->ids, muster_observer_index(observer),
                          muster_observer_generation(observer));
}

/* Opens a taken index for a new observer; returns its id. The thread that took the index. */
muster_observer observer_ids_open(struct muster_world *world, uint32_t index);

/* The same with the generation and, in a zone, the id that a record or a snapshot says. Frame's thread. */
void observer_ids_assign(struct muster_world *world, uint32_t index, uint32_t generation, muster_agent id);

/* The id that was given here for an index and generation in some epoch; null in a world that is no zone. */
muster_agent observer_ids_born(const struct muster_world *world, uint32_t index, uint32_t generation, uint32_t epoch);

/* Closes an index, and gives it back. The thread that took it, or the frame's. */
void observer_ids_close(struct muster_world *world, uint32_t index);

/* Gives an index back that is closed. */
void observer_ids_give_back(struct muster_world *world, uint32_t index);

/* MUSTER_E_STALE: an observer is gone, or where it is. */
muster_result observer_ids_gone(const struct muster_world *world, muster_observer id);

#endif
