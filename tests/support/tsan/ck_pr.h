/* ck_pr.h - stands in for concurrencykit's header of that name in ThreadSanitizer builds, where this folder comes first
 * on the include path.
 *
 * ThreadSanitizer does not see the inline assembly of the original. Here every primitive that ck's event counts, rings,
 * stacks and epochs use is an __atomic builtin, at least as strongly ordered as they rely on: a load acquires, a store
 * releases, a read-modify-write is sequentially consistent. That order lies on the variables, because ThreadSanitizer
 * misreads standalone fences: a fence is a compiler barrier, and where the machine needs more, an instruction that
 * ThreadSanitizer does not look at. */
#ifndef CK_PR_H
#define CK_PR_H

#include <ck_cc.h>
#include <ck_limits.h>
#include <ck_md.h>
#include <ck_stdbool.h>
#include <ck_stdint.h>
#include <sched.h>

/* Yields, as a spinning reader would starve the writer that it waits for: an instrumented spin is slow and long. */
CK_CC_INLINE static void ck_pr_stall(void) {
  sched_yield();
}

CK_CC_INLINE static void ck_pr_barrier(void) {
  __asm__ volatile("" ::: "memory");
}

CK_CC_INLINE static void ck_pr_rfo(const void *target) {
  (void)target;
}

#if defined(__x86_64__)
#define CK_PR_FULL_FENCE "mfence"
#elif defined(__aarch64__)
#define CK_PR_FULL_FENCE "dmb ish"
#else
#error "name the full memory fence of this machine"
#endif

/* Fences between accesses that the order of the accesses themselves keeps apart already. */
#define CK_PR_FENCE_BARRIER(NAME)                                                                                      \
  CK_CC_INLINE static void ck_pr_fence_##NAME(void) {                                                                  \
    ck_pr_barrier();                                                                                                   \
  }                                                                                                                    \
  CK_CC_INLINE static void ck_pr_fence_strict_##NAME(void) {                                                           \
    ck_pr_barrier();                                                                                                   \
  }

/* Fences that keep a later load behind an earlier store, which release and acquire do not. */
#define CK_PR_FENCE_FULL(NAME)                                                                                         \
  CK_CC_INLINE static void ck_pr_fence_##NAME(void) {                                                                  \
    __asm__ volatile(CK_PR_FULL_FENCE ::: "memory");                                                                   \
  }                                                                                                                    \
  CK_CC_INLINE static void ck_pr_fence_strict_##NAME(void) {                                                           \
    __asm__ volatile(CK_PR_FULL_FENCE ::: "memory");                                                                   \
  }

CK_PR_FENCE_BARRIER(load_depends)
CK_PR_FENCE_BARRIER(atomic)
CK_PR_FENCE_BARRIER(atomic_load)
CK_PR_FENCE_BARRIER(atomic_store)
CK_PR_FENCE_BARRIER(store_atomic)
CK_PR_FENCE_BARRIER(load_atomic)
CK_PR_FENCE_BARRIER(load_store)
CK_PR_FENCE_BARRIER(load)
CK_PR_FENCE_BARRIER(store)
CK_PR_FENCE_BARRIER(acquire)
CK_PR_FENCE_BARRIER(release)
CK_PR_FENCE_BARRIER(acqrel)
CK_PR_FENCE_BARRIER(lock)
CK_PR_FENCE_BARRIER(unlock)
CK_PR_FENCE_FULL(store_load)
CK_PR_FENCE_FULL(memory)

/* One primitive that returns the old value, and the form of it that returns nothing. */
#define CK_PR_FETCH(NAME, SUFFIX, TYPE)                                                                                \
  CK_CC_INLINE static void ck_pr_##NAME##_##SUFFIX(TYPE *target, TYPE value) {                                         \
    (void)__atomic_fetch_##NAME(target, value, __ATOMIC_SEQ_CST);                                                      \
  }

#define CK_PR_INTEGER(SUFFIX, TYPE)                                                                                    \
  CK_CC_INLINE static TYPE ck_pr_md_load_##SUFFIX(const TYPE *target) {                                                \
    return __atomic_load_n(target, __ATOMIC_ACQUIRE);                                                                  \
  }                                                                                                                    \
  CK_CC_INLINE static void ck_pr_md_store_##SUFFIX(TYPE *target, TYPE value) {                                         \
    __atomic_store_n(target, value, __ATOMIC_RELEASE);                                                                 \
  }                                                                                                                    \
  CK_CC_INLINE static bool ck_pr_cas_##SUFFIX##_value(TYPE *target, TYPE compare, TYPE set, TYPE *old) {               \
    *old = compare;                                                                                                    \
    return __atomic_compare_exchange_n(target, old, set, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                   \
  }                                                                                                                    \
  CK_CC_INLINE static bool ck_pr_cas_##SUFFIX(TYPE *target, TYPE compare, TYPE set) {                                  \
    return ck_pr_cas_##SUFFIX##_value(target, compare, set, &compare);                                                 \
  }                                                                                                                    \
  CK_CC_INLINE static TYPE ck_pr_fas_##SUFFIX(TYPE *target, TYPE value) {                                              \
    return __atomic_exchange_n(target, value, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                                    \
  CK_CC_INLINE static TYPE ck_pr_faa_##SUFFIX(TYPE *target, TYPE value) {                                              \
    return __atomic_fetch_add(target, value, __ATOMIC_SEQ_CST);                                                        \
  }                                                                                                                    \
  CK_CC_INLINE static void ck_pr_inc_##SUFFIX(TYPE *target) {                                                          \
    (void)__atomic_fetch_add(target, 1, __ATOMIC_SEQ_CST);                                                             \
  }                                                                                                                    \
  CK_CC_INLINE static void ck_pr_dec_##SUFFIX(TYPE *target) {                                                          \
    (void)__atomic_fetch_sub(target, 1, __ATOMIC_SEQ_CST);                                                             \
  }                                                                                                                    \
  CK_CC_INLINE static void ck_pr_dec_##SUFFIX##_zero(TYPE *target, bool *zero) {                                       \
    *zero = __atomic_fetch_sub(target, 1, __ATOMIC_SEQ_CST) == 1;                                                      \
  }                                                                                                                    \
  CK_PR_FETCH(add, SUFFIX, TYPE)                                                                                       \
  CK_PR_FETCH(sub, SUFFIX, TYPE)                                                                                       \
  CK_PR_FETCH(and, SUFFIX, TYPE)                                                                                       \
  CK_PR_FETCH(or, SUFFIX, TYPE)                                                                                        \
  CK_PR_FETCH(xor, SUFFIX, TYPE)

CK_PR_INTEGER(char, char)
CK_PR_INTEGER(int, int)
CK_PR_INTEGER(uint, unsigned int)
CK_PR_INTEGER(8, uint8_t)
CK_PR_INTEGER(16, uint16_t)
CK_PR_INTEGER(32, uint32_t)
CK_PR_INTEGER(64, uint64_t)

/* Pointers: targets are the addresses of pointers of any type. */
typedef void *CK_CC_ALIASED ck_pr_any_pointer;

CK_CC_INLINE static void *ck_pr_md_load_ptr(const void *target) {
  return __atomic_load_n((ck_pr_any_pointer const *)target, __ATOMIC_ACQUIRE);
}

CK_CC_INLINE static void ck_pr_md_store_ptr(void *target, const void *value) {
  __atomic_store_n((ck_pr_any_pointer *)target, (void *)(uintptr_t)value, __ATOMIC_RELEASE);
}

CK_CC_INLINE static void *ck_pr_fas_ptr(void *target, void *value) {
  return __atomic_exchange_n((ck_pr_any_pointer *)target, value, __ATOMIC_SEQ_CST);
}

CK_CC_INLINE static bool ck_pr_cas_ptr_value(void *target, void *compare, void *set, void *old) {
  *(ck_pr_any_pointer *)old = compare;
  return __atomic_compare_exchange_n((ck_pr_any_pointer *)target, (ck_pr_any_pointer *)old, set, false,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

CK_CC_INLINE static bool ck_pr_cas_ptr(void *target, void *compare, void *set) {
  return ck_pr_cas_ptr_value(target, compare, set, &compare);
}

#define ck_pr_load_ptr(SRC)  ((__typeof__(*(SRC)))ck_pr_md_load_ptr(SRC))
#define ck_pr_load_char(SRC) ck_pr_md_load_char(SRC)
#define ck_pr_load_int(SRC)  ck_pr_md_load_int(SRC)
#define ck_pr_load_uint(SRC) ck_pr_md_load_uint(SRC)
#define ck_pr_load_8(SRC)    ck_pr_md_load_8(SRC)
#define ck_pr_load_16(SRC)   ck_pr_md_load_16(SRC)
#define ck_pr_load_32(SRC)   ck_pr_md_load_32(SRC)
#define ck_pr_load_64(SRC)   ck_pr_md_load_64(SRC)

/* As in the original, sizeof checks that the value may be assigned to the target. */
#define CK_PR_STORE_SAFE(DST, VAL, SUFFIX) ck_pr_md_store_##SUFFIX(((void)sizeof(*(DST) = (VAL)), (DST)), (VAL))
#define ck_pr_store_ptr(DST, VAL)          CK_PR_STORE_SAFE((DST), (VAL), ptr)
#define ck_pr_store_ptr_unsafe(DST, VAL)   ck_pr_md_store_ptr((DST), (VAL))
#define ck_pr_store_char(DST, VAL)         CK_PR_STORE_SAFE((DST), (VAL), char)
#define ck_pr_store_int(DST, VAL)          CK_PR_STORE_SAFE((DST), (VAL), int)
#define ck_pr_store_uint(DST, VAL)         CK_PR_STORE_SAFE((DST), (VAL), uint)
#define ck_pr_store_8(DST, VAL)            CK_PR_STORE_SAFE((DST), (VAL), 8)
#define ck_pr_store_16(DST, VAL)           CK_PR_STORE_SAFE((DST), (VAL), 16)
#define ck_pr_store_32(DST, VAL)           CK_PR_STORE_SAFE((DST), (VAL), 32)
#define ck_pr_store_64(DST, VAL)           CK_PR_STORE_SAFE((DST), (VAL), 64)

/* What the other headers ask for before they use it. */
#define CK_F_PR_FAA_64
#define CK_F_PR_LOAD_UINT
#define CK_F_PR_STORE_UINT
#define CK_F_PR_AND_UINT
#define CK_F_PR_OR_UINT

#endif
