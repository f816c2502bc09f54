/* agents/space.h - where agents are: positions, and who is near.
 *
 * A position is a cell of the ground plane plus a float inside it, which keeps millimetres on a world of any size;
 * height is a plain float. The grid is a table of buckets: a cell hashes to one, and a bucket's list may hold agents of
 * several cells, which the reader tells apart by their cell. So there is nothing to allocate as the world is explored.
 */
#ifndef AGENTS_SPACE_H
#define AGENTS_SPACE_H

#include "agents/store.h"
#include "base/random.h"

typedef struct space {
  double cell_m;
  agent_list *buckets;
  uint32_t mask; /* buckets - 1 */
  list_store members;
} space;

typedef struct space_neighbour {
  uint32_t index;
  float distance_squared;
} space_neighbour;

/* Reserves a table for about `agents_max` agents. */
void space_create(space *space, uint32_t agents_max, double cell_m, arena *arena);

/* Whether every coordinate is finite and within +-1e9 m. */
bool space_accepts(muster_position position);

/* Splits a position into the place's cell and the rest; leaves links, partition and type alone. */
void space_place(const space *space, agent_place *place, muster_position position);

/* The position of a place. */
static inline muster_position space_position(const space *space, const agent_place *place) {
  return (muster_position){place->cell_x * space->cell_m + (double)place->x,
                           place->cell_y * space->cell_m + (double)place->y, (double)place->z};
}

/* The region of a place: its cell of the grid, as a number. No two cells of a partition have the same one. */
static inline uint64_t space_region(const agent_place *place) {
  uint64_t key = (uint64_t)(uint32_t)place->cell_x << 32 | (uint32_t)place->cell_y;
  return random_mix(key + place->partition * 0x9e3779b97f4a7c15u);
}

/* The list of a region among all, below space_list_count(): the same for equal numbers, maybe for others, too. */
static inline uint32_t space_list_of(const space *space, uint64_t region) {
  return (uint32_t)region & space->mask;
}
static inline uint32_t space_list_count(const space *space) {
  return space->mask + 1;
}

/* Enters an agent's place into the grid, or takes it out. Frame's thread, while nobody reads. O(1). */
void space_link(space *space, agent_store *store, uint32_t index);
void space_unlink(space *space, agent_store *store, uint32_t index);

/* Where a position is: what of a place a move changes. */
typedef struct space_spot {
  int32_t cell_x, cell_y;
  float x, y, z;
} space_spot;

/* The spot of an accepted position. */
space_spot space_spot_of(const space *space, muster_position position);

/* Moves a linked agent; relinks only when the cell changes. */
void space_move(space *space, agent_store *store, uint32_t index, space_spot spot);

/* The list that holds the agents of a cell, and maybe of others that share its bucket. O(1). */
const agent_list *space_cell(const space *space, int32_t cell_x, int32_t cell_y, uint32_t partition);

/* The nearest agents around agent `index` within radius_m on the ground plane, in its
 * partition, itself excluded, nearest first, equal distances by index: at most `capacity`. `type` is a type index or
 * UINT32_MAX for all. Any thread while nobody links. */
uint32_t space_nearby(const space *space, const agent_store *store, uint32_t index, float radius_m, uint32_t type,
                      space_neighbour *out, uint32_t capacity);

#endif
