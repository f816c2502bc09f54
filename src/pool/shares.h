/* pool/shares.h - a few shares of some work, each taken once, by preference by whoever it belongs to. What a taker
 * does is seen by others after the crew has left, so nothing else is ordered here. */
#ifndef POOL_SHARES_H
#define POOL_SHARES_H

#include "pool/atomics.h"

enum { SHARES_MAX = 32, SHARE_NONE = SHARES_MAX };

typedef struct shares {
  shared_u32 left; /* a bit for each that nobody has taken */
} shares;

/* Opens `count` shares, at most SHARES_MAX - 1. Before the crew comes. */
static inline void shares_open(shares *shares, uint32_t count) {
  store_relaxed_u32(&shares->left, (1u << count) - 1u);
}

/* The share `own` when nobody has it, else any; SHARE_NONE when none is left. */
static inline uint32_t shares_take(shares *shares, uint32_t own) {
  uint32_t left;
  while ((left = load_relaxed_u32(&shares->left))) {
    uint32_t share = left >> own & 1u ? own : (uint32_t)__builtin_ctz(left);
    if (fetch_and_ordered_u32(&shares->left, ~(1u << share)) >> share & 1u) return share;
  }
  return SHARE_NONE;
}

#endif
