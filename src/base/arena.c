#include "base/arena.h"

#include "base/assert.h"
#include "base/error.h"

#include <sys/mman.h>

enum { HUGE_PAGE_BYTES = 1 << 21, HUGE_FROM_BYTES = 1 << 20 };

static size_t mapped_bytes(size_t bytes) {
  size_t unit = bytes >= HUGE_FROM_BYTES ? HUGE_PAGE_BYTES : 1;
  return (bytes + unit - 1) / unit * unit;
}

static void *map(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* Agents are visited in no order of memory: huge pages save most of the address translation. Such pages must be
 * aligned, so more is mapped and both ends are given back. Only a hint to the operating system. */
static void *map_huge(size_t bytes) {
  unsigned char *memory = map(bytes + HUGE_PAGE_BYTES);
  if (!memory) return NULL;
  size_t before = (HUGE_PAGE_BYTES - (uintptr_t)memory % HUGE_PAGE_BYTES) % HUGE_PAGE_BYTES;
  if (before) munmap(memory, before);
  munmap(memory + before + bytes, HUGE_PAGE_BYTES - before);
  madvise(memory + before, bytes, MADV_HUGEPAGE);
  return memory + before;
}

static void *block_allocate(const muster_allocator *allocator, size_t bytes) {
  if (allocator->allocate) return allocator->allocate(bytes, 64, allocator->user);
  return bytes >= HUGE_FROM_BYTES ? map_huge(mapped_bytes(bytes)) : map(bytes);
}

static void block_release(const muster_allocator *allocator, void *memory, size_t bytes) {
  if (allocator->allocate) {
    if (allocator->release) allocator->release(memory, bytes, allocator->user);
  } else {
    munmap(memory, mapped_bytes(bytes));
  }
}

muster_result arena_create(struct arena *arena, const muster_allocator *allocator) {
  ASSERT(arena && allocator);
  *arena = (struct arena){.allocator = *allocator};
  arena->blocks = block_allocate(allocator, ARENA_BLOCKS_MAX * sizeof(arena_block));
  if (!arena->blocks) return error_set(MUSTER_E_MEMORY, "no memory for the table of blocks");
  return MUSTER_OK;
}

void arena_destroy(struct arena *arena) {
  if (!arena->blocks) return;
  for (uint32_t i = arena->block_count; i-- > 0;)
    block_release(&arena->allocator, arena->blocks[i].memory, arena->blocks[i].bytes);
  block_release(&arena->allocator, arena->blocks, ARENA_BLOCKS_MAX * sizeof(arena_block));
  *arena = (struct arena){0};
}

void arena_make_ready(const struct arena *arena, void *memory, size_t bytes) {
  size_t ready = mapped_bytes((size_t)((double)bytes * arena->ready));
  if (arena->ready > 0.0 && bytes >= HUGE_FROM_BYTES && !arena->allocator.allocate)
    madvise(memory, ready < mapped_bytes(bytes) ? ready : mapped_bytes(bytes), MADV_POPULATE_WRITE);
}

static void *base_arena_reserve(struct arena *arena, size_t count, size_t each) {
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

void *arena_reserve(struct arena *arena, size_t count, size_t each) {
  void *memory = base_arena_reserve(arena, count, each);
  if (memory) arena_make_ready(arena, memory, count * each);
  return memory;
}

void *arena_reserve_for_frames(struct arena *arena, size_t count, size_t each) {
  void *memory = base_arena_reserve(arena, count, each);
  if (memory && !arena->allocator.allocate)
    madvise(memory, mapped_bytes(arena->blocks[arena->block_count - 1].bytes), MADV_NOHUGEPAGE);
  if (memory) arena_make_ready(arena, memory, count * each);
  return memory;
}
