/* scenarios/population_search.h - A* over a procedural ground, in slices, in a small fixed memory.
 *
 * The ground is a grid of square cells without end; which of them are blocked follows from their coordinates alone. A
 * search looks at a window of 64 x 64 cells around start and goal. It runs from the goal to the start, so that what it
 * leaves behind is, in every cell that it closed, the first step of a shortest way to the goal: no list of steps is
 * needed.
 *
 *     begin -> expand -> expand -> ... -> found or missed -> step, step, step
 *
 * The memory is bounded: the open list is a heap of SEARCH_OPEN_MAX entries which holds a cell as often as it is
 * reached (stale ones are skipped when they come up); when it is full, new entries replace its last. Such a search may
 * find a longer way, or none.
 */
#ifndef SCENARIOS_POPULATION_SEARCH_H
#define SCENARIOS_POPULATION_SEARCH_H

#include "scenarios/grid.h"

#define SEARCH_CELL_M   1.5
#define SEARCH_WINDOW   64
#define SEARCH_CELLS    (SEARCH_WINDOW * SEARCH_WINDOW)
#define SEARCH_OPEN_MAX 320

typedef struct search_cell {
  int32_t x, y;
} search_cell;

typedef struct search_entry {
  uint16_t estimate; /* cost so far and least cost to come */
  uint16_t cost;     /* from the goal; a straight step costs 10, a diagonal one 14 */
  uint16_t cell;     /* in the window */
  uint16_t step;     /* the direction that leads from it back towards the goal */
} search_entry;

typedef enum search_status { SEARCH_NONE = 0, SEARCH_RUNNING, SEARCH_FOUND, SEARCH_MISSED } search_status;

typedef struct population_search {
  search_cell origin; /* of the window */
  uint16_t start, goal;
  uint16_t open_count;
  uint16_t status;                    /* a search_status */
  uint8_t closed[SEARCH_CELLS / 2];   /* four bits each: 8 = closed, and the direction of the step */
  search_entry open[SEARCH_OPEN_MAX]; /* a binary heap, least estimate first */
} population_search;

/* The cell that a place in metres lies in; coordinates are within +-1e9 m. */
search_cell search_cell_at(double x, double y);

/* Whether a cell is blocked. Pure. */
bool search_is_blocked(search_cell cell);

/* Begins a search. Start and goal must be at most SEARCH_WINDOW / 2 cells apart on either axis. The start counts as
 * free even if it is blocked. */
void search_begin(population_search *search, search_cell start, search_cell goal);

/* Goes on for at most `nodes` cells, and returns how many it closed. The status tells whether it is done; it is after
 * SEARCH_CELLS cells in all. */
uint32_t search_expand(population_search *search, uint32_t nodes);

/* One step of the found way. False when `cell` is the goal already, or not on any way that the search knows. */
bool search_step(const population_search *search, search_cell *cell);

#endif
