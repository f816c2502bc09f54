#include "plan/wheel.h"

#include "base/assert.h"

void wheel_remove(class_table *classes, agent_class *class, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  ASSERT(row->status == AGENT_WAITING && row->spot);
  uint32_t owner = lists_block_of(&classes->lists, row->spot)->owner;
  uint32_t slot = owner % WHEEL_SLOTS, shard = owner / WHEEL_SLOTS % WHEEL_LISTS;
  ASSERT(owner == wheel_owner(class, shard, slot));
  uint32_t moved = lists_take_out(&classes->lists, wheel_pool(shard), &class->slots[shard][slot], row->spot);
  if (moved != UINT32_MAX) store->rows[moved].spot = row->spot;
  row->spot = 0;
  if (!class->slots[shard][slot]) bits_clear(class->occupied[shard], slot);
}

void wheel_skip_missed(const agent_class *class, agent_row *row) {
  uint64_t missed = (class->clock_ns - row->virtual_due_ns + class->nominal_ns - 1) / class->nominal_ns;
  if (missed > 1) row->virtual_due_ns += missed * class->nominal_ns;
}

void wheel_transfer(class_table *classes, agent_class *from, agent_class *to, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  wheel_remove(classes, from, store, index);
  row->virtual_due_ns = to->clock_ns + wheel_remaining_ns(from, row);
  wheel_insert(classes, to, 0, store, index);
}

void wheel_advance(agent_class *class, uint64_t elapsed_ns) {
  if (class->rate >= 1.0) {
    class->clock_ns += elapsed_ns;
    return;
  }
  /* In many short frames the slowest clocks move by less than a nanosecond. */
  double passed_ns = (double)elapsed_ns * class->rate + (double)class->clock_part;
  uint64_t whole_ns = (uint64_t)passed_ns;
  class->clock_ns += whole_ns;
  class->clock_part = (float)(passed_ns - (double)whole_ns);
}

static uint32_t empty_slot(list_store *lists, agent_class *class, uint32_t shard, uint32_t slot, uint32_t *out,
                           uint32_t capacity) {
  agent_list *list = &class->slots[shard][slot];
  uint32_t count = 0;
  while (*list && count < capacity) {
    const list_block *block = lists_last(lists, *list);
    if (block->previous) __builtin_prefetch(lists_last(lists, block->previous));
    for (uint32_t i = 0; i < block->count; i++) out[count++] = block->agents[i];
    lists_drop_last(lists, wheel_pool(shard), list);
  }
  if (!*list) bits_clear(class->occupied[shard], slot);
  return count;
}

/* Empties the occupied slots of a shard from one position up to before another; one turn of the wheel covers all. */
static uint32_t empty_slots(class_table *classes, agent_class *class, uint32_t shard, uint64_t position, uint64_t end,
                            uint32_t *out, uint32_t capacity) {
  uint32_t count = 0;
  if (end > position + WHEEL_SLOTS) end = position + WHEEL_SLOTS;
  while (position < end && count < capacity) {
    uint32_t slot = (uint32_t)(position % WHEEL_SLOTS);
    uint64_t rest_of_word = class->occupied[shard][slot / 64] >> (slot % 64);
    uint32_t skipped = rest_of_word ? (uint32_t)__builtin_ctzll(rest_of_word) : 64 - slot % 64;
    position += skipped;
    if (!rest_of_word || position >= end) continue;
    count += empty_slot(&classes->lists, class, shard, slot + skipped, out + count, capacity - count);
    if (!class->slots[shard][slot + skipped]) position++;
  }
  return count;
}

static uint64_t current_slot(const agent_class *class) {
  return class->clock_ns >> class->slot_shift;
}

uint32_t wheel_empty_passed(class_table *classes, agent_class *class, uint32_t *out, uint32_t capacity) {
  uint64_t current = current_slot(class), fine_current = class->clock_ns >> (class->slot_shift - WHEEL_FINE_BITS);
  uint32_t count = empty_slots(classes, class, WHEEL_FINE, class->fine_cursor, fine_current + 1, out, capacity);
  for (uint32_t shard = 0; shard < WHEEL_SHARDS && count < capacity && class->cursor < current; shard++)
    count += empty_slots(classes, class, shard, class->cursor, current, out + count, capacity - count);
  if (count >= capacity) return count;
  class->cursor = current;
  class->fine_cursor = fine_current;
  return count;
}

uint32_t wheel_empty_current(class_table *classes, agent_class *class, uint32_t *out, uint32_t capacity) {
  uint64_t current = current_slot(class);
  uint32_t count = 0;
  if (class->cursor != current) return 0;
  for (uint32_t shard = 0; shard < WHEEL_SHARDS && count < capacity; shard++)
    count += empty_slots(classes, class, shard, current, current + 1, out + count, capacity - count);
  return count;
}
