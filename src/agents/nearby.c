#include "agents/nearby.h"

#include "base/lesser.h"
#include "base/prefetch.h"

#include <math.h>
#include <stdlib.h>

/* A cell that is no crowd, noted to be looked at. */
typedef struct searched_cell {
  agent_list list;
  int32_t cell_x, cell_y;
  float offset_x, offset_y; /* of the cell's corner from the centre */
} searched_cell;

struct search {
  const struct space *space;
  const agent_store *store;
  const agent_place *centre;
  nearby_query query;
  struct neighbour *out; /* the nearest so far, sorted by (distance, index) */
  uint32_t count, capacity;
  float reach_squared; /* agents that are farther are not wanted */
  float cell_m;
  float slack_m; /* what rounding may do to the border of a square */
  nearby_looks looks;
  float crowd_x, crowd_y; /* offset of the crowd that is looked at */
  uint32_t cell_count;
  searched_cell cells[NEARBY_LOOKS];
};

static bool comes_before(struct neighbour a, struct neighbour b) {
  return a.distance_squared < b.distance_squared || (a.distance_squared == b.distance_squared && a.index < b.index);
}

static bool is_full(const struct search *search) {
  return search->count == search->capacity;
}

static void nearby_keep(struct search *search, struct neighbour candidate) {
  uint32_t slot = is_full(search) ? search->count - 1 : search->count++;
  for (; slot > 0 && comes_before(candidate, search->out[slot - 1]); slot--) search->out[slot] = search->out[slot - 1];
  search->out[slot] = candidate;
  if (is_full(search)) search->reach_squared = search->out[search->count - 1].distance_squared;
}

static inline bool is_wanted(const nearby_query *query, uint32_t type) {
  if (query->type == NEARBY_ALL_TYPES || query->type == type) return true;
  return query->type == NEARBY_SOME_TYPES && bits_has(query->types, type);
}

/* Looks at an agent of the cell whose corner has this offset. */
static inline void nearby_look_at(struct search *search, uint32_t index, const agent_place *place, float offset_x,
                                  float offset_y) {
  float x = offset_x + place->x, y = offset_y + place->y, distance_squared = x * x + y * y;
  if (!(distance_squared <= search->reach_squared) || index == search->query.index) return;
  if (!is_wanted(&search->query, place->type)) return;
  struct neighbour candidate = {index, distance_squared};
  if (!is_full(search) || comes_before(candidate, search->out[search->count - 1])) nearby_keep(search, candidate);
}

/* Whether `count` more agents may be looked at; if not, the query is cut and ends. */
static bool may_look_at(struct search *search, uint32_t count) {
  if (search->looks.looked + count <= NEARBY_LOOKS) return true;
  search->looks.cut = true;
  return false;
}

/* ------------------------------------------------------------------------------------------------------ plain cells */

static bool is_in(const struct search *search, const searched_cell *cell, const agent_place *place) {
  return place->cell_x == cell->cell_x && place->cell_y == cell->cell_y &&
         place->partition == search->centre->partition;
}

PREFETCH_FUNCTION prefetch_block(const struct search *search, const list_block *block) {
  for (uint32_t i = 0; i < block->count; i++) __builtin_prefetch(&search->store->places[block->agents[i]]);
}

static inline void look_at_cell(struct search *search, const searched_cell *cell) {
  const list_store *lists = search->space->stores;
  for (agent_list list = cell->list; list;) {
    const list_block *block = lists_last(lists, list);
    list = block->previous;
    if (list) prefetch_block(search, lists_last(lists, list));
    for (uint32_t k = 0; k < block->count; k++) {
      const agent_place *place = &search->store->places[block->agents[k]];
      if (!is_in(search, cell, place)) continue;
      search->looks.looked++;
      nearby_look_at(search, block->agents[k], place, cell->offset_x, cell->offset_y);
    }
  }
}

/* Looks at the agents of several cells, so that the memory of some is fetched while others are looked at: first the
 * lists' last blocks, then the agents in them. */
static void look_at_cells(struct search *search) {
  enum { TOGETHER = 16 };
  for (uint32_t first = 0; first < search->cell_count; first += TOGETHER) {
    uint32_t end = first + TOGETHER < search->cell_count ? first + TOGETHER : search->cell_count;
    for (uint32_t i = first; i < end; i++)
      prefetch_block(search, lists_last(search->space->stores, search->cells[i].list));
    for (uint32_t i = first; i < end; i++) look_at_cell(search, &search->cells[i]);
  }
}

static searched_cell cell_at(const struct search *search, int32_t dx, int32_t dy) {
  const agent_place *centre = search->centre;
  return (searched_cell){.cell_x = centre->cell_x + dx,
                         .cell_y = centre->cell_y + dy,
                         .offset_x = (float)dx * search->cell_m - centre->x,
                         .offset_y = (float)dy * search->cell_m - centre->y};
}

/* Rounded down; floorf() would be a call. */
static int32_t cell_offset(float from, float cell_m) {
  float cells = from / cell_m;
  int32_t offset = (int32_t)cells;
  return offset - ((float)offset > cells);
}

/* Notes the cells of a circle. False when they might be too much for one query, which then takes them one by one. */
static bool gather_cells(struct search *search) {
  const agent_place *centre = search->centre;
  float cell_m = search->cell_m, radius_m = search->query.radius_m;
  int32_t x_high = cell_offset(centre->x + radius_m, cell_m), y_high = cell_offset(centre->y + radius_m, cell_m);
  uint32_t agents = 0, cells = 0;
  for (int32_t dy = cell_offset(centre->y - radius_m, cell_m); dy <= y_high; dy++)
    for (int32_t dx = cell_offset(centre->x - radius_m, cell_m); dx <= x_high; dx++) {
      const space_bucket *bucket =
          space_cell(search->space, centre->cell_x + dx, centre->cell_y + dy, centre->partition);
      if (bucket->count == 0 && !bucket->crowded) continue;
      agents += bucket->count;
      if (bucket->crowded || agents > NEARBY_LOOKS) return false;
      __builtin_prefetch(lists_last(search->space->stores, bucket->list));
      search->cells[cells] = cell_at(search, dx, dy);
      search->cells[cells++].list = bucket->list;
    }
  search->cell_count = cells;
  return true;
}

/* ----------------------------------------------------------------------------------------------------------- crowds */

/* A square of the ground; its lower corner is seen from the centre. */
struct square {
  float x, y, edge_m;
};

/* The distance of an interval from 0. */
static float apart(float low, float edge_m, float slack_m) {
  float high = low + edge_m + slack_m;
  low -= slack_m;
  return low > 0.0f ? low : high < 0.0f ? -high : 0.0f;
}

static bool is_in_reach(const struct search *search, struct square square) {
  float x = apart(square.x, square.edge_m, search->slack_m), y = apart(square.y, square.edge_m, search->slack_m);
  return x * x + y * y <= search->reach_squared;
}

static bool look_at_bin(struct search *search, const crowd_slot *bin) {
  const list_store *lists = search->space->stores;
  if (!may_look_at(search, bin->count)) return false;
  search->looks.looked += bin->count;
  for (agent_list list = bin->to; list; list = lists_last(lists, list)->previous)
    prefetch_block(search, lists_last(lists, list));
  for (agent_list list = bin->to; list; list = lists_last(lists, list)->previous) {
    const list_block *block = lists_last(lists, list);
    for (uint32_t i = 0; i < block->count; i++)
      nearby_look_at(search, block->agents[i], &search->store->places[block->agents[i]], search->crowd_x,
                     search->crowd_y);
  }
  return true;
}

/* The parts of a node in the order in which they are looked at: that of the centre first, or the nearest to it. */
static void order_parts(const struct search *search, uint32_t depth, struct square square, uint32_t *parts) {
  uint32_t near = 0, next = 1;
  if (depth < CROWD_QUARTERS) {
    float middle_x = square.x + square.edge_m * 0.5f, middle_y = square.y + square.edge_m * 0.5f;
    near = (middle_x <= 0.0f ? 1u : 0u) | (middle_y <= 0.0f ? 2u : 0u);
    next = fabsf(middle_x) <= fabsf(middle_y) ? 1 : 2;
  } else {
    near = crowds_digit(crowds_number(search->query.index), depth);
  }
  parts[0] = near;
  parts[1] = near ^ next;
  parts[2] = near ^ 3 ^ next;
  parts[3] = near ^ 3;
}

static struct square part_of(struct square square, uint32_t depth, uint32_t part) {
  if (depth >= CROWD_QUARTERS) return square;
  float half_m = square.edge_m * 0.5f;
  return (struct square){square.x + (part & 1 ? half_m : 0.0f), square.y + (part & 2 ? half_m : 0.0f), half_m};
}

enum { NO_PART = 4 };

static bool look_at_part(struct search *search, const crowd_slot *slot, struct square square);

/* Looks at the parts of a node, but not at `done`, which was looked at. Those of a smallest square count as equally
 * near: when it has found enough, it looks at no further bins of it. False when it may look at no more. */
static bool look_at_parts(struct search *search, const crowd_node *node, struct square square, uint32_t done) {
  uint32_t parts[4], before = done == NO_PART ? search->looks.looked : 0;
  order_parts(search, node->depth, square, parts);
  for (uint32_t i = 0; i < 4; i++) {
    const crowd_slot *slot = &node->slots[parts[i]];
    if (parts[i] == done || slot->count == 0) continue;
    struct square part = part_of(square, node->depth, parts[i]);
    if (!is_in_reach(search, part)) continue;
    bool enough = node->depth >= CROWD_QUARTERS && search->looks.looked > before && is_full(search);
    if (enough) return search->looks.cut = true;
    if (!look_at_part(search, slot, part)) return false;
  }
  return true;
}

/* Looks at a part of a crowd in the same way, from its nearest bin on. */
static bool look_at_part(struct search *search, const crowd_slot *slot, struct square square) {
  if (!(slot->to & CROWD_NODE)) return look_at_bin(search, slot);
  return look_at_parts(search, &search->space->crowds.nodes[slot->to & ~CROWD_NODE], square, NO_PART);
}

/* Whether every agent beyond the borders of a square that holds the centre is out of reach. */
static bool is_enough(const struct search *search, struct square square) {
  float low = lesser(-square.x, -square.y);
  float high = lesser(square.x + square.edge_m, square.y + square.edge_m);
  float border_m = lesser(low, high) - search->slack_m;
  return border_m > 0.0f && border_m * border_m > search->reach_squared;
}

/* The square of a node of this depth that has the centre in it. */
static struct square square_at(const struct search *search, uint32_t depth) {
  const struct crowds *crowds = &search->space->crowds;
  uint32_t shift = depth < CROWD_QUARTERS ? CROWD_QUARTERS - depth : 0;
  float edge_m = search->cell_m * (1.0f / CROWD_STEPS) * (float)(1u << shift);
  return (struct square){(float)(crowds_step(crowds, search->centre->x) >> shift) * edge_m - search->centre->x,
                         (float)(crowds_step(crowds, search->centre->y) >> shift) * edge_m - search->centre->y, edge_m};
}

/* Looks at the centre's own crowd: from its bin upwards, as far as agents may be in reach. False when the search is
 * over. */
static bool look_from_bin(struct search *search) {
  const struct crowds *crowds = &search->space->crowds;
  uint32_t number = lists_block_of(crowds->lists, search->centre->spot)->owner;
  if (!look_at_bin(search, crowds_slot(crowds, number))) return false;
  while (!(number & CROWD_ROOT)) {
    const crowd_node *node = &crowds->nodes[number >> 2];
    struct square square = square_at(search, node->depth);
    if (!look_at_parts(search, node, square, number & 3) || is_enough(search, square)) return false;
    number = node->parent;
  }
  return true;
}

/* ------------------------------------------------------------------------------------------------------------ rings */

static uint32_t count_members(const struct search *search, const searched_cell *cell) {
  uint32_t count = 0;
  for (agent_list list = cell->list; list;) {
    const list_block *block = lists_last(search->space->stores, list);
    list = block->previous;
    for (uint32_t i = 0; i < block->count; i++) count += is_in(search, cell, &search->store->places[block->agents[i]]);
  }
  return count;
}

/* Looks at a cell as a whole, or at a crowd from its nearest bin on. False when the search is over. */
static bool visit_cell(struct search *search, int32_t dx, int32_t dy) {
  searched_cell cell = cell_at(search, dx, dy);
  struct square square = {cell.offset_x, cell.offset_y, search->cell_m};
  if (!is_in_reach(search, square)) return true;
  search->crowd_x = cell.offset_x;
  search->crowd_y = cell.offset_y;
  if (search->centre->depth && dx == 0 && dy == 0) return look_from_bin(search);
  const space_bucket *bucket = space_cell(search->space, cell.cell_x, cell.cell_y, search->centre->partition);
  uint32_t crowd =
      bucket->crowded ? space_crowd(search->space, cell.cell_x, cell.cell_y, search->centre->partition) : 0;
  if (crowd) return look_at_part(search, &search->space->crowds.cells[crowd].slot, square);
  cell.list = bucket->list;
  /* Whether agents of other cells are in the list makes no difference. */
  if (search->looks.looked + bucket->count > NEARBY_LOOKS && !may_look_at(search, count_members(search, &cell)))
    return false;
  look_at_cell(search, &cell);
  return true;
}

/* The cells of a ring: from the middle of its sides to the corners, on the sides that are nearer to the centre first.
 * False when the search is over. */
static bool visit_ring(struct search *search, int32_t ring) {
  int32_t side_x = search->centre->x * 2.0f < search->cell_m ? -1 : 1;
  int32_t side_y = search->centre->y * 2.0f < search->cell_m ? -1 : 1;
  for (int32_t along = 0; along <= ring; along++)
    for (uint32_t turn = 0; turn < 8; turn++) {
      bool back = turn & 1, upright = turn & 2, far = turn & 4;
      if ((back && along == 0) || (upright && along == ring) || (ring == 0 && turn)) continue;
      int32_t a = back ? -along : along, b = far ? -ring : ring;
      if (!visit_cell(search, side_x * (upright ? a : b), side_y * (upright ? b : a))) return false;
    }
  return true;
}

/* The smallest distance that the cells of a ring can have. */
static float ring_distance(const struct search *search, int32_t ring) {
  const agent_place *centre = search->centre;
  float x = lesser(centre->x, search->cell_m - centre->x), y = lesser(centre->y, search->cell_m - centre->y);
  float distance_m = (float)(ring - 1) * search->cell_m + lesser(x, y) - search->slack_m;
  return ring > 0 && distance_m > 0.0f ? distance_m : 0.0f;
}

/* Looks at further agents in order of their indices, beginning after the centre's, but at none of the first `rings`
 * rings, which were looked at. */
static void look_at_others(struct search *search, int32_t rings) {
  const agent_store *store = search->store;
  uint32_t i = search->query.index, left = store->active_count + store->ghost_count;
  if (i != NEARBY_NO_AGENT && store_is_active(store, i)) left--;
  for (; left > 0 && may_look_at(search, 1); left--) {
    i = store_next_seen(store, i + 1);
    if (i == UINT32_MAX) i = store_next_seen(store, 0);
    search->looks.looked++;
    const agent_place *place = &store->places[i];
    int64_t dx = (int64_t)place->cell_x - search->centre->cell_x, dy = (int64_t)place->cell_y - search->centre->cell_y;
    if (place->partition != search->centre->partition || (llabs(dx) < rings && llabs(dy) < rings)) continue;
    nearby_look_at(search, i, place, (float)dx * search->cell_m - search->centre->x,
                   (float)dy * search->cell_m - search->centre->y);
  }
}

static void nearby_look_around(struct search *search, int32_t rings) {
  for (int32_t ring = 0;; ring++) {
    float distance_m = ring_distance(search, ring);
    if (distance_m * distance_m > search->reach_squared) return;
    if (ring == rings) break;
    if (!visit_ring(search, ring)) return;
  }
  look_at_others(search, rings);
}

/* ------------------------------------------------------------------------------------------------------------ query */

/* The least number of rings that have `cells` cells. */
static int32_t rings_of(float cells) {
  int32_t rings = 1;
  while (rings < NEARBY_RINGS && (float)((2 * rings - 1) * (2 * rings - 1)) < cells) rings++;
  return rings;
}

static void nearby_look(struct search *search) {
  const agent_store *store = search->store;
  float across = 2.0f * search->query.radius_m / search->cell_m + 2.0f,
        worth = (float)(store->active_count + store->ghost_count) + 64.0f;
  bool wide = across * across > worth || across > 2.0f * NEARBY_RINGS;
  if (wide && store->active_count + store->ghost_count <= NEARBY_LOOKS)
    look_at_others(search, 0);
  else if (!wide && gather_cells(search))
    look_at_cells(search);
  else
    nearby_look_around(search, wide ? rings_of(worth) : NEARBY_RINGS + 1);
}

uint32_t nearby_find(const struct space *space, const agent_store *store, const nearby_query *query,
                     struct neighbour *out, uint32_t capacity, nearby_looks *looks) {
  *looks = (nearby_looks){0};
  if (capacity == 0 || !(query->radius_m >= 0)) return 0;
  struct search search;
  search.space = space;
  search.store = store;
  search.centre = query->index == NEARBY_NO_AGENT ? query->centre : &store->places[query->index];
  search.query = *query;
  search.out = out;
  search.count = 0;
  search.capacity = capacity;
  search.reach_squared = query->radius_m * query->radius_m;
  search.cell_m = (float)space->cell_m;
  search.slack_m = search.cell_m * 1e-4f;
  search.looks = *looks;
  search.cell_count = 0;
  nearby_look(&search);
  *looks = search.looks;
  return search.count;
}
