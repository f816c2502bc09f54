/* tests/support/walled.h - memory right before a page that nobody may touch: who reads or writes past its end crashes.
 */
#ifndef WALLED_H
#define WALLED_H

#include <criterion/criterion.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct walled {
  char *begin, *end; /* of what may be touched */
} walled;

static inline walled walled_create(size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
  char *begin = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  cr_assert(begin != MAP_FAILED && mprotect(begin + whole, page, PROT_NONE) == 0);
  return (walled){begin, begin + whole};
}

static inline void walled_destroy(walled *memory) {
  munmap(memory->begin, (size_t)(memory->end - memory->begin) + (size_t)sysconf(_SC_PAGESIZE));
}

/* An array that ends where the memory does. */
#define WALLED_ARRAY(MEMORY, TYPE, COUNT) ((TYPE *)(void *)(MEMORY).end - (COUNT))

#endif
