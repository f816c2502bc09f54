/* base/sound.h - shared by the predicates that check whole structures: whether they are sound, and if not, what is
 * wrong first, in words. They only read, allocate nothing and are for debug frames, fuzz targets and tests. */
#ifndef BASE_SOUND_H
#define BASE_SOUND_H

#include "base/random.h"

#include <stdbool.h>

typedef struct soundness {
  bool broken;
  char trouble[224]; /* when broken: the first thing that is wrong */
} soundness;

/* Notes what is wrong, printf-style, unless something was noted before. Returns false. */
bool soundness_note(soundness *found, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline bool soundness_holds(void) {
  return true;
}

/* Whether a condition holds; if not, notes the trouble with the words that follow. */
#define SOUND(found, condition, ...) ((condition) ? soundness_holds() : soundness_note(found, __VA_ARGS__))

/* Whether a number that was seen is the one that is told; both stand behind the words and their values. */
#define SOUND_EQUAL(found, seen, told, ...) SOUND(found, (seen) == (told), __VA_ARGS__, seen, told)

/* Numbers as a multiset: two equal tallies hold the same numbers equally often, except in one case in 2^64. */
struct tally {
  uint64_t count, sum;
};

static inline void tally_add_times(struct tally *tally, uint64_t number, uint64_t times) {
  tally->count += times;
  tally->sum += muster_random_mix(number + 0x9e3779b97f4a7c15u) * times;
}

static inline void tally_add(struct tally *tally, uint64_t number) {
  tally_add_times(tally, number, 1);
}

static inline bool tally_equals(const struct tally *one, const struct tally *other) {
  return one->count == other->count && one->sum == other->sum;
}

/* How many bits are set. */
static inline uint32_t sound_bits(const uint64_t *bits, uint32_t words) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < words; i++) count += (uint32_t)__builtin_popcountll(bits[i]);
  return count;
}

#endif
