/* base/prefetch.h - functions that only prefetch. gcc takes them to be without effect and drops calls that it has not
 * inlined yet, so they must be inlined always. */
#ifndef BASE_PREFETCH_H
#define BASE_PREFETCH_H

#define PREFETCH_FUNCTION static inline __attribute__((always_inline)) void

#endif
