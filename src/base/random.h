/* base/random.h - counter-based random numbers: a number is a pure function of its purpose (the keys), so no order of
 * execution can change it. The mixer is the public one, muster/random.h. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <muster/random.h>

/* The random number at `counter` of the stream that `seed` and the two keys name. */
static inline uint64_t random_at(uint64_t seed, uint64_t key, uint64_t subkey, uint64_t counter) {
  uint64_t value = muster_random_mix(seed + 0x9e3779b97f4a7c15u);
  value = muster_random_mix(value + key * 0x9e3779b97f4a7c15u);
  value = muster_random_mix(value + subkey * 0xd1b54a32d192ed03u);
  return muster_random_mix(value + counter * 0x9e3779b97f4a7c15u);
}

#endif
