/* The active agents and the counts per level against a plain array. */
#include "agents/store.h"
#include "support/arenas.h"

enum { MAXIMUM = 300 };

struct fixture {
  struct arena arena;
  agent_store store;
};

/* Blocks of exactly the size asked for, so that a sanitizer sees an access beyond one. */
static void *allocate_exactly(size_t bytes, size_t alignment, void *user) {
  void *memory = NULL;
  (void)user;
  return posix_memalign(&memory, alignment, bytes) ? NULL : memset(memory, 0, bytes);
}

static void release(void *memory, size_t bytes, void *user) {
  (void)bytes, (void)user;
  free(memory);
}

static struct fixture *create(uint32_t maximum) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  muster_allocator allocator = {allocate_exactly, release, NULL};
  arena_create(&fixture->arena, &allocator);
  store_create(&fixture->store, maximum, &fixture->arena);
  cr_assert_not(fixture->arena.failed);
  return fixture;
}

static uint32_t next_of(const bool *active, uint32_t maximum, uint32_t from) {
  while (from < maximum && !active[from]) from++;
  return from < maximum ? from : UINT32_MAX;
}

Test(store, is_empty_at_first) {
  SCOPED(free_fixture) struct fixture *fixture = create(MAXIMUM);
  cr_assert_eq(fixture->store.active_count, 0);
  cr_assert_eq(store_next_active(&fixture->store, 0), UINT32_MAX);
  for (uint32_t i = 0; i < MAXIMUM; i++) cr_assert_not(store_is_active(&fixture->store, i));
}

Test(store, lists_the_active_agents_in_order_whatever_comes_and_goes) {
  SCOPED(free_fixture) struct fixture *fixture = create(MAXIMUM);
  agent_store *store = &fixture->store;
  bool active[MAXIMUM] = {false};
  uint32_t count = 0;
  for (uint32_t step = 0; step < 20000; step++) {
    uint32_t index = (uint32_t)(random_at(1, step, 0, 0) % MAXIMUM);
    if (active[index])
      store_deactivate(store, index);
    else
      store_activate(store, index);
    active[index] = !active[index];
    count += active[index] ? 1 : -1u;
    cr_assert_eq(store->active_count, count);
    cr_assert_eq(store_is_active(store, index), active[index]);
    uint32_t from = (uint32_t)(random_at(1, step, 1, 0) % MAXIMUM);
    cr_assert_eq(store_next_active(store, from), next_of(active, MAXIMUM, from));
  }
}

Test(store, finds_every_active_agent_once_from_the_first_to_the_last) {
  static const uint32_t maxima[] = {1, 2, 63, 64, 65, 127, 128, 129, MAXIMUM};
  for (uint32_t m = 0; m < COUNT_OF(maxima); m++) {
    SCOPED(free_fixture) struct fixture *fixture = create(maxima[m]);
    uint32_t expected = 0;
    for (uint32_t i = 0; i < maxima[m]; i += 1 + i % 3) store_activate(&fixture->store, i);
    for (uint32_t i = 0; (i = store_next_active(&fixture->store, i)) != UINT32_MAX; i++) {
      cr_assert_eq(i, expected);
      expected += 1 + expected % 3;
    }
    cr_assert_geq(expected, maxima[m]);
    cr_assert_eq(store_next_active(&fixture->store, maxima[m]), UINT32_MAX);
  }
}

Test(store, every_active_index_is_below_high) {
  SCOPED(free_fixture) struct fixture *fixture = create(MAXIMUM);
  store_activate(&fixture->store, 5);
  cr_assert_eq(fixture->store.high, 6);
  store_activate(&fixture->store, MAXIMUM - 1);
  store_deactivate(&fixture->store, MAXIMUM - 1);
  store_activate(&fixture->store, 200);
  cr_assert_gt(fixture->store.high, 200);
  cr_assert_leq(fixture->store.high, MAXIMUM);
}

Test(store, counts_active_agents_per_level) {
  SCOPED(free_fixture) struct fixture *fixture = create(MAXIMUM);
  agent_store *store = &fixture->store;
  for (uint32_t i = 0; i < MAXIMUM; i++) {
    store->rows[i].level = (uint8_t)(i % MUSTER_LEVELS);
    store_activate(store, i);
  }
  for (uint32_t step = 0; step < 5000; step++) {
    uint32_t index = (uint32_t)(random_at(2, step, 0, 0) % MAXIMUM);
    if (step % 10 == 0 && store_is_active(store, index))
      store_deactivate(store, index);
    else if (store_is_active(store, index))
      store_set_level(store, index, (uint32_t)(random_at(2, step, 1, 0) % MUSTER_LEVELS));
    uint32_t expected[MUSTER_LEVELS] = {0};
    for (uint32_t i = 0; i < MAXIMUM; i++)
      if (store_is_active(store, i)) expected[store->rows[i].level]++;
    for (uint32_t level = 0; level < MUSTER_LEVELS; level++) cr_assert_eq(store->level_counts[level], expected[level]);
  }
}

Test(store, tells_when_memory_is_refused) {
  SCOPED(arena_destroy) struct arena arena = begin_arena();
  agent_store store;
  arena.block_count = ARENA_BLOCKS_MAX - 1; /* room for one block of the four */
  store_create(&store, MAXIMUM, &arena);
  cr_assert(arena.failed);
  arena.blocks[0] = arena.blocks[ARENA_BLOCKS_MAX - 1];
  arena.block_count = 1;
}
