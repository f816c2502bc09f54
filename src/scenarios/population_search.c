#include "scenarios/population_search.h"

#include "scenarios/scaffold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static search_cell beside(search_cell cell, uint32_t direction) {
  return (search_cell){cell.x + grid_x[direction], cell.y + grid_y[direction]};
}

search_cell search_cell_at(double x, double y) {
  return (search_cell){(int32_t)floor(x / SEARCH_CELL_M), (int32_t)floor(y / SEARCH_CELL_M)};
}

/* ---------------------------------------------------------------------------------------------------------- ground */

static float lattice(int32_t x, int32_t y) {
  return muster_random_share(scaffold_random((uint64_t)(uint32_t)x << 32 | (uint32_t)y));
}

/* Noise between the points of a lattice of eight cells, so that what is blocked forms lumps with gaps between. */
static float lumps(search_cell cell) {
  int32_t x = cell.x >> 3, y = cell.y >> 3;
  float across = (float)(cell.x & 7) * 0.125f, along = (float)(cell.y & 7) * 0.125f;
  float low = lattice(x, y) * (1 - across) + lattice(x + 1, y) * across;
  float high = lattice(x, y + 1) * (1 - across) + lattice(x + 1, y + 1) * across;
  return low * (1 - along) + high * along;
}

bool search_is_blocked(search_cell cell) {
  float rubble = lattice(cell.x ^ 0x5bd1e995, cell.y);
  return lumps(cell) + 0.25f * rubble > 0.79f;
}

/* ------------------------------------------------------------------------------------------------------- open list */

static bool comes_before(const search_entry *a, const search_entry *b) {
  if (a->estimate != b->estimate) return a->estimate < b->estimate;
  return a->cost > b->cost; /* of equals, the one nearer to its end */
}

static void population_search_push(population_search *search, search_entry entry) {
  uint32_t slot = search->open_count;
  if (slot == SEARCH_OPEN_MAX)
    slot--; /* the last leaf of the heap is among the worst */
  else
    search->open_count++;
  for (; slot > 0 && comes_before(&entry, &search->open[(slot - 1) / 2]); slot = (slot - 1) / 2)
    search->open[slot] = search->open[(slot - 1) / 2];
  search->open[slot] = entry;
}

static search_entry population_search_pop(population_search *search) {
  search_entry *open = search->open, first = open[0], last = open[--search->open_count];
  uint32_t slot = 0, child;
  while ((child = slot * 2 + 1) < search->open_count) {
    if (child + 1 < search->open_count && comes_before(&open[child + 1], &open[child])) child++;
    if (!comes_before(&open[child], &last)) break;
    open[slot] = open[child];
    slot = child;
  }
  open[slot] = last;
  return first;
}

/* ---------------------------------------------------------------------------------------------------------- window */

static bool window_index(const population_search *search, search_cell cell, uint16_t *index) {
  int64_t x = (int64_t)cell.x - search->origin.x, y = (int64_t)cell.y - search->origin.y;
  if (x < 0 || y < 0 || x >= SEARCH_WINDOW || y >= SEARCH_WINDOW) return false;
  *index = (uint16_t)(y * SEARCH_WINDOW + x);
  return true;
}

static search_cell window_cell(const population_search *search, uint16_t index) {
  return (search_cell){search->origin.x + index % SEARCH_WINDOW, search->origin.y + index / SEARCH_WINDOW};
}

static uint32_t closed_bits(const population_search *search, uint16_t index) {
  return search->closed[index / 2] >> (index % 2 * 4) & 15u;
}

static void close_cell(population_search *search, uint16_t index, uint32_t step) {
  search->closed[index / 2] |= (uint8_t)((8u | step) << (index % 2 * 4));
}

/* The least cost of a way from a cell to the start. */
static uint16_t population_search_least_cost(const population_search *search, uint16_t index) {
  int across = abs(index % SEARCH_WINDOW - search->start % SEARCH_WINDOW);
  int along = abs(index / SEARCH_WINDOW - search->start / SEARCH_WINDOW);
  return (uint16_t)grid_least_cost((uint32_t)across, (uint32_t)along);
}

/* ---------------------------------------------------------------------------------------------------------- search */

void search_begin(population_search *search, search_cell start, search_cell goal) {
  search->origin.x = (int32_t)(((int64_t)start.x + goal.x) / 2 - SEARCH_WINDOW / 2);
  search->origin.y = (int32_t)(((int64_t)start.y + goal.y) / 2 - SEARCH_WINDOW / 2);
  search->open_count = 0;
  search->status = SEARCH_MISSED;
  memset(search->closed, 0, sizeof search->closed);
  if (!window_index(search, start, &search->start) || !window_index(search, goal, &search->goal)) return;
  search->status = SEARCH_RUNNING;
  population_search_push(
      search, (search_entry){.estimate = population_search_least_cost(search, search->goal), .cell = search->goal});
}

static bool is_open_ground(const population_search *search, search_cell cell, uint16_t *index) {
  if (!window_index(search, cell, index)) return false;
  return *index == search->start || !search_is_blocked(cell);
}

/* Reaches the neighbours of a cell that was just closed. */
static void population_search_reach_out(population_search *search, const search_entry *from) {
  search_cell centre = window_cell(search, from->cell);
  uint16_t around[GRID_DIRECTIONS];
  bool open[GRID_DIRECTIONS];
  for (uint32_t i = 0; i < GRID_DIRECTIONS; i++) open[i] = is_open_ground(search, beside(centre, i), &around[i]);
  for (uint32_t exits = grid_exits(open); exits; exits &= exits - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(exits);
    if (closed_bits(search, around[i])) continue;
    uint16_t cost = (uint16_t)(from->cost + grid_cost(i));
    uint16_t estimate = (uint16_t)(cost + population_search_least_cost(search, around[i]));
    population_search_push(search, (search_entry){estimate, cost, around[i], (uint16_t)(i ^ 4)});
  }
}

uint32_t search_expand(population_search *search, uint32_t nodes) {
  uint32_t expanded = 0;
  while (search->status == SEARCH_RUNNING && expanded < nodes) {
    if (search->open_count == 0) {
      search->status = SEARCH_MISSED;
      break;
    }
    search_entry entry = population_search_pop(search);
    if (closed_bits(search, entry.cell)) continue;
    close_cell(search, entry.cell, entry.step);
    expanded++;
    if (entry.cell == search->start)
      search->status = SEARCH_FOUND;
    else
      population_search_reach_out(search, &entry);
  }
  return expanded;
}

bool search_step(const population_search *search, search_cell *cell) {
  uint16_t index;
  if (!window_index(search, *cell, &index) || index == search->goal || !closed_bits(search, index)) return false;
  *cell = beside(*cell, closed_bits(search, index) & 7u);
  return true;
}
