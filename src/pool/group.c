#include "pool/group.h"

#include "base/assert.h"

static const uint64_t waited_bit = 1ull << 63;

static uint32_t count_of(uint64_t word) {
  return (uint32_t)word;
}

void group_add(struct group *group, uint32_t count, uint32_t lane) {
  uint32_t bit = 1u << lane;
  if (!(load_relaxed_u32(&group->lanes) & bit)) fetch_or_ordered_u32(&group->lanes, bit);
  fetch_add_relaxed_u64(&group->word, count);
}

bool group_complete(struct group *group, uint32_t count) {
  uint64_t word = load_relaxed_u64(&group->word), next;
  do {
    ASSERT(count_of(word) >= count);
    next = count_of(word) == count ? 0 : word - count;
  } while (!compare_exchange_ordered_u64(&group->word, &word, next)); /* [c] */
  return !next && word & waited_bit;
}

bool group_await(struct group *group) {
  uint64_t word = load_ordered_u64(&group->word);
  do {
    if (count_of(word) == 0) return false;
  } while (!compare_exchange_ordered_u64(&group->word, &word, word | waited_bit));
  return true;
}
