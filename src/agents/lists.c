#include "agents/lists.h"

#include "base/assert.h"

void lists_create(list_store *lists, uint32_t agents_max, struct arena *arena) {
  /* Block 0 means none; and an agent that moves may be put into a block of its own before it leaves its old one. */
  *lists = (list_store){.maximum = agents_max + 2, .fresh = 1};
  ARENA_ARRAY(arena, lists->blocks, lists->maximum);
}

static uint32_t lists_take_block(list_store *lists) {
  uint32_t number = lists->free;
  if (!number) {
    ASSERT(lists->fresh < lists->maximum);
    return lists->fresh++;
  }
  lists->free = lists->blocks[number].previous;
  return number;
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
  lists->blocks[number].previous = lists->free;
  lists->free = number;
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
