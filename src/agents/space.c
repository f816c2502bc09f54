#include "agents/space.h"

#include "base/assert.h"
#include "base/prefetch.h"
#include "base/random.h"

#include <math.h>

void space_create(space *space, uint32_t agents_max, double cell_m, arena *arena) {
  ASSERT(cell_m > 0);
  uint32_t buckets = round_up_to_power_of_two(agents_max / 4 + 1); /* a few share the block of a list */
  *space = (struct space){.cell_m = cell_m, .mask = buckets - 1};
  space->buckets = arena_reserve(arena, buckets, sizeof *space->buckets);
  lists_create(&space->members, 1, agents_max, arena);
}

bool space_accepts(muster_position position) {
  return fabs(position.x) <= 1e9 && fabs(position.y) <= 1e9 && fabs(position.z) <= 1e9;
}

space_spot space_spot_of(const space *space, muster_position position) {
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
}

void space_place(const space *space, agent_place *place, muster_position position) {
  set_spot(place, space_spot_of(space, position));
}

static uint32_t bucket_of(const space *space, int32_t cell_x, int32_t cell_y, uint32_t partition) {
  uint64_t key = (uint64_t)(uint32_t)cell_x << 32 | (uint32_t)cell_y;
  return (uint32_t)random_mix(key + partition * 0x9e3779b97f4a7c15u) & space->mask;
}

const agent_list *space_cell(const space *space, int32_t cell_x, int32_t cell_y, uint32_t partition) {
  return &space->buckets[bucket_of(space, cell_x, cell_y, partition)];
}

void space_link(space *space, agent_store *store, uint32_t index) {
  agent_place *place = &store->places[index];
  uint32_t bucket = bucket_of(space, place->cell_x, place->cell_y, place->partition);
  place->spot = lists_add(&space->members, 0, &space->buckets[bucket], bucket, index);
}

void space_unlink(space *space, agent_store *store, uint32_t index) {
  agent_place *place = &store->places[index];
  uint32_t bucket = lists_block_of(&space->members, place->spot)->owner;
  uint32_t moved = lists_take_out(&space->members, 0, &space->buckets[bucket], place->spot);
  if (moved != UINT32_MAX) store->places[moved].spot = place->spot;
  place->spot = 0;
}

void space_move(space *space, agent_store *store, uint32_t index, space_spot spot) {
  agent_place *place = &store->places[index];
  bool same_cell = spot.cell_x == place->cell_x && spot.cell_y == place->cell_y;
  if (!same_cell) space_unlink(space, store, index);
  set_spot(place, spot);
  if (!same_cell) space_link(space, store, index);
}

/* The k nearest so far, sorted by (distance, index). */
typedef struct nearest {
  space_neighbour *out;
  uint32_t count, capacity;
} nearest;

static bool comes_before(space_neighbour a, space_neighbour b) {
  return a.distance_squared < b.distance_squared || (a.distance_squared == b.distance_squared && a.index < b.index);
}

static void nearest_offer(nearest *nearest, space_neighbour candidate) {
  uint32_t slot = nearest->count;
  if (slot == nearest->capacity) {
    if (!comes_before(candidate, nearest->out[slot - 1])) return;
    slot--;
  } else {
    nearest->count++;
  }
  for (; slot > 0 && comes_before(candidate, nearest->out[slot - 1]); slot--)
    nearest->out[slot] = nearest->out[slot - 1];
  nearest->out[slot] = candidate;
}

enum { CELLS_MAX = 16 };

/* A cell on its way through the search. */
typedef struct searched_cell {
  agent_list list;
  int32_t cell_x, cell_y;
  float offset_x, offset_y; /* of the cell's corner from the centre */
} searched_cell;

typedef struct search {
  const space *space;
  const agent_store *store;
  const agent_place *centre;
  uint32_t index, type;
  float radius_squared;
  nearest nearest;
  uint32_t cell_count;
  searched_cell cells[CELLS_MAX];
} search;

static void offer(search *search, uint32_t index, float x, float y) {
  const agent_place *place = &search->store->places[index];
  if (place->partition != search->centre->partition || index == search->index) return;
  if (search->type != UINT32_MAX && place->type != search->type) return;
  float distance_squared = x * x + y * y;
  if (distance_squared <= search->radius_squared)
    nearest_offer(&search->nearest, (space_neighbour){index, distance_squared});
}

static void look_at(search *search, const searched_cell *cell, uint32_t index) {
  const agent_place *place = &search->store->places[index];
  if (place->cell_x != cell->cell_x || place->cell_y != cell->cell_y) return;
  offer(search, index, cell->offset_x + place->x, cell->offset_y + place->y);
}

PREFETCH_FUNCTION prefetch_block(const search *search, const list_block *block) {
  for (uint32_t i = 0; i < block->count; i++) __builtin_prefetch(&search->store->places[block->agents[i]]);
}

/* Looks at the agents of several cells, so that the memory of some is fetched while others are looked at: first the
 * lists' last blocks, then who is in them. */
static void look_at_cells(search *search) {
  const list_store *lists = &search->space->members;
  for (uint32_t i = 0; i < search->cell_count; i++) prefetch_block(search, lists_last(lists, search->cells[i].list));
  for (uint32_t i = 0; i < search->cell_count; i++) {
    const searched_cell *cell = &search->cells[i];
    for (agent_list list = cell->list; list;) {
      const list_block *block = lists_last(lists, list);
      list = block->previous;
      if (list) prefetch_block(search, lists_last(lists, list));
      for (uint32_t k = 0; k < block->count; k++) look_at(search, cell, block->agents[k]);
    }
  }
  search->cell_count = 0;
}

static void add_cell(search *search, int32_t dx, int32_t dy) {
  const agent_place *centre = search->centre;
  float cell_m = (float)search->space->cell_m;
  searched_cell cell = {.cell_x = centre->cell_x + dx,
                        .cell_y = centre->cell_y + dy,
                        .offset_x = (float)dx * cell_m - centre->x,
                        .offset_y = (float)dy * cell_m - centre->y};
  cell.list = *space_cell(search->space, cell.cell_x, cell.cell_y, centre->partition);
  if (!cell.list) return;
  __builtin_prefetch(lists_last(&search->space->members, cell.list));
  search->cells[search->cell_count++] = cell;
  if (search->cell_count == CELLS_MAX) look_at_cells(search);
}

/* A circle of more cells than there are agents: everyone is looked at instead. */
static void search_everyone(search *search) {
  const agent_store *store = search->store;
  float cell_m = (float)search->space->cell_m;
  for (uint32_t i = 0; (i = store_next_active(store, i)) != UINT32_MAX; i++) {
    const agent_place *place = &store->places[i];
    float dx = (float)((int64_t)place->cell_x - search->centre->cell_x) * cell_m;
    float dy = (float)((int64_t)place->cell_y - search->centre->cell_y) * cell_m;
    offer(search, i, dx + place->x - search->centre->x, dy + place->y - search->centre->y);
  }
}

static int32_t cell_offset(float from, float cell_m) {
  return (int32_t)floorf(from / cell_m);
}

static void search_cells(search *search, float radius_m) {
  const agent_place *centre = search->centre;
  float cell_m = (float)search->space->cell_m;
  int32_t x_high = cell_offset(centre->x + radius_m, cell_m), y_high = cell_offset(centre->y + radius_m, cell_m);
  for (int32_t dy = cell_offset(centre->y - radius_m, cell_m); dy <= y_high; dy++)
    for (int32_t dx = cell_offset(centre->x - radius_m, cell_m); dx <= x_high; dx++) add_cell(search, dx, dy);
  look_at_cells(search);
}

uint32_t space_nearby(const space *space, const agent_store *store, uint32_t index, float radius_m, uint32_t type,
                      space_neighbour *out, uint32_t capacity) {
  if (capacity == 0 || !(radius_m >= 0)) return 0;
  search search;
  search.space = space;
  search.store = store;
  search.centre = &store->places[index];
  search.index = index;
  search.type = type;
  search.radius_squared = radius_m * radius_m;
  search.nearest = (nearest){out, 0, capacity};
  search.cell_count = 0;
  float cells_across = 2.0f * radius_m / (float)space->cell_m + 2.0f;
  if (cells_across * cells_across > (float)store->active_count + 64.0f)
    search_everyone(&search);
  else
    search_cells(&search, radius_m);
  return search.nearest.count;
}
