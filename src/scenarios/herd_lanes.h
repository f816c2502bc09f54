/* scenarios/herd_lanes.h - eight floats at a time: the operations in which the vectorised forms of the herd scenario
 * are written.
 *
 * Operators work lane by lane and in the order written, whatever the width of the machine's vectors, so results do not
 * depend on that width. Vectors are passed by pointer: by value their place would depend on the instruction set.
 *
 * A file that defines HERD_ONE before it includes this header has one lane, which is a plain number. So what is written
 * with these operations alone is written once for one body at a time and for eight. */
#ifndef SCENARIOS_HERD_LANES_H
#define SCENARIOS_HERD_LANES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define HERD_LANES 8u

#define HERD_INLINE static inline __attribute__((always_inline))

/* A function compiled twice, for wide vectors and for any machine. The sanitizers cannot follow how one is chosen, and
 * clang 14 gives such a function a name by which other files do not find it. */
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HERD_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define HERD_CLONES
#endif

#ifdef HERD_ONE

typedef float herd_floats;
typedef int32_t herd_ints; /* of comparisons: 1 where true, else 0 */
typedef uint32_t herd_words;

static const herd_words herd_numbers = 0;
#define HERD_WIDTH                 1u
#define HERD_CONVERT(number, type) ((type)(number))

/* Writes `value` to *to where the condition holds. */
HERD_INLINE void herd_where(const herd_ints *condition, const herd_floats *value, herd_floats *to) {
  if (*condition) *to = *value;
}

/* Adds 1 where the condition holds. */
HERD_INLINE void herd_count(const herd_ints *condition, herd_ints *times) {
  *times += *condition;
}

/* False when the condition holds in no lane, so that what follows need not be computed. Several lanes do not look. */
HERD_INLINE bool herd_possible(const herd_ints *condition) {
  return *condition;
}

HERD_INLINE void herd_root(herd_floats *value) {
  *value = sqrtf(*value);
}

/* The absolute value of each lane. */
HERD_INLINE void herd_magnitude(herd_floats *value) {
  *value = fabsf(*value);
}

#else

typedef float herd_floats __attribute__((vector_size(32)));
typedef int32_t herd_ints __attribute__((vector_size(32))); /* of comparisons: -1 where true, else 0 */
typedef uint32_t herd_words __attribute__((vector_size(32)));
typedef uint16_t herd_halves __attribute__((vector_size(16)));

static const herd_words herd_numbers = {0, 1, 2, 3, 4, 5, 6, 7};
#define HERD_WIDTH                HERD_LANES
#define HERD_CONVERT(lanes, type) __builtin_convertvector(lanes, type)

HERD_INLINE void herd_where(const herd_ints *condition, const herd_floats *value, herd_floats *to) {
  *to = (herd_floats)(((herd_ints)*value & *condition) | ((herd_ints)*to & ~*condition));
}

HERD_INLINE void herd_count(const herd_ints *condition, herd_ints *times) {
  *times -= *condition;
}

HERD_INLINE bool herd_possible(const herd_ints *condition) {
  (void)condition;
  return true;
}

HERD_INLINE void herd_root(herd_floats *value) {
  for (uint32_t i = 0; i < HERD_LANES; i++) (*value)[i] = sqrtf((*value)[i]);
}

HERD_INLINE void herd_magnitude(herd_floats *value) {
  *value = (herd_floats)((herd_ints)*value & 0x7fffffff);
}

#endif

/* The same memory as lanes; aligned to 32 bytes. */
HERD_INLINE const herd_floats *herd_lanes(const float *at) {
  return (const herd_floats *)(const void *)at;
}
HERD_INLINE herd_floats *herd_lanes_to(float *at) {
  return (herd_floats *)(void *)at;
}

/* Random numbers of 32 bits: a bijection in which every bit reaches every bit (Wellons' lowbias32). */
HERD_INLINE void herd_mix_lanes(herd_words *value) {
  herd_words mixed = *value;
  mixed ^= mixed >> 16;
  mixed *= 0x7feb352du;
  mixed ^= mixed >> 15;
  mixed *= 0x846ca68bu;
  *value = mixed ^ (mixed >> 16);
}

/* The lower and the upper half of random numbers as shares, 0 <= share < 1. */
HERD_INLINE void herd_lower_share_lanes(const herd_words *random, herd_floats *share) {
  *share = HERD_CONVERT((herd_ints)(*random & 0xffffu), herd_floats) * 0x1p-16f;
}
HERD_INLINE void herd_upper_share_lanes(const herd_words *random, herd_floats *share) {
  *share = HERD_CONVERT((herd_ints)(*random >> 16), herd_floats) * 0x1p-16f;
}

/* Finer shares, of 24 bits. */
HERD_INLINE void herd_share_lanes(const herd_words *random, herd_floats *share) {
  *share = HERD_CONVERT((herd_ints)(*random >> 8), herd_floats) * 0x1p-24f;
}

/* A direction from a share 0..1 of a full turn, by parabolas: its length is 1 to within a thousandth. */
HERD_INLINE void herd_sine_lanes(herd_floats *half_turns) { /* -1 .. 1 */
  herd_floats arch = *half_turns, size = arch;
  herd_magnitude(&size);
  arch = 4.0f * arch * (1.0f - size);
  size = arch;
  herd_magnitude(&size);
  *half_turns = arch + 0.224f * (arch * size - arch);
}
HERD_INLINE void herd_direction_lanes(const herd_floats *share, herd_floats *x, herd_floats *y) {
  *y = 2.0f * *share - 1.0f;
  *x = *y + 0.5f;
  herd_floats wrapped = *x - 2.0f;
  herd_ints beyond = *x > 1.0f;
  herd_where(&beyond, &wrapped, x);
  herd_sine_lanes(x);
  herd_sine_lanes(y);
}

/* The same of one number, whatever the lanes. Any thread. */
uint32_t herd_mix(uint32_t value);
float herd_lower_share(uint32_t random);
float herd_upper_share(uint32_t random);
void herd_direction(float share, float *x, float *y);

#endif
