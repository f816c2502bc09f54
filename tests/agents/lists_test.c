/* Lists of blocks against plain arrays, and which blocks they take. */
#include "agents/lists.h"

#include "base/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { AGENTS = 600, LISTS = 24, SEEDS = 4, ROUNDS = 60000, NOWHERE = LISTS, STORES = 3 };

/* The owner of each list is 1000 + list. */
struct fixture {
  struct arena arena;
  list_blocks common;
  list_store stores[STORES]; /* most tests use the first alone */
  agent_list heads[LISTS];
  list_spot spots[AGENTS];
  uint32_t where[AGENTS]; /* the list that an agent is in, or NOWHERE */
  uint32_t order[LISTS][AGENTS], count[LISTS];
};

static struct fixture *create(void) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  muster_allocator allocator = {0};
  arena_create(&fixture->arena, &allocator);
  lists_create(&fixture->common, fixture->stores, STORES, AGENTS, &fixture->arena);
  for (uint32_t i = 0; i < AGENTS; i++) fixture->where[i] = NOWHERE;
  return fixture;
}

static void destroy(struct fixture *fixture) {
  arena_destroy(&fixture->arena);
  free(fixture);
}

static void add(struct fixture *fixture, uint32_t list, uint32_t agent) {
  fixture->spots[agent] = lists_add(fixture->stores, &fixture->heads[list], 1000 + list, agent);
  fixture->where[agent] = list;
  fixture->order[list][fixture->count[list]++] = agent;
}

/* The model does as the list promises: its last agent fills the gap. */
static void take_out(struct fixture *fixture, uint32_t agent) {
  uint32_t list = fixture->where[agent], *order = fixture->order[list], last = order[--fixture->count[list]];
  list_spot spot = fixture->spots[agent];
  uint32_t moved = lists_take_out(fixture->stores, &fixture->heads[list], spot);
  fixture->where[agent] = NOWHERE;
  if (last == agent) {
    cr_assert_eq(moved, UINT32_MAX);
    return;
  }
  cr_assert_eq(moved, last);
  fixture->spots[moved] = spot;
  for (uint32_t i = 0; i < fixture->count[list]; i++)
    if (order[i] == agent) order[i] = last;
}

/* Reads the last block and gives it back, as a crowd does. */
static void drop_last(struct fixture *fixture, uint32_t list) {
  const list_block *block = lists_last(fixture->stores, fixture->heads[list]);
  for (uint32_t i = block->count; i-- > 0;) {
    cr_assert_eq(block->agents[i], fixture->order[list][--fixture->count[list]]);
    fixture->where[block->agents[i]] = NOWHERE;
  }
  lists_drop_last(fixture->stores, &fixture->heads[list]);
}

/* Walks every list backwards: order, spots, owners, and that only last blocks are not full. Returns blocks in use. */
static uint32_t check(const struct fixture *fixture) {
  uint32_t blocks = 0;
  for (uint32_t list = 0; list < LISTS; list++) {
    uint32_t left = fixture->count[list];
    for (agent_list at = fixture->heads[list]; at;) {
      const list_block *block = lists_last(fixture->stores, at);
      cr_assert_eq(block->owner, 1000 + list);
      cr_assert_eq(block->count, at == fixture->heads[list] ? (left - 1) % LIST_BLOCK_AGENTS + 1 : LIST_BLOCK_AGENTS);
      for (uint32_t i = block->count; i-- > 0;) {
        uint32_t agent = fixture->order[list][--left];
        cr_assert_eq(block->agents[i], agent);
        cr_assert_eq(fixture->spots[agent], at << 4 | i);
        cr_assert_eq(lists_block_of(fixture->stores, fixture->spots[agent]), block);
      }
      at = block->previous;
      blocks++;
    }
    cr_assert_eq(left, 0, "list %u lost %u agents", list, left);
  }
  return blocks;
}

/* Every block but number 0 is in a list, was given back, or was never used. */
static void check_blocks(const struct fixture *fixture) {
  const list_blocks *common = &fixture->common;
  uint32_t blocks = check(fixture) + common->maximum - common->fresh;
  for (uint32_t i = 0; i < STORES; i++) {
    const list_store *lists = &fixture->stores[i];
    blocks += lists->end - lists->fresh + lists->free_count;
    uint32_t free_count = 0;
    for (uint32_t at = lists->free; at && free_count <= lists->free_count; at = lists->blocks[at].previous)
      free_count++;
    cr_assert_eq(free_count, lists->free_count);
  }
  cr_assert_eq(blocks, common->maximum - 1);
}

static void do_anything(struct fixture *fixture, uint64_t random, bool crowded) {
  uint32_t agent = (uint32_t)(random % AGENTS), list = (uint32_t)(random >> 20) % LISTS;
  if (crowded) list %= 2; /* long lists of several blocks */
  if ((random >> 40) % 512 == 0 && fixture->heads[list])
    drop_last(fixture, list);
  else if (fixture->where[agent] == NOWHERE)
    add(fixture, list, agent);
  else
    take_out(fixture, agent);
}

Test(lists, do_as_plain_arrays_do_over_many_random_operations) {
  for (uint32_t seed = 1; seed <= SEEDS; seed++) {
    struct fixture *fixture = create();
    for (uint32_t round = 0; round < ROUNDS; round++) {
      do_anything(fixture, random_at(seed, round, 0, 0), round / 5000 % 2);
      if (round % 512 == 0) check_blocks(fixture);
    }
    check_blocks(fixture);
    destroy(fixture);
  }
}

Test(lists, every_agent_alone_in_a_list_finds_a_block_again_and_again) {
  struct fixture *fixture = create();
  agent_list *alone = calloc(AGENTS, sizeof *alone);
  for (uint32_t round = 0; round < 20; round++) {
    for (uint32_t i = 0; i < AGENTS; i++) fixture->spots[i] = lists_add(fixture->stores, &alone[i], i, i);
    for (uint32_t i = 0; i < AGENTS; i++) {
      const list_block *block = lists_block_of(fixture->stores, fixture->spots[i]);
      cr_assert(block->count == 1 && block->agents[0] == i && block->owner == i && block->previous == 0);
    }
    cr_assert_leq(fixture->common.fresh, fixture->common.maximum);
    /* The blocks come back in another order, so that the next round finds them anywhere. */
    for (uint32_t i = 0; i < AGENTS; i++) lists_drop_last(fixture->stores, &alone[i * 7 % AGENTS]);
  }
  check_blocks(fixture);
  free(alone);
  destroy(fixture);
}

/* A crowd puts an agent that moves into its new list before it takes the agent out of the old one. */
Test(lists, a_block_is_left_for_an_agent_that_moves_when_every_agent_is_alone) {
  struct fixture *fixture = create();
  agent_list *alone = calloc(AGENTS + 1, sizeof *alone);
  for (uint32_t i = 0; i < AGENTS; i++) fixture->spots[i] = lists_add(fixture->stores, &alone[i], i, i);
  for (uint32_t i = AGENTS; i > 0; i--) {
    lists_add(fixture->stores, &alone[i], i, i - 1);
    cr_assert_eq(lists_take_out(fixture->stores, &alone[i - 1], fixture->spots[i - 1]), UINT32_MAX);
  }
  for (uint32_t i = 1; i <= AGENTS; i++) lists_drop_last(fixture->stores, &alone[i]);
  check_blocks(fixture);
  free(alone);
  destroy(fixture);
}

Test(lists, reuse_the_blocks_that_came_back_before_fresh_ones) {
  struct fixture *fixture = create();
  for (uint32_t i = 0; i < AGENTS; i++) add(fixture, 0, i);
  uint64_t bytes = lists_bytes(&fixture->common), blocks = (AGENTS + LIST_BLOCK_AGENTS - 1) / LIST_BLOCK_AGENTS;
  cr_assert_eq(bytes, (1 + blocks) * sizeof(list_block));
  for (uint32_t round = 0; round < 100; round++) {
    for (uint32_t i = 0; i < AGENTS; i++) take_out(fixture, (i * 7 + round) % AGENTS);
    cr_assert_eq(fixture->heads[0], 0);
    for (uint32_t i = 0; i < AGENTS; i++) add(fixture, 0, i);
  }
  cr_assert_eq(lists_bytes(&fixture->common), bytes);
  check_blocks(fixture);
  destroy(fixture);
}

Test(lists, count_the_bytes_of_blocks_that_were_ever_in_use) {
  struct fixture *fixture = create();
  cr_assert_eq(lists_bytes(&fixture->common), sizeof(list_block), "the block that is none");
  for (uint32_t i = 0; i < 3 * LIST_BLOCK_AGENTS; i++) add(fixture, i % 2, i);
  cr_assert_eq(lists_bytes(&fixture->common), (1 + 2 * 2) * sizeof(list_block));
  for (uint32_t i = 0; i < 3 * LIST_BLOCK_AGENTS; i++) take_out(fixture, i);
  cr_assert_eq(lists_bytes(&fixture->common), (1 + 2 * 2) * sizeof(list_block), "what was given back stays");
  destroy(fixture);
}

/* All agents are alone in lists of one store, then of the next: that one finds no block that was never used. */
Test(lists, blocks_go_to_other_stores_when_all_were_used) {
  struct fixture *fixture = create();
  agent_list *alone = calloc(AGENTS, sizeof *alone);
  for (uint32_t round = 0; round < 2 * STORES; round++) {
    list_store *lists = &fixture->stores[round % STORES];
    for (uint32_t i = 0; i < AGENTS; i++) fixture->spots[i] = lists_add(lists, &alone[i], i, i);
    cr_assert_leq(fixture->common.fresh, fixture->common.maximum);
    for (uint32_t i = 0; i < AGENTS; i++) cr_assert_eq(lists_block_of(lists, fixture->spots[i])->agents[0], i);
    for (uint32_t i = 0; i < AGENTS; i++) lists_drop_last(lists, &alone[i]);
    check_blocks(fixture);
  }
  cr_assert_not(lists_stock(&fixture->stores[0], 2 * AGENTS), "so many there are not");
  check_blocks(fixture);
  free(alone);
  destroy(fixture);
}

Test(lists, a_store_that_was_stocked_needs_no_block_that_stores_share) {
  struct fixture *fixture = create();
  agent_list *alone = calloc(AGENTS, sizeof *alone);
  list_store *lists = &fixture->stores[1];
  for (uint32_t i = 0; i < 3; i++) fixture->spots[i] = lists_add(lists, &alone[i], i, i);
  for (uint32_t i = 0; i < 2; i++) lists_drop_last(lists, &alone[i]);
  for (uint32_t count = 1; count < AGENTS - 3; count = count * 2 + 1) {
    cr_assert(lists_stock(lists, count));
    uint32_t fresh = fixture->common.fresh;
    for (uint32_t i = 3; i < 3 + count; i++) fixture->spots[i] = lists_add(lists, &alone[i], i, i);
    cr_assert_eq(fixture->common.fresh, fresh);
    for (uint32_t i = 3; i < 3 + count; i++) lists_drop_last(lists, &alone[i]);
  }
  free(alone);
  destroy(fixture);
}
