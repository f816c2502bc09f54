/* worlds/pathstorm_search.h - A* over a whole map, from the goal to all walkers that ask for it, which can be
 * suspended and resumed at any time.
 *
 *     begin -> want, want ... -> expand -> expand -> ... -> found or exhausted
 *                                   ^                         |
 *                                   +---------- want ---------+
 *
 * A search runs from its goal outwards and leaves in every cell that it closed the first step of a shortest way from
 * there to the goal: one search answers all walkers with the same goal, wherever they start, and its ways can be read
 * while it goes on. It ends when every wanted cell is closed, or when nothing is left that can be reached; then a cell
 * that was not reached cannot reach the goal. In the first case the search can be resumed for another start.
 *
 * The heuristic is the least way to a box around the starts that were wanted first. As the box is the same for the
 * whole search, what is closed stays right wherever later starts lie, and the open list needs no more than a ring of
 * buckets: each new estimate is at most two diagonal steps above the current one. */
#ifndef WORLDS_PATHSTORM_SEARCH_H
#define WORLDS_PATHSTORM_SEARCH_H

#include "pathstorm_map.h"

enum { PATHSTORM_BUCKETS = 32 };
#define PATHSTORM_NO_ENTRY UINT32_MAX

typedef enum pathstorm_status {
  PATHSTORM_RUNNING = 0,
  PATHSTORM_FOUND,    /* every wanted cell is closed */
  PATHSTORM_EXHAUSTED /* all that can reach the goal is closed */
} pathstorm_status;

/* A cell that was reached: one entry for each time that a shorter way to it was found. The first one that comes up is
 * used, the others are skipped. */
typedef struct pathstorm_entry {
  uint32_t cell, next;
} pathstorm_entry;

/* A box of cells, both corners included. */
typedef struct pathstorm_box {
  uint32_t x0, y0, x1, y1;
} pathstorm_box;

typedef struct pathstorm_search {
  const pathstorm_map *map;
  uint8_t *ways;   /* of each cell, see below; owned by the caller */
  uint32_t *costs; /* of each cell that was reached: the least known cost of a way to the goal */
  uint32_t goal;
  pathstorm_box box;
  pathstorm_status status;
  uint32_t wanted;   /* cells that are not closed yet */
  uint32_t arrivals; /* wanted cells that were closed since the caller last set it to 0 */
  uint32_t closed;   /* cells, in all */
  uint32_t estimate; /* of the bucket that comes next */
  uint32_t open;     /* entries in the buckets */
  uint32_t buckets[PATHSTORM_BUCKETS];
  pathstorm_entry *entries;
  uint32_t entry_count; /* the most that were in use at a time */
  uint32_t spare;       /* the first free entry */
} pathstorm_search;

/* Memory for one search at a time on a finished map, all of it taken here. False when it is refused. The caller
 * destroys it in either case. */
bool pathstorm_search_create(pathstorm_search *search, const pathstorm_map *map);
void pathstorm_search_destroy(pathstorm_search *search);

/* Begins a search in `ways`, one byte for each cell, which must be 0 and stay until the next one begins. Nothing is
 * wanted yet. O(1). */
void pathstorm_search_begin(pathstorm_search *search, uint8_t *ways, uint32_t goal, pathstorm_box box);

/* Wants a way from one more cell. True when that is known already; else the search runs (again), or was exhausted. */
bool pathstorm_search_want(pathstorm_search *search, uint32_t cell);

/* Goes on for at most `steps` cells from the open list; returns how many it took. */
uint32_t pathstorm_search_expand(pathstorm_search *search, uint32_t steps);

/* Whether a way from a cell to the goal is known. */
bool pathstorm_way_is_known(const uint8_t *ways, uint32_t cell);

/* The direction of the first step of a known way; the goal's own is without meaning. */
uint32_t pathstorm_way_step(const uint8_t *ways, uint32_t cell);

static const pathstorm_box pathstorm_no_box = {UINT32_MAX, UINT32_MAX, 0, 0};

/* The smallest box around a box, or no box, and a cell. */
pathstorm_box pathstorm_box_around(const pathstorm_map *map, pathstorm_box box, uint32_t cell);

#endif
