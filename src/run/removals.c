#include "run/removals.h"

#include "base/assert.h"

#include <string.h>

void removals_create(struct removals *removals, uint32_t agents_max, struct arena *arena) {
  uint32_t words = bits_words(agents_max);
  ARENA_ARRAY(arena, removals->marks, agents_max);
  ARENA_ARRAY(arena, removals->bits, words);
  ARENA_ARRAY(arena, removals->seen, words);
}

bool removals_add(struct removals *removals, const struct identity *ids, uint32_t index, uint32_t generation) {
  shared_u32 *mark = &removals->marks[index];
  uint32_t before = load_acquire_u32(mark);
  do
    if (before == generation || !identity_is_live(ids, index, generation)) return false;
  while (!compare_exchange_ordered_u32(mark, &before, generation));
  fetch_or_ordered_u64(&removals->bits[index / 64], 1ull << (index % 64));
  store_release_u32(&removals->any, 1);
  return true;
}

/* ------------------------------------------------------------------------------------------------ the frame's thread
 */

/* Notes the agents whose bits were found in a word, if their marks are those of their ids. */
static void see(struct removals *removals, const struct identity *ids, uint32_t word, uint64_t bits) {
  for (; bits; bits &= bits - 1) {
    uint32_t index = word * 64 + (uint32_t)__builtin_ctzll(bits);
    if (!removals_has(removals, index, identity_generation(ids, index))) continue;
    bits_set(removals->seen, index);
    removals->seen_count++;
  }
}

static void find_marked(struct removals *removals, const struct identity *ids, bool any, bool takes) {
  uint32_t words = bits_words(identity_high(ids));
  if (removals->seen_count) memset(removals->seen, 0, bits_words(ids->maximum) * sizeof *removals->seen);
  removals->seen_count = removals->seen_next = 0;
  for (uint32_t word = 0; any && word < words; word++) {
    uint64_t bits = load_acquire_u64(&removals->bits[word]);
    if (bits && takes) fetch_and_ordered_u64(&removals->bits[word], ~bits);
    see(removals, ids, word, bits);
  }
}

void removals_look(struct removals *removals, const struct identity *ids) {
  find_marked(removals, ids, load_acquire_u32(&removals->any), false);
}

void removals_take(struct removals *removals, const struct identity *ids) {
  bool any = load_relaxed_u32(&removals->any) && exchange_acquire_u32(&removals->any, 0);
  find_marked(removals, ids, any, true);
}

bool removals_pop(struct removals *removals, uint32_t *index, uint32_t *generation) {
  if (!removals->seen_count) return false;
  *index = bits_next(removals->seen, UINT32_MAX, removals->seen_next);
  *generation = load_relaxed_u32(&removals->marks[*index]);
  bits_clear(removals->seen, *index);
  removals->seen_count--;
  removals->seen_next = *index;
  ASSERT(*generation & 1);
  return true;
}
