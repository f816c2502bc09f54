/* tests/support/counted_memory.h - a host's allocator that counts, and that refuses one allocation when asked to. */
#ifndef COUNTED_MEMORY_H
#define COUNTED_MEMORY_H

#include <muster/common.h>

#include <stdlib.h>
#include <string.h>

typedef struct counted_memory {
  uint64_t allocations, releases;
  bool limited;  /* whether `left` says anything */
  uint32_t left; /* allocations before the one that is refused */
  bool for_good; /* all after it are, too */
} counted_memory;

static inline void *counted_allocate(size_t bytes, size_t alignment, void *user) {
  counted_memory *counted = user;
  void *memory = NULL;
  if (counted->limited && counted->left-- == 0) {
    if (counted->for_good) counted->left = 0;
    return NULL;
  }
  if (posix_memalign(&memory, alignment, bytes)) return NULL;
  counted->allocations++;
  return memset(memory, 0, bytes);
}

static inline void counted_release(void *memory, size_t bytes, void *user) {
  counted_memory *counted = user;
  (void)bytes;
  counted->releases++;
  free(memory);
}

static inline muster_allocator counted_allocator(counted_memory *counted) {
  return (muster_allocator){counted_allocate, counted_release, counted};
}

#endif
