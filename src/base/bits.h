/* bits.h - bitmaps: one bit for each number, in words of 64. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* How many words have room for `count` bits. */
static inline uint32_t bits_words(uint32_t count) {
  return (count + 63) / 64;
}

/* Whether a bit is set; and setting or clearing it. */
static inline bool bits_has(const uint64_t *bits, uint32_t number) {
  return bits[number / 64] >> (number % 64) & 1;
}

static inline void bits_set(uint64_t *bits, uint32_t number) {
  bits[number / 64] |= 1ull << (number % 64);
}

static inline void bits_clear(uint64_t *bits, uint32_t number) {
  bits[number / 64] &= ~(1ull << (number % 64));
}

/* The first set bit from `from` on in `words` words; UINT32_MAX when there is none. `from` is in one of them. */
static inline uint32_t bits_next(const uint64_t *bits, uint32_t words, uint32_t from) {
  uint32_t word = from / 64;
  uint64_t left = bits[word] & (UINT64_MAX << (from % 64));
  while (!left) {
    if (++word >= words) return UINT32_MAX;
    left = bits[word];
  }
  return word * 64 + (uint32_t)__builtin_ctzll(left);
}

#endif
