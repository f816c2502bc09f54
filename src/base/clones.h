/* base/clones.h - loops that are compiled twice, for processors with wide vectors and for all others, and chosen when
 * the program starts. Such loops give the same results either way: products and sums are not contracted, and sums are
 * taken in the order that is written. */
#ifndef BASE_CLONES_H
#define BASE_CLONES_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&               \
    !defined(__SANITIZE_THREAD__)
#define VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define VECTOR_CLONES
#endif

#endif
