/* scenarios/grid.h - ways over square cells: what all path searches share. A step to one of eight neighbours costs 10
 * straight and 14 diagonally, and no diagonal step passes a blocked corner. */
#ifndef SCENARIOS_GRID_H
#define SCENARIOS_GRID_H

#include <stdbool.h>
#include <stdint.h>

enum { GRID_DIRECTIONS = 8, GRID_STRAIGHT = 10, GRID_DIAGONAL = 14 };

/* Directions: straight ones are even, and opposite ones are four apart. By how much a step changes column and row. */
static const int32_t grid_x[GRID_DIRECTIONS] = {1, 1, 0, -1, -1, -1, 0, 1};
static const int32_t grid_y[GRID_DIRECTIONS] = {0, 1, 1, 1, 0, -1, -1, -1};

/* The cost of a step. Pure. */
static inline uint32_t grid_cost(uint32_t direction) {
  return direction & 1 ? GRID_DIAGONAL : GRID_STRAIGHT;
}

/* The permitted steps from a free cell, as bits, by which of its neighbours are free. Pure. */
static inline uint32_t grid_exits(const bool open[GRID_DIRECTIONS]) {
  uint32_t exits = 0;
  for (uint32_t d = 0; d < GRID_DIRECTIONS; d++)
    if (open[d] && (!(d & 1) || (open[d - 1] && open[(d + 1) % GRID_DIRECTIONS]))) exits |= 1u << d;
  return exits;
}

/* The least cost of a way over so many columns and rows: diagonal as far as possible, then straight. Pure. */
static inline uint32_t grid_least_cost(uint32_t across, uint32_t along) {
  uint32_t shorter = across < along ? across : along, longer = across < along ? along : across;
  return GRID_DIAGONAL * shorter + GRID_STRAIGHT * (longer - shorter);
}

#endif
