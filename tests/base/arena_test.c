/* Memory taken as a whole and given back as a whole, from the operating system and from a host that counts. */
#include "support/arenas.h"
#include "support/skip.h"

#include <muster/common.h>

#include <sys/mman.h>

enum { HOST_BLOCKS_MAX = 64 };

/* A host's allocator that remembers what it handed out, and refuses after `allowed` blocks. */
struct host {
  uint32_t calls, allowed, held;
  void *memory[HOST_BLOCKS_MAX];
  size_t bytes[HOST_BLOCKS_MAX];
  uint32_t wrong_alignments, wrong_releases, releases_out_of_order;
};

static void *host_allocate(size_t bytes, size_t alignment, void *user) {
  struct host *host = user;
  host->wrong_alignments += alignment != 64;
  if (host->calls++ >= host->allowed || host->held == HOST_BLOCKS_MAX) return NULL;
  size_t rounded = (bytes + 63) / 64 * 64;
  void *memory = aligned_alloc(64, rounded);
  memset(memory, 0, rounded);
  host->memory[host->held] = memory;
  host->bytes[host->held++] = bytes;
  return memory;
}

/* Blocks come back last first, but for the arena's own table, which was first and comes last. */
static void host_release(void *memory, size_t bytes, void *user) {
  struct host *host = user;
  uint32_t block = 0;
  while (block < host->held && (host->memory[block] != memory || host->bytes[block] != bytes)) block++;
  if (block == host->held) {
    host->wrong_releases++;
    return;
  }
  host->releases_out_of_order += block + 1 != host->held;
  host->held--;
  host->memory[block] = host->memory[host->held];
  host->bytes[block] = host->bytes[host->held];
  free(memory);
}

static struct arena arena_of(struct host *host) {
  struct arena arena;
  cr_assert_eq(arena_create(&arena, &(muster_allocator){host_allocate, host_release, host}), MUSTER_OK);
  return arena;
}

static bool is_zero(const unsigned char *memory, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    if (memory[i]) return false;
  return true;
}

Test(arena, blocks_are_zeroed_aligned_and_apart) {
  SCOPED(arena_destroy) struct arena arena = begin_arena();
  unsigned char *blocks[40];
  for (uint32_t i = 0; i < 40; i++) {
    size_t bytes = (i + 1) * 100;
    blocks[i] = arena_reserve(&arena, i + 1, 100);
    cr_assert_not_null(blocks[i]);
    cr_assert_eq((uintptr_t)blocks[i] % 4096, 0);
    cr_assert(is_zero(blocks[i], bytes));
    memset(blocks[i], (int)i + 1, bytes);
  }
  for (uint32_t i = 0; i < 40; i++)
    for (uint32_t k = 0; k < (i + 1) * 100; k++) cr_assert_eq(blocks[i][k], i + 1);
  cr_assert_not(arena.failed);
}

Test(arena, a_large_block_costs_address_space_only) {
  SCOPED(arena_destroy) struct arena arena = begin_arena();
  const size_t bytes = (size_t)8 << 30;
  unsigned char *block = arena_reserve(&arena, bytes / 4096, 4096);
  cr_assert_not_null(block, "%s", muster_last_error());
  block[0] = block[bytes / 2] = block[bytes - 1] = 1;
  cr_assert_eq(block[0] + block[bytes / 2] + block[bytes - 1] + block[bytes / 2 + 1], 3);
}

static uint32_t resident_pages(unsigned char *memory, size_t bytes) {
  static unsigned char pages[4096];
  uint32_t count = 0;
  cr_assert(bytes / 4096 <= sizeof pages);
  cr_assert_eq(mincore(memory, bytes, pages), 0);
  for (size_t i = 0; i < bytes / 4096; i++) count += pages[i] & 1;
  return count;
}

Test(arena, of_large_blocks_the_share_that_is_to_be_ready_is_committed_at_once) {
  enum { BYTES = 16 << 20 };
  SCOPED(arena_destroy) struct arena arena = begin_arena();
  unsigned char *before = arena_reserve(&arena, 1, BYTES);
  if (madvise(before, 4096, MADV_POPULATE_WRITE)) SKIP_TEST("this kernel commits nothing ahead");
  arena.ready = 0.5;
  unsigned char *half = arena_reserve(&arena, 1, BYTES);
  cr_assert_eq(resident_pages(half, BYTES / 2), BYTES / 2 / 4096);
  cr_assert_eq(resident_pages(half + BYTES / 2, BYTES / 2), 0);
  cr_assert_eq(resident_pages(before + BYTES / 4, BYTES / 4), 0);
  arena_make_ready(&arena, before, BYTES);
  cr_assert_eq(resident_pages(before, BYTES / 2), BYTES / 2 / 4096);
}

Test(arena, what_frames_touch_first_comes_by_small_pages) {
  enum { BYTES = 16 << 20 };
  SCOPED(arena_destroy) struct arena arena = begin_arena();
  unsigned char *block = arena_reserve_for_frames(&arena, 1, BYTES);
  block[BYTES / 2] = 1;
  cr_assert_leq(resident_pages(block, BYTES), 64, "the operating system may bring in neighbours, but no huge page");
  arena.ready = 0.5;
  if (madvise(block, 4096, MADV_POPULATE_WRITE)) SKIP_TEST("this kernel commits nothing ahead");
  unsigned char *half = arena_reserve_for_frames(&arena, 1, BYTES);
  cr_assert_eq(resident_pages(half, BYTES / 2), BYTES / 2 / 4096);
  cr_assert_eq(resident_pages(half + BYTES / 2, BYTES / 2), 0);
}

Test(arena, a_host_allocator_gets_everything_back_in_the_size_that_was_asked_for) {
  struct host host = {.allowed = UINT32_MAX};
  struct arena arena = arena_of(&host);
  for (uint32_t i = 1; i <= 20; i++) {
    unsigned char *block = arena_reserve(&arena, i, 24);
    cr_assert_not_null(block);
    cr_assert_eq((uintptr_t)block % 64, 0);
  }
  cr_assert_eq(host.held, 21);
  arena_destroy(&arena);
  cr_assert_eq(host.held, 0);
  cr_assert_eq(host.wrong_alignments, 0);
  cr_assert_eq(host.wrong_releases, 0);
  cr_assert_eq(host.releases_out_of_order, 0);
}

Test(arena, a_refusal_is_remembered_and_what_was_taken_is_given_back) {
  for (uint32_t allowed = 1; allowed < 8; allowed++) {
    struct host host = {.allowed = allowed};
    struct arena arena = arena_of(&host);
    for (uint32_t i = 1; i < 8; i++) {
      cr_assert_eq(arena_reserve(&arena, i, 1000) == NULL, i >= allowed);
      cr_assert_eq(arena.failed, i >= allowed);
    }
    cr_assert_not_null(strstr(muster_last_error(), "1000"), "%s", muster_last_error());
    arena_destroy(&arena);
    cr_assert_eq(host.held, 0);
    cr_assert_eq(host.wrong_releases, 0);
  }
}

Test(arena, a_refused_table_leaves_nothing_behind) {
  struct host host = {.allowed = 0};
  struct arena arena;
  cr_assert_eq(arena_create(&arena, &(muster_allocator){host_allocate, host_release, &host}), MUSTER_E_MEMORY);
  arena_destroy(&arena);
  cr_assert_eq(host.calls, 1);
  cr_assert_eq(host.wrong_releases, 0);
}

Test(arena, sizes_that_overflow_or_are_empty_are_refused_without_asking_the_host) {
  struct host host = {.allowed = UINT32_MAX};
  struct arena arena = arena_of(&host);
  static const size_t refused[][2] = {{SIZE_MAX / 2, 3}, {(size_t)1 << 63, 2}, {0, 8}};
  for (size_t i = 0; i < COUNT_OF(refused); i++) {
    arena.failed = false;
    cr_assert_null(arena_reserve(&arena, refused[i][0], refused[i][1]), "row %zu", i);
    cr_assert(arena.failed, "row %zu", i);
  }
  cr_assert_eq(host.calls, 1);
  arena_destroy(&arena);
}

Test(arena, one_block_more_than_it_has_room_for_is_refused) {
  SCOPED(arena_destroy) struct arena arena = begin_arena();
  for (uint32_t i = 0; i < ARENA_BLOCKS_MAX; i++) cr_assert_not_null(arena_reserve(&arena, 1, 8));
  cr_assert_not(arena.failed);
  cr_assert_null(arena_reserve(&arena, 1, 8));
  cr_assert(arena.failed);
}

static void *borrow(size_t bytes, size_t alignment, void *user) {
  (void)alignment;
  unsigned char **next = user, *memory = *next;
  *next += (bytes + 63) / 64 * 64;
  return memory;
}

Test(arena, a_host_without_a_release_function_keeps_its_memory) {
  static _Alignas(64) unsigned char own[ARENA_BLOCKS_MAX * sizeof(arena_block) + 4096];
  unsigned char *next = own;
  muster_allocator allocator = {borrow, NULL, &next};
  struct arena arena;
  cr_assert_eq(arena_create(&arena, &allocator), MUSTER_OK);
  unsigned char *block = arena_reserve(&arena, 10, 10);
  cr_assert(block > own && block < own + sizeof own);
  block[99] = 7;
  arena_destroy(&arena);
  cr_assert_eq(block[99], 7);
}

Test(arena, rounds_up_to_a_power_of_two) {
  cr_assert_eq(round_up_to_power_of_two(0), 1);
  for (uint32_t value = 1; value < 100000; value++) {
    uint32_t expected = 1;
    while (expected < value) expected *= 2;
    cr_assert_eq(round_up_to_power_of_two(value), expected);
  }
  cr_assert_eq(round_up_to_power_of_two((1u << 31) - 1), 1u << 31);
  cr_assert_eq(round_up_to_power_of_two(1u << 31), 1u << 31);
}
