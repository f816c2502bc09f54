/* plan/wheel.h - stage 5: which agents' periods have elapsed?
 *
 * Waiting agents hang in the timing wheel of their class, over the class's virtual clock. Time advances by
 * rate x frame time; the slots that were passed are due as a whole. Agents of the current slot that are not due yet
 * move to a fine wheel over that slot alone, so that long periods are not looked at in every frame. Release preserves
 * phase: the next due time is the last due time plus the period (PAPERS: T_last := T_next, T_next += T_i), and whole
 * periods that were missed are skipped, not caught up: the update is told the time that really passed. */
#ifndef PLAN_WHEEL_H
#define PLAN_WHEEL_H

#include "base/prefetch.h"
#include "plan/classes.h"

/* Which list of the wheels a block is part of. */
static inline uint32_t wheel_owner(const agent_class *class, uint32_t shard, uint32_t slot) {
  return ((uint32_t) class->number * WHEEL_LISTS + shard) * WHEEL_SLOTS + slot;
}

/* The pool that a shard's lists grow from. */
static inline uint32_t wheel_pool(uint32_t shard) {
  return shard % WHEEL_SHARDS;
}

/* Hangs an agent into a slot. */
static inline void wheel_hang(class_table *classes, agent_class *class, uint32_t shard, uint32_t slot,
                              agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  row->status = AGENT_WAITING;
  row->spot =
      lists_add(&classes->lists, wheel_pool(shard), &class->slots[shard][slot], wheel_owner(class, shard, slot), index);
  bits_set(class->occupied[shard], slot);
}

/* Hangs an agent in with its row's virtual_due_ns, at most two nominal periods ahead. Agents may be hung into different
 * shards at the same time, when lists_stock made the pools ready for it. O(1). */
static inline void wheel_insert(class_table *classes, agent_class *class, uint32_t shard, agent_store *store,
                                uint32_t index) {
  const agent_row *row = &store->rows[index];
  int64_t ahead = (int64_t)((row->virtual_due_ns >> class->slot_shift) - class->cursor);
  ahead = ahead < 0 ? 0 : ahead < WHEEL_SLOTS ? ahead : WHEEL_SLOTS - 1;
  wheel_hang(classes, class, shard, (uint32_t)(class->cursor + (uint64_t)ahead) % WHEEL_SLOTS, store, index);
}

/* Fetches the block into which an agent that is due now will be hung for its next period, where it misses none. */
PREFETCH_FUNCTION wheel_prefetch(const class_table *classes, const agent_class *class, uint32_t shard,
                                 const agent_row *row) {
  uint64_t due_ns = row->virtual_due_ns + (row->virtual_due_ns <= class->clock_ns ? class->nominal_ns : 0);
  uint32_t slot = (uint32_t)(due_ns >> class->slot_shift) % WHEEL_SLOTS;
  __builtin_prefetch(lists_last(&classes->lists, class->slots[shard][slot]), 1);
}

/* The list that a waiting agent's spot is in. */
static inline agent_list *wheel_list_of(class_table *classes, list_spot spot) {
  uint32_t owner = lists_block_of(&classes->lists, spot)->owner;
  agent_class *class = &classes->classes[owner / (WHEEL_LISTS * WHEEL_SLOTS)];
  return &class->slots[owner / WHEEL_SLOTS % WHEEL_LISTS][owner % WHEEL_SLOTS];
}

/* What is left of a waiting agent's period, on the clock of its class. */
static inline uint64_t wheel_remaining_ns(const agent_class *class, const agent_row *row) {
  return row->virtual_due_ns > class->clock_ns ? row->virtual_due_ns - class->clock_ns : 0;
}

/* Takes an agent out. O(1). */
void wheel_remove(class_table *classes, agent_class *class, agent_store *store, uint32_t index);

/* Moves on the due time of an agent that has missed more than one: to the next one in its phase. */
void wheel_skip_missed(const agent_class *class, agent_row *row);

/* When an agent is due after an update: one period after its last due time, which may have passed already. One that was
 * missed by less than a period still counts: in a standing queue an agent's turn comes about a period after its
 * release, and half of those that come a little later would run at half of the rate of the others. */
static inline void wheel_set_next(const agent_class *class, agent_row *row) {
  /* A woken agent ran ahead of its time: that time still stands. */
  if (row->virtual_due_ns <= class->clock_ns) row->virtual_due_ns += class->nominal_ns;
  if (row->virtual_due_ns < class->clock_ns) wheel_skip_missed(class, row);
}

/* Moves a waiting agent to another class of the same type, with what remains of its period. */
void wheel_transfer(class_table *classes, agent_class *from, agent_class *to, agent_store *store, uint32_t index);

/* Advances the class by `elapsed_ns` of simulation time at its rate. */
void wheel_advance(agent_class *class, uint64_t elapsed_ns);

/* Empties the slots that the class's clock has passed: appends their agents, which are due, to `out`, about `capacity`
 * at most (a block more), and returns how many. What is left is taken by the next call. */
uint32_t wheel_empty_passed(class_table *classes, agent_class *class, uint32_t *out, uint32_t capacity);

/* The same for the slot in which the clock is, once all before it are empty. Agents of it that are not due yet come out
 * here only once: wheel_keeps hangs them into the fine wheel. */
uint32_t wheel_empty_current(class_table *classes, agent_class *class, uint32_t *out, uint32_t capacity);

/* Whether an agent that was taken out of a slot is not due yet: then it hangs in the wheel again. */
static inline bool wheel_keeps(class_table *classes, agent_store *store, uint32_t index) {
  agent_class *class = &classes->classes[store->rows[index].class];
  uint64_t due_ns = store->rows[index].virtual_due_ns;
  if (due_ns <= class->clock_ns) return false;
  if (due_ns >> class->slot_shift != class->clock_ns >> class->slot_shift)
    wheel_insert(classes, class, 0, store, index);
  else
    wheel_hang(classes, class, WHEEL_FINE, (uint32_t)(due_ns >> (class->slot_shift - WHEEL_FINE_BITS)) % WHEEL_SLOTS,
               store, index);
  return true;
}

#endif
