/* replicate_api.c - what a host asks for its clients: which agents changed, and which are near a place. */
#include "api/calls.h"
#include "base/fields.h"
#include "base/sized.h"
#include "world/guard.h"

#include <muster/replicate.h>

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- changes */

static muster_result check_changes(const muster_world *world, const uint64_t *cursor, bool arrays) {
  muster_result result = guard_read(world, "changes");
  if (result) return result;
  if (!cursor || !arrays) return error_missing("changes", "cursor, array or count");
  if (!world->agents.store.changes.notes)
    return error_set(MUSTER_E_STATE, "changes: this world keeps none; set changes_frames");
  return MUSTER_OK;
}

muster_result muster_frame_changes(const muster_world *world, uint32_t kinds, uint64_t *cursor, muster_change *out,
                                   uint32_t capacity, uint32_t *count) {
  if (count) *count = 0;
  muster_result result = check_changes(world, cursor, count && (out || capacity == 0));
  if (result) return result;
  const change_log *log = &world->agents.store.changes;
  if (changes_reach(log, *cursor)) {
    *count = changes_read(log, kinds, cursor, out, capacity);
    return MUSTER_OK;
  }
  *cursor = log->newest;
  return error_set(MUSTER_E_STALE,
                   "changes: those since the cursor are not kept (changes_frames = %u): read all "
                   "agents, then go on from the cursor, which is set behind all changes",
                   world->def.limits.changes_frames);
}

/* ----------------------------------------------------------------------------------------------------------- nearby */

/* What is asked for, for the search. */
typedef struct host_query {
  muster_nearby_query given;
  agent_place centre;
  uint64_t types[1024 / 64];
} host_query;

_Static_assert(sizeof((muster_nearby_query *)NULL)->bands_m / sizeof(float) == MUSTER_NEARBY_BANDS_MAX,
               "each band has its place");

static muster_result check_bands(const muster_nearby_query *given) {
  if (given->band_count > MUSTER_NEARBY_BANDS_MAX)
    return error_set(MUSTER_E_ARGUMENT, "nearby: band_count %u must be at most %u", given->band_count,
                     MUSTER_NEARBY_BANDS_MAX);
  float least = 0.0f;
  for (uint32_t i = 0; i < given->band_count; least = given->bands_m[i++])
    if (!(given->bands_m[i] >= least))
      return error_set(MUSTER_E_ARGUMENT, "nearby: bands_m[%u] %g must not be below %g", i, (double)given->bands_m[i],
                       (double)least);
  return MUSTER_OK;
}

static muster_result take_types(const muster_world *world, host_query *query) {
  if (query->given.type_count && !query->given.types) return error_missing("nearby", "types");
  for (uint32_t i = 0; i < query->given.type_count; i++) {
    muster_result result = agents_check_type(world, query->given.types[i]);
    if (result) return result;
    bits_set(query->types, query->given.types[i].index - 1);
  }
  return MUSTER_OK;
}

static muster_result take_nearby_query(const muster_world *world, const muster_nearby_query *given, host_query *query) {
  *query = (host_query){.given = muster_nearby_query_default()};
  muster_result result = sized_read(SIZED(nearby_query), given, &query->given);
  if (result) return result;
  given = &query->given;
  if (!space_accepts(given->position)) return agents_refuse_position(given->position);
  if (given->partition > PARTITION_MOST)
    return error_set(MUSTER_E_ARGUMENT, "nearby: partition %u must be 0..65535", given->partition);
  if (!(given->radius_m >= 0.0f) || !isfinite(given->radius_m))
    return error_set(MUSTER_E_ARGUMENT, "nearby: radius_m %g must be finite and not negative", (double)given->radius_m);
  if ((result = check_bands(given)) || (result = take_types(world, query))) return result;
  space_place(&world->agents.space, &query->centre, given->position);
  query->centre.partition = (uint16_t)given->partition;
  return MUSTER_OK;
}

static uint32_t band_at(const muster_nearby_query *query, float distance_m) {
  uint32_t band = 0;
  while (band < query->band_count && distance_m > query->bands_m[band]) band++;
  return band;
}

uint32_t muster_agents_nearby(const muster_world *world, const muster_nearby_query *given, muster_nearby_agent *out,
                              uint32_t capacity, bool *cut) {
  host_query query;
  struct neighbour found[NEARBY_LOOKS];
  nearby_looks looks = {0};
  if (cut) *cut = false;
  if (guard_read(world, "nearby") || (capacity && !out && error_missing("nearby", "array"))) return 0;
  if (take_nearby_query(world, given, &query)) return 0;
  nearby_query search = {.index = NEARBY_NO_AGENT,
                         .type = query.given.type_count ? NEARBY_SOME_TYPES : NEARBY_ALL_TYPES,
                         .radius_m = query.given.radius_m,
                         .types = query.types,
                         .centre = &query.centre};
  if (capacity > NEARBY_LOOKS) capacity = NEARBY_LOOKS;
  uint32_t count = nearby_find(&world->agents.space, &world->agents.store, &search, found, capacity, &looks);
  for (uint32_t i = 0; i < count; i++) {
    out[i].neighbour = calls_describe(world, &found[i]);
    out[i].band = band_at(&query.given, out[i].neighbour.distance_m);
  }
  if (cut) *cut = looks.cut;
  return count;
}
