/* The memory of a state against a small model: whose each block is, what all have, and what is in them, over some
 * thousand random calls as Lua makes them. */
#include "lua/memory.h"
#include "support/with.h"

#include <criterion/criterion.h>
#include <lua.h>
#include <muster/random.h>
#include <setjmp.h>

enum { MEMORY_CALLS = 20000, MEMORY_BLOCKS = 300, MEMORY_OWNERS = 70, MEMORY_MOST = 900 };

typedef struct memory_block {
  unsigned char *at;
  size_t bytes;
  uint32_t owner;
  unsigned char fill;
} memory_block;

typedef struct memory_model {
  script_memory memory;
  memory_block blocks[MEMORY_BLOCKS];
  uint64_t drawn, bytes, allocated, of_owner[MEMORY_OWNERS];
  jmp_buf refused;
  uint32_t refusals, hurries;
} memory_model;

static uint32_t memory_draw(memory_model *model, uint32_t below) {
  return (uint32_t)(muster_random_mix(++model->drawn * 0x9e3779b97f4a7c15u) >> 33) % below;
}

static void memory_check(const memory_model *model) {
  cr_assert_eq(model->memory.bytes, model->bytes, "%lu bytes, not %lu", model->memory.bytes, model->bytes);
  cr_assert_eq(model->memory.allocated_bytes, model->allocated);
  for (uint32_t i = 0; i < MEMORY_OWNERS; i++)
    cr_assert_eq(model->memory.owned[i], model->of_owner[i], "owner %u has %u bytes, not %lu", i,
                 model->memory.owned[i], model->of_owner[i]);
}

static void memory_check_block(const memory_block *block) {
  cr_assert_eq((uintptr_t)block->at % 8, 0);
  for (size_t i = 0; i < block->bytes; i++) cr_assert_eq(block->at[i], block->fill, "a byte is another's");
}

/* A block becomes as long; 0 = it is freed. Blocks of all sizes, of which most are small. */
static void memory_resize(memory_model *model, memory_block *block, size_t bytes) {
  static const size_t kinds[] = {0, LUA_TSTRING, LUA_TTABLE};
  size_t before = block->at ? block->bytes : kinds[memory_draw(model, 3)];
  size_t same = bytes < block->bytes ? bytes : block->bytes;
  if (!block->at) block->owner = model->memory.owner;
  unsigned char *at = memory_allocate(&model->memory, block->at, before, bytes);
  cr_assert((at != NULL) == (bytes > 0));
  for (size_t i = 0; i < same; i++) cr_assert_eq(at[i], block->fill, "a block has lost what was in it");
  if (bytes > block->bytes) model->allocated += bytes - block->bytes;
  model->bytes += bytes - block->bytes;
  model->of_owner[block->owner] += bytes - block->bytes;
  block->at = at;
  block->bytes = bytes;
  block->fill = (unsigned char)memory_draw(model, 256);
  if (at) memset(at, block->fill, bytes);
}

static void memory_count_hurry(void *user) {
  ((memory_model *)user)->hurries++;
}

static void memory_refuse(void *user) {
  memory_model *model = user;
  model->refusals++;
  longjmp(model->refused, 1);
}

static memory_model *memory_begin(void) {
  memory_model *model = calloc(1, sizeof *model);
  cr_assert(memory_create(&model->memory));
  model->memory.user = model;
  model->memory.hurry = memory_count_hurry;
  model->memory.refuse = memory_refuse;
  for (uint32_t i = 1; i < MEMORY_OWNERS; i++) cr_assert_eq(memory_new_owner(&model->memory), i);
  return model;
}

static void memory_end(memory_model *model) {
  for (uint32_t i = 0; i < MEMORY_BLOCKS; i++)
    if (model->blocks[i].at) memory_resize(model, &model->blocks[i], 0);
  memory_check(model);
  cr_expect_eq(model->memory.bytes, 0);
  memory_destroy(&model->memory);
  free(model);
}

Test(memory, each_block_is_whose_it_was_when_it_was_made) {
  memory_model *model = memory_begin();
  for (uint32_t i = 0; i < MEMORY_CALLS; i++) {
    memory_block *block = &model->blocks[memory_draw(model, MEMORY_BLOCKS)];
    memory_check_block(block);
    memory_own(&model->memory, memory_draw(model, MEMORY_OWNERS), 0); /* blocks are resized by others, too */
    memory_resize(model, block,
                  memory_draw(model, 3) ? memory_draw(model, memory_draw(model, 8) ? 130 : MEMORY_MOST) : 0);
    if (i % 64 == 0) memory_check(model);
  }
  for (uint32_t i = 0; i < MEMORY_BLOCKS; i++) memory_check_block(&model->blocks[i]);
  cr_expect_eq(model->refusals + model->hurries, 0);
  memory_end(model);
}

/* What was freed is used again: as much of each size takes no more of the process. */
Test(memory, what_is_freed_is_used_again) {
  memory_model *model = memory_begin();
  const void *chunks = NULL;
  for (uint32_t round = 0; round < 50; round++) {
    for (uint32_t i = 0; i < MEMORY_BLOCKS; i++) memory_resize(model, &model->blocks[i], 1 + i % 504);
    for (uint32_t i = 0; i < MEMORY_BLOCKS; i++) memory_resize(model, &model->blocks[i], 0);
    if (round == 0) chunks = model->memory.chunks;
    cr_assert_eq(model->memory.chunks, chunks, "round %u takes another chunk", round);
  }
  memory_end(model);
}

/* With its head, the largest block of the lists fills the last class. */
Test(memory, small_blocks_come_from_lists_and_large_ones_from_the_process) {
  enum { LARGEST = MEMORY_CLASSES * MEMORY_CLASS_BYTES - 8 };
  static const size_t rows[] = {1, 8, 9, LARGEST - MEMORY_CLASS_BYTES, LARGEST - 1, LARGEST, LARGEST + 1, 2 * LARGEST};
#ifndef __SANITIZE_ADDRESS__ /* under which all are the process's */
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    memory_model *model = memory_begin();
    bool small = rows[i] <= LARGEST, listed = false;
    memory_resize(model, &model->blocks[0], rows[i]);
    cr_expect_eq(model->memory.chunks != NULL, small, "a block of %zu bytes", rows[i]);
    memory_resize(model, &model->blocks[0], 0);
    for (size_t k = 0; k < MEMORY_CLASSES; k++) listed = listed || model->memory.lists[k];
    cr_expect_eq(listed, small, "a block of %zu bytes", rows[i]);
    memory_end(model);
  }
#else
  (void)rows;
#endif
}

/* Tries a new object: whether it is refused. */
static bool memory_refuses(memory_model *model, size_t kind, size_t bytes) {
  memory_block *block = &model->blocks[0];
  if (setjmp(model->refused)) return true;
  unsigned char *at = memory_allocate(&model->memory, NULL, kind, bytes);
  cr_assert_not_null(at);
  *block = (memory_block){.at = at, .bytes = bytes, .owner = model->memory.owner};
  memory_allocate(&model->memory, at, bytes, 0);
  *block = (memory_block){0};
  return false;
}

Test(memory, a_cap_is_a_byte_that_may_be_and_one_that_may_not) {
  memory_model *model = memory_begin();
  script_memory *memory = &model->memory;
  void *own = NULL, *other = NULL;
  memory_own(memory, 5, 0);
  own = memory_allocate(memory, NULL, 0, 600);
  memory_own(memory, 6, 0);
  other = memory_allocate(memory, NULL, 0, 300);
  memory_own(memory, 5, 1000);
  cr_expect_not(memory_refuses(model, LUA_TTABLE, 5000), "nothing runs");
  memory->refuses = true;
  cr_expect(memory_refuses(model, LUA_TTABLE, 401) && memory->refused);
  cr_expect(memory_refuses(model, LUA_TSTRING, 401));
  cr_expect_eq(model->refusals, 2);
  memory->refused = false;
  cr_expect_not(memory_refuses(model, LUA_TTABLE, 400));
  cr_expect_not(memory->refused);
  cr_expect_not(memory_refuses(model, 0, 401), "what is no object is let grow");
  cr_expect(memory->refused, "and is noted");
  memory->refused = false;
  own = memory_allocate(memory, own, 600, 1000);
  cr_expect_not(memory->refused);
  own = memory_allocate(memory, own, 1000, 1001);
  cr_expect(memory->refused);
  memory->refused = false;
  own = memory_allocate(memory, own, 1001, 900);
  cr_expect_not(memory->refused, "less is never refused");
  memory_own(memory, 6, 1000);
  cr_expect_not(memory_refuses(model, LUA_TTABLE, 700), "each has its own");
  memory_own(memory, MEMORY_OWNER_STATE, 10);
  cr_expect_not(memory_refuses(model, LUA_TTABLE, 700), "the state itself has no cap but its own");
  memory->cap_bytes = 1900;
  cr_expect_not(memory_refuses(model, LUA_TTABLE, 700));
  cr_expect(memory_refuses(model, LUA_TTABLE, 701));
  memory->refuses = false;
  memory_allocate(memory, own, 900, 0);
  memory_allocate(memory, other, 300, 0);
  memory_destroy(memory);
  free(model);
}

/* Work is what new objects fill, long texts among them, and what functions say. */
Test(memory, who_spends_much_is_hurried) {
  memory_model *model = memory_begin();
  script_memory *memory = &model->memory;
  memory->refuses = true;
  static const struct {
    size_t kind, bytes;
    uint64_t spends;
  } rows[] = {{0, 500, 0}, {LUA_TTABLE, 56, 56}, {LUA_TSTRING, 128, 0}, {LUA_TSTRING, 129, 129}, {LUA_TUSERDATA, 5, 5}};
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    uint64_t spent = memory->spent_bytes;
    cr_expect_not(memory_refuses(model, rows[i].kind, rows[i].bytes));
    cr_expect_eq(memory->spent_bytes - spent, rows[i].spends, "row %zu spends %lu", i, memory->spent_bytes - spent);
  }
  memory->spent_bytes = 0;
  memory_spend(memory, MEMORY_SPENT_MOST - 1);
  cr_expect_eq(model->hurries, 0);
  memory_spend(memory, 1);
  cr_expect_eq(model->hurries, 1);
  memory->refuses = false;
  memory_spend(memory, 1);
  cr_expect_eq(model->hurries, 1, "nothing runs");
  memory_destroy(memory);
  free(model);
}
