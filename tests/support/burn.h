/* tests/support/burn.h - CPU time that a test spends on purpose: as much as it says, whatever else the machine does. */
#ifndef BURN_H
#define BURN_H

#include <stdint.h>
#include <time.h>

static inline uint64_t cpu_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Of the calling thread. */
static inline uint64_t own_ns(void) {
  return cpu_of(CLOCK_THREAD_CPUTIME_ID);
}

/* The calling thread computes for so long. */
static inline void burn(uint64_t ns) {
  uint64_t end_ns = own_ns() + ns;
  while (own_ns() < end_ns) continue;
}

/* It computes for so many turns, whatever they take. */
static inline void spend(uint32_t turns) {
  for (volatile uint32_t i = 0; i < turns; i++) continue;
}

#endif
