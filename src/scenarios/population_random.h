/* scenarios/population_random.h - reproducible random numbers for the module's own choices, outside updates. */
#ifndef SCENARIOS_POPULATION_RANDOM_H
#define SCENARIOS_POPULATION_RANDOM_H

#include <stdint.h>

/* Scatters every bit of a number over all bits of the result (the finaliser of splitmix64). */
static inline uint64_t population_mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

/* The top bits of a scattered number as a share, 0 <= share < 1. */
static inline float population_share(uint64_t scattered) {
  return (float)(scattered >> 40) * 0x1p-24f;
}

#endif
