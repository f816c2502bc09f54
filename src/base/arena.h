/* base/arena.h - all memory of an object, taken when the object is created and given back as a whole.
 *
 * Without a host allocator a block is reserved address space: pages are committed by the operating system when they
 * are first touched, so a store sized for its maximum costs what is used of it, and nothing ever moves. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <muster/common.h>

typedef struct arena_block {
  void *memory;
  size_t bytes;
} arena_block;

enum { ARENA_BLOCKS_MAX = 160 + 10 * 1024 /* a world's own, and those of each type */ };

struct arena {
  muster_allocator allocator;
  arena_block *blocks;
  uint32_t block_count;
  bool failed;  /* a reservation was refused; the last error says which */
  double ready; /* the share of a large block that arena_reserve() commits at once, from its beginning; 0..1 */
};

/* Prepares an empty arena on the host's allocator, or on the operating system when its functions are null. */
muster_result arena_create(struct arena *arena, const muster_allocator *allocator);

/* Gives every block back. */
void arena_destroy(struct arena *arena);

/* A zeroed block of count * each bytes, aligned to a page (operating system) or 64 bytes (host). Null, `failed` and an
 * error message when refused; a caller may make several requests and check `failed` once. */
void *arena_reserve(struct arena *arena, size_t count, size_t each);

/* Sets a pointer to an array of `count` of what it points at, reserved in the same way. */
#define ARENA_ARRAY(arena, pointer, count) ((pointer) = arena_reserve(arena, count, sizeof *(pointer)))

/* The same as arena_reserve() for memory that a frame may be the first to touch: by small pages, since clearing a huge
 * one takes milliseconds. */
void *arena_reserve_for_frames(struct arena *arena, size_t count, size_t each);

/* Commits the beginning of a block of `bytes` (the share `ready` of it), when the block is large and comes from the
 * operating system. The rest is committed when it is first touched. */
void arena_make_ready(const struct arena *arena, void *memory, size_t bytes);

/* The smallest power of two that is not below `value` (at least 1). */
static inline uint32_t round_up_to_power_of_two(uint32_t value) {
  return value <= 1 ? 1u : 1u << (32 - __builtin_clz(value - 1));
}

#endif
