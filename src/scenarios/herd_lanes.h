/* scenarios/herd_lanes.h - eight floats at a time: the operations in which the vectorised forms of the herd scenario
 * are written.
 *
 * Operators work lane by lane and in the order written, whatever the width of the machine's vectors, so results do not
 * depend on that width. Vectors are passed by pointer: by value their place would depend on the instruction set. */
#ifndef SCENARIOS_HERD_LANES_H
#define SCENARIOS_HERD_LANES_H

#include <math.h>
#include <stdint.h>

#define HERD_LANES 8u

typedef float herd_floats __attribute__((vector_size(32)));
typedef int32_t herd_ints __attribute__((vector_size(32))); /* of comparisons: -1 where true, else 0 */
typedef uint32_t herd_words __attribute__((vector_size(32)));
typedef uint16_t herd_halves __attribute__((vector_size(16)));

#define HERD_INLINE static inline __attribute__((always_inline))

/* A function compiled twice, for wide vectors and for any machine. The sanitizers cannot follow how one is chosen, and
 * clang 14 gives such a function a name by which other files do not find it. */
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HERD_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define HERD_CLONES
#endif

/* The same memory as lanes; aligned to 32 bytes. */
HERD_INLINE const herd_floats *herd_lanes(const float *at) {
  return (const herd_floats *)(const void *)at;
}
HERD_INLINE herd_floats *herd_lanes_to(float *at) {
  return (herd_floats *)(void *)at;
}

/* Writes `value` to *to where the condition holds. */
HERD_INLINE void herd_where(const herd_ints *condition, const herd_floats *value, herd_floats *to) {
  *to = (herd_floats)(((herd_ints)*value & *condition) | ((herd_ints)*to & ~*condition));
}

HERD_INLINE void herd_root(herd_floats *value) {
  for (uint32_t i = 0; i < HERD_LANES; i++) (*value)[i] = sqrtf((*value)[i]);
}

/* The absolute value of each lane. */
HERD_INLINE void herd_magnitude(herd_floats *value) {
  *value = (herd_floats)((herd_ints)*value & 0x7fffffff);
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
static inline uint32_t herd_mix(uint32_t value) {
  value ^= value >> 16;
  value *= 0x7feb352du;
  value ^= value >> 15;
  value *= 0x846ca68bu;
  return value ^ (value >> 16);
}

/* The lower and the upper half of random numbers as shares, 0 <= share < 1. */
HERD_INLINE void herd_lower_share_lanes(const herd_words *random, herd_floats *share) {
  *share = __builtin_convertvector((herd_ints)(*random & 0xffffu), herd_floats) * 0x1p-16f;
}
HERD_INLINE void herd_upper_share_lanes(const herd_words *random, herd_floats *share) {
  *share = __builtin_convertvector((herd_ints)(*random >> 16), herd_floats) * 0x1p-16f;
}
static inline float herd_lower_share(uint32_t random) {
  return (float)(random & 0xffffu) * 0x1p-16f;
}
static inline float herd_upper_share(uint32_t random) {
  return (float)(random >> 16) * 0x1p-16f;
}

/* Finer shares, of 24 bits. */
HERD_INLINE void herd_share_lanes(const herd_words *random, herd_floats *share) {
  *share = __builtin_convertvector((herd_ints)(*random >> 8), herd_floats) * 0x1p-24f;
}

/* A direction from a share 0..1 of a full turn, by parabolas: its length is 1 to within a thousandth. */
static inline float herd_sine(float half_turns) { /* -1 .. 1 */
  float arch = 4.0f * half_turns * (1.0f - fabsf(half_turns));
  return arch + 0.224f * (arch * fabsf(arch) - arch);
}
static inline void herd_direction(float share, float *x, float *y) {
  float turn = 2.0f * share - 1.0f, ahead = turn + 0.5f;
  if (ahead > 1.0f) ahead -= 2.0f;
  *x = herd_sine(ahead);
  *y = herd_sine(turn);
}
HERD_INLINE void herd_sine_lanes(herd_floats *half_turns) {
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

#endif
