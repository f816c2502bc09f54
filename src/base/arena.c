#include "base/arena.h"

#include "base/assert.h"
#include "base/error.h"

#include <sys/mman.h>

enum { HUGE_FROM_BYTES = 1 << 22 };

static void *block_allocate(const muster_allocator *allocator, size_t bytes) {
  if (allocator->allocate) return allocator->allocate(bytes, 64, allocator->user);
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  /* Agents are visited in no order of memory: huge pages save most of the address translation. Only a hint. */
  if (bytes >= HUGE_FROM_BYTES) madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

static void block_release(const muster_allocator *allocator, void *memory, size_t bytes) {
  if (allocator->allocate) {
    if (allocator->release) allocator->release(memory, bytes, allocator->user);
  } else {
    munmap(memory, bytes);
  }
}

muster_result arena_create(arena *arena, const muster_allocator *allocator) {
  ASSERT(arena && allocator);
  *arena = (struct arena){.allocator = *allocator};
  arena->blocks = block_allocate(allocator, ARENA_BLOCKS_MAX * sizeof(arena_block));
  if (!arena->blocks) return error_set(MUSTER_E_MEMORY, "no memory for the table of blocks");
  return MUSTER_OK;
}

void arena_destroy(arena *arena) {
  if (!arena->blocks) return;
  for (uint32_t i = arena->block_count; i-- > 0;)
    block_release(&arena->allocator, arena->blocks[i].memory, arena->blocks[i].bytes);
  block_release(&arena->allocator, arena->blocks, ARENA_BLOCKS_MAX * sizeof(arena_block));
  *arena = (struct arena){0};
}

void *arena_reserve(arena *arena, size_t count, size_t each) {
  size_t bytes;
  if (__builtin_mul_overflow(count, each, &bytes)) bytes = 0;
  void *memory = bytes && arena->block_count < ARENA_BLOCKS_MAX ? block_allocate(&arena->allocator, bytes) : NULL;
  if (!memory) {
    arena->failed = true;
    error_set(MUSTER_E_MEMORY, "the allocator refused %zu x %zu bytes", count, each);
    return NULL;
  }
  arena->blocks[arena->block_count++] = (arena_block){memory, bytes};
  return memory;
}
