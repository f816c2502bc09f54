/* base/counting_sort.h - items in the order of small keys; items of one key stay in the order in which they were.
 *
 *     chunks, beside each other:   counting_begin, then counting_note for each item
 *     once:                        counting_sum
 *     chunks, beside each other:   counting_place for each item, in the same order
 *
 * A chunk is so many neighbours. The result does not depend on who does which chunk. */
#ifndef BASE_COUNTING_SORT_H
#define BASE_COUNTING_SORT_H

#include "base/arena.h"

#include <string.h>

typedef struct counting_sort {
  uint32_t keys;
  uint32_t chunk; /* items in a chunk */
  uint32_t *ends; /* by chunk, and then by key: how many items; then where the next one goes */
} counting_sort;

/* How many chunks so many items are. */
static inline uint32_t counting_chunks(const counting_sort *sort, uint32_t items) {
  return (items + sort->chunk - 1) / sort->chunk;
}

/* Where a chunk begins, and where it ends, of so many items. */
static inline uint32_t counting_start(const counting_sort *sort, uint32_t chunk) {
  return chunk * sort->chunk;
}
static inline uint32_t counting_end(const counting_sort *sort, uint32_t chunk, uint32_t items) {
  uint32_t end = (chunk + 1) * sort->chunk;
  return end < items ? end : items;
}

/* Reserves a sort of `items_max` items by keys below `keys`, in chunks of `chunk`. */
static inline void counting_create(counting_sort *sort, uint32_t items_max, uint32_t keys, uint32_t chunk,
                                   struct arena *arena) {
  *sort = (counting_sort){.keys = keys, .chunk = chunk};
  ARENA_ARRAY(arena, sort->ends, (size_t)counting_chunks(sort, items_max) * keys);
}

static inline uint32_t *counting_row(const counting_sort *sort, uint32_t chunk) {
  return sort->ends + (size_t)chunk * sort->keys;
}

static inline void counting_begin(const counting_sort *sort, uint32_t chunk) {
  memset(counting_row(sort, chunk), 0, sort->keys * sizeof *sort->ends);
}

static inline void counting_note(const counting_sort *sort, uint32_t chunk, uint32_t key) {
  counting_row(sort, chunk)[key]++;
}

/* All are counted. O(chunks * keys). */
static inline void counting_sum(const counting_sort *sort, uint32_t chunks) {
  uint32_t sum = 0;
  for (uint32_t key = 0; key < sort->keys; key++)
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
      uint32_t *end = counting_row(sort, chunk) + key, count = *end;
      *end = sum;
      sum += count;
    }
}

/* The place of a chunk's next item. */
static inline uint32_t counting_place(const counting_sort *sort, uint32_t chunk, uint32_t key) {
  return counting_row(sort, chunk)[key]++;
}

/* Where the items of a key begin and end, once all are placed; 0 chunks are no items. */
static inline uint32_t counting_last(const counting_sort *sort, uint32_t chunks, uint32_t key) {
  return chunks ? counting_row(sort, chunks - 1)[key] : 0;
}
static inline uint32_t counting_first(const counting_sort *sort, uint32_t chunks, uint32_t key) {
  return key ? counting_last(sort, chunks, key - 1) : 0;
}

#endif
