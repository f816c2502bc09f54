/* The functions that gcc calls for -fsanitize=thread, in place of ThreadSanitizer's own: each notes what is touched,
 * and an atomic one does what it says, in sequential order. Their names are the compiler's. */
#include "touched.h"

#include <string.h>

/* Calls are made by the compiler alone, so no header declares them. */
#define HOOK(result, name, ...)                                                                                        \
  result name(__VA_ARGS__);                                                                                            \
  result name(__VA_ARGS__)

HOOK(void, __tsan_init, void) {}

#define ACCESS(name, bytes)                                                                                            \
  HOOK(void, __tsan_##name##bytes, const void *address) {                                                              \
    touched_note(address, bytes);                                                                                      \
  }

ACCESS(read, 1)
ACCESS(read, 2)
ACCESS(read, 4)
ACCESS(read, 8)
ACCESS(read, 16)
ACCESS(write, 1)
ACCESS(write, 2)
ACCESS(write, 4)
ACCESS(write, 8)
ACCESS(write, 16)
ACCESS(unaligned_read, 2)
ACCESS(unaligned_read, 4)
ACCESS(unaligned_read, 8)
ACCESS(unaligned_read, 16)
ACCESS(unaligned_write, 2)
ACCESS(unaligned_write, 4)
ACCESS(unaligned_write, 8)
ACCESS(unaligned_write, 16)

HOOK(void, __tsan_read_range, const void *address, size_t bytes) {
  touched_note(address, bytes);
}

HOOK(void, __tsan_write_range, const void *address, size_t bytes) {
  touched_note(address, bytes);
}

#define FETCH(bits, name)                                                                                              \
  HOOK(uint##bits##_t, __tsan_atomic##bits##_fetch_##name, volatile uint##bits##_t *address, uint##bits##_t value,     \
       int order) {                                                                                                    \
    (void)order;                                                                                                       \
    touched_note(address, sizeof *address);                                                                            \
    return __atomic_fetch_##name(address, value, __ATOMIC_SEQ_CST);                                                    \
  }

#define EXCHANGE_IF(bits, strength)                                                                                    \
  HOOK(bool, __tsan_atomic##bits##_compare_exchange_##strength, volatile uint##bits##_t *address,                      \
       uint##bits##_t *expected, uint##bits##_t desired, int order, int failed_order) {                                \
    (void)order;                                                                                                       \
    (void)failed_order;                                                                                                \
    touched_note(address, sizeof *address);                                                                            \
    return __atomic_compare_exchange_n(address, expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);         \
  }

#define ATOMIC(bits)                                                                                                   \
  HOOK(uint##bits##_t, __tsan_atomic##bits##_load, const volatile uint##bits##_t *address, int order) {                \
    (void)order;                                                                                                       \
    touched_note(address, sizeof *address);                                                                            \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                                                 \
  }                                                                                                                    \
  HOOK(void, __tsan_atomic##bits##_store, volatile uint##bits##_t *address, uint##bits##_t value, int order) {         \
    (void)order;                                                                                                       \
    touched_note(address, sizeof *address);                                                                            \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                                                \
  }                                                                                                                    \
  HOOK(uint##bits##_t, __tsan_atomic##bits##_exchange, volatile uint##bits##_t *address, uint##bits##_t value,         \
       int order) {                                                                                                    \
    (void)order;                                                                                                       \
    touched_note(address, sizeof *address);                                                                            \
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                                    \
  EXCHANGE_IF(bits, strong)                                                                                            \
  EXCHANGE_IF(bits, weak)                                                                                              \
  FETCH(bits, add)                                                                                                     \
  FETCH(bits, sub)                                                                                                     \
  FETCH(bits, and)                                                                                                     \
  FETCH(bits, or)                                                                                                      \
  FETCH(bits, xor)

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

HOOK(void, __tsan_atomic_thread_fence, int order) {
  (void)order;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

HOOK(void, __tsan_atomic_signal_fence, int order) {
  (void)order;
}

/* --------------------------------------------------------------------------------------- functions of the C library */

void *touching_copy(void *to, const void *from, size_t bytes) {
  touched_note(from, bytes);
  touched_note(to, bytes);
  return memcpy(to, from, bytes);
}

void *touching_move(void *to, const void *from, size_t bytes) {
  touched_note(from, bytes);
  touched_note(to, bytes);
  return memmove(to, from, bytes);
}

void *touching_set(void *to, int value, size_t bytes) {
  touched_note(to, bytes);
  return memset(to, value, bytes);
}

int touching_compare(const void *one, const void *other, size_t bytes) {
  touched_note(one, bytes);
  touched_note(other, bytes);
  return memcmp(one, other, bytes);
}
