/* agents/space.h - where agents are: positions, and the grid that finds neighbours (agents/nearby.h).
 *
 * A position is a cell of the ground plane plus a float inside it, which keeps millimetres on a world of any size;
 * height is a plain float. The grid is a table of buckets: a cell hashes to one, and a bucket's list may hold agents of
 * several cells, which the reader tells apart by their cell. So there is nothing to allocate as the world is explored.
 * The agents of a cell of more than CROWD_AGENTS are not in that list, but in a crowd of their own (agents/crowds.h).
 */
#ifndef AGENTS_SPACE_H
#define AGENTS_SPACE_H

#include "agents/crowds.h"
#include "agents/spot.h"
#include "agents/store.h"
#include "base/prefetch.h"
#include "base/random.h"

/* The buckets are cut into parts, so that the lists of different parts can be changed beside each other. */
enum { SPACE_PARTS_MAX = 64, SPACE_PART_BUCKETS = 512 };

/* What hashes to a bucket: the agents of plain cells, and crowds. */
typedef struct space_bucket {
  agent_list list;
  uint32_t count : 31; /* agents of the list */
  uint32_t crowded : 1;
} space_bucket;

struct space {
  double cell_m;
  space_bucket *buckets;
  uint32_t *first_crowds; /* of a bucket that is crowded; crowd.next leads on */
  uint32_t mask;          /* buckets - 1 */
  uint32_t part_shift;    /* a part is 2^part_shift neighbouring buckets */
  list_blocks blocks;
  list_store stores[1 + SPACE_PARTS_MAX]; /* of the crowds' lists, and of those of each part */
  struct crowds crowds;
};

/* Reserves a table for about `agents_max` agents. */
void space_create(struct space *space, uint32_t agents_max, double cell_m, struct arena *arena);

/* Whether every coordinate is finite and within +-1e9 m. */
bool space_accepts(muster_position position);

/* Splits a position into the place's cell and the rest; leaves links, partition and type alone. */
void space_place(const struct space *space, agent_place *place, muster_position position);

/* The position of a place. */
static inline muster_position space_position(const struct space *space, const agent_place *place) {
  return (muster_position){place->cell_x * space->cell_m + (double)place->x,
                           place->cell_y * space->cell_m + (double)place->y, (double)place->z};
}

/* Mixes a cell, or a square of cells, of a partition into a number: no two of a partition have the same one. */
static inline uint64_t space_mix(int32_t x, int32_t y, uint32_t partition) {
  uint64_t key = (uint64_t)(uint32_t)x << 32 | (uint32_t)y;
  return muster_random_mix(key + partition * 0x9e3779b97f4a7c15u);
}

/* The region of a place: its cell of the grid, as a number. No two cells of a partition have the same one. */
static inline uint64_t space_region(const agent_place *place) {
  return space_mix(place->cell_x, place->cell_y, place->partition);
}

/* Enters an agent's place into the grid, or takes it out. Frame's thread, while no thread reads. O(1); for a crowd see
 * agents/crowds.h. */
void space_link(struct space *space, agent_store *store, uint32_t index);
void space_unlink(struct space *space, agent_store *store, uint32_t index);

/* The spot of a position that space_accepts() accepted. */
space_spot space_spot_of(const struct space *space, muster_position position);

/* Whether a place is there already. */
static inline bool space_is_at(const agent_place *place, space_spot spot) {
  return place->x == spot.x && place->y == spot.y && place->z == spot.z && place->cell_x == spot.cell_x &&
         place->cell_y == spot.cell_y;
}

/* Whether a move changes no list: the agent stays in its cell, and in its bin of a crowd. Such moves of different
 * agents may be made by several threads at once. */
static inline bool space_stays(const struct space *space, const agent_place *place, space_spot to) {
  if (to.cell_x != place->cell_x || to.cell_y != place->cell_y) return false;
  return place->depth == 0 || crowds_stays(&space->crowds, place, to.x, to.y);
}

/* Moves an agent to another cell in two steps: first its place, which touches nothing else; then the lists
 * (agents/space_moves.h). In between nothing asks for the agents of a cell. */
void space_set_place(agent_store *store, uint32_t index, space_spot spot);

/* The steps of space_link() and space_unlink() for an agent of a plain cell. They change lists of the bucket's part
 * alone, so different threads may call them for different parts. Between these calls a bucket may have more agents than
 * it should: space_open_crowd() then makes a crowd of the cell of one of them, if they are enough. */
void space_link_plain(struct space *space, agent_store *store, uint32_t bucket, uint32_t index);
void space_unlink_plain(struct space *space, agent_store *store, uint32_t index);
void space_open_crowd(struct space *space, agent_store *store, uint32_t bucket, uint32_t index);

/* Moves a linked agent; relinks it only when it does not stay in its list. */
void space_move(struct space *space, agent_store *store, uint32_t index, space_spot spot);

/* The bucket of a cell. O(1). */
static inline uint32_t space_bucket_of(const struct space *space, int32_t cell_x, int32_t cell_y, uint32_t partition) {
  return (uint32_t)space_mix(cell_x, cell_y, partition) & space->mask;
}

/* The part of a bucket. */
static inline uint32_t space_part_of(const struct space *space, uint32_t bucket) {
  return bucket >> space->part_shift;
}
static inline uint32_t space_parts(const struct space *space) {
  return (space->mask >> space->part_shift) + 1;
}

/* The bucket that holds the agents of a cell, and maybe of others. O(1). */
static inline const space_bucket *space_cell(const struct space *space, int32_t cell_x, int32_t cell_y,
                                             uint32_t partition) {
  return &space->buckets[space_bucket_of(space, cell_x, cell_y, partition)];
}

/* Fetches what moving an agent to another cell touches: both buckets, and the block where it is. Nothing when it stays
 * in its cell. */
PREFETCH_FUNCTION space_prefetch_move(const struct space *space, const agent_place *place, space_spot to) {
  if (to.cell_x == place->cell_x && to.cell_y == place->cell_y) return;
  __builtin_prefetch(space_cell(space, place->cell_x, place->cell_y, place->partition), 1);
  __builtin_prefetch(space_cell(space, to.cell_x, to.cell_y, place->partition), 1);
  if (!place->depth) __builtin_prefetch(lists_block_of(space->stores, place->spot), 1);
}

/* The crowd of a cell; 0 when the cell is no crowd. */
static inline uint32_t space_crowd(const struct space *space, int32_t cell_x, int32_t cell_y, uint32_t partition) {
  uint32_t bucket = space_bucket_of(space, cell_x, cell_y, partition);
  if (!space->buckets[bucket].crowded) return 0;
  return crowds_find(&space->crowds, space->first_crowds[bucket], cell_x, cell_y, partition);
}

/* A walk over the blocks of a cell's agents: first those of its bucket, which may hold agents of other cells, too, then
 * those of its crowd. */
typedef struct space_walk {
  agent_list list;
  uint32_t crowd, slot;
} space_walk;

static inline space_walk space_walk_of(const struct space *space, int32_t cell_x, int32_t cell_y, uint32_t partition) {
  return (space_walk){space_cell(space, cell_x, cell_y, partition)->list, space_crowd(space, cell_x, cell_y, partition),
                      0};
}

/* The next block of a walk; null after the last. */
static inline const list_block *space_next_block(const struct space *space, space_walk *walk) {
  if (!walk->list && walk->crowd) walk->list = crowds_next_list(&space->crowds, walk->crowd, &walk->slot);
  if (!walk->list) return NULL;
  const list_block *block = lists_last(space->stores, walk->list);
  walk->list = block->previous;
  if (walk->list) __builtin_prefetch(lists_last(space->stores, walk->list));
  return block;
}

#endif
