#include "agents/space.h"

#include "base/assert.h"

#include <math.h>

void space_create(struct space *space, uint32_t agents_max, double cell_m, struct arena *arena) {
  ASSERT(cell_m > 0);
  uint32_t buckets = round_up_to_power_of_two(agents_max / 4 + 1); /* a few share the block of a list */
  *space = (struct space){.cell_m = cell_m, .mask = buckets - 1, .part_shift = (uint32_t)__builtin_ctz(buckets)};
  while (space_parts(space) < SPACE_PARTS_MAX && 2u * SPACE_PART_BUCKETS <= 1u << space->part_shift)
    space->part_shift--;
  ARENA_ARRAY(arena, space->buckets, buckets);
  ARENA_ARRAY(arena, space->first_crowds, buckets);
  lists_create(&space->blocks, space->stores, 1 + space_parts(space), agents_max, arena);
  crowds_create(&space->crowds, agents_max, cell_m, space->stores, arena);
}

bool space_accepts(muster_position position) {
  return fabs(position.x) <= 1e9 && fabs(position.y) <= 1e9 && fabs(position.z) <= 1e9;
}

space_spot space_spot_of(const struct space *space, muster_position position) {
  ASSERT(space_accepts(position));
  double cell_x = floor(position.x / space->cell_m), cell_y = floor(position.y / space->cell_m);
  return (space_spot){(int32_t)cell_x, (int32_t)cell_y, (float)(position.x - cell_x * space->cell_m),
                      (float)(position.y - cell_y * space->cell_m), (float)position.z};
}

static void set_spot(agent_place *place, space_spot spot) {
  place->cell_x = spot.cell_x;
  place->cell_y = spot.cell_y;
  place->x = spot.x;
  place->y = spot.y;
  place->z = spot.z;
  place->changed = 1;
}

void space_place(const struct space *space, agent_place *place, muster_position position) {
  set_spot(place, space_spot_of(space, position));
}

/* ----------------------------------------------------------------------------------------------------------- crowds */

static bool is_of_cell(const agent_place *place, const agent_place *cell) {
  return place->cell_x == cell->cell_x && place->cell_y == cell->cell_y && place->partition == cell->partition;
}

/* The store of a bucket's list. */
static list_store *store_of(struct space *space, uint32_t bucket) {
  return &space->stores[1 + space_part_of(space, bucket)];
}

void space_link_plain(struct space *space, agent_store *store, uint32_t bucket, uint32_t index) {
  agent_place *place = &store->places[index];
  place->spot = lists_add(store_of(space, bucket), &space->buckets[bucket].list, bucket, index);
  place->depth = 0;
  space->buckets[bucket].count++;
}

void space_unlink_plain(struct space *space, agent_store *store, uint32_t index) {
  list_spot spot = store->places[index].spot;
  uint32_t bucket = lists_block_of(space->stores, spot)->owner;
  uint32_t moved = lists_take_out(store_of(space, bucket), &space->buckets[bucket].list, spot);
  if (moved != UINT32_MAX) store->places[moved].spot = spot;
  space->buckets[bucket].count--;
}

/* The last CROWD_AGENTS + 1 agents of a cell among those of its bucket, or all, oldest first. Returns how many. */
static uint32_t find_members(const struct space *space, const agent_store *store, uint32_t bucket,
                             const agent_place *cell, uint32_t *agents) {
  uint32_t found = 0;
  const list_block *block;
  for (agent_list list = space->buckets[bucket].list; list; list = block->previous) {
    block = lists_last(space->stores, list);
    for (uint32_t i = block->count; i > 0 && found <= CROWD_AGENTS; i--)
      if (is_of_cell(&store->places[block->agents[i - 1]], cell)) agents[found++] = block->agents[i - 1];
  }
  for (uint32_t i = 0; i < found / 2; i++) {
    uint32_t agent = agents[i];
    agents[i] = agents[found - 1 - i];
    agents[found - 1 - i] = agent;
  }
  return found;
}

/* The link that holds the number of `crowd` in a bucket's chain; with 0, the link behind the last crowd. */
static uint32_t *link_to(struct space *space, uint32_t bucket, uint32_t crowd) {
  uint32_t *link = &space->first_crowds[bucket];
  while (*link != crowd) link = &space->crowds.cells[*link].next;
  return link;
}

void space_open_crowd(struct space *space, agent_store *store, uint32_t bucket, uint32_t index) {
  uint32_t agents[CROWD_AGENTS + 1];
  uint32_t count = find_members(space, store, bucket, &store->places[index], agents);
  if (count <= CROWD_AGENTS) return;
  for (uint32_t i = 0; i < count; i++) space_unlink_plain(space, store, agents[i]);
  uint32_t crowd = crowds_open(&space->crowds, store, agents, count);
  *link_to(space, bucket, 0) = crowd;
  space->buckets[bucket].crowded = true;
  while ((count = find_members(space, store, bucket, &store->places[index], agents)) > 0) /* many came at once */
    for (uint32_t i = 0; i < count; i++) {
      space_unlink_plain(space, store, agents[i]);
      crowds_add(&space->crowds, store, crowd, agents[i]);
    }
}

/* A crowd has become so small that it ends. */
static void close_crowd(struct space *space, agent_store *store, uint32_t number) {
  uint32_t agents[CROWD_AGENTS];
  const crowd_cell *crowd = &space->crowds.cells[number];
  uint32_t bucket = space_bucket_of(space, crowd->cell_x, crowd->cell_y, crowd->partition);
  *link_to(space, bucket, number) = crowd->next;
  space->buckets[bucket].crowded = space->first_crowds[bucket] != 0;
  crowds_close(&space->crowds, number, agents);
  for (uint32_t i = 0; i < CROWD_AGENTS; i++) space_link_plain(space, store, bucket, agents[i]);
}

static void leave_crowd(struct space *space, agent_store *store, list_spot spot) {
  uint32_t number = crowds_take_out(&space->crowds, store, spot);
  if (space->crowds.cells[number].slot.count == CROWD_AGENTS) close_crowd(space, store, number);
}

/* ------------------------------------------------------------------------------------------------------------- grid */

void space_link(struct space *space, agent_store *store, uint32_t index) {
  const agent_place *place = &store->places[index];
  uint32_t bucket = space_bucket_of(space, place->cell_x, place->cell_y, place->partition);
  uint32_t crowd = space_crowd(space, place->cell_x, place->cell_y, place->partition);
  if (crowd) {
    crowds_add(&space->crowds, store, crowd, index);
    return;
  }
  space_link_plain(space, store, bucket, index);
  if (space->buckets[bucket].count > CROWD_AGENTS) space_open_crowd(space, store, bucket, index);
}

void space_unlink(struct space *space, agent_store *store, uint32_t index) {
  agent_place *place = &store->places[index];
  if (place->depth)
    leave_crowd(space, store, place->spot);
  else
    space_unlink_plain(space, store, index);
  place->spot = 0;
  place->depth = 0;
}

void space_set_place(agent_store *store, uint32_t index, space_spot spot) {
  if (!space_is_at(&store->places[index], spot)) changes_note(&store->changes, index, NOTED_MOVED);
  set_spot(&store->places[index], spot);
}

void space_move(struct space *space, agent_store *store, uint32_t index, space_spot spot) {
  agent_place *place = &store->places[index];
  bool same_cell = spot.cell_x == place->cell_x && spot.cell_y == place->cell_y;
  bool stays = space_stays(space, place, spot);
  float from_x = place->x, from_y = place->y;
  if (!same_cell) space_unlink(space, store, index);
  space_set_place(store, index, spot);
  if (!same_cell)
    space_link(space, store, index);
  else if (!stays)
    crowds_move(&space->crowds, store, index, from_x, from_y);
}
