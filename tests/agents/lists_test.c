/* Lists of blocks against plain arrays, and what a thread may take from its pool without asking the others. */
#include "agents/lists.h"

#include "base/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { AGENTS = 600, LISTS = 24, POOLS = 3, ROUNDS = 60000, NOWHERE = LISTS };

/* Each list is served by pool `list % pools`; its owner is 1000 + list. */
struct fixture {
  struct arena arena;
  list_store lists;
  uint32_t pools;
  agent_list heads[LISTS];
  list_spot spots[AGENTS];
  uint32_t where[AGENTS]; /* the list that an agent is in, or NOWHERE */
  uint32_t order[LISTS][AGENTS], count[LISTS];
};

static struct fixture *create(uint32_t pools, uint32_t agents_max) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  muster_allocator allocator = {0};
  arena_create(&fixture->arena, &allocator);
  fixture->pools = pools;
  lists_create(&fixture->lists, pools, agents_max, &fixture->arena);
  for (uint32_t i = 0; i < AGENTS; i++) fixture->where[i] = NOWHERE;
  return fixture;
}

static void destroy(struct fixture *fixture) {
  arena_destroy(&fixture->arena);
  free(fixture);
}

static void add(struct fixture *fixture, uint32_t list, uint32_t agent) {
  fixture->spots[agent] = lists_add(&fixture->lists, list % fixture->pools, &fixture->heads[list], 1000 + list, agent);
  fixture->where[agent] = list;
  fixture->order[list][fixture->count[list]++] = agent;
}

/* The model does as the list promises: its last agent fills the gap. */
static void take_out(struct fixture *fixture, uint32_t agent) {
  uint32_t list = fixture->where[agent], *order = fixture->order[list], last = order[--fixture->count[list]];
  list_spot spot = fixture->spots[agent];
  uint32_t moved = lists_take_out(&fixture->lists, list % fixture->pools, &fixture->heads[list], spot);
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

/* Reads the last block and gives it back, as the wheel does. */
static void drop_last(struct fixture *fixture, uint32_t list) {
  const list_block *block = lists_last(&fixture->lists, fixture->heads[list]);
  for (uint32_t i = block->count; i-- > 0;) {
    cr_assert_eq(block->agents[i], fixture->order[list][--fixture->count[list]]);
    fixture->where[block->agents[i]] = NOWHERE;
  }
  lists_drop_last(&fixture->lists, list % fixture->pools, &fixture->heads[list]);
}

/* Walks every list backwards: order, spots, owners, and that only last blocks are not full. Returns blocks in use. */
static uint32_t check(const struct fixture *fixture) {
  uint32_t blocks = 0;
  for (uint32_t list = 0; list < LISTS; list++) {
    uint32_t left = fixture->count[list];
    for (agent_list at = fixture->heads[list]; at;) {
      const list_block *block = lists_last(&fixture->lists, at);
      cr_assert_eq(block->owner, 1000 + list);
      cr_assert_eq(block->count, at == fixture->heads[list] ? (left - 1) % LIST_BLOCK_AGENTS + 1 : LIST_BLOCK_AGENTS);
      for (uint32_t i = block->count; i-- > 0;) {
        uint32_t agent = fixture->order[list][--left];
        cr_assert_eq(block->agents[i], agent);
        cr_assert_eq(fixture->spots[agent], at << 4 | i);
        cr_assert_eq(lists_block_of(&fixture->lists, fixture->spots[agent]), block);
      }
      at = block->previous;
      blocks++;
    }
    cr_assert_eq(left, 0, "list %u lost %u agents", list, left);
  }
  return blocks;
}

static uint32_t available(const struct fixture *fixture, uint32_t pool) {
  const list_pool *own = &fixture->lists.pools[pool];
  return own->free_count + own->fresh_end - own->fresh;
}

/* Every block but number 0 is in a list, in a pool, or was never given out. */
static void check_blocks(const struct fixture *fixture) {
  uint32_t blocks = check(fixture) + fixture->lists.maximum - fixture->lists.fresh;
  for (uint32_t pool = 0; pool < fixture->pools; pool++) {
    uint32_t free = 0;
    for (uint32_t at = fixture->lists.pools[pool].free; at; at = fixture->lists.blocks[at].previous) free++;
    cr_assert_eq(free, fixture->lists.pools[pool].free_count);
    blocks += available(fixture, pool);
  }
  cr_assert_eq(blocks, fixture->lists.maximum - 1);
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
  for (uint32_t pools = 1; pools <= LIST_POOLS_MAX; pools++) {
    struct fixture *fixture = create(pools, AGENTS);
    for (uint32_t round = 0; round < ROUNDS; round++) {
      do_anything(fixture, random_at(pools, round, 0, 0), round / 5000 % 2);
      if (round % 512 == 0) check_blocks(fixture);
    }
    check_blocks(fixture);
    destroy(fixture);
  }
}

Test(lists, every_agent_alone_in_a_list_finds_a_block_again_and_again) {
  struct fixture *fixture = create(POOLS, AGENTS);
  agent_list *alone = calloc(AGENTS, sizeof *alone);
  for (uint32_t round = 0; round < 20; round++) {
    for (uint32_t i = 0; i < AGENTS; i++)
      fixture->spots[i] = lists_add(&fixture->lists, (i + round) % POOLS, &alone[i], i, i);
    for (uint32_t i = 0; i < AGENTS; i++) {
      const list_block *block = lists_block_of(&fixture->lists, fixture->spots[i]);
      cr_assert(block->count == 1 && block->agents[0] == i && block->owner == i && block->previous == 0);
    }
    cr_assert_leq(fixture->lists.fresh, fixture->lists.maximum);
    /* Given back to another pool than they came from, so that the next round finds them anywhere. */
    for (uint32_t i = 0; i < AGENTS; i++) lists_drop_last(&fixture->lists, i % 7 % POOLS, &alone[i]);
  }
  check_blocks(fixture);
  free(alone);
  destroy(fixture);
}

/* A list is filed anew into lists of one agent each while its own block is not given back yet. */
Test(lists, a_block_is_left_for_filing_anew_when_all_others_are_in_use) {
  struct fixture *fixture = create(1, AGENTS);
  agent_list *alone = calloc(AGENTS, sizeof *alone), together = 0;
  for (uint32_t i = 0; i < AGENTS; i++)
    lists_add(&fixture->lists, 0, i < LIST_BLOCK_AGENTS ? &together : &alone[i], 0, i);
  const list_block *block = lists_last(&fixture->lists, together);
  for (uint32_t i = 0; i < LIST_BLOCK_AGENTS; i++) lists_add(&fixture->lists, 0, &alone[i], 0, block->agents[i]);
  lists_drop_last(&fixture->lists, 0, &together);
  cr_assert_eq(available(fixture, 0), 1);
  free(alone);
  destroy(fixture);
}

Test(lists, reuse_the_blocks_that_came_back_before_fresh_ones) {
  struct fixture *fixture = create(1, AGENTS);
  for (uint32_t i = 0; i < AGENTS; i++) add(fixture, 0, i);
  uint64_t bytes = lists_bytes(&fixture->lists);
  cr_assert_eq(bytes, (1 + (AGENTS + LIST_BLOCK_AGENTS - 1) / LIST_BLOCK_AGENTS) * sizeof(list_block));
  for (uint32_t round = 0; round < 100; round++) {
    for (uint32_t i = 0; i < AGENTS; i++) take_out(fixture, (i * 7 + round) % AGENTS);
    cr_assert_eq(fixture->heads[0], 0);
    for (uint32_t i = 0; i < AGENTS; i++) add(fixture, 0, i);
  }
  cr_assert_eq(lists_bytes(&fixture->lists), bytes);
  check_blocks(fixture);
  destroy(fixture);
}

/* --------------------------------------------------------------------------------------------------------- stocking */

static list_pool pool_of(const struct fixture *fixture, uint32_t pool) {
  return fixture->lists.pools[pool];
}

static void expect_untouched(const struct fixture *fixture, uint32_t pool, const list_pool *before) {
  const list_pool *now = &fixture->lists.pools[pool];
  cr_assert(now->free == before->free && now->free_count == before->free_count && now->fresh == before->fresh &&
                now->fresh_end == before->fresh_end,
            "pool %u was touched", pool);
}

/* Each pool in turn serves what was wanted of it, every agent in a list of its own, and no other pool is touched. */
static void serve_apart(struct fixture *fixture, const uint32_t *wanted, uint32_t agents_left) {
  agent_list *alone = calloc(agents_left, sizeof *alone);
  uint32_t next = 0;
  for (uint32_t pool = 0; pool < fixture->pools; pool++) cr_assert_geq(available(fixture, pool), wanted[pool]);
  for (uint32_t pool = 0; pool < fixture->pools; pool++) {
    list_pool before[LIST_POOLS_MAX];
    uint32_t reserve = fixture->lists.fresh;
    for (uint32_t other = 0; other < fixture->pools; other++) before[other] = pool_of(fixture, other);
    for (uint32_t i = 0; i < wanted[pool]; i++, next++) lists_add(&fixture->lists, pool, &alone[next], pool, next);
    cr_assert_eq(fixture->lists.fresh, reserve, "pool %u went to the reserve", pool);
    for (uint32_t other = 0; other < fixture->pools; other++)
      if (other != pool) expect_untouched(fixture, other, &before[other]);
  }
  while (next-- > 0)
    lists_drop_last(&fixture->lists, (uint32_t)(random_at(5, next, 0, 0) % fixture->pools), &alone[next]);
  free(alone);
}

Test(lists, stocked_pools_serve_what_was_wanted_without_the_reserve_or_each_other) {
  struct fixture *fixture = create(4, AGENTS);
  for (uint32_t round = 0; round < 300; round++) {
    uint32_t wanted[4], left = AGENTS;
    for (uint32_t pool = 0; pool < 4; pool++) {
      wanted[pool] = (uint32_t)(random_at(3, round, pool, 0) % (left + 1));
      left -= wanted[pool];
    }
    lists_stock(&fixture->lists, wanted);
    serve_apart(fixture, wanted, AGENTS);
    check_blocks(fixture);
  }
  destroy(fixture);
}

Test(lists, pools_are_stocked_from_one_that_holds_all_the_free_blocks) {
  for (uint32_t rich = 0; rich < 4; rich++) {
    struct fixture *fixture = create(4, AGENTS);
    uint32_t everything[4] = {0}, wanted[4];
    agent_list *alone = calloc(AGENTS, sizeof *alone);
    everything[rich] = AGENTS;
    lists_stock(&fixture->lists, everything);
    for (uint32_t i = 0; i < AGENTS; i++) lists_add(&fixture->lists, rich, &alone[i], 0, i);
    for (uint32_t i = 0; i < AGENTS; i++) lists_drop_last(&fixture->lists, rich, &alone[i]);
    free(alone);
    for (uint32_t pool = 0; pool < 4; pool++) wanted[pool] = AGENTS / 4;
    lists_stock(&fixture->lists, wanted);
    serve_apart(fixture, wanted, AGENTS);
    check_blocks(fixture);
    destroy(fixture);
  }
}

Test(lists, are_stocked_for_all_the_agents_that_are_in_none_of_them) {
  struct fixture *fixture = create(4, AGENTS);
  agent_list *alone = calloc(AGENTS, sizeof *alone);
  for (uint32_t inside = 0; inside < AGENTS; inside += 37) {
    uint32_t wanted[4] = {0};
    for (uint32_t i = 0; i < inside; i++) lists_add(&fixture->lists, i % 3, &alone[i], 0, i);
    wanted[inside % 4] = AGENTS - inside;
    lists_stock(&fixture->lists, wanted);
    serve_apart(fixture, wanted, AGENTS);
    for (uint32_t i = 0; i < inside; i++) lists_drop_last(&fixture->lists, i % 4, &alone[i]);
  }
  check_blocks(fixture);
  free(alone);
  destroy(fixture);
}

Test(lists, stock_that_was_not_used_is_kept_when_more_is_wanted) {
  struct fixture *fixture = create(4, AGENTS);
  for (uint32_t wanted = 1; wanted <= AGENTS / 4; wanted++) {
    uint32_t each[4] = {wanted, wanted, wanted, wanted};
    lists_stock(&fixture->lists, each);
    for (uint32_t pool = 0; pool < 4; pool++) cr_assert_eq(available(fixture, pool), wanted);
  }
  check_blocks(fixture);
  destroy(fixture);
}

Test(lists, count_the_bytes_of_blocks_that_were_ever_in_use) {
  struct fixture *fixture = create(2, AGENTS);
  cr_assert_eq(lists_bytes(&fixture->lists), sizeof(list_block), "the block that is none");
  lists_stock(&fixture->lists, (uint32_t[]){100, 100});
  cr_assert_eq(lists_bytes(&fixture->lists), sizeof(list_block), "stock is not use");
  for (uint32_t i = 0; i < 3 * LIST_BLOCK_AGENTS; i++) add(fixture, i % 2, i);
  cr_assert_eq(lists_bytes(&fixture->lists), (1 + 2 * 2) * sizeof(list_block));
  for (uint32_t i = 0; i < 3 * LIST_BLOCK_AGENTS; i++) take_out(fixture, i);
  cr_assert_eq(lists_bytes(&fixture->lists), (1 + 2 * 2) * sizeof(list_block), "what was given back stays");
  destroy(fixture);
}
