/* pool/allotment.h - a lot of numbers that any worker takes from while a frame runs. Only the numbers matter: what a
 * number stands for belongs to whoever got it, and is read by others after the crew has left. So everything is relaxed.
 */
#ifndef POOL_ALLOTMENT_H
#define POOL_ALLOTMENT_H

#include "pool/atomics.h"

typedef struct allotment {
  shared_u32 taken;
} allotment;

/* Begins anew. Nobody else may be taking. */
static inline void allotment_reset(allotment *allotment) {
  store_relaxed_u32(&allotment->taken, 0);
}

/* How many were taken so far. */
static inline uint32_t allotment_taken(const allotment *allotment) {
  return load_relaxed_u32(&allotment->taken);
}

/* Takes up to `wanted` of the numbers below `lot`; returns the first, and in *given how many. Any thread. */
static inline uint32_t allotment_take(allotment *allotment, uint32_t lot, uint32_t wanted, uint32_t *given) {
  uint32_t first = load_relaxed_u32(&allotment->taken);
  do {
    *given = wanted < lot - first ? wanted : lot - first;
  } while (!compare_exchange_relaxed_u32(&allotment->taken, &first, first + *given));
  return first;
}

#endif
