#include "plan/wheel.h"

#include "base/assert.h"

#include <math.h>

static void slot_push(agent_class *class, agent_store *store, uint32_t slot, uint32_t index) {
  agent_links *links = &store->links[index];
  store->rows[index].bucket = (uint16_t)slot;
  links->previous = 0;
  links->next = class->slots[slot];
  if (links->next) store->links[links->next - 1].previous = index + 1;
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
  uint32_t slot = store->rows[index].bucket;
  const agent_links *links = &store->links[index];
  ASSERT(store->rows[index].status == AGENT_WAITING);
  if (links->next) store->links[links->next - 1].previous = links->previous;
  if (links->previous)
    store->links[links->previous - 1].next = links->next;
  else
    class->slots[slot] = links->next;
  if (!class->slots[slot]) class->occupied[slot / 64] &= ~(1ull << (slot % 64));
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

/* Lists the members of all chains side by side: while one chain's next link is fetched, the others are looked at. */
static uint32_t list_chains(const agent_store *store, agent_link *chains, uint32_t count, uint32_t *out) {
  uint32_t listed = 0;
  while (count) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
      agent_link next = store->links[chains[i] - 1].next;
      out[listed++] = chains[i] - 1;
      if (!next) continue;
      __builtin_prefetch(&store->links[next - 1]);
      chains[left++] = next;
    }
    count = left;
  }
  return listed;
}

uint32_t wheel_collect(class_table *classes, agent_store *store, agent_link *chains, uint32_t count, uint32_t *due) {
  enum { AHEAD = 12 };
  uint32_t listed = list_chains(store, chains, count, due), due_count = 0;
  for (uint32_t i = 0; i < listed; i++) {
    uint32_t index = due[i];
    if (i + AHEAD < listed) __builtin_prefetch(&store->rows[due[i + AHEAD]], 1);
    agent_row *row = &store->rows[index];
    agent_class *class = &classes->classes[row->class];
    if (row->virtual_due_ns <= class->clock_ns)
      due[due_count++] = index;
    else
      slot_push(class, store, row->bucket, index);
  }
  return due_count;
}
