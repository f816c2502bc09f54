/* pool/idle.h - a set of worker indices that sleep, or are about to: those that can be woken, one at a time.
 *
 *   sleeper: draw a parking ticket  ->  enter the set (ordered)  ->  look for work once more (ordered)  ->  wait
 *   waker:   publish the work (ordered)  ->  take an index out of the set (ordered)  ->  wake exactly that one
 *
 * Either the waker sees the sleeper in the set, or the sleeper's last look sees the work. A waker that takes an index
 * out must wake it; a sleeper that found work leaves by itself, and a wake that it still gets then is harmless. */
#ifndef POOL_IDLE_H
#define POOL_IDLE_H

#include "pool/atomics.h"

enum { IDLE_WORDS = 6, IDLE_MAX = IDLE_WORDS * 64 };
#define IDLE_NONE UINT32_MAX

typedef struct idle_set {
  _Alignas(64) shared_u64 words[IDLE_WORDS];
} idle_set;

static inline void idle_enter(idle_set *set, uint32_t index) {
  fetch_or_ordered_u64(&set->words[index / 64], 1ull << (index % 64));
}

static inline void idle_leave(idle_set *set, uint32_t index) {
  uint64_t bit = 1ull << (index % 64);
  if (load_relaxed_u64(&set->words[index / 64]) & bit) fetch_and_ordered_u64(&set->words[index / 64], ~bit);
}

/* Takes one index out; false when it was not in. */
static inline bool idle_take_one(idle_set *set, uint32_t index) {
  uint64_t bit = 1ull << (index % 64);
  return fetch_and_ordered_u64(&set->words[index / 64], ~bit) & bit;
}

/* Takes the lowest index below `count` out; IDLE_NONE when the set is empty. */
static inline uint32_t idle_take(idle_set *set, uint32_t count) {
  for (uint32_t word = 0; word * 64 < count; word++) {
    uint64_t bits = load_ordered_u64(&set->words[word]);
    for (; bits; bits &= bits - 1) {
      uint64_t bit = bits & -bits;
      if (fetch_and_ordered_u64(&set->words[word], ~bit) & bit) return word * 64 + (uint32_t)__builtin_ctzll(bit);
    }
  }
  return IDLE_NONE;
}

#endif
