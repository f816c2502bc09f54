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

typedef struct shared_u8 {
  _Atomic uint8_t value;
} shared_u8;

typedef struct shared_u16 {
  _Atomic uint16_t value;
} shared_u16;

typedef struct shared_u32 {
  _Atomic uint32_t value;
} shared_u32;

typedef struct shared_u64 {
  _Atomic uint64_t value;
} shared_u64;

static inline uint8_t load_relaxed_u8(const shared_u8 *shared) {
  return atomic_load_explicit(&shared->value, memory_order_relaxed);
}
static inline uint8_t exchange_ordered_u8(shared_u8 *shared, uint8_t value) {
  return atomic_exchange_explicit(&shared->value, value, memory_order_seq_cst);
}
static inline bool compare_exchange_ordered_u8(shared_u8 *shared, uint8_t *expected, uint8_t desired) {
  return atomic_compare_exchange_strong_explicit(&shared->value, expected, desired, memory_order_seq_cst,
                                                 memory_order_seq_cst);
}

static inline uint16_t load_relaxed_u16(const shared_u16 *shared) {
  return atomic_load_explicit(&shared->value, memory_order_relaxed);
}
static inline void store_relaxed_u16(shared_u16 *shared, uint16_t value) {
  atomic_store_explicit(&shared->value, value, memory_order_relaxed);
}

static inline uint32_t load_relaxed_u32(const shared_u32 *shared) {
  return atomic_load_explicit(&shared->value, memory_order_relaxed);
}
static inline uint32_t load_acquire_u32(const shared_u32 *shared) {
  return atomic_load_explicit(&shared->value, memory_order_acquire);
}
static inline void store_release_u32(shared_u32 *shared, uint32_t value) {
  atomic_store_explicit(&shared->value, value, memory_order_release);
}
static inline void store_relaxed_u32(shared_u32 *shared, uint32_t value) {
  atomic_store_explicit(&shared->value, value, memory_order_relaxed);
}
static inline uint32_t exchange_acquire_u32(shared_u32 *shared, uint32_t value) {
  return atomic_exchange_explicit(&shared->value, value, memory_order_acquire);
}
static inline uint32_t fetch_or_ordered_u32(shared_u32 *shared, uint32_t bits) {
  return atomic_fetch_or_explicit(&shared->value, bits, memory_order_seq_cst);
}
static inline uint32_t fetch_add_relaxed_u32(shared_u32 *shared, uint32_t value) {
  return atomic_fetch_add_explicit(&shared->value, value, memory_order_relaxed);
}
static inline uint32_t fetch_sub_relaxed_u32(shared_u32 *shared, uint32_t value) {
  return atomic_fetch_sub_explicit(&shared->value, value, memory_order_relaxed);
}
static inline uint32_t fetch_and_ordered_u32(shared_u32 *shared, uint32_t bits) {
  return atomic_fetch_and_explicit(&shared->value, bits, memory_order_seq_cst);
}
static inline uint32_t load_ordered_u32(const shared_u32 *shared) {
  return atomic_load_explicit(&shared->value, memory_order_seq_cst);
}
static inline void store_ordered_u32(shared_u32 *shared, uint32_t value) {
  atomic_store_explicit(&shared->value, value, memory_order_seq_cst);
}
static inline bool compare_exchange_ordered_u32(shared_u32 *shared, uint32_t *expected, uint32_t desired) {
  return atomic_compare_exchange_strong_explicit(&shared->value, expected, desired, memory_order_seq_cst,
                                                 memory_order_seq_cst);
}
/* On failure *expected holds what was seen (relaxed). */
static inline bool compare_exchange_relaxed_u32(shared_u32 *shared, uint32_t *expected, uint32_t desired) {
  return atomic_compare_exchange_weak_explicit(&shared->value, expected, desired, memory_order_relaxed,
                                               memory_order_relaxed);
}

static inline uint64_t load_relaxed_u64(const shared_u64 *shared) {
  return atomic_load_explicit(&shared->value, memory_order_relaxed);
}
static inline uint64_t load_acquire_u64(const shared_u64 *shared) {
  return atomic_load_explicit(&shared->value, memory_order_acquire);
}
static inline void store_release_u64(shared_u64 *shared, uint64_t value) {
  atomic_store_explicit(&shared->value, value, memory_order_release);
}
static inline void store_relaxed_u64(shared_u64 *shared, uint64_t value) {
  atomic_store_explicit(&shared->value, value, memory_order_relaxed);
}
static inline uint64_t fetch_add_relaxed_u64(shared_u64 *shared, uint64_t value) {
  return atomic_fetch_add_explicit(&shared->value, value, memory_order_relaxed);
}
static inline uint64_t fetch_sub_release_u64(shared_u64 *shared, uint64_t value) {
  return atomic_fetch_sub_explicit(&shared->value, value, memory_order_release);
}
static inline bool compare_exchange_relaxed_u64(shared_u64 *shared, uint64_t *expected, uint64_t desired) {
  return atomic_compare_exchange_weak_explicit(&shared->value, expected, desired, memory_order_relaxed,
                                               memory_order_relaxed);
}

static inline uint64_t load_ordered_u64(const shared_u64 *shared) {
  return atomic_load_explicit(&shared->value, memory_order_seq_cst);
}
static inline void store_ordered_u64(shared_u64 *shared, uint64_t value) {
  atomic_store_explicit(&shared->value, value, memory_order_seq_cst);
}
static inline uint64_t fetch_or_ordered_u64(shared_u64 *shared, uint64_t bits) {
  return atomic_fetch_or_explicit(&shared->value, bits, memory_order_seq_cst);
}
static inline uint64_t fetch_and_ordered_u64(shared_u64 *shared, uint64_t bits) {
  return atomic_fetch_and_explicit(&shared->value, bits, memory_order_seq_cst);
}
static inline bool compare_exchange_ordered_u64(shared_u64 *shared, uint64_t *expected, uint64_t desired) {
  return atomic_compare_exchange_strong_explicit(&shared->value, expected, desired, memory_order_seq_cst,
                                                 memory_order_seq_cst);
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
