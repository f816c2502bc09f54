#include "pathstorm_search.h"

#include <stdlib.h>
#include <string.h>

/* A cell's way byte: the direction of its first step, and flags that say what is known of it. */
enum { WAY_STEP = 7, WAY_REACHED = 8, WAY_CLOSED = 16, WAY_WANTED = 32 };

/* A cell is reached at most once from each neighbour. That many entries are only address space: few are in use at a
 * time, and the entry that was given back last is used first. */
enum { ENTRIES_PER_CELL = GRID_DIRECTIONS };

bool pathstorm_search_create(pathstorm_search *search, const pathstorm_map *map) {
  *search = (pathstorm_search){.map = map, .status = PATHSTORM_EXHAUSTED, .spare = PATHSTORM_NO_ENTRY};
  search->costs = malloc(map->cells * sizeof *search->costs);
  search->entries = malloc((size_t)map->cells * ENTRIES_PER_CELL * sizeof *search->entries);
  if (!search->costs || !search->entries) return false;
  memset(search->costs, 0xff, map->cells * sizeof *search->costs); /* first touched here, not in a frame */
  memset(search->entries, 0, map->cells / 16 * sizeof *search->entries);
  return true;
}

void pathstorm_search_destroy(pathstorm_search *search) {
  free(search->costs);
  free(search->entries);
  *search = (pathstorm_search){0};
}

/* -------------------------------------------------------------------------------------------------------- open list */

/* The least cost of a way from a cell into the box. */
static uint32_t pathstorm_search_least_cost(const pathstorm_search *search, uint32_t cell) {
  uint32_t x = pathstorm_cell_x(search->map, cell), y = pathstorm_cell_y(search->map, cell);
  const pathstorm_box *box = &search->box;
  uint32_t across = x < box->x0 ? box->x0 - x : x > box->x1 ? x - box->x1 : 0;
  uint32_t along = y < box->y0 ? box->y0 - y : y > box->y1 ? y - box->y1 : 0;
  return grid_least_cost(across, along);
}

static void pathstorm_search_push(pathstorm_search *search, uint32_t cell, uint32_t estimate) {
  uint32_t number = search->spare, *bucket = &search->buckets[estimate % PATHSTORM_BUCKETS];
  if (number == PATHSTORM_NO_ENTRY)
    number = search->entry_count++;
  else
    search->spare = search->entries[number].next;
  search->entries[number] = (pathstorm_entry){cell, *bucket};
  *bucket = number;
  search->open++;
}

/* Takes a cell of the least estimate; among equals the one that was reached last. There must be one. */
static uint32_t pathstorm_search_pop(pathstorm_search *search) {
  while (search->buckets[search->estimate % PATHSTORM_BUCKETS] == PATHSTORM_NO_ENTRY) search->estimate++;
  uint32_t *bucket = &search->buckets[search->estimate % PATHSTORM_BUCKETS], number = *bucket;
  pathstorm_entry *entry = &search->entries[number];
  *bucket = entry->next;
  entry->next = search->spare;
  search->spare = number;
  search->open--;
  return entry->cell;
}

/* ----------------------------------------------------------------------------------------------------------- search */

void pathstorm_search_begin(pathstorm_search *search, uint8_t *ways, uint32_t goal, pathstorm_box box) {
  memset(search->buckets, 0xff, sizeof search->buckets);
  search->ways = ways;
  search->goal = goal;
  search->box = box;
  search->status = PATHSTORM_FOUND;
  search->wanted = search->arrivals = search->closed = search->open = search->entry_count = 0;
  search->spare = PATHSTORM_NO_ENTRY;
  search->estimate = pathstorm_search_least_cost(search, goal);
  search->costs[goal] = 0;
  ways[goal] = WAY_REACHED;
  pathstorm_search_push(search, goal, search->estimate);
}

bool pathstorm_search_want(pathstorm_search *search, uint32_t cell) {
  uint8_t *way = &search->ways[cell];
  if (*way & WAY_CLOSED) return true;
  if (search->status == PATHSTORM_EXHAUSTED || *way & WAY_WANTED) return false;
  *way |= WAY_WANTED;
  search->wanted++;
  search->status = PATHSTORM_RUNNING;
  return false;
}

/* Reaches the neighbours of a cell that was just closed. */
static void pathstorm_search_reach_out(pathstorm_search *search, uint32_t cell) {
  uint32_t exits = search->map->exits[cell], cost = search->costs[cell];
  for (; exits; exits &= exits - 1) {
    uint32_t direction = (uint32_t)__builtin_ctz(exits), next = pathstorm_neighbour(search->map, cell, direction);
    uint8_t *way = &search->ways[next];
    uint32_t reached = cost + grid_cost(direction);
    if (*way & WAY_CLOSED || (*way & WAY_REACHED && search->costs[next] <= reached)) continue;
    *way = (uint8_t)((*way & WAY_WANTED) | WAY_REACHED | (direction ^ 4));
    search->costs[next] = reached;
    pathstorm_search_push(search, next, reached + pathstorm_search_least_cost(search, next));
  }
}

static void pathstorm_search_close_cell(pathstorm_search *search, uint32_t cell) {
  uint8_t *way = &search->ways[cell];
  *way |= WAY_CLOSED;
  search->closed++;
  pathstorm_search_reach_out(search, cell);
  if (!(*way & WAY_WANTED)) return;
  search->arrivals++;
  if (--search->wanted == 0) search->status = PATHSTORM_FOUND;
}

uint32_t pathstorm_search_expand(pathstorm_search *search, uint32_t steps) {
  uint32_t taken = 0;
  for (; search->status == PATHSTORM_RUNNING && taken < steps; taken++) {
    if (search->open == 0) {
      search->status = PATHSTORM_EXHAUSTED;
      break;
    }
    uint32_t cell = pathstorm_search_pop(search);
    if (!(search->ways[cell] & WAY_CLOSED)) pathstorm_search_close_cell(search, cell);
  }
  return taken;
}

bool pathstorm_way_is_known(const uint8_t *ways, uint32_t cell) {
  return ways[cell] & WAY_CLOSED;
}

uint32_t pathstorm_way_step(const uint8_t *ways, uint32_t cell) {
  return ways[cell] & WAY_STEP;
}

/* ------------------------------------------------------------------------------------------------------------ boxes */

pathstorm_box pathstorm_box_around(const pathstorm_map *map, pathstorm_box box, uint32_t cell) {
  uint32_t x = pathstorm_cell_x(map, cell), y = pathstorm_cell_y(map, cell);
  return (pathstorm_box){x < box.x0 ? x : box.x0, y < box.y0 ? y : box.y0, x > box.x1 ? x : box.x1,
                         y > box.y1 ? y : box.y1};
}
