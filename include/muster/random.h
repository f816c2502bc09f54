/* muster/random.h - random numbers as pure functions: what is drawn depends on what it is drawn for alone, so no order
 * of execution can change it. The library itself, the scenarios and the tools draw by this mixer; an update draws its
 * own numbers by muster_update_random() (muster/update.h). */
#ifndef MUSTER_RANDOM_H
#define MUSTER_RANDOM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The finaliser of SplitMix64 (Steele, Lea & Flood 2014): a bijection of 64 bits in which every input bit reaches every
 * output bit. Any thread. */
static inline uint64_t muster_random_mix(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

/* The upper 24 bits of a mixed number as a share: 0 <= share < 1. Any thread. */
static inline float muster_random_share(uint64_t mixed) {
  return (float)(mixed >> 40) * (1.0f / 16777216.0f);
}

#ifdef __cplusplus
}
#endif

#endif
