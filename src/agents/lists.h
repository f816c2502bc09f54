/* agents/lists.h - many lists of agents, made of cache lines.
 *
 * A list is the number of its last block; a block holds up to 13 agents and the number of the block before it. All
 * blocks of a list but the last are full. To put an agent in or take it out touches the list and that agent, never its
 * neighbours, and to read a list is to read whole cache lines: what a grid wants.
 *
 * The code that puts an agent in keeps the spot that it got, which it needs to take the agent out again. Taking out
 * moves the list's last agent into the gap; that agent's spot changes and must be kept anew.
 *
 * All lists of a store take their blocks from it and give them back to it, so one thread at a time may change them. */
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
  uint32_t maximum;
  uint32_t free;  /* the block that was given back last; 0 = none */
  uint32_t fresh; /* blocks from here on were never used */
} list_store;

/* Reserves blocks for `agents_max` agents, each in at most one list at a time; but one of them may be in two while it
 * moves from one to the other. */
void lists_create(list_store *lists, uint32_t agents_max, struct arena *arena);

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
static inline uint64_t lists_bytes(const list_store *lists) {
  return (uint64_t)lists->fresh * sizeof(list_block);
}

#endif
