#include "world/ghosts.h"

#include "agents/spawn.h"
#include "base/assert.h"
#include "world/lifecycle.h"
#include "world/saved_agent.h"
#include "world/world_record.h"

#include <string.h>

ghost_def ghosts_describe(const struct muster_world *world, uint32_t index) {
  ghost_def def = {.id = world_id(world, index), .place = world->agents.store.places[index]};
  def.place.spot = def.place.depth = def.place.changed = 0;
  memset(def.place.unused, 0, sizeof def.place.unused);
  return def;
}

bool ghosts_is_possible(const struct muster_world *world, const ghost_def *def) {
  return zone_ids_is_id(def->id) && def->place.type < world->agents.types.count && !def->place.spot &&
         saved_agent_is_placed(world, &def->place, def->place.type);
}

static void publish(const struct muster_world *world, uint32_t index, const void *published) {
  const agent_row *row = world_row(world, index);
  const agent_type *type = world_type(world, row->type);
  ASSERT(row->status == AGENT_GHOST);
  for (uint32_t i = 0; i < 2 && type->published; i++)
    memcpy(type_published(type, row->state_slot, i), published, type->def.published_bytes);
}

/* Changes of ghosts are told to nobody: so no function is used that notes them. */
static void place_ghost(struct muster_world *world, uint32_t index, const agent_place *place) {
  agent_store *store = &world->agents.store;
  agent_place *own = &store->places[index];
  space_spot spot = {place->cell_x, place->cell_y, place->x, place->y, place->z};
  if (own->partition == place->partition && space_stays(&world->agents.space, own, spot)) {
    own->x = place->x, own->y = place->y, own->z = place->z;
    return;
  }
  space_unlink(&world->agents.space, store, index);
  *own = *place;
  space_link(&world->agents.space, store, index);
}

static int64_t appear(struct muster_world *world, const ghost_def *def) {
  agent_store *store = &world->agents.store;
  uint32_t index = world_record_id(world, identity_take(&world->agents.ids));
  if (index == IDENTITY_NONE) return GHOST_NO_ROOM;
  agent_row row = {.type = def->place.type & ROW_TYPE_MASK, .status = AGENT_GHOST};
  row.state_slot = identity_take(&world->agents.slots[row.type]);
  ASSERT(row.state_slot != IDENTITY_NONE); /* there is one for each index */
  spawn_write_row(&store->rows[index], &row);
  store->places[index] = def->place;
  zone_ids_admit(&world->zone->ids, index, def->id, true);
  store->ghost_count++;
  if (index >= store->high) store->high = index + 1;
  space_link(&world->agents.space, store, index);
  return index;
}

void ghosts_fetch(const struct muster_world *world, const ghost_def *defs, uint32_t count) {
  uint32_t indices[GHOSTS_AT_ONCE];
  ASSERT(count <= GHOSTS_AT_ONCE);
  for (uint32_t i = 0; i < count; i++) zone_ids_fetch(&world->zone->ids, defs[i].id);
  for (uint32_t i = 0; i < count; i++) {
    indices[i] = zone_ids_fetch_likely(&world->zone->ids, defs[i].id);
    if (indices[i] == UINT32_MAX) continue;
    __builtin_prefetch(world_row(world, indices[i]), 1);
    __builtin_prefetch(&world->agents.store.places[indices[i]], 1);
    __builtin_prefetch(&world->zone->rows[indices[i]], 1);
  }
  for (uint32_t i = 0; i < count; i++) {
    const agent_row *row = indices[i] == UINT32_MAX ? NULL : world_row(world, indices[i]);
    if (!row || row->status != AGENT_GHOST) continue;
    const agent_type *type = world_type(world, row->type);
    const agent_place *place = &defs[i].place;
    for (uint32_t side = 0; side < 2 && type->published; side++)
      __builtin_prefetch(type_published(type, row->state_slot, side), 1);
    space_prefetch_move(&world->agents.space, &world->agents.store.places[indices[i]],
                        (space_spot){place->cell_x, place->cell_y, place->x, place->y, place->z});
  }
}

int64_t ghosts_put(struct muster_world *world, uint32_t zone, const ghost_def *def, const void *published) {
  muster_agent known = zone_ids_find(&world->zone->ids, def->id);
  ASSERT(zone && zone != world->def.zone.number && ghosts_is_possible(world, def));
  int64_t index = muster_agent_index(known);
  if (muster_agent_is_null(known)) index = appear(world, def);
  if (index < 0) return index;
  const agent_row *row = world_row(world, (uint32_t)index);
  if (row->status != AGENT_GHOST || row->type != def->place.type) return GHOST_PASSED;
  place_ghost(world, (uint32_t)index, &def->place);
  publish(world, (uint32_t)index, published);
  world->zone->rows[index] = (zone_row){.zone = zone};
  return index;
}

void ghosts_vacate(struct muster_world *world, uint32_t index) {
  agent_store *store = &world->agents.store;
  agent_row *row = world_row(world, index);
  ASSERT(row->status == AGENT_GHOST && store->ghost_count > 0);
  space_unlink(&world->agents.space, store, index);
  identity_give_back(&world->agents.slots[row->type], row->state_slot);
  row->status = AGENT_FREE;
  world->zone->rows[index] = (zone_row){0};
  store->ghost_count--;
}

void ghosts_drop(struct muster_world *world, uint32_t index) {
  ghosts_vacate(world, index);
  lifecycle_close(world, index);
}

void ghosts_drop_unseen(struct muster_world *world, uint32_t zone) {
  const agent_store *store = &world->agents.store;
  uint32_t words = bits_words(store->maximum), left = store->ghost_count;
  for (uint32_t index = 0; left > 0; index++, left--) {
    index = bits_next(store->ghosts, words, index);
    if (world->zone->rows[index].zone == zone && !bits_has(world->agents.seen, index)) ghosts_drop(world, index);
  }
}
