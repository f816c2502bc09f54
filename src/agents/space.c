#include "agents/space.h"

#include "base/assert.h"
#include "base/random.h"

#include <math.h>

void space_create(space *space, uint32_t agents_max, double cell_m, arena *arena) {
  ASSERT(cell_m > 0);
  uint32_t buckets = round_up_to_power_of_two(agents_max);
  *space = (struct space){.cell_m = cell_m, .mask = buckets - 1};
  space->buckets = arena_reserve(arena, buckets, sizeof *space->buckets);
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

muster_position space_position(const space *space, const agent_place *place) {
  return (muster_position){place->cell_x * space->cell_m + (double)place->x,
                           place->cell_y * space->cell_m + (double)place->y, (double)place->z};
}

static agent_link *bucket_of(const space *space, int32_t cell_x, int32_t cell_y, uint32_t partition) {
  uint64_t key = (uint64_t)(uint32_t)cell_x << 32 | (uint32_t)cell_y;
  return &space->buckets[random_mix(key + partition * 0x9e3779b97f4a7c15u) & space->mask];
}

void space_link(space *space, agent_store *store, uint32_t index) {
  agent_place *place = &store->places[index];
  agent_link *head = bucket_of(space, place->cell_x, place->cell_y, place->partition);
  place->previous = 0;
  place->next = *head;
  if (*head) store->places[*head - 1].previous = index + 1;
  *head = index + 1;
}

void space_unlink(space *space, agent_store *store, uint32_t index) {
  agent_place *place = &store->places[index];
  if (place->previous)
    store->places[place->previous - 1].next = place->next;
  else
    *bucket_of(space, place->cell_x, place->cell_y, place->partition) = place->next;
  if (place->next) store->places[place->next - 1].previous = place->previous;
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

enum { CHAINS_MAX = 16 };

/* A cell's list on its way through the search. */
typedef struct chain {
  agent_link next;
  int32_t cell_x, cell_y;
  float offset_x, offset_y; /* of the cell's corner from the centre */
} chain;

typedef struct search {
  const space *space;
  const agent_store *store;
  const agent_place *centre;
  uint32_t index, type;
  float radius_squared;
  nearest nearest;
  uint32_t chain_count;
  chain chains[CHAINS_MAX];
} search;

static void offer(search *search, uint32_t index, float x, float y) {
  const agent_place *place = &search->store->places[index];
  if (place->partition != search->centre->partition || index == search->index) return;
  if (search->type != UINT32_MAX && place->type != search->type) return;
  float distance_squared = x * x + y * y;
  if (distance_squared <= search->radius_squared)
    nearest_offer(&search->nearest, (space_neighbour){index, distance_squared});
}

static void look_at(search *search, const chain *chain, uint32_t index) {
  const agent_place *place = &search->store->places[index];
  if (place->cell_x != chain->cell_x || place->cell_y != chain->cell_y) return;
  offer(search, index, chain->offset_x + place->x, chain->offset_y + place->y);
}

/* Walks the lists of several cells side by side, so that the memory of one is fetched while another is looked at. */
static void walk_chains(search *search) {
  const agent_place *places = search->store->places;
  while (search->chain_count) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < search->chain_count; i++) {
      chain chain = search->chains[i];
      uint32_t index = chain.next - 1;
      chain.next = places[index].next;
      if (chain.next) {
        __builtin_prefetch(&places[chain.next - 1]);
        search->chains[left++] = chain;
      }
      look_at(search, &chain, index);
    }
    search->chain_count = left;
  }
}

static void add_cell(search *search, int32_t dx, int32_t dy) {
  const agent_place *centre = search->centre;
  float cell_m = (float)search->space->cell_m;
  chain chain = {.cell_x = centre->cell_x + dx,
                 .cell_y = centre->cell_y + dy,
                 .offset_x = (float)dx * cell_m - centre->x,
                 .offset_y = (float)dy * cell_m - centre->y};
  chain.next = *bucket_of(search->space, chain.cell_x, chain.cell_y, centre->partition);
  if (!chain.next) return;
  __builtin_prefetch(&search->store->places[chain.next - 1]);
  search->chains[search->chain_count++] = chain;
  if (search->chain_count == CHAINS_MAX) walk_chains(search);
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
  walk_chains(search);
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
  search.chain_count = 0;
  float cells_across = 2.0f * radius_m / (float)space->cell_m + 2.0f;
  if (cells_across * cells_across > (float)store->active_count + 64.0f)
    search_everyone(&search);
  else
    search_cells(&search, radius_m);
  return search.nearest.count;
}
