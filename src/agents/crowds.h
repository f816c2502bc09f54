/* agents/crowds.h - cells of the neighbour grid that hold more agents than a query can look at.
 *
 * A cell of more than CROWD_AGENTS agents is a crowd, and its agents are in a tree. A node parts agents into four: by
 * the quarter of its square of the ground; where squares are CROWD_QUARTERS levels down, by a number that is made of
 * their index. A part of at most BIN_AGENTS agents is a bin, which is a list; one of more is a node.
 *
 *     the list of the grid --more than CROWD_AGENTS--> crowd --> node --+--> bin
 *                          <-----no more of them------                  +--> node --+--> bin ...
 *
 * So positions and indices alone decide which agents share a bin, in whatever order they came. A query that takes whole
 * bins, nearest first, finds the same agents in every history of the world.
 *
 * To add an agent or take one out is O(depth), and now and then a part becomes a node or a bin again: O(BIN_AGENTS).
 * The frame's thread writes; any thread reads while the frame's thread does not write. */
#ifndef AGENTS_CROWDS_H
#define AGENTS_CROWDS_H

#include "agents/store.h"

enum {
  CROWD_AGENTS = 64,
  BIN_AGENTS = 2 * LIST_BLOCK_AGENTS,
  CROWD_QUARTERS = 8,
  CROWD_STEPS = 1 << CROWD_QUARTERS, /* smallest squares along the edge of a cell */
};

#define CROWD_NODE 0x80000000u /* in slot.to: it names a node, not a list */
#define CROWD_ROOT 0x80000000u /* in the number of a slot: a crowd's own, not one of a node */

typedef struct crowd_slot {
  uint32_t to; /* a list of agents, or CROWD_NODE and a node */
  uint32_t count;
} crowd_slot;

typedef struct crowd_node {
  crowd_slot slots[4];
  uint32_t parent; /* the number of the slot above: of slot i of node n, 4 n + i; of a free node, the next one */
  uint32_t depth;  /* nodes above */
} crowd_node;

typedef struct crowd_cell {
  int32_t cell_x, cell_y;
  uint32_t partition;
  uint32_t next;   /* crowd of the same bucket; of a free one, the next free one. 0 = none */
  crowd_slot slot; /* always a node */
} crowd_cell;

struct crowds {
  list_store *lists;
  float steps_per_m; /* smallest squares */
  crowd_cell *cells; /* from 1 on */
  crowd_node *nodes; /* from 1 on */
  uint32_t fresh_crowd, free_crowd, fresh_node, free_node;
};

/* The slot that has a number. */
static inline crowd_slot *crowds_slot(const struct crowds *crowds, uint32_t number) {
  if (number & CROWD_ROOT) return &crowds->cells[number & ~CROWD_ROOT].slot;
  return &crowds->nodes[number >> 2].slots[number & 3];
}

/* Reserves crowds for `agents_max` agents. The blocks of their lists are taken from `lists`. */
void crowds_create(struct crowds *crowds, uint32_t agents_max, double cell_m, list_store *lists, struct arena *arena);

/* The crowd of a cell; `first` is the first crowd of the cell's bucket. 0 when the cell is no crowd. */
static inline uint32_t crowds_find(const struct crowds *crowds, uint32_t first, int32_t cell_x, int32_t cell_y,
                                   uint32_t partition) {
  while (first) {
    const crowd_cell *crowd = &crowds->cells[first];
    if (crowd->cell_x == cell_x && crowd->cell_y == cell_y && crowd->partition == partition) break;
    first = crowd->next;
  }
  return first;
}

/* Makes a crowd of the agents of one cell, which are in no list. The crowd is in no bucket's chain yet. */
uint32_t crowds_open(struct crowds *crowds, agent_store *store, const uint32_t *agents, uint32_t count);

/* Ends a crowd of CROWD_AGENTS agents that is in no chain any more. Writes them to `agents`; they are in no list then.
 */
void crowds_close(struct crowds *crowds, uint32_t number, uint32_t *agents);

/* Puts an agent of the crowd's cell into its bin: place.spot and place.depth say which. */
void crowds_add(struct crowds *crowds, agent_store *store, uint32_t number, uint32_t index);

/* Takes an agent out of the bin that holds `spot`, and leaves its place alone. Returns the crowd, which is to be closed
 * when it has CROWD_AGENTS agents now. */
uint32_t crowds_take_out(struct crowds *crowds, agent_store *store, list_spot spot);

/* A step of an agent to another bin of its crowd: place.x and y are the new ones, spot and depth the old ones. */
void crowds_move(struct crowds *crowds, agent_store *store, uint32_t index, float from_x, float from_y);

/* The lists of a crowd, in order. *slot is 0 before the first; 0 is returned after the last. */
agent_list crowds_next_list(const struct crowds *crowds, uint32_t number, uint32_t *slot);

/* The number that parts agents where the ground no longer does. No two indices have the same one. */
static inline uint32_t crowds_number(uint32_t index) {
  return index * 0x9e3779b1u;
}

/* One of the four parts into which a node of this depth, below the smallest squares, puts a number. */
static inline uint32_t crowds_digit(uint32_t number, uint32_t depth) {
  return number >> (30 - 2 * (depth - CROWD_QUARTERS)) & 3;
}

/* The smallest square that holds an offset in the cell; rounding may have put the offset on the cell's border. */
static inline uint32_t crowds_step(const struct crowds *crowds, float offset_m) {
  int32_t step = (int32_t)(offset_m * crowds->steps_per_m);
  return step < 0 ? 0 : step < CROWD_STEPS ? (uint32_t)step : CROWD_STEPS - 1u;
}

/* Whether an agent of a crowd would stay in its bin at another offset in its cell. */
static inline bool crowds_stays(const struct crowds *crowds, const agent_place *place, float x, float y) {
  uint32_t shift = place->depth < CROWD_QUARTERS ? CROWD_QUARTERS - place->depth : 0;
  return crowds_step(crowds, place->x) >> shift == crowds_step(crowds, x) >> shift &&
         crowds_step(crowds, place->y) >> shift == crowds_step(crowds, y) >> shift;
}

#endif
