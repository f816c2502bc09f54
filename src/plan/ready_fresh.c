#include "plan/ready_fresh.h"

#include "base/assert.h"

#include <string.h>

enum { FRESH_PASS_NS = 3, FRESH_SORT_NS = 12 };

typedef struct fresh_sorting {
  ready_set *ready;
  uint64_t now; /* the key of the frame's time */
  uint32_t chunks;
} fresh_sorting;

/* The pile of an entry: the first has all turns of the next 2 ms and the last those more than a minute ahead. */
static inline uint32_t pile_of(const fresh_sorting *sorting, uint64_t entry) {
  enum { FIRST_OCTAVE = 11, STEPS = 16 };
  uint64_t key = entry >> RING_AGENT_BITS, ahead = key > sorting->now ? key - sorting->now : 0;
  if (!(ahead >> FIRST_OCTAVE)) return 0;
  uint32_t octave = 63 - (uint32_t)__builtin_clzll(ahead);
  uint32_t pile = 1 + (octave - FIRST_OCTAVE) * STEPS + (uint32_t)(ahead >> (octave - 4)) % STEPS;
  return pile < FRESH_KEYS ? pile : FRESH_KEYS - 1;
}

static void fresh_count_piles(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  const fresh_sorting *sorting = argument;
  const ready_set *ready = sorting->ready;
  const counting_sort *sort = &ready->fresh_sort;
  (void)worker;
  for (uint32_t chunk = first; chunk < end; chunk++) {
    counting_begin(sort, chunk);
    for (uint32_t i = counting_start(sort, chunk); i < counting_end(sort, chunk, ready->fresh_count); i++)
      counting_note(sort, chunk, pile_of(sorting, ready->fresh[i]));
  }
}

static void fresh_pile(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  const fresh_sorting *sorting = argument;
  const ready_set *ready = sorting->ready;
  const counting_sort *sort = &ready->fresh_sort;
  (void)worker;
  for (uint32_t chunk = first; chunk < end; chunk++)
    for (uint32_t i = counting_start(sort, chunk); i < counting_end(sort, chunk, ready->fresh_count); i++)
      ready->fresh_too[counting_place(sort, chunk, pile_of(sorting, ready->fresh[i]))] = ready->fresh[i];
}

/* Sorts piles; they stand in `fresh_too`, and afterwards in `fresh`. */
static void fresh_sort_piles(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  const fresh_sorting *sorting = argument;
  const ready_set *ready = sorting->ready;
  (void)worker;
  for (uint32_t pile = first; pile < end; pile++) {
    uint32_t begin = counting_first(&ready->fresh_sort, sorting->chunks, pile);
    uint32_t count = counting_last(&ready->fresh_sort, sorting->chunks, pile) - begin;
    uint64_t *entries = ready->fresh_too + begin, *other = ready->fresh + begin;
    if (!count) continue;
    ready_ring_sort(&entries, &other, count);
    if (entries != ready->fresh + begin) memcpy(ready->fresh + begin, entries, count * sizeof *entries);
  }
}

void ready_sort_fresh(ready_set *ready, const struct parts *parts) {
  uint32_t count = ready->fresh_count;
  if (count < FRESH_CHUNK || !ready_by_deadline(ready)) {
    ready_ring_sort(&ready->fresh, &ready->fresh_too, count);
    return;
  }
  fresh_sorting sorting = {ready, ready_key_of_time(ready, (int64_t)ready->now_ns),
                           counting_chunks(&ready->fresh_sort, count)};
  parts_run(parts, fresh_count_piles, &sorting, sorting.chunks, (uint64_t)count * FRESH_PASS_NS);
  counting_sum(&ready->fresh_sort, sorting.chunks);
  parts_run(parts, fresh_pile, &sorting, sorting.chunks, (uint64_t)count * FRESH_PASS_NS);
  parts_run(parts, fresh_sort_piles, &sorting, FRESH_KEYS, (uint64_t)count * FRESH_SORT_NS);
}
