#include "plan/ready_fresh.h"

#include "base/assert.h"

#include <string.h>

enum { FRESH_PASS_NS = 5, FRESH_SORT_NS = 8, SAMPLES_EACH = 4, SAMPLES = FRESH_KEYS * SAMPLES_EACH };

typedef struct fresh_sorting {
  ready_set *ready;
  uint32_t chunks;
  uint64_t splitters[FRESH_KEYS]; /* the first entries of the piles from the second on; the last counts for nothing */
} fresh_sorting;

/* Piles are of about the same size wherever deadlines crowd: what parts the entries of a sample parts all of them. */
static void choose_splitters(fresh_sorting *sorting) {
  const ready_set *ready = sorting->ready;
  uint64_t one[SAMPLES], other[SAMPLES], *sample = one, *room = other;
  for (uint32_t i = 0; i < SAMPLES; i++) sample[i] = ready->fresh[(uint64_t)i * ready->fresh_count / SAMPLES];
  ready_ring_sort(&sample, &room, SAMPLES);
  for (uint32_t i = 0; i + 1 < FRESH_KEYS; i++) sorting->splitters[i] = sample[(i + 1) * SAMPLES_EACH];
}

/* The pile of an entry: how many splitters it does not come before. A binary search without branches, which would be
 * missed every other time: compilers keep to that when the bits are masked, and not when there is a choice. */
static inline uint32_t pile_of(const fresh_sorting *sorting, uint64_t entry) {
  uint32_t pile = 0;
  for (uint32_t half = FRESH_KEYS / 2; half; half /= 2)
    pile += half & -(uint32_t)(sorting->splitters[pile + half - 1] <= entry);
  return pile;
}

static void fresh_count_piles(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  const fresh_sorting *sorting = argument;
  const ready_set *ready = sorting->ready;
  const counting_sort *sort = &ready->fresh_sort;
  (void)worker;
  for (uint32_t chunk = first; chunk < end; chunk++) {
    counting_begin(sort, chunk);
    for (uint32_t i = counting_start(sort, chunk); i < counting_end(sort, chunk, ready->fresh_count); i++)
      counting_note(sort, chunk, ready->fresh_piles[i] = (uint8_t)pile_of(sorting, ready->fresh[i]));
  }
}

static void fresh_pile(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  const fresh_sorting *sorting = argument;
  const ready_set *ready = sorting->ready;
  const counting_sort *sort = &ready->fresh_sort;
  (void)worker;
  for (uint32_t chunk = first; chunk < end; chunk++)
    for (uint32_t i = counting_start(sort, chunk); i < counting_end(sort, chunk, ready->fresh_count); i++)
      ready->fresh_too[counting_place(sort, chunk, ready->fresh_piles[i])] = ready->fresh[i];
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
  if (count < FRESH_CHUNK) {
    ready_ring_sort(&ready->fresh, &ready->fresh_too, count);
    return;
  }
  fresh_sorting sorting = {.ready = ready, .chunks = counting_chunks(&ready->fresh_sort, count)};
  choose_splitters(&sorting);
  parts_run(parts, fresh_count_piles, &sorting, sorting.chunks, (uint64_t)count * FRESH_PASS_NS);
  counting_sum(&ready->fresh_sort, sorting.chunks);
  parts_run(parts, fresh_pile, &sorting, sorting.chunks, (uint64_t)count * FRESH_PASS_NS);
  parts_run(parts, fresh_sort_piles, &sorting, FRESH_KEYS, (uint64_t)count * FRESH_SORT_NS);
}
