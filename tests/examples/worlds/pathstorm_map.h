/* worlds/pathstorm_map.h - a square map of cells: which of them can be entered, which steps lead from each to its
 * neighbours, and which cells belong together.
 *
 *     create -> block and free cells, or build -> finish -> read
 *
 * The edge of the map is always blocked, so a permitted step never leaves it. */
#ifndef WORLDS_PATHSTORM_MAP_H
#define WORLDS_PATHSTORM_MAP_H

#include "scenarios/grid.h"

typedef struct pathstorm_map {
  uint32_t shift;    /* of a row: the map has 1 << shift cells on a side */
  uint32_t side;     /* cells */
  uint32_t cells;    /* in all; a cell is its row << shift, and its column */
  uint8_t *ground;   /* of each cell: 0 = free */
  uint8_t *exits;    /* of each cell: bit d: a step in direction d is permitted. No diagonal step passes a blocked
                        corner; every exit leads back, too */
  uint32_t *regions; /* of each cell: the number of its region, counted from 1, the largest first; 0 = blocked */
  uint32_t region_count;
  uint32_t *region_cells; /* of each region, by its number: how many cells it has; [0] is unused */
} pathstorm_map;

/* A map of 1 << shift cells on a side (3 .. 12), free but for its edge. False when memory is refused. The caller
 * destroys it in either case. */
bool pathstorm_map_create(pathstorm_map *map, uint32_t shift);
void pathstorm_map_destroy(pathstorm_map *map);

/* Blocks a cell, or frees it; the edge stays as it is, and so does everything outside. Before the map is finished. */
void pathstorm_map_set(pathstorm_map *map, int32_t x, int32_t y, bool blocked);

/* Builds rubble, houses with and without doors, rivers with bridges and one without, all from a seed. */
void pathstorm_map_build(pathstorm_map *map, uint64_t seed);

/* Finds exits and regions, once all cells are blocked or freed as wanted. False when memory is refused. */
bool pathstorm_map_finish(pathstorm_map *map);

static inline uint32_t pathstorm_cell_x(const pathstorm_map *map, uint32_t cell) {
  return cell & (map->side - 1);
}

static inline uint32_t pathstorm_cell_y(const pathstorm_map *map, uint32_t cell) {
  return cell >> map->shift;
}

/* The cell that a permitted step leads to. */
static inline uint32_t pathstorm_neighbour(const pathstorm_map *map, uint32_t cell, uint32_t direction) {
  return cell + (uint32_t)(grid_y[direction] * (int32_t)map->side + grid_x[direction]);
}

#endif
