/* pool/atomics.h - the only way to atomic operations. Each name says its order; each use says what it pairs with.
 *
 * "ordered" operations are sequentially consistent: all threads agree on one order of them, which is what decides
 * between a producer that publishes and then looks for sleepers, and a sleeper that enlists and then looks for work.
 * There are no standalone fences: order is carried by the variables, which is also what ThreadSanitizer understands.
 * The interleaving explorer replaces this header by one in which each operation is a point of choice. */
#ifndef POOL_ATOMICS_H
#define POOL_ATOMICS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The type and the operations that numbers of every width have: shared_u32, load_relaxed_u32() and so on. */
#define SHARED_OF_WIDTH(u, type)                                                                                       \
  typedef struct shared_##u {                                                                                          \
    _Atomic type value;                                                                                                \
  } shared_##u;                                                                                                        \
                                                                                                                       \
  static inline type load_relaxed_##u(const shared_##u *shared) {                                                      \
    return atomic_load_explicit(&shared->value, memory_order_relaxed);                                                 \
  }                                                                                                                    \
  static inline void store_relaxed_##u(shared_##u *shared, type value) {                                               \
    atomic_store_explicit(&shared->value, value, memory_order_relaxed);                                                \
  }                                                                                                                    \
  static inline type load_acquire_##u(const shared_##u *shared) {                                                      \
    return atomic_load_explicit(&shared->value, memory_order_acquire);                                                 \
  }                                                                                                                    \
  static inline void store_release_##u(shared_##u *shared, type value) {                                               \
    atomic_store_explicit(&shared->value, value, memory_order_release);                                                \
  }                                                                                                                    \
  static inline type load_ordered_##u(const shared_##u *shared) {                                                      \
    return atomic_load_explicit(&shared->value, memory_order_seq_cst);                                                 \
  }                                                                                                                    \
  static inline void store_ordered_##u(shared_##u *shared, type value) {                                               \
    atomic_store_explicit(&shared->value, value, memory_order_seq_cst);                                                \
  }                                                                                                                    \
  static inline type fetch_add_relaxed_##u(shared_##u *shared, type value) {                                           \
    return atomic_fetch_add_explicit(&shared->value, value, memory_order_relaxed);                                     \
  }                                                                                                                    \
  static inline type fetch_or_ordered_##u(shared_##u *shared, type bits) {                                             \
    return atomic_fetch_or_explicit(&shared->value, bits, memory_order_seq_cst);                                       \
  }                                                                                                                    \
  static inline type fetch_and_ordered_##u(shared_##u *shared, type bits) {                                            \
    return atomic_fetch_and_explicit(&shared->value, bits, memory_order_seq_cst);                                      \
  }                                                                                                                    \
  static inline bool compare_exchange_ordered_##u(shared_##u *shared, type *expected, type desired) {                  \
    return atomic_compare_exchange_strong_explicit(&shared->value, expected, desired, memory_order_seq_cst,            \
                                                   memory_order_seq_cst);                                              \
  }                                                                                                                    \
  /* On failure *expected holds what was seen (relaxed). */                                                            \
  static inline bool compare_exchange_relaxed_##u(shared_##u *shared, type *expected, type desired) {                  \
    return atomic_compare_exchange_weak_explicit(&shared->value, expected, desired, memory_order_relaxed,              \
                                                 memory_order_relaxed);                                                \
  }

SHARED_OF_WIDTH(u8, uint8_t)
SHARED_OF_WIDTH(u16, uint16_t)
SHARED_OF_WIDTH(u32, uint32_t)
SHARED_OF_WIDTH(u64, uint64_t)

static inline uint8_t exchange_ordered_u8(shared_u8 *shared, uint8_t value) {
  return atomic_exchange_explicit(&shared->value, value, memory_order_seq_cst);
}
static inline uint32_t exchange_acquire_u32(shared_u32 *shared, uint32_t value) {
  return atomic_exchange_explicit(&shared->value, value, memory_order_acquire);
}
static inline uint32_t fetch_sub_relaxed_u32(shared_u32 *shared, uint32_t value) {
  return atomic_fetch_sub_explicit(&shared->value, value, memory_order_relaxed);
}
static inline uint32_t fetch_add_ordered_u32(shared_u32 *shared, uint32_t value) {
  return atomic_fetch_add_explicit(&shared->value, value, memory_order_seq_cst);
}
static inline uint32_t fetch_sub_ordered_u32(shared_u32 *shared, uint32_t value) {
  return atomic_fetch_sub_explicit(&shared->value, value, memory_order_seq_cst);
}
static inline uint64_t fetch_add_release_u64(shared_u64 *shared, uint64_t value) {
  return atomic_fetch_add_explicit(&shared->value, value, memory_order_release);
}
static inline uint64_t fetch_sub_release_u64(shared_u64 *shared, uint64_t value) {
  return atomic_fetch_sub_explicit(&shared->value, value, memory_order_release);
}

/* Tells the processor that this is a waiting loop. */
static inline void pause_processor(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

#endif
