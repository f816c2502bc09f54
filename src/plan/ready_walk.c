#include "plan/ready_walk.h"

#include "base/assert.h"

/* Radix sort by bytes of the keys, skipping those in which all agree; agents of equal keys stay in the order in which
 * they came. Allocates nothing, unlike the C library's qsort. Returns the buffer that holds the result. */
static uint64_t *sort_keys(uint64_t *keys, uint64_t *other, uint32_t count) {
  uint64_t differs = 0;
  for (uint32_t i = 1; i < count; i++) differs |= keys[i] ^ keys[0];
  for (uint32_t shift = READY_AGENT_BITS; shift < 64; shift += 8) {
    uint32_t ends[256] = {0};
    if (!(differs >> shift & 255)) continue;
    for (uint32_t i = 0; i < count; i++) ends[keys[i] >> shift & 255]++;
    for (uint32_t sum = 0, digit = 0; digit < 256; digit++) {
      uint32_t number = ends[digit];
      ends[digit] = sum;
      sum += number;
    }
    for (uint32_t i = 0; i < count; i++) other[ends[keys[i] >> shift & 255]++] = keys[i];
    uint64_t *swap = keys;
    keys = other;
    other = swap;
  }
  return keys;
}

static void sort_few(uint64_t *keys, uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    uint64_t key = keys[i];
    uint32_t slot = i;
    for (; slot > 0 && key < keys[slot - 1]; slot--) keys[slot] = keys[slot - 1];
    keys[slot] = key;
  }
}

static ready_run sort_run(uint64_t *keys, uint64_t *other, uint32_t count) {
  enum { FEW = 32 };
  if (count > FEW) keys = sort_keys(keys, other, count);
  if (count <= FEW) sort_few(keys, count);
  return (ready_run){keys, 0, count};
}

void ready_begin_walk(ready_set *ready) {
  ready->fresh_run = sort_run(ready->fresh, ready->fresh_too, ready->fresh_count);
  if (ready->fresh_run.keys != ready->fresh) {
    ready->fresh_too = ready->fresh;
    ready->fresh = ready->fresh_run.keys;
  }
  ready->ring_run = (ready_run){0};
  ready->ring_done = false;
  ready->walk_bucket = ready->walk_listed = 0;
}

/* The walk's bucket: 0 is the list of older ones, 1 + k the k-th of the ring from its first. */
static uint32_t bucket_at(const ready_set *ready, uint32_t walk_bucket) {
  return walk_bucket == 0 ? (uint32_t)READY_OLDER
                          : (uint32_t)((uint64_t)(ready->low + walk_bucket - 1) % READY_BUCKETS);
}

/* Moves to the first bucket at or after the walk's that holds agents. False when there is none. */
static bool find_occupied(ready_set *ready) {
  for (; ready->walk_bucket <= READY_BUCKETS; ready->walk_bucket++) {
    uint32_t bucket = bucket_at(ready, ready->walk_bucket);
    if (ready->lists[bucket]) return true;
    if (bucket == READY_OLDER) continue;
    uint64_t rest_of_word = ready->occupied[bucket / 64] >> (bucket % 64);
    if (!rest_of_word) ready->walk_bucket += 63 - bucket % 64;
  }
  return false;
}

/* Reads agents of a list from its end, passing over the last `passed`; returns how many. */
static uint32_t list_agents(const ready_set *ready, agent_list list, uint32_t passed, uint32_t most, uint64_t *out) {
  uint32_t listed = 0;
  while (list && listed < most) {
    const list_block *block = lists_last(&ready->members, list);
    list = block->previous;
    if (list) __builtin_prefetch(lists_last(&ready->members, list));
    for (uint32_t i = block->count; i-- > 0 && listed < most;) {
      if (passed)
        passed--;
      else
        out[listed++] = block->agents[i];
    }
  }
  return listed;
}

/* Lists whole buckets from the walk's on while they fit, or the next part of a bucket that is too large to be sorted at
 * once. In such a bucket, agents that were read and not admitted have moved to the end of its list. */
static uint32_t list_buckets(ready_set *ready) {
  enum { TOGETHER = 16 };
  uint32_t listed = 0, buckets = ready->weights.order == MUSTER_ORDER_DELAYS ? 1 : TOGETHER;
  for (; buckets > 0 && find_occupied(ready); buckets--) {
    uint32_t bucket = bucket_at(ready, ready->walk_bucket), count = ready->counts[bucket];
    if (ready->walk_listed || count > READY_SORTED_MAX) {
      if (listed) break;
      if (!ready->walk_listed) ready->walk_counted = count;
      uint32_t left = ready->walk_counted - ready->walk_listed;
      uint32_t passed = count - left;
      listed = list_agents(ready, ready->lists[bucket], passed, READY_SORTED_MAX, ready->sorted);
      ready->walk_listed += listed;
      if (ready->walk_listed < ready->walk_counted) return listed;
    } else {
      if (listed + count > READY_SORTED_MAX) break;
      listed += list_agents(ready, ready->lists[bucket], 0, count, ready->sorted + listed);
    }
    ready->walk_listed = 0;
    ready->walk_bucket++;
    if (bucket == READY_OLDER) break;
  }
  return listed;
}

/* Sorts the next part of the ring. False when there is none. */
static bool refill(ready_set *ready, const agent_store *store) {
  enum { AHEAD = 12 };
  uint32_t listed = list_buckets(ready);
  for (uint32_t i = 0; i < listed; i++) {
    if (i + AHEAD < listed) __builtin_prefetch(&store->rows[ready->sorted[i + AHEAD]], 1);
    uint32_t agent = (uint32_t)ready->sorted[i];
    ready->sorted[i] = ready_key(ready, &store->rows[agent], agent);
  }
  ready->ring_run = sort_run(ready->sorted, ready->sorted_too, listed);
  if (ready->ring_run.keys != ready->sorted && listed) {
    ready->sorted_too = ready->sorted;
    ready->sorted = ready->ring_run.keys;
  }
  return listed > 0;
}

uint32_t ready_next_merged(ready_set *ready, const agent_store *store) {
  ready_run *ring = &ready->ring_run, *fresh = &ready->fresh_run;
  for (;;) {
    if (!ready->ring_done && ring->next == ring->end) ready->ring_done = !refill(ready, store);
    bool fresh_left = fresh->next < fresh->end;
    if (ready->ring_done && !fresh_left) return UINT32_MAX;
    bool take_fresh = fresh_left && (ready->ring_done || fresh->keys[fresh->next] < ring->keys[ring->next]);
    ready_run *run = take_fresh ? fresh : ring;
    uint32_t index = (uint32_t)(run->keys[run->next++] & READY_AGENT_MASK);
    if (store->rows[index].status == AGENT_READY) return index;
  }
}
