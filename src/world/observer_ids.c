#include "world/observer_ids.h"

#include "base/assert.h"
#include "base/error.h"

muster_observer observer_ids_open(struct muster_world *world, uint32_t index) {
  if (world->zone) return (muster_observer){zone_ids_open(&world->zone->observer_ids, index).value};
  return muster_observer_make(index, identity_open(&world->observers->ids, index));
}

void observer_ids_assign(struct muster_world *world, uint32_t index, uint32_t generation, muster_agent id) {
  ASSERT(index < world->def.limits.observers_max);
  if (world->zone)
    zone_ids_restore(&world->zone->observer_ids, index, generation, id, false);
  else
    identity_assign(&world->observers->ids, index, generation);
}

muster_agent observer_ids_born(const struct muster_world *world, uint32_t index, uint32_t generation, uint32_t epoch) {
  if (!world->zone) return (muster_agent){0};
  return zone_ids_of(&world->zone->observer_ids, index, generation, epoch);
}

void observer_ids_close(struct muster_world *world, uint32_t index) {
  if (world->zone) {
    zone_ids_close(&world->zone->observer_ids, index);
    world->zone->observer_hops[index] = 0; /* whoever has its index next begins anew */
  } else {
    identity_close(&world->observers->ids, index);
  }
  observer_ids_give_back(world, index);
}

void observer_ids_give_back(struct muster_world *world, uint32_t index) {
  ASSERT(!(identity_generation(&world->observers->ids, index) & 1));
  if (world->zone)
    zone_ids_give_back(&world->zone->observer_ids, index);
  else
    identity_give_back(&world->observers->ids, index);
}

muster_result observer_ids_gone(const struct muster_world *world, muster_observer id) {
  zone_mark mark;
  if (world->zone && zone_ids_left(&world->zone->observer_ids, (muster_agent){id.value}, &mark))
    return error_set(MUSTER_E_STALE, "observer %u.%u is in zone %u now", muster_observer_index(id),
                     muster_observer_generation(id), mark.zone);
  return error_set(MUSTER_E_STALE, "observer %u (generation %u) is gone", muster_observer_index(id),
                   muster_observer_generation(id));
}
