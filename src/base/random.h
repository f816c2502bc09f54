/* base/random.h - counter-based random numbers: a number is a pure function of its purpose (the keys), so no order of
 * execution can change it. The mixer is the finaliser of SplitMix64 (Steele, Lea & Flood 2014). */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

/* A bijection of 64 bits in which every input bit reaches every output bit. */
static inline uint64_t random_mix(uint64_t value) {
  value ^= value >> 30;
  value *= 0xbf58476d1ce4e5b9u;
  value ^= value >> 27;
  value *= 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

/* The random number at `counter` of the stream that `seed` and the two keys name. */
static inline uint64_t random_at(uint64_t seed, uint64_t key, uint64_t subkey, uint64_t counter) {
  uint64_t value = random_mix(seed + 0x9e3779b97f4a7c15u);
  value = random_mix(value + key * 0x9e3779b97f4a7c15u);
  value = random_mix(value + subkey * 0xd1b54a32d192ed03u);
  return random_mix(value + counter * 0x9e3779b97f4a7c15u);
}

/* A number 0 <= share < 1 from the upper 24 bits. */
static inline float random_share(uint64_t value) {
  return (float)(value >> 40) * 0x1p-24f;
}

#endif
