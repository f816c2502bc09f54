/* pool/atomics.h of the explorer - the names and meanings of src/pool/atomics.h, each operation a point of choice.
 *
 * One thread runs everything, so the operations themselves are plain. They are macros, so that a trace can name the
 * place and the operand. A name that the product's header has and this one lacks does not compile, and is to be added
 * here. */
#ifndef POOL_ATOMICS_H
#define POOL_ATOMICS_H

#include "explorer.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct shared_u8 {
  uint8_t value;
} shared_u8;

typedef struct shared_u32 {
  uint32_t value;
} shared_u32;

typedef struct shared_u64 {
  uint64_t value;
} shared_u64;

#define EXPLORE_SITE(operation, operand, bytes)                                                                        \
  __extension__({                                                                                                      \
    static const explore_site here = {__FILE__, __func__, operation, operand, __LINE__, bytes};                        \
    &here;                                                                                                             \
  })

/* A weak compare-and-swap may fail although the value is the expected one. */
static inline bool explore_is_spurious(void) {
  return --explore_now.until_spurious == 0;
}

#define EXPLORE_DEFINE(width)                                                                                          \
  static inline uint##width##_t explore_load_##width(const explore_site *site, const shared_u##width *shared) {        \
    explore_before(site, shared);                                                                                      \
    return shared->value;                                                                                              \
  }                                                                                                                    \
  static inline void explore_store_##width(const explore_site *site, shared_u##width *shared, uint##width##_t value) { \
    explore_before(site, shared);                                                                                      \
    shared->value = value;                                                                                             \
    explore_after();                                                                                                   \
  }                                                                                                                    \
  static inline uint##width##_t explore_swap_##width(const explore_site *site, shared_u##width *shared,                \
                                                     uint##width##_t value) {                                          \
    explore_before(site, shared);                                                                                      \
    uint##width##_t seen = shared->value;                                                                              \
    shared->value = value;                                                                                             \
    explore_after();                                                                                                   \
    return seen;                                                                                                       \
  }                                                                                                                    \
  static inline uint##width##_t explore_or_##width(const explore_site *site, shared_u##width *shared,                  \
                                                   uint##width##_t value) {                                            \
    explore_before(site, shared);                                                                                      \
    uint##width##_t seen = shared->value;                                                                              \
    shared->value = seen | value;                                                                                      \
    explore_after();                                                                                                   \
    return seen;                                                                                                       \
  }                                                                                                                    \
  static inline uint##width##_t explore_and_##width(const explore_site *site, shared_u##width *shared,                 \
                                                    uint##width##_t value) {                                           \
    explore_before(site, shared);                                                                                      \
    uint##width##_t seen = shared->value;                                                                              \
    shared->value = seen & value;                                                                                      \
    explore_after();                                                                                                   \
    return seen;                                                                                                       \
  }                                                                                                                    \
  static inline uint##width##_t explore_add_##width(const explore_site *site, shared_u##width *shared,                 \
                                                    uint##width##_t value) {                                           \
    explore_before(site, shared);                                                                                      \
    uint##width##_t seen = shared->value;                                                                              \
    shared->value = (uint##width##_t)(seen + value);                                                                   \
    explore_after();                                                                                                   \
    return seen;                                                                                                       \
  }                                                                                                                    \
  static inline bool explore_compare_##width(const explore_site *site, bool weak, shared_u##width *shared,             \
                                             uint##width##_t *expected, uint##width##_t desired) {                     \
    explore_before(site, shared);                                                                                      \
    if (shared->value != *expected || (weak && explore_is_spurious())) {                                               \
      *expected = shared->value;                                                                                       \
      return false;                                                                                                    \
    }                                                                                                                  \
    shared->value = desired;                                                                                           \
    explore_after();                                                                                                   \
    return true;                                                                                                       \
  }

EXPLORE_DEFINE(8)
EXPLORE_DEFINE(32)
EXPLORE_DEFINE(64)

#define load_relaxed_u8(s)  explore_load_8(EXPLORE_SITE("load_relaxed_u8", #s, 1), s)
#define load_acquire_u8(s)  explore_load_8(EXPLORE_SITE("load_acquire_u8", #s, 1), s)
#define load_ordered_u8(s)  explore_load_8(EXPLORE_SITE("load_ordered_u8", #s, 1), s)
#define load_relaxed_u32(s) explore_load_32(EXPLORE_SITE("load_relaxed_u32", #s, 4), s)
#define load_acquire_u32(s) explore_load_32(EXPLORE_SITE("load_acquire_u32", #s, 4), s)
#define load_ordered_u32(s) explore_load_32(EXPLORE_SITE("load_ordered_u32", #s, 4), s)
#define load_relaxed_u64(s) explore_load_64(EXPLORE_SITE("load_relaxed_u64", #s, 8), s)
#define load_acquire_u64(s) explore_load_64(EXPLORE_SITE("load_acquire_u64", #s, 8), s)
#define load_ordered_u64(s) explore_load_64(EXPLORE_SITE("load_ordered_u64", #s, 8), s)

#define store_relaxed_u32(s, value) explore_store_32(EXPLORE_SITE("store_relaxed_u32", #s, 4), s, value)
#define store_release_u32(s, value) explore_store_32(EXPLORE_SITE("store_release_u32", #s, 4), s, value)
#define store_ordered_u32(s, value) explore_store_32(EXPLORE_SITE("store_ordered_u32", #s, 4), s, value)
#define store_relaxed_u64(s, value) explore_store_64(EXPLORE_SITE("store_relaxed_u64", #s, 8), s, value)
#define store_release_u64(s, value) explore_store_64(EXPLORE_SITE("store_release_u64", #s, 8), s, value)
#define store_ordered_u64(s, value) explore_store_64(EXPLORE_SITE("store_ordered_u64", #s, 8), s, value)

#define exchange_ordered_u8(s, value)  explore_swap_8(EXPLORE_SITE("exchange_ordered_u8", #s, 1), s, value)
#define exchange_ordered_u64(s, value) explore_swap_64(EXPLORE_SITE("exchange_ordered_u64", #s, 8), s, value)
#define exchange_acquire_u32(s, value) explore_swap_32(EXPLORE_SITE("exchange_acquire_u32", #s, 4), s, value)

#define fetch_or_ordered_u32(s, bits)  explore_or_32(EXPLORE_SITE("fetch_or_ordered_u32", #s, 4), s, bits)
#define fetch_or_ordered_u64(s, bits)  explore_or_64(EXPLORE_SITE("fetch_or_ordered_u64", #s, 8), s, bits)
#define fetch_and_ordered_u32(s, bits) explore_and_32(EXPLORE_SITE("fetch_and_ordered_u32", #s, 4), s, bits)
#define fetch_and_ordered_u64(s, bits) explore_and_64(EXPLORE_SITE("fetch_and_ordered_u64", #s, 8), s, bits)
#define fetch_and_acquire_u64(s, bits) explore_and_64(EXPLORE_SITE("fetch_and_acquire_u64", #s, 8), s, bits)

#define fetch_add_relaxed_u32(s, value) explore_add_32(EXPLORE_SITE("fetch_add_relaxed_u32", #s, 4), s, value)
#define fetch_add_ordered_u32(s, value) explore_add_32(EXPLORE_SITE("fetch_add_ordered_u32", #s, 4), s, value)
#define fetch_sub_ordered_u32(s, value)                                                                                \
  explore_add_32(EXPLORE_SITE("fetch_sub_ordered_u32", #s, 4), s, -(uint32_t)(value))
#define fetch_add_relaxed_u64(s, value) explore_add_64(EXPLORE_SITE("fetch_add_relaxed_u64", #s, 8), s, value)
#define fetch_sub_relaxed_u32(s, value)                                                                                \
  explore_add_32(EXPLORE_SITE("fetch_sub_relaxed_u32", #s, 4), s, -(uint32_t)(value))
#define fetch_add_release_u64(s, value) explore_add_64(EXPLORE_SITE("fetch_add_release_u64", #s, 8), s, value)
#define fetch_sub_release_u64(s, value)                                                                                \
  explore_add_64(EXPLORE_SITE("fetch_sub_release_u64", #s, 8), s, -(uint64_t)(value))

#define compare_exchange_ordered_u8(s, expected, desired)                                                              \
  explore_compare_8(EXPLORE_SITE("compare_exchange_ordered_u8", #s, 1), false, s, expected, desired)
#define compare_exchange_ordered_u32(s, expected, desired)                                                             \
  explore_compare_32(EXPLORE_SITE("compare_exchange_ordered_u32", #s, 4), false, s, expected, desired)
#define compare_exchange_relaxed_u32(s, expected, desired)                                                             \
  explore_compare_32(EXPLORE_SITE("compare_exchange_relaxed_u32", #s, 4), true, s, expected, desired)
#define compare_exchange_ordered_u64(s, expected, desired)                                                             \
  explore_compare_64(EXPLORE_SITE("compare_exchange_ordered_u64", #s, 8), false, s, expected, desired)
#define compare_exchange_relaxed_u64(s, expected, desired)                                                             \
  explore_compare_64(EXPLORE_SITE("compare_exchange_relaxed_u64", #s, 8), true, s, expected, desired)
#define compare_exchange_acquire_u64(s, expected, desired)                                                             \
  explore_compare_64(EXPLORE_SITE("compare_exchange_acquire_u64", #s, 8), true, s, expected, desired)

static inline void pause_processor(void) {
  explore_pause();
}

#endif
