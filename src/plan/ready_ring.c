#include "plan/ready_ring.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/prefetch.h"

#include <string.h>

enum { RING_FEW = 32 }; /* entries that are sorted by inserting them */

void ready_ring_create(ready_ring *ring, uint32_t agents_max, struct arena *arena) {
  /* Entries of agents that have left are fewer than the others, and some (ready_ring_is_full). Each list may have a
   * block that is not full. Block 0 means none. */
  uint64_t entries = 2ull * agents_max + 2 * RING_SORTED_MAX;
  uint64_t lists = RING_LISTS + RING_LEVELS * RING_SPLIT;
  uint64_t blocks = entries / RING_BLOCK_ENTRIES + (lists < entries ? lists : entries) + 2;
  *ring = (ready_ring){.maximum = (uint32_t)blocks, .fresh = 1};
  ARENA_ARRAY(arena, ring->blocks, blocks);
  ARENA_ARRAY(arena, ring->sorted, entries);
  ARENA_ARRAY(arena, ring->other, entries);
}

/* ------------------------------------------------------------------------------------------------------------ lists */

static uint32_t take_block(ready_ring *ring) {
  uint32_t number = ring->free;
  if (!number) {
    ASSERT(ring->fresh < ring->maximum);
    return ring->fresh++;
  }
  ring->free = ring->blocks[number].previous;
  __builtin_prefetch(&ring->blocks[ring->free], 1);
  return number;
}

static void list_add(ready_ring *ring, ring_list *list, uint64_t entry) {
  uint32_t place = list->count++ % RING_BLOCK_ENTRIES;
  if (place == 0) {
    uint32_t number = take_block(ring);
    ring->blocks[number].previous = list->last;
    list->last = number;
  }
  ring->blocks[list->last].entries[place] = entry;
}

/* How many entries the last block of a list has. */
static uint32_t last_count(ring_list list) {
  return list.count ? (list.count - 1) % RING_BLOCK_ENTRIES + 1 : 0;
}

PREFETCH_FUNCTION prefetch_block(const ring_block *block) {
  for (uint32_t i = 0; i <= RING_BLOCK_ENTRIES; i += 64 / sizeof *block->entries)
    __builtin_prefetch((const uint64_t *)block + i, 1);
}

/* Copies the entries of a list in the order in which they came, and gives its blocks back. Returns how many. */
static uint32_t list_empty(ready_ring *ring, ring_list *list, uint64_t *out) {
  uint32_t left = list->count, count = last_count(*list), all = left;
  for (uint32_t number = list->last; number; count = RING_BLOCK_ENTRIES) {
    ring_block *block = &ring->blocks[number];
    uint32_t previous = block->previous;
    prefetch_block(&ring->blocks[previous]);
    left -= count;
    memcpy(out + left, block->entries, count * sizeof *out);
    block->previous = ring->free;
    ring->free = number;
    number = previous;
  }
  ASSERT(left == 0);
  *list = (ring_list){0};
  return all;
}

/* The first list at or after one that is marked; `end` when there is none. */
static uint32_t first_marked(const uint64_t *marks, uint32_t from, uint32_t end) {
  while (from < end) {
    uint64_t rest_of_word = marks[from / 64] >> (from % 64);
    if (rest_of_word) return from + (uint32_t)__builtin_ctzll(rest_of_word);
    from += 64 - from % 64;
  }
  return end;
}

/* ----------------------------------------------------------------------------------------------------------- levels */

/* An entry beyond what a level was made for belongs to its first or last list, as the order wants. */
static uint32_t list_of_level(const ring_level *level, uint64_t entry) {
  if (entry < level->base) return 0;
  uint64_t number = (entry - level->base) >> level->shift;
  return number < RING_SPLIT ? (uint32_t)number : RING_SPLIT - 1;
}

static void level_add(ready_ring *ring, ring_level *level, uint64_t entry) {
  uint32_t number = list_of_level(level, entry);
  list_add(ring, &level->lists[number], entry);
  bits_set(level->occupied, number);
}

static void add_to_levels(ready_ring *ring, uint64_t entry) {
  ring_level *level = ring->levels;
  while (level + 1 < ring->levels + ring->depth && list_of_level(level, entry) == level->open) level++;
  level_add(ring, level, entry);
}

/* Splits a list into the next level. */
static void split(ready_ring *ring, ring_list *list) {
  ASSERT(ring->depth < RING_LEVELS && list->count > 1);
  ring_level *level = &ring->levels[ring->depth++];
  uint32_t count = list_empty(ring, list, ring->sorted);
  uint64_t least = UINT64_MAX, most = 0;
  for (uint32_t i = 0; i < count; i++) {
    least = ring->sorted[i] < least ? ring->sorted[i] : least;
    most = ring->sorted[i] > most ? ring->sorted[i] : most;
  }
  uint32_t bits = 64u - (uint32_t)__builtin_clzll((most - least) | 1);
  level->base = least;
  level->shift = bits > 8 ? bits - 8 : 0;
  level->open = RING_SPLIT;
  memset(level->occupied, 0, sizeof level->occupied); /* the lists are empty */
  for (uint32_t i = 0; i < count; i++) level_add(ring, level, ring->sorted[i]);
}

/* The level above the last one in use has nothing left in it. */
static void end_last_level(ready_ring *ring) {
  ring->depth--;
  if (ring->depth > 0) {
    ring_level *above = &ring->levels[ring->depth - 1];
    bits_clear(above->occupied, above->open);
    above->open = RING_SPLIT;
  } else if (ring->open_bucket < RING_BUCKETS) {
    bits_clear(ring->occupied, ring->open_bucket);
  }
}

/* ---------------------------------------------------------------------------------------------------------- buckets */

static uint32_t bucket_of(const ready_ring *ring, uint64_t entry) {
  uint64_t number = entry >> RING_AGENT_BITS >> ring->shift;
  if (number < ring->low) return RING_OLDER;
  return number < ring->low + RING_BUCKETS ? (uint32_t)(number % RING_BUCKETS) : (uint32_t)RING_BEYOND;
}

/* The number of one of the ring's buckets. */
static uint64_t number_of(const ready_ring *ring, uint32_t bucket) {
  uint64_t number = ring->low / RING_BUCKETS * RING_BUCKETS + bucket;
  return number < ring->low ? number + RING_BUCKETS : number;
}

static bool is_open(const ready_ring *ring, uint32_t bucket) {
  return ring->depth > 0 && bucket == ring->open_bucket;
}

static void ring_file(ready_ring *ring, uint64_t entry) {
  uint32_t bucket = bucket_of(ring, entry);
  if (is_open(ring, bucket)) {
    add_to_levels(ring, entry);
    return;
  }
  list_add(ring, &ring->lists[bucket], entry);
  if (bucket < RING_BUCKETS) bits_set(ring->occupied, bucket);
}

void ready_ring_add(ready_ring *ring, uint64_t entry) {
  ring_file(ring, entry);
  ring->entries++;
}

/* Empties a bucket, whether it was split or not. */
static uint32_t empty_bucket(ready_ring *ring, uint32_t bucket, uint64_t *out) {
  uint32_t count = list_empty(ring, &ring->lists[bucket], out);
  for (; is_open(ring, bucket); end_last_level(ring)) {
    ring_level *level = &ring->levels[ring->depth - 1];
    for (uint32_t i = 0; i < RING_SPLIT; i++) count += list_empty(ring, &level->lists[i], out + count);
  }
  if (bucket < RING_BUCKETS) bits_clear(ring->occupied, bucket);
  return count;
}

/* Files what lay ahead of the ring, as the ring lies now. */
static void file_beyond(ready_ring *ring) {
  uint32_t count = empty_bucket(ring, RING_BEYOND, ring->sorted);
  ring->beyond = ring->low + RING_BUCKETS;
  for (uint32_t i = 0; i < count; i++) ring_file(ring, ring->sorted[i]);
}

void ready_ring_place(ready_ring *ring, uint32_t shift, uint64_t low) {
  ASSERT(ring->entries == 0);
  ring->shift = shift;
  ring->low = low;
  ring->beyond = low + RING_BUCKETS;
}

void ready_ring_advance(ready_ring *ring, uint64_t low) {
  uint64_t from = ring->low, end = low < from + RING_BUCKETS ? low : from + RING_BUCKETS;
  if (low <= from) return;
  ring->low = low;
  for (uint64_t number = from; number < end; number++) {
    uint32_t bucket = (uint32_t)(number % RING_BUCKETS);
    if (number % 64 == 0 && number + 64 <= end && !ring->occupied[bucket / 64]) {
      number += 63;
      continue;
    }
    if (!bits_has(ring->occupied, bucket)) continue;
    if (is_open(ring, bucket) && !ring->lists[RING_OLDER].count) {
      bits_clear(ring->occupied, bucket);
      ring->open_bucket = RING_OLDER;
      continue;
    }
    uint32_t count = empty_bucket(ring, bucket, ring->sorted);
    for (uint32_t i = 0; i < count; i++) ring_file(ring, ring->sorted[i]);
  }
  if (low >= ring->beyond) file_beyond(ring);
}

/* The first bucket that holds entries, without what lies ahead of the ring; RING_LISTS when there is none. */
static uint32_t first_bucket(const ready_ring *ring) {
  uint32_t first = (uint32_t)(ring->low % RING_BUCKETS);
  if (ring->lists[RING_OLDER].count || is_open(ring, RING_OLDER)) return RING_OLDER;
  uint32_t bucket = first_marked(ring->occupied, first, RING_BUCKETS);
  if (bucket == RING_BUCKETS) bucket = first_marked(ring->occupied, 0, first);
  return bucket < RING_BUCKETS && bits_has(ring->occupied, bucket) ? bucket : RING_LISTS;
}

static bool holds_beyond(const ready_ring *ring) {
  return ring->lists[RING_BEYOND].count || is_open(ring, RING_BEYOND);
}

/* The first bucket that holds entries; RING_LISTS when there is none. */
static uint32_t next_bucket(ready_ring *ring) {
  for (;;) {
    uint32_t bucket = first_bucket(ring);
    if (!holds_beyond(ring)) return bucket;
    if (bucket == RING_LISTS) return RING_BEYOND;
    if (bucket == RING_OLDER || number_of(ring, bucket) < ring->beyond) return bucket;
    file_beyond(ring);
  }
}

/* Takes the first list of the bucket that was split. Returns how many entries; 0 when a level has ended, or was begun:
 * then it is to be asked again. */
static uint32_t take_of_levels(ready_ring *ring) {
  for (uint32_t depth = 0;; depth++) {
    ring_level *level = &ring->levels[depth];
    bool last = depth + 1 == ring->depth;
    uint32_t number = first_marked(level->occupied, 0, RING_SPLIT);
    if (number == RING_SPLIT) {
      ASSERT(last);
      end_last_level(ring);
      return 0;
    }
    if (!last && number == level->open) continue;
    ring_list *list = &level->lists[number];
    if (last && list->count > RING_SORTED_MAX && level->shift > 0 && ring->depth < RING_LEVELS) {
      level->open = number;
      split(ring, list);
      continue;
    }
    bits_clear(level->occupied, number);
    return list_empty(ring, list, ring->sorted);
  }
}

/* Takes whole buckets while they fit. */
static uint32_t take_buckets(ready_ring *ring, uint32_t bucket) {
  enum { TOGETHER = 16 };
  uint32_t count = 0;
  for (uint32_t i = 0; i < TOGETHER; i++) {
    if (i > 0) bucket = first_bucket(ring);
    if (i > 0 && bucket < RING_BUCKETS && holds_beyond(ring) && number_of(ring, bucket) >= ring->beyond) break;
    if (bucket == RING_LISTS || is_open(ring, bucket)) break;
    if (count && count + ring->lists[bucket].count > RING_SORTED_MAX) break;
    if (bucket < RING_BUCKETS) bits_clear(ring->occupied, bucket);
    count += list_empty(ring, &ring->lists[bucket], ring->sorted + count);
  }
  return count;
}

uint32_t ready_ring_take(ready_ring *ring) {
  uint32_t bucket, count = 0;
  while (!count && (bucket = next_bucket(ring)) != RING_LISTS) {
    if (!ring->depth && ring->lists[bucket].count > RING_SORTED_MAX) {
      split(ring, &ring->lists[bucket]);
      ring->open_bucket = bucket;
    }
    count = is_open(ring, bucket) ? take_of_levels(ring) : take_buckets(ring, bucket);
  }
  ring->entries -= count;
  return count;
}

uint32_t ready_ring_take_all(ready_ring *ring) {
  uint32_t bucket, count = 0;
  while ((bucket = first_bucket(ring)) != RING_LISTS) count += empty_bucket(ring, bucket, ring->sorted + count);
  count += empty_bucket(ring, RING_BEYOND, ring->sorted + count);
  ASSERT(count == ring->entries);
  ring->entries = 0;
  ring->beyond = ring->low + RING_BUCKETS;
  return count;
}

void ready_ring_set_aside(ready_ring *ring, uint64_t entry) {
  list_add(ring, &ring->aside, entry);
}

void ready_ring_restore(ready_ring *ring) {
  uint32_t count = list_empty(ring, &ring->aside, ring->sorted);
  for (uint32_t i = 0; i < count; i++) ready_ring_add(ring, ring->sorted[i]);
}

static void visit_list(const ready_ring *ring, ring_list list, void (*show)(uint64_t entry, void *user), void *user) {
  uint32_t count = last_count(list);
  for (uint32_t number = list.last; number; number = ring->blocks[number].previous, count = RING_BLOCK_ENTRIES)
    for (uint32_t i = 0; i < count; i++) show(ring->blocks[number].entries[i], user);
}

void ready_ring_visit(const ready_ring *ring, void (*show)(uint64_t entry, void *user), void *user) {
  for (uint32_t bucket = 0; bucket < RING_LISTS; bucket++) visit_list(ring, ring->lists[bucket], show, user);
  for (uint32_t depth = 0; depth < ring->depth; depth++)
    for (uint32_t i = 0; i < RING_SPLIT; i++) visit_list(ring, ring->levels[depth].lists[i], show, user);
}

static uint32_t count_bucket(const ready_ring *ring, uint32_t bucket) {
  uint32_t count = ring->lists[bucket].count;
  for (uint32_t depth = 0; is_open(ring, bucket) && depth < ring->depth; depth++)
    for (uint32_t i = 0; i < RING_SPLIT; i++) count += ring->levels[depth].lists[i].count;
  return count;
}

uint32_t ready_ring_count_before(const ready_ring *ring, uint64_t key) {
  uint32_t count = count_bucket(ring, RING_OLDER);
  uint64_t end = key >> ring->shift;
  if (end > ring->low + RING_BUCKETS) end = ring->low + RING_BUCKETS;
  for (uint64_t number = ring->low; number < end; number++) {
    uint32_t bucket = (uint32_t)(number % RING_BUCKETS);
    if (bits_has(ring->occupied, bucket)) count += count_bucket(ring, bucket);
  }
  return count;
}

/* ---------------------------------------------------------------------------------------------------------- sorting */

/* Moves entries to `to` in order of some of their bits; those that agree there stay in the order in which they are. */
static void sort_by_bits(const uint64_t *from, uint64_t *to, uint32_t count, uint32_t shift, uint32_t bits) {
  uint32_t ends[2048], digits = 1u << bits, mask = digits - 1, sum = 0;
  memset(ends, 0, digits * sizeof *ends);
  for (uint32_t i = 0; i < count; i++) ends[from[i] >> shift & mask]++;
  for (uint32_t digit = 0; digit < digits; digit++) {
    uint32_t number = ends[digit];
    ends[digit] = sum;
    sum += number;
  }
  for (uint32_t i = 0; i < count; i++) to[ends[from[i] >> shift & mask]++] = from[i];
}

static void sort_few(uint64_t *entries, uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    uint64_t entry = entries[i];
    uint32_t slot = i;
    for (; slot > 0 && entry < entries[slot - 1]; slot--) entries[slot] = entries[slot - 1];
    entries[slot] = entry;
  }
}

/* Puts entries of equal keys, which stand together, into the order of their agents. False when so many are not that it
 * is better done in another way. */
static bool sort_equals(uint64_t *entries, uint32_t count) {
  uint32_t moves_left = count;
  for (uint32_t i = 1; i < count; i++) {
    uint64_t entry = entries[i];
    uint32_t slot = i;
    if (entry > entries[i - 1]) continue;
    for (; slot > 0 && entry < entries[slot - 1]; slot--) entries[slot] = entries[slot - 1];
    entries[slot] = entry;
    if (i - slot > moves_left) return false;
    moves_left -= i - slot;
  }
  return true;
}

/* Radix sort over those of the `wanted` bits in which not all agree. */
static void sort_wanted(uint64_t **entries, uint64_t **other, uint32_t count, uint64_t wanted) {
  enum { MANY = 1024 };
  uint64_t differs = 0;
  uint32_t bits = count > MANY ? 11 : 8;
  for (uint32_t i = 1; i < count; i++) differs |= (*entries)[i] ^ (*entries)[0];
  differs &= wanted;
  for (uint32_t shift = 0; shift < 64 && differs >> shift; shift += bits) {
    shift += (uint32_t)__builtin_ctzll(differs >> shift);
    sort_by_bits(*entries, *other, count, shift, bits);
    uint64_t *swap = *entries;
    *entries = *other;
    *other = swap;
  }
}

/* It allocates nothing, unlike the C library's qsort. Most keys are there once, and the others often come in the order
 * of agents; so the keys are sorted first, and what is left is mended. */
static void sort_many(uint64_t **entries, uint64_t **other, uint32_t count) {
  sort_wanted(entries, other, count, ~RING_AGENT_MASK);
  if (!sort_equals(*entries, count)) sort_wanted(entries, other, count, UINT64_MAX);
}

void ready_ring_sort(uint64_t **entries, uint64_t **other, uint32_t count) {
  if (count <= RING_FEW)
    sort_few(*entries, count);
  else
    sort_many(entries, other, count);
}
