#include "plan/wheel.h"

#include "base/assert.h"

#include <math.h>

static void slot_push(agent_class *class, agent_store *store, uint32_t slot, uint32_t index) {
  agent_row *row = &store->rows[index];
  row->bucket = (uint16_t)slot;
  row->previous = 0;
  row->next = class->slots[slot];
  if (row->next) store->rows[row->next - 1].previous = index + 1;
  class->slots[slot] = index + 1;
  class->occupied[slot / 64] |= 1ull << (slot % 64);
}

void wheel_insert(agent_class *class, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  uint64_t position = row->virtual_due_ns / class->slot_ns;
  if (position < class->cursor) position = class->cursor;
  if (position > class->cursor + WHEEL_SLOTS - 1) position = class->cursor + WHEEL_SLOTS - 1;
  row->status = AGENT_WAITING;
  slot_push(class, store, (uint32_t)(position % WHEEL_SLOTS), index);
}

void wheel_remove(agent_class *class, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  ASSERT(row->status == AGENT_WAITING);
  if (row->next) store->rows[row->next - 1].previous = row->previous;
  if (row->previous)
    store->rows[row->previous - 1].next = row->next;
  else
    class->slots[row->bucket] = row->next;
  if (!class->slots[row->bucket]) class->occupied[row->bucket / 64] &= ~(1ull << (row->bucket % 64));
}

void wheel_insert_next(agent_class *class, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  /* A woken agent ran ahead of its time: that time still stands. */
  if (row->virtual_due_ns <= class->clock_ns) row->virtual_due_ns += class->nominal_ns;
  if (row->virtual_due_ns < class->clock_ns) {
    uint64_t missed = (class->clock_ns - row->virtual_due_ns + class->nominal_ns - 1) / class->nominal_ns;
    row->virtual_due_ns += missed * class->nominal_ns;
  }
  wheel_insert(class, store, index);
}

void wheel_transfer(agent_class *from, agent_class *to, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  wheel_remove(from, store, index);
  uint64_t remaining = row->virtual_due_ns > from->clock_ns ? row->virtual_due_ns - from->clock_ns : 0;
  row->virtual_due_ns = to->clock_ns + remaining;
  wheel_insert(to, store, index);
}

uint32_t wheel_advance(agent_class *class, uint64_t elapsed_ns, agent_link *chains) {
  /* At the nominal rate virtual time is exact; elsewhere the rounding of one nanosecond a frame does not matter. */
  class->clock_ns += class->rate >= 1.0 ? elapsed_ns : (uint64_t)llround((double)elapsed_ns * class->rate);
  uint64_t last = class->clock_ns / class->slot_ns;
  uint64_t turns_end = class->cursor + WHEEL_SLOTS - 1;
  uint32_t count = 0;
  for (uint64_t position = class->cursor; position <= last && position <= turns_end; position++) {
    uint32_t slot = (uint32_t)(position % WHEEL_SLOTS);
    if (!(class->occupied[slot / 64] >> (slot % 64) & 1)) continue;
    chains[count++] = class->slots[slot];
    class->slots[slot] = 0;
    class->occupied[slot / 64] &= ~(1ull << (slot % 64));
  }
  class->cursor = last;
  return count;
}

uint32_t wheel_collect(class_table *classes, agent_store *store, agent_link *chains, uint32_t count, uint32_t *due) {
  uint32_t due_count = 0;
  while (count) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
      uint32_t index = chains[i] - 1;
      agent_row *row = &store->rows[index];
      agent_class *class = &classes->classes[row->class];
      if (row->next) {
        __builtin_prefetch(&store->rows[row->next - 1], 1);
        chains[left++] = row->next;
      }
      if (row->virtual_due_ns <= class->clock_ns)
        due[due_count++] = index;
      else
        slot_push(class, store, row->bucket, index);
    }
    count = left;
  }
  return due_count;
}
