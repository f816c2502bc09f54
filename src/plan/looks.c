#include "plan/looks.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/prefetch.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

void looks_create(struct looks *looks, uint32_t agents_max, uint32_t shards, struct arena *arena) {
  *looks = (struct looks){.map = shards_of(agents_max, shards)};
  const shard_map *map = &looks->map;
  looks->lines = map->words * 64 / LOOK_AGENTS;
  uint32_t stride = (looks->lines + 31) / 32 * 32; /* whole cache lines */
  size_t slots = (size_t)looks->lines * LOOK_AGENTS;
  looks->span = stride * map->count;
  uint16_t *all_slots = arena_reserve(arena, slots * map->count, sizeof *all_slots);
  uint16_t *firsts = arena_reserve(arena, (size_t)looks->span * LOOK_CLOCKS, sizeof *firsts);
  ARENA_ARRAY(arena, looks->passed, looks_lines(looks));
  ARENA_ARRAY(arena, looks->order, bits_words(looks_lines(looks)));
  ARENA_ARRAY(arena, looks->shards, map->count);
  if (arena->failed) return;
  for (uint32_t i = 0; i < map->count; i++)
    looks->shards[i] = (look_shard){.slots = all_slots + slots * i, .firsts = firsts + (size_t)stride * i};
}

/* ------------------------------------------------------------------------------------------------------------ lines */

static bool has_passed(uint16_t first, uint32_t now) {
  return first && looks_ahead(first, now) <= 0;
}

#ifdef __SSE2__
/* The least of eight numbers. */
static inline uint32_t looks_least(__m128i numbers) {
  numbers = _mm_min_epi16(numbers, _mm_srli_si128(numbers, 8));
  numbers = _mm_min_epi16(numbers, _mm_srli_si128(numbers, 4));
  numbers = _mm_min_epi16(numbers, _mm_srli_si128(numbers, 2));
  return (uint32_t)_mm_extract_epi16(numbers, 0);
}
#endif

/* Takes those slots of a line that are of a clock and have passed, and finds how far the first of the others of this
 * clock lies ahead; LOOK_REACH when there is none. */
static uint32_t take_passed(uint16_t *slots, uint32_t clock, uint32_t now, uint32_t *ahead) {
  const uint16_t present = looks_entry(clock, now);
  uint32_t taken = 0;
#ifdef __SSE2__
  const __m128i all = _mm_set1_epi16((short)present), zero = _mm_setzero_si128();
  const __m128i number = _mm_set1_epi16(LOOK_NUMBERS), reach = _mm_set1_epi16(LOOK_REACH);
  __m128i least = reach;
  for (uint32_t i = 0; i < LOOK_AGENTS; i += 16) {
    __m128i found[2];
    for (uint32_t k = 0; k < 2; k++) {
      __m128i *place = (__m128i *)(void *)(slots + i + 8 * k), some = _mm_load_si128(place);
      __m128i alike = _mm_cmpeq_epi16(_mm_andnot_si128(number, _mm_xor_si128(some, all)), zero);
      __m128i behind = _mm_cmpeq_epi16(_mm_and_si128(_mm_sub_epi16(all, some), reach), zero);
      __m128i distance = _mm_and_si128(_mm_sub_epi16(some, all), number);
      found[k] = _mm_and_si128(alike, behind);
      __m128i others = _mm_andnot_si128(found[k], alike);
      least = _mm_min_epi16(least, _mm_or_si128(_mm_and_si128(others, distance), _mm_andnot_si128(others, reach)));
      _mm_store_si128(place, _mm_andnot_si128(found[k], some));
    }
    taken |= (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(found[0], found[1])) << i;
  }
  *ahead = looks_least(least);
#else
  *ahead = LOOK_REACH;
  for (uint32_t i = 0; i < LOOK_AGENTS; i++) {
    if ((slots[i] ^ present) & 0xffff & ~LOOK_NUMBERS) continue;
    int32_t distance = looks_ahead(slots[i], now);
    if (distance <= 0) {
      taken |= 1u << i;
      slots[i] = 0;
    } else if ((uint32_t)distance < *ahead) {
      *ahead = (uint32_t)distance;
    }
  }
#endif
  return taken;
}

/* Takes what has passed of a line on a clock: a bit for each agent. */
static uint32_t take_of_clock(struct looks *looks, uint32_t line, uint32_t clock) {
  uint32_t now = (uint32_t)looks->numbers[clock], ahead;
  uint16_t *first = looks_first_of(looks, clock, line);
  uint32_t taken = take_passed(looks_slots_of(looks, line), clock, now, &ahead);
  *first = 0;
  if (ahead == LOOK_REACH) return taken;
  looks_lead(first, now + ahead, now);
  looks_lead(&looks_shard_of(looks, line)->earliest[clock], now + ahead, now);
  return taken;
}

uint32_t looks_take_line(struct looks *looks, uint32_t line) {
  uint32_t taken = 0;
  for (uint32_t left = looks->clocks; left; left &= left - 1) {
    uint32_t clock = (uint32_t)__builtin_ctz(left);
    if (has_passed(*looks_first_of(looks, clock, line), (uint32_t)looks->numbers[clock]))
      taken |= take_of_clock(looks, line, clock);
  }
  return taken;
}

/* ---------------------------------------------------------------------------------------------------------- passing */

/* A number that has passed, or passes now, as the present one. */
static void tidy_first(uint16_t *first, uint64_t before, uint64_t now) {
  if (*first && looks_ahead(*first, (uint32_t)before) <= (int64_t)(now - before))
    *first = (uint16_t)(LOOK_FIRST | (now & LOOK_NUMBERS));
}

/* Brings slots that have passed, or pass now, to the present one: so that none is left too far behind. */
static void tidy_line(struct looks *looks, uint32_t clock, uint32_t line, uint64_t before, uint64_t now) {
  uint16_t *slots = looks_slots_of(looks, line), *first = looks_first_of(looks, clock, line);
  int64_t passed = (int64_t)(now - before);
  if (!*first || looks_ahead(*first, (uint32_t)before) > passed) return;
  for (uint32_t i = 0; i < LOOK_AGENTS; i++)
    if (slots[i] >> LOOK_NUMBER_BITS == clock + 1 && looks_ahead(slots[i], (uint32_t)before) <= passed)
      slots[i] = looks_entry(clock, (uint32_t)now);
  tidy_first(first, before, now);
}

static void pass_clock(struct looks *looks, uint32_t clock, uint64_t now) {
  uint64_t before = looks->numbers[clock];
  bool leaps = now - before >= LOOK_REACH / 2;
  looks->numbers[clock] = now;
  if (!looks->left && !leaps) looks->tidied[clock] = now;
  if (!leaps && now - looks->tidied[clock] < LOOK_REACH / 2) return;
  looks->tidied[clock] = now;
  for (uint32_t line = 0; line < looks->lines * looks->map.count; line++) tidy_line(looks, clock, line, before, now);
  for (uint32_t i = 0; i < looks->map.count; i++) tidy_first(&looks->shards[i].earliest[clock], before, now);
}

void looks_pass(struct looks *looks) {
  for (uint32_t left = looks->bands; left; left &= left - 1) {
    uint32_t band = (uint32_t)__builtin_ctz(left);
    pass_clock(looks, 2 * band, looks->clock_ns[band] >> LOOK_FINE_SHIFT);
    pass_clock(looks, 2 * band + 1, looks->clock_ns[band] >> LOOK_COARSE_SHIFT);
  }
}

/* Lists the lines of a shard in which slots of a clock have passed, and finds the earliest slot of the others. Behind
 * the last line there are none, up to a whole cache line. Returns how many lines. */
static uint32_t find_passed(const struct looks *looks, uint32_t shard, uint32_t clock, uint32_t *lines) {
  look_shard *own = &looks->shards[shard];
  const uint16_t *firsts = own->firsts + clock * looks->span;
  const uint32_t now = (uint32_t)looks->numbers[clock];
  uint16_t earliest = 0;
  uint32_t i = 0, count = 0;
#ifdef __SSE2__
  const __m128i zero = _mm_setzero_si128(), present = _mm_set1_epi16((short)(LOOK_FIRST | (now & LOOK_NUMBERS)));
  const __m128i number = _mm_set1_epi16(LOOK_NUMBERS), reach = _mm_set1_epi16(LOOK_REACH);
  __m128i least = reach;
  for (; i < looks->lines; i += 8) {
    __m128i some = _mm_load_si128((const __m128i *)(const void *)(firsts + i)), none = _mm_cmpeq_epi16(some, zero);
    __m128i behind = _mm_cmpeq_epi16(_mm_and_si128(_mm_sub_epi16(present, some), reach), zero);
    __m128i passed = _mm_andnot_si128(none, behind), distance = _mm_and_si128(_mm_sub_epi16(some, present), number);
    __m128i left_out = _mm_or_si128(none, passed);
    least = _mm_min_epi16(least, _mm_or_si128(_mm_andnot_si128(left_out, distance), _mm_and_si128(left_out, reach)));
    for (uint32_t bits = (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(passed, zero)); bits; bits &= bits - 1)
      lines[count++] = looks_line(looks, shard, i + (uint32_t)__builtin_ctz(bits));
  }
  uint32_t ahead = looks_least(least);
  if (ahead < LOOK_REACH) looks_lead(&earliest, now + ahead, now);
#else
  for (; i < looks->lines; i++) {
    if (has_passed(firsts[i], now))
      lines[count++] = looks_line(looks, shard, i);
    else if (firsts[i])
      looks_lead(&earliest, firsts[i], now);
  }
#endif
  own->earliest[clock] = earliest;
  return count;
}

/* Fetches the slots of a group of lines. Fetches that miss the cache overlap when they follow one another without other
 * work between them. */
PREFETCH_FUNCTION prefetch_slots(const struct looks *looks, const uint32_t *lines, uint32_t i, uint32_t count) {
  enum { TOGETHER = 16 };
  if (i % TOGETHER) return;
  for (uint32_t k = i ? i + TOGETHER : 0; k < i + 2 * TOGETHER && k < count; k++)
    __builtin_prefetch(looks_slots_of(looks, lines[k]), 1);
}

/* Puts all lines that were found into the order of agents: what follows meets memory in that order, and entries of
 * equal keys need not be sorted. It walks over a bit for each line of all shards: too much for each of several
 * runs. */
static void order_lines(const struct looks *looks, uint32_t *lines, uint32_t count) {
  uint32_t words = bits_words(looks_lines(looks)), ordered = 0;
  for (uint32_t i = 0; i < count; i++) bits_set(looks->order, lines[i]);
  for (uint32_t word = 0; word < words && ordered < count; word++) {
    for (uint64_t left = looks->order[word]; left; left &= left - 1)
      lines[ordered++] = word * 64 + (uint32_t)__builtin_ctzll(left);
    looks->order[word] = 0;
  }
}

/* Takes the agents that are to be looked at by one clock. */
static uint32_t take_by_clock(struct looks *looks, uint32_t first, uint32_t end, uint32_t clock, uint32_t *agents) {
  uint32_t *lines = looks->passed + (size_t)first * looks->lines, count = 0, taken = 0;
  for (uint32_t shard = first; shard < end; shard++)
    if (looks->left || has_passed(looks->shards[shard].earliest[clock], (uint32_t)looks->numbers[clock]))
      count += find_passed(looks, shard, clock, lines + count);
  if (end - first == looks->map.count && count > 0) order_lines(looks, lines, count);
  for (uint32_t i = 0; i < count; i++) {
    prefetch_slots(looks, lines, i, count);
    for (uint32_t left = take_of_clock(looks, lines[i], clock); left; left &= left - 1)
      agents[taken++] = lines[i] * LOOK_AGENTS + (uint32_t)__builtin_ctz(left);
  }
  return taken;
}

uint32_t looks_take(struct looks *looks, uint32_t first, uint32_t end, uint32_t *agents) {
  uint32_t count = 0;
  for (uint32_t left = looks->clocks; left; left &= left - 1)
    count += take_by_clock(looks, first, end, (uint32_t)__builtin_ctz(left), agents + count);
  return count;
}

/* Takes those slots of a line that are of some bands. */
static uint32_t take_of_bands(struct looks *looks, uint32_t line, uint32_t bands) {
  uint16_t *slots = looks_slots_of(looks, line), any = 0;
  uint32_t taken = 0, clocks = 0;
  for (uint32_t left = bands; left; left &= left - 1) {
    uint32_t clock = 2u * (uint32_t)__builtin_ctz(left);
    any |= *looks_first_of(looks, clock, line) | *looks_first_of(looks, clock + 1, line);
    *looks_first_of(looks, clock, line) = *looks_first_of(looks, clock + 1, line) = 0;
    clocks |= 3u << clock;
  }
  for (uint32_t i = 0; any && i < LOOK_AGENTS; i++) {
    if (!(clocks << 1 >> (slots[i] >> LOOK_NUMBER_BITS) & 1)) continue;
    taken |= 1u << i;
    slots[i] = 0;
  }
  return taken;
}

uint32_t looks_sweep(struct looks *looks, uint32_t *agents) {
  uint32_t lines = looks_lines(looks), end = looks->sweep_line + lines / LOOK_SWEEP_FRAMES + 1, count = 0;
  for (; looks->swept && looks->sweep_line < end && looks->sweep_line < lines; looks->sweep_line++)
    for (uint32_t left = take_of_bands(looks, looks->sweep_line, looks->swept); left; left &= left - 1)
      agents[count++] = looks->sweep_line * LOOK_AGENTS + (uint32_t)__builtin_ctz(left);
  return count;
}

uint64_t looks_bytes(const struct looks *looks, uint32_t agents) {
  uint64_t clocks = (uint64_t)__builtin_popcount(looks->clocks), lines = (agents + LOOK_AGENTS - 1) / LOOK_AGENTS;
  uint64_t passed = lines * sizeof(uint32_t), slots = lines * LOOK_AGENTS, firsts = lines * clocks;
  return looks->map.count * sizeof(look_shard) + (slots + firsts) * sizeof(uint16_t) + passed;
}
