#include "pool/group.h"

#include "base/assert.h"

static const uint64_t waited_bit = 1ull << 63;
enum { FOLLOWER_SHIFT = 32, FOLLOWER_BITS = 20 };

static uint32_t count_of(uint64_t word) {
  return (uint32_t)word;
}

static uint32_t follower_of(uint64_t word) {
  return (uint32_t)(word >> FOLLOWER_SHIFT) & ((1u << FOLLOWER_BITS) - 1);
}

void group_add(struct group *group, uint32_t count, uint32_t lane) {
  uint32_t bit = 1u << lane;
  if (!(load_relaxed_u32(&group->lanes) & bit)) fetch_or_ordered_u32(&group->lanes, bit);
  fetch_add_relaxed_u64(&group->word, count);
}

group_end group_complete(struct group *group, uint32_t count) {
  uint64_t word = load_relaxed_u64(&group->word), next;
  do {
    ASSERT(count_of(word) >= count);
    next = count_of(word) == count ? 0 : word - count;
  } while (!compare_exchange_ordered_u64(&group->word, &word, next)); /* [c] */
  if (next) return (group_end){false, 0};
  return (group_end){word & waited_bit, follower_of(word)};
}

bool group_await(struct group *group) {
  uint64_t word = load_ordered_u64(&group->word);
  do {
    if (count_of(word) == 0) return false;
  } while (!compare_exchange_ordered_u64(&group->word, &word, word | waited_bit));
  return true;
}

bool group_follow(struct group *group, follower_table *table, uint32_t node) {
  const uint64_t list = (uint64_t)((1u << FOLLOWER_BITS) - 1) << FOLLOWER_SHIFT;
  uint64_t word = load_ordered_u64(&group->word), next;
  do {
    if (count_of(word) == 0) return false;
    table->nodes[node].next = follower_of(word);
    next = (word & ~list) | (uint64_t)(node + 1) << FOLLOWER_SHIFT;
  } while (!compare_exchange_ordered_u64(&group->word, &word, next));
  return true;
}

void followers_create(follower_table *table, uint32_t maximum, struct arena *arena) {
  ASSERT(maximum < 1u << FOLLOWER_BITS);
  table->nodes = arena_reserve(arena, maximum, sizeof *table->nodes);
  identity_create(&table->ids, maximum, arena);
}

uint32_t followers_take(follower_table *table) {
  return identity_take(&table->ids);
}

void followers_give_back(follower_table *table, uint32_t node) {
  store_relaxed_u64(&table->nodes[node].group, 0);
  identity_give_back(&table->ids, node);
}

void followers_fill(follower_table *table, uint32_t node, const struct job *job, uint32_t lane,
                    const struct group *after) {
  struct follower *follower = &table->nodes[node];
  follower->job = *job;
  follower->lane = lane;
  store_relaxed_u64(&follower->after, (uint64_t)(uintptr_t)after);
  store_release_u64(&follower->group, (uint64_t)(uintptr_t)job->group);
}

static bool is_listed(const struct group **groups, uint32_t count, const struct group *group) {
  for (uint32_t i = 0; i < count; i++)
    if (groups[i] == group) return true;
  return false;
}

uint32_t followers_trace(const follower_table *table, const struct group **groups, uint32_t count, uint32_t capacity) {
  uint32_t used = identity_high(&table->ids);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t node = 0; node < used && count < capacity; node++) {
      const struct follower *follower = &table->nodes[node];
      if (load_acquire_u64(&follower->group) != (uint64_t)(uintptr_t)groups[i]) continue;
      const struct group *after = (const struct group *)(uintptr_t)load_relaxed_u64(&follower->after);
      if (!is_listed(groups, count, after)) groups[count++] = after;
    }
  return count;
}

uint32_t followers_reverse(follower_table *table, uint32_t head) {
  uint32_t reversed = 0;
  while (head) {
    struct follower *node = &table->nodes[head - 1];
    uint32_t next = node->next;
    node->next = reversed;
    reversed = head;
    head = next;
  }
  return reversed;
}
