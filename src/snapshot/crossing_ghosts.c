/* crossing_ghosts.c - muster/zone.h: ghosts as bytes, and back. */
#include "base/assert.h"
#include "base/error.h"
#include "record/recorder.h"
#include "snapshot/crossing.h"
#include "world/ghosts.h"
#include "world/guard.h"
#include "world/world_record.h"

#include <string.h>
#include <xxhash.h>

enum { PUBLISHED_MOST = 4096 /* of a type */ };

/* Ghosts in a stream. */
typedef struct crossing_of_ghosts {
  struct snapshot snapshot; /* first */
  const muster_agent *agents;
  uint32_t count; /* of the agents */
  uint32_t from;
  bool full;
} crossing_of_ghosts;

/* Of all types: what their agents publish. */
static uint64_t shape_of_table(const struct muster_world *world) {
  uint64_t hash = 0;
  for (uint32_t i = 0; i < world->agents.types.count; i++) {
    const agent_type *type = world_type(world, i);
    hash = XXH3_64bits_withSeed(type->name, strlen(type->name), hash + type->def.published_bytes);
  }
  return hash;
}

static void put_ghost(struct snapshot *snapshot, uint32_t index) {
  ASSERT(snapshot_saves(snapshot) && world_is_active(snapshot->world, index));
  ghost_def def = ghosts_describe(snapshot->world, index);
  const agent_row *row = world_row(snapshot->world, index);
  const agent_type *type = world_type(snapshot->world, row->type);
  snapshot_exchange(snapshot, &def, sizeof def);
  if (type->published)
    snapshot_exchange(snapshot, type_published(type, row->state_slot, row->front), type->def.published_bytes);
}

/* Some at a time: memory is slow, and each agent is elsewhere. An id that is null comes behind the last. */
static void put_ghosts(const crossing_of_ghosts *ghosts, struct snapshot *snapshot) {
  const struct muster_world *world = snapshot->world;
  ghost_def none = {.id = {0}};
  for (uint32_t first = 0; first < ghosts->count; first += GHOSTS_AT_ONCE) {
    uint32_t indices[GHOSTS_AT_ONCE], left = ghosts->count - first, found = 0;
    uint32_t count = left < GHOSTS_AT_ONCE ? left : GHOSTS_AT_ONCE;
    for (uint32_t i = 0; i < count; i++) zone_ids_fetch(&world->zone->ids, ghosts->agents[first + i]);
    for (uint32_t i = 0; i < count; i++) {
      muster_agent agent = world_find(world, ghosts->agents[first + i]);
      uint32_t index = muster_agent_index(agent);
      if (!world_is_live(world, agent) || !world_is_active(world, index)) continue;
      const agent_row *row = world_row(world, index);
      const agent_type *type = world_type(world, row->type);
      __builtin_prefetch(&world->agents.store.places[index]);
      if (type->published) __builtin_prefetch(type_published(type, row->state_slot, row->front));
      indices[found++] = index;
    }
    for (uint32_t i = 0; i < found; i++) put_ghost(snapshot, indices[i]);
  }
  snapshot_exchange(snapshot, &none, sizeof none);
}

/* Reads a ghost, and `bytes` that it publishes; false behind the last. */
static bool read_ghost(struct snapshot *snapshot, ghost_def *def, unsigned char *published, uint32_t *bytes) {
  snapshot_exchange(snapshot, def, sizeof *def);
  if (snapshot_checks(snapshot)) {
    snapshot_expect(snapshot, !snapshot->reader.failed, "it is cut");
    bool good = muster_agent_is_null(def->id) || ghosts_is_possible(snapshot->world, def);
    snapshot_expect(snapshot, good, "a ghost is none");
  }
  *bytes = 0;
  if (muster_agent_is_null(def->id)) return false;
  const agent_type *type = world_type(snapshot->world, def->place.type);
  if (!type->published) return true;
  snapshot_exchange(snapshot, published, *bytes = type->def.published_bytes);
  return true;
}

/* Some at a time, as above. */
static void take_ghosts(crossing_of_ghosts *ghosts) {
  unsigned char published[GHOSTS_AT_ONCE * PUBLISHED_MOST];
  ghost_def defs[GHOSTS_AT_ONCE];
  uint32_t offsets[GHOSTS_AT_ONCE];
  struct snapshot *snapshot = &ghosts->snapshot;
  struct muster_world *world = snapshot->world;
  ASSERT(!snapshot_saves(snapshot) && world->zone);
  for (bool more = true; more;) {
    uint32_t bytes = 0, count = 0, own;
    while (count < GHOSTS_AT_ONCE && (more = read_ghost(snapshot, &defs[count], published + bytes, &own))) {
      offsets[count++] = bytes;
      bytes += own;
    }
    if (!snapshot_loads(snapshot)) continue;
    ghosts_fetch(world, defs, count);
    for (uint32_t i = 0; i < count; i++) {
      int64_t index = ghosts_put(world, ghosts->from, &defs[i], published + offsets[i]);
      ghosts->full |= index == GHOST_NO_ROOM;
      if (index >= 0) bits_set(world->agents.seen, (uint32_t)index);
    }
  }
}

static void exchange_ghosts(struct snapshot *snapshot) {
  uint64_t shape = shape_of_table(snapshot->world), own = shape;
  float cell_m = snapshot->world->def.cell_m;
  snapshot_exchange(snapshot, &shape, sizeof shape);
  snapshot_exchange(snapshot, &cell_m, sizeof cell_m);
  bool same = shape == own && memcmp(&cell_m, &snapshot->world->def.cell_m, sizeof cell_m) == 0;
  snapshot_expect(snapshot, same, "they are of a world with other types, or another cell_m");
  if (snapshot_saves(snapshot))
    put_ghosts((const crossing_of_ghosts *)(const void *)snapshot, snapshot);
  else
    take_ghosts((crossing_of_ghosts *)(void *)snapshot);
}

/* A const world is only read while it packs. */
static struct muster_world *world_to_read(const struct muster_world *world) {
  return (struct muster_world *)(uintptr_t)world;
}

muster_result muster_ghosts_pack(const muster_world *world, const muster_agent *agents, uint32_t count,
                                 muster_zone_put put, void *user) {
  muster_result result = zone_check(world, "ghosts", true);
  if (!result && (!put || (count && !agents))) result = error_missing("ghosts", put ? "array" : "put");
  if (result) return result;
  crossing_of_ghosts ghosts = {
      .snapshot = {.world = world_to_read(world), .rows = world->agents.store.rows}, .agents = agents, .count = count};
  if (crossing_write_out(&ghosts.snapshot, SNAPSHOT_OF_GHOSTS, exchange_ghosts, put, user)) return MUSTER_OK;
  return error_set(MUSTER_E_SYSTEM, "ghosts: put refused the bytes");
}

/* Takes ghosts that were checked; null bytes are none. */
static muster_result apply_ghosts(crossing_of_ghosts *ghosts, const void *bytes, bool whole) {
  struct muster_world *world = ghosts->snapshot.world;
  ghosts->snapshot.mode = SNAPSHOT_LOADS;
  if (bytes) crossing_read(&ghosts->snapshot, SNAPSHOT_OF_GHOSTS, exchange_ghosts, "ghosts");
  if (whole) ghosts_drop_unseen(world, ghosts->from);
  memset(world->agents.seen, 0, bits_words(world->agents.store.maximum) * sizeof *world->agents.seen);
  if (!ghosts->full) return MUSTER_OK;
  return error_set(MUSTER_E_FULL, "ghosts: agents_max = %u agents and ghosts exist", world->def.limits.agents_max);
}

static muster_result check_ghosts(crossing_of_ghosts *ghosts, struct muster_world *world, const chunks_format *format,
                                  const void *bytes, size_t count) {
  ghosts->snapshot.world = world;
  if (!bytes && !count) return MUSTER_OK;
  muster_result result = crossing_open(&ghosts->snapshot, world, format, bytes, count);
  return result ? result : crossing_read(&ghosts->snapshot, SNAPSHOT_OF_GHOSTS, exchange_ghosts, "ghosts");
}

muster_result muster_ghosts_set(muster_world *world, uint32_t from, const void *bytes, size_t count, bool whole) {
  const chunks_format format = crossing_format();
  crossing_of_ghosts ghosts = {.from = from};
  muster_result result = zone_check(world, "ghosts", false);
  if (!result) result = zone_check_other(world, "ghosts", from);
  if (result || recorder_replays(world->recorder)) return result;
  result = check_ghosts(&ghosts, world, &format, bytes, count);
  if (result) return result;
  crossing_settle(world);
  const zone_call call = {.kind = ZONE_CALL_GHOSTS, .number = from, .whole = whole};
  world_record_zone(world, &call, bytes, count);
  return apply_ghosts(&ghosts, bytes, whole);
}

bool muster_agent_is_ghost(const muster_world *world, muster_agent agent) {
  if (guard_any(world, "ghost") || !world->zone) return false;
  muster_agent found = zone_ids_find(&world->zone->ids, agent);
  return !muster_agent_is_null(found) && zone_ids_is_ghost(&world->zone->ids, muster_agent_index(found));
}

bool crossing_repeat_ghosts(struct muster_world *world, const zone_call *call, const void *bytes, size_t count) {
  const chunks_format format = crossing_format();
  crossing_of_ghosts ghosts = {.from = call->number};
  if (zone_check_other(world, "ghosts", call->number)) return false;
  if (check_ghosts(&ghosts, world, &format, count ? bytes : NULL, count)) return false;
  apply_ghosts(&ghosts, count ? bytes : NULL, call->whole);
  return true;
}
