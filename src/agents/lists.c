#include "agents/lists.h"

#include "base/assert.h"

enum { LISTS_STOCKED = 16 /* blocks that a store takes at once */ };

void lists_create(list_blocks *common, list_store *stores, uint32_t store_count, uint32_t agents_max,
                  struct arena *arena) {
  /* Block 0 means none; an agent that moves may be put into a block of its own before it leaves its old one; and blocks
   * stay with the store that took them. */
  uint64_t blocks = agents_max + agents_max / 4 + (uint64_t)store_count * LISTS_STOCKED + 2;
  *common = (list_blocks){.maximum = (uint32_t)blocks, .fresh = 1, .stores = stores, .store_count = store_count};
  ARENA_ARRAY(arena, common->blocks, blocks);
  for (uint32_t i = 0; i < store_count; i++) stores[i] = (list_store){.blocks = common->blocks, .common = common};
}

/* Puts a block at the front of those that are free. */
static void lists_give_back(list_store *lists, uint32_t number) {
  lists->blocks[number].previous = lists->free;
  lists->free = number;
  lists->free_count++;
}

bool lists_stock(list_store *lists, uint32_t count) {
  uint32_t left = lists->end - lists->fresh;
  if (lists->free_count + left >= count) return true;
  list_blocks *common = lists->common;
  uint32_t wanted = count - lists->free_count - left;
  if (wanted < LISTS_STOCKED) wanted = LISTS_STOCKED;
  if (wanted > common->maximum - common->fresh) return false;
  while (lists->fresh < lists->end) lists_give_back(lists, lists->fresh++);
  lists->fresh = common->fresh;
  lists->end = common->fresh += wanted;
  return true;
}

static uint32_t lists_take_own(list_store *lists) {
  uint32_t number = lists->free;
  if (!number) return lists->fresh < lists->end ? lists->fresh++ : 0;
  lists->free = lists->blocks[number].previous;
  lists->free_count--;
  return number;
}

/* The blocks that no store has are used up: agents have moved from the lists of one store to those of others. */
static uint32_t lists_take_of_others(const list_blocks *common) {
  uint32_t number = 0;
  for (uint32_t i = 0; i < common->store_count && !number; i++) number = lists_take_own(&common->stores[i]);
  ASSERT(number);
  return number;
}

static uint32_t lists_take_block(list_store *lists) {
  uint32_t number = lists_take_own(lists);
  if (number) return number;
  return lists_stock(lists, 1) ? lists_take_own(lists) : lists_take_of_others(lists->common);
}

list_block *lists_grow(list_store *lists, agent_list *list, uint32_t owner) {
  uint32_t number = lists_take_block(lists);
  list_block *block = &lists->blocks[number];
  block->previous = *list;
  block->count = 0;
  block->owner = owner;
  *list = number;
  return block;
}

void lists_drop_last(list_store *lists, agent_list *list) {
  uint32_t number = *list;
  ASSERT(number);
  *list = lists->blocks[number].previous;
  lists_give_back(lists, number);
}

uint32_t lists_take_out(list_store *lists, agent_list *list, list_spot spot) {
  list_block *last = lists_last(lists, *list), *block = lists_block_of(lists, spot);
  ASSERT(*list && last->count > 0 && (spot & 15) < block->count);
  uint32_t moved = last->agents[--last->count];
  bool was_last = last == block && last->count == (spot & 15);
  if (!was_last) block->agents[spot & 15] = moved;
  if (last->count == 0) lists_drop_last(lists, list);
  return was_last ? UINT32_MAX : moved;
}

uint64_t lists_bytes(const list_blocks *common) {
  uint64_t used = common->fresh;
  for (uint32_t i = 0; i < common->store_count; i++) used -= common->stores[i].end - common->stores[i].fresh;
  return used * sizeof(list_block);
}
