#include "agents/lists.h"

#include "base/assert.h"

/* A pool takes this many fresh blocks at once. */
enum { CHUNK_BLOCKS = 64 };

void lists_create(list_store *lists, uint32_t pool_count, uint32_t agents_max, struct arena *arena) {
  ASSERT(pool_count > 0 && pool_count <= LIST_POOLS_MAX);
  /* Block 0 means none; and a list may be filed anew before its last block is given back. */
  *lists = (list_store){.maximum = agents_max + 2, .fresh = 1, .pool_count = pool_count};
  ARENA_ARRAY(arena, lists->blocks, lists->maximum);
}

static void give_back(list_store *lists, list_pool *pool, uint32_t number) {
  lists->blocks[number].previous = pool->free;
  pool->free = number;
  pool->free_count++;
}

static uint32_t available(const list_pool *pool) {
  return pool->free_count + pool->fresh_end - pool->fresh;
}

/* Up to `wanted` blocks that were never used. False when there are none. */
static bool take_fresh(list_store *lists, list_pool *pool, uint32_t wanted) {
  uint32_t left = lists->maximum - lists->fresh;
  uint32_t count = wanted < left ? wanted : left;
  if (pool->fresh_end != lists->fresh) {
    while (pool->fresh < pool->fresh_end) give_back(lists, pool, pool->fresh++);
    pool->fresh = lists->fresh;
  }
  lists->fresh += count;
  pool->fresh_end = lists->fresh;
  return count > 0;
}

static uint32_t lists_take_block(list_store *lists, list_pool *pool) {
  uint32_t number = pool->free;
  if (!number) {
    ASSERT(pool->fresh < pool->fresh_end);
    return pool->fresh++;
  }
  pool->free = lists->blocks[number].previous;
  pool->free_count--;
  return number;
}

/* A block from another pool that has more blocks than are wanted of it. */
static void take_of_others(list_store *lists, list_pool *pool, const uint32_t *wanted) {
  bool found = false; /* there is one, since every agent is in at most one list */
  for (uint32_t i = 0; i < lists->pool_count; i++) {
    list_pool *other = &lists->pools[i];
    if (other == pool || available(other) <= (wanted ? wanted[i] : 0)) continue;
    give_back(lists, pool, lists_take_block(lists, other));
    found = true;
    break;
  }
  ASSERT(found);
  (void)found;
}

void lists_stock(list_store *lists, const uint32_t *wanted) {
  for (uint32_t i = 0; i < lists->pool_count; i++) {
    list_pool *pool = &lists->pools[i];
    if (available(pool) < wanted[i]) take_fresh(lists, pool, wanted[i] - available(pool));
    while (available(pool) < wanted[i]) take_of_others(lists, pool, wanted);
  }
}

list_block *lists_grow(list_store *lists, uint32_t pool_number, agent_list *list, uint32_t owner) {
  list_pool *pool = &lists->pools[pool_number];
  if (!available(pool) && !take_fresh(lists, pool, CHUNK_BLOCKS)) take_of_others(lists, pool, NULL);
  uint32_t number = lists_take_block(lists, pool);
  list_block *block = &lists->blocks[number];
  block->previous = *list;
  block->count = 0;
  block->owner = owner;
  *list = number;
  return block;
}

void lists_drop_last(list_store *lists, uint32_t pool, agent_list *list) {
  uint32_t number = *list;
  ASSERT(number);
  *list = lists->blocks[number].previous;
  give_back(lists, &lists->pools[pool], number);
}

uint32_t lists_take_out(list_store *lists, uint32_t pool, agent_list *list, list_spot spot) {
  list_block *last = lists_last(lists, *list), *block = lists_block_of(lists, spot);
  ASSERT(*list && last->count > 0 && (spot & 15) < block->count);
  uint32_t moved = last->agents[--last->count];
  bool was_last = last == block && last->count == (spot & 15);
  if (!was_last) block->agents[spot & 15] = moved;
  if (last->count == 0) lists_drop_last(lists, pool, list);
  return was_last ? UINT32_MAX : moved;
}
