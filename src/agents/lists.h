/* agents/lists.h - many lists of agents, made of cache lines.
 *
 * A list is the number of its last block; a block holds up to 13 agents and the number of the block before it. All
 * blocks of a list but the last are full. To put an agent in or take it out touches the list and that agent, never its
 * neighbours, and to read a list is to read whole cache lines: what a grid wants.
 *
 * The code that puts an agent in keeps the spot that it got, which it needs to take the agent out again. Taking out
 * moves the list's last agent into the gap; that agent's spot changes and must be kept anew.
 *
 * A list takes its blocks from a store and gives them back to the same one, so one thread at a time may change the
 * lists of a store. Several stores may share one array of blocks: each takes a few of the blocks that were never used
 * at a time, when it has none. */
#ifndef AGENTS_LISTS_H
#define AGENTS_LISTS_H

#include "base/arena.h"

enum { LIST_BLOCK_AGENTS = 13 };

typedef uint32_t agent_list; /* 0 = empty */
typedef uint32_t list_spot;  /* a block and the place in it; 0 = none */

typedef struct list_block {
  uint32_t agents[LIST_BLOCK_AGENTS];
  uint32_t previous; /* block, or the next free one */
  uint32_t count;
  uint32_t owner; /* the number of its list, as the user of the lists numbers them */
} list_block;

_Static_assert(sizeof(list_block) == 64, "a block is one cache line");

typedef struct list_store {
  list_block *blocks;
  struct list_blocks *common;
  uint32_t free, free_count; /* the block that was given back last, 0 = none; and how many there are */
  uint32_t fresh, end;       /* blocks of its own that were never used */
} list_store;

/* The blocks of some stores. */
typedef struct list_blocks {
  list_block *blocks;
  uint32_t maximum;
  uint32_t fresh; /* blocks from here on are in no store */
  list_store *stores;
  uint32_t store_count;
} list_blocks;

/* Reserves blocks for `agents_max` agents in the lists of all stores, each in at most one list at a time; but one of
 * them may be in two while it moves from one to the other. The stores are empty. */
void lists_create(list_blocks *common, list_store *stores, uint32_t store_count, uint32_t agents_max,
                  struct arena *arena);

/* Sees to it that a store has `count` blocks to give, so that it needs none of those that stores share. False when so
 * many are not to be had without those of other stores. While no other thread uses a store of these blocks. */
bool lists_stock(list_store *lists, uint32_t count);

/* Puts an empty block at the end of a list. */
list_block *lists_grow(list_store *lists, agent_list *list, uint32_t owner);

/* Puts an agent at the end of a list; `owner` is the list's number. O(1). */
static inline list_spot lists_add(list_store *lists, agent_list *list, uint32_t owner, uint32_t agent) {
  list_block *block = &lists->blocks[*list];
  if (!*list || block->count == LIST_BLOCK_AGENTS) block = lists_grow(lists, list, owner);
  uint32_t place = block->count++;
  block->agents[place] = agent;
  return *list << 4 | place;
}

/* Takes out the agent at the spot. Returns the agent that is at this spot now, UINT32_MAX when none is. O(1). */
uint32_t lists_take_out(list_store *lists, agent_list *list, list_spot spot);

/* Gives back the last block of a list, after its agents were read; the list goes on with the block before it. */
void lists_drop_last(list_store *lists, agent_list *list);

/* The block of a spot. */
static inline list_block *lists_block_of(const list_store *lists, list_spot spot) {
  return &lists->blocks[spot >> 4];
}

/* The last block of a list that is not empty. */
static inline list_block *lists_last(const list_store *lists, agent_list list) {
  return &lists->blocks[list];
}

/* Bytes of blocks that were ever in use. */
uint64_t lists_bytes(const list_blocks *common);

#endif
