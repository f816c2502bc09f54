#include "plan/wheel.h"

#include "base/assert.h"

#include <math.h>

void wheel_insert(class_table *classes, agent_class *class, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  uint64_t position = row->virtual_due_ns >> class->slot_shift;
  if (position < class->cursor) position = class->cursor;
  if (position > class->cursor + WHEEL_SLOTS - 1) position = class->cursor + WHEEL_SLOTS - 1;
  uint32_t slot = (uint32_t)(position % WHEEL_SLOTS);
  uint32_t number = class_index(classes, class);
  row->status = AGENT_WAITING;
  row->spot = lists_add(&classes->lists, class_part(number), &class->slots[slot], number * WHEEL_SLOTS + slot, index);
  class->occupied[slot / 64] |= 1ull << (slot % 64);
}

void wheel_remove(class_table *classes, agent_class *class, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  uint32_t part = class_part(class_index(classes, class));
  ASSERT(row->status == AGENT_WAITING && row->spot);
  uint32_t slot = lists_block_of(&classes->lists, row->spot)->owner % WHEEL_SLOTS;
  uint32_t moved = lists_take_out(&classes->lists, part, &class->slots[slot], row->spot);
  if (moved != UINT32_MAX) store->rows[moved].spot = row->spot;
  row->spot = 0;
  if (!class->slots[slot]) class->occupied[slot / 64] &= ~(1ull << (slot % 64));
}

void wheel_insert_next(class_table *classes, agent_class *class, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  /* A woken agent ran ahead of its time: that time still stands. */
  if (row->virtual_due_ns <= class->clock_ns) row->virtual_due_ns += class->nominal_ns;
  if (row->virtual_due_ns < class->clock_ns) {
    uint64_t missed = (class->clock_ns - row->virtual_due_ns + class->nominal_ns - 1) / class->nominal_ns;
    row->virtual_due_ns += missed * class->nominal_ns;
  }
  wheel_insert(classes, class, store, index);
}

void wheel_transfer(class_table *classes, agent_class *from, agent_class *to, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  wheel_remove(classes, from, store, index);
  uint64_t remaining = row->virtual_due_ns > from->clock_ns ? row->virtual_due_ns - from->clock_ns : 0;
  row->virtual_due_ns = to->clock_ns + remaining;
  wheel_insert(classes, to, store, index);
}

void wheel_advance(agent_class *class, uint64_t elapsed_ns) {
  /* At the nominal rate virtual time is exact; elsewhere the rounding of one nanosecond a frame does not matter. */
  class->clock_ns += class->rate >= 1.0 ? elapsed_ns : (uint64_t)llround((double)elapsed_ns * class->rate);
}

uint32_t wheel_empty(class_table *classes, agent_class *class, uint32_t *out, uint32_t capacity) {
  list_store *lists = &classes->lists;
  uint32_t part = class_part(class_index(classes, class));
  uint64_t last = class->clock_ns >> class->slot_shift;
  uint64_t end =
      class->cursor + WHEEL_SLOTS < last + 1 ? class->cursor + WHEEL_SLOTS : last + 1; /* one turn sees all */
  uint32_t count = 0;
  for (uint64_t position = class->cursor; position < end; position++) {
    uint32_t slot = (uint32_t)(position % WHEEL_SLOTS);
    if (!(class->occupied[slot / 64] >> (slot % 64) & 1)) continue;
    agent_list *list = &class->slots[slot];
    while (*list && count < capacity) {
      const list_block *block = lists_last(lists, *list);
      if (block->previous) __builtin_prefetch(lists_last(lists, block->previous));
      for (uint32_t i = 0; i < block->count; i++) out[count++] = block->agents[i];
      lists_drop_last(lists, part, list);
    }
    if (*list) {
      class->cursor = position;
      return count;
    }
    class->occupied[slot / 64] &= ~(1ull << (slot % 64));
  }
  class->cursor = last;
  return count;
}

uint32_t wheel_sift(class_table *classes, agent_store *store, uint32_t *agents, uint32_t count) {
  enum { AHEAD = 12 };
  uint32_t due = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t index = agents[i];
    if (i + AHEAD < count) __builtin_prefetch(&store->rows[agents[i + AHEAD]], 1);
    const agent_row *row = &store->rows[index];
    agent_class *class = &classes->classes[row->class];
    if (row->virtual_due_ns <= class->clock_ns)
      agents[due++] = index;
    else
      wheel_insert(classes, class, store, index);
  }
  return due;
}
