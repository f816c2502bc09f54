/* zone.c - see world_zone.h. */
#include "base/assert.h"
#include "base/bits.h"
#include "base/error.h"
#include "record/recorder.h"
#include "world/guard.h"
#include "world/world_observers.h"
#include "world/world_zone.h"

static void create_observer_ids(struct muster_world *world, struct world_zone *zone, struct arena *arena) {
  const muster_world_def *def = &world->def;
  muster_agent *ids;
  uint64_t *ghosts; /* none */
  ARENA_ARRAY(arena, ids, def->limits.observers_max);
  ARENA_ARRAY(arena, ghosts, bits_words(def->limits.observers_max));
  ARENA_ARRAY(arena, zone->observer_hops, def->limits.observers_max);
  zone_ids_create(&zone->observer_ids, def->zone.number, def->zone.epoch, &world->observers->ids, ids, ghosts, arena);
}

void zone_create(struct muster_world *world, struct world_zone *zone) {
  const muster_world_def *def = &world->def;
  agent_store *store = &world->agents.store;
  struct arena *arena = &world->arena;
  if (!def->zone.number || arena->failed) return;
  store_reserve_zone(store, arena);
  zone_ids_create(&zone->ids, def->zone.number, def->zone.epoch, &world->agents.ids, store->ids, store->ghosts, arena);
  create_observer_ids(world, zone, arena);
  ARENA_ARRAY(arena, world->agents.handles, def->limits.agents_max);
  ARENA_ARRAY(arena, zone->rows, def->limits.agents_max);
  ARENA_ARRAY(arena, zone->queue, def->limits.sends_per_frame);
  recent_create(&zone->delivered, ZONE_DELIVERED, arena);
  channels_create(&zone->out, ZONE_CHANNELS, def->limits.agents_max + 1, arena);
  channels_create(&zone->in, ZONE_CHANNELS, def->limits.agents_max + 1, arena);
  ARENA_ARRAY(arena, zone->early, def->limits.sends_per_frame);
  ARENA_ARRAY(arena, zone->spaces.slots, ZONE_SPACES_SLOTS);
  world->agents.zone = &zone->ids;
  world->zone = zone;
}

muster_result zone_check(const struct muster_world *world, const char *what, bool reads) {
  muster_result result = reads ? guard_read(world, what) : guard_between(world, what);
  if (!result && !world->zone)
    result = error_set(MUSTER_E_STATE, "%s: this world is no zone: set zone.number in its definition", what);
  return result;
}

muster_result zone_check_other(const struct muster_world *world, const char *what, uint32_t number) {
  if (number && number <= MUSTER_ZONES_MAX && number != world->def.zone.number) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT, "%s: zone %u must be another one than %u, and 1..%u", what, number,
                   world->def.zone.number, MUSTER_ZONES_MAX);
}

void zone_restore(struct muster_world *world, const muster_zone_def *def) {
  world->def.zone = *def;
  zone_ids_restore_epoch(&world->zone->ids, def->epoch);
  zone_ids_restore_epoch(&world->zone->observer_ids, def->epoch);
}

/* Times are below 2^62, and offsets below 2^61. */
static uint64_t moved_by(uint64_t time_ns, int64_t by_ns) {
  int64_t moved_ns = (int64_t)time_ns + by_ns;
  return moved_ns > 0 ? (uint64_t)moved_ns : 0;
}

uint64_t zone_time_of_all(const struct muster_world *world, uint64_t own_ns) {
  return moved_by(own_ns, -world->zone->offset_ns);
}

uint64_t zone_time_of_own(const struct muster_world *world, uint64_t all_ns) {
  return moved_by(all_ns, world->zone->offset_ns);
}

/* What an owner before this one sent since the state that this one has, nobody can tell. */
static uint64_t later_sequence(uint64_t sent) {
  return ((sent >> 32) + 1) << 32;
}

void zone_set_epoch(struct muster_world *world, uint32_t epoch) {
  ASSERT(epoch != world->def.zone.epoch && epoch <= MUSTER_EPOCHS_MAX);
  zone_spaces_note(&world->zone->spaces, zone_ids_of(&world->zone->ids, 0, 0, world->def.zone.epoch));
  world->def.zone.epoch = epoch;
  zone_ids_set_epoch(&world->zone->ids, epoch);
  zone_ids_set_epoch(&world->zone->observer_ids, epoch);
  for (uint32_t i = 0; store_finds(&world->agents.store, &i); i++)
    world->zone->rows[i].sent = later_sequence(world->zone->rows[i].sent);
  world->zone->host_sent = later_sequence(world->zone->host_sent);
}
