/* Lists of blocks against plain arrays, and which blocks they take. */
#include "agents/lists.h"
#include "support/arenas.h"

enum { AGENTS = 600, LISTS = 24, SEEDS = 4, ROUNDS = 60000, NOWHERE = LISTS, STORES = 3 };

/* The owner of each list is 1000 + list. */
static struct fixture {
  struct arena arena;
  list_blocks common;
  list_store stores[STORES]; /* most tests use the first alone */
  agent_list heads[LISTS];
  list_spot spots[AGENTS];
  uint32_t where[AGENTS]; /* the list that an agent is in, or NOWHERE */
  uint32_t order[LISTS][AGENTS], count[LISTS];
} of;

static void end(void) {
  arena_destroy(&of.arena);
}

static void begin(void) {
  end();
  of = (struct fixture){.arena = begin_arena()};
  lists_create(&of.common, of.stores, STORES, AGENTS, &of.arena);
  for (uint32_t i = 0; i < AGENTS; i++) of.where[i] = NOWHERE;
}

TestSuite(lists, .init = begin, .fini = end);

static void add(uint32_t list, uint32_t agent) {
  of.spots[agent] = lists_add(of.stores, &of.heads[list], 1000 + list, agent);
  of.where[agent] = list;
  of.order[list][of.count[list]++] = agent;
}

/* The model does as the list promises: its last agent fills the gap. */
static void take_out(uint32_t agent) {
  uint32_t list = of.where[agent], *order = of.order[list], last = order[--of.count[list]];
  list_spot spot = of.spots[agent];
  uint32_t moved = lists_take_out(of.stores, &of.heads[list], spot);
  of.where[agent] = NOWHERE;
  if (last == agent) {
    cr_assert_eq(moved, UINT32_MAX);
    return;
  }
  cr_assert_eq(moved, last);
  of.spots[moved] = spot;
  for (uint32_t i = 0; i < of.count[list]; i++)
    if (order[i] == agent) order[i] = last;
}

/* Reads the last block and gives it back, as a crowd does. */
static void drop_last(uint32_t list) {
  const list_block *block = lists_last(of.stores, of.heads[list]);
  for (uint32_t i = block->count; i-- > 0;) {
    cr_assert_eq(block->agents[i], of.order[list][--of.count[list]]);
    of.where[block->agents[i]] = NOWHERE;
  }
  lists_drop_last(of.stores, &of.heads[list]);
}

/* Walks every list backwards: order, spots, owners, and that only last blocks are not full. Returns blocks in use. */
static uint32_t check(void) {
  uint32_t blocks = 0;
  for (uint32_t list = 0; list < LISTS; list++) {
    uint32_t left = of.count[list];
    for (agent_list at = of.heads[list]; at;) {
      const list_block *block = lists_last(of.stores, at);
      cr_assert_eq(block->owner, 1000 + list);
      cr_assert_eq(block->count, at == of.heads[list] ? (left - 1) % LIST_BLOCK_AGENTS + 1 : LIST_BLOCK_AGENTS);
      for (uint32_t i = block->count; i-- > 0;) {
        uint32_t agent = of.order[list][--left];
        cr_assert_eq(block->agents[i], agent);
        cr_assert_eq(of.spots[agent], at << 4 | i);
        cr_assert_eq(lists_block_of(of.stores, of.spots[agent]), block);
      }
      at = block->previous;
      blocks++;
    }
    cr_assert_eq(left, 0, "list %u lost %u agents", list, left);
  }
  return blocks;
}

/* Every block but number 0 is in a list, was given back, or was never used. */
static void check_blocks(void) {
  const list_blocks *common = &of.common;
  uint32_t blocks = check() + common->maximum - common->fresh;
  for (uint32_t i = 0; i < STORES; i++) {
    const list_store *lists = &of.stores[i];
    blocks += lists->end - lists->fresh + lists->free_count;
    uint32_t free_count = 0;
    for (uint32_t at = lists->free; at && free_count <= lists->free_count; at = lists->blocks[at].previous)
      free_count++;
    cr_assert_eq(free_count, lists->free_count);
  }
  cr_assert_eq(blocks, common->maximum - 1);
}

static void do_anything(uint64_t random, bool crowded) {
  uint32_t agent = (uint32_t)(random % AGENTS), list = (uint32_t)(random >> 20) % LISTS;
  if (crowded) list %= 2; /* long lists of several blocks */
  if ((random >> 40) % 512 == 0 && of.heads[list])
    drop_last(list);
  else if (of.where[agent] == NOWHERE)
    add(list, agent);
  else
    take_out(agent);
}

Test(lists, do_as_plain_arrays_do_over_many_random_operations) {
  for (uint32_t seed = 1; seed <= SEEDS; seed++) {
    begin();
    for (uint32_t round = 0; round < ROUNDS; round++) {
      do_anything(random_at(seed, round, 0, 0), round / 5000 % 2);
      if (round % 512 == 0) check_blocks();
    }
    check_blocks();
  }
}

Test(lists, every_agent_alone_in_a_list_finds_a_block_again_and_again) {
  SCOPED(free_memory) agent_list *alone = calloc(AGENTS, sizeof *alone);
  for (uint32_t round = 0; round < 20; round++) {
    for (uint32_t i = 0; i < AGENTS; i++) of.spots[i] = lists_add(of.stores, &alone[i], i, i);
    for (uint32_t i = 0; i < AGENTS; i++) {
      const list_block *block = lists_block_of(of.stores, of.spots[i]);
      cr_assert(block->count == 1 && block->agents[0] == i && block->owner == i && block->previous == 0);
    }
    cr_assert_leq(of.common.fresh, of.common.maximum);
    /* The blocks come back in another order, so that the next round finds them anywhere. */
    for (uint32_t i = 0; i < AGENTS; i++) lists_drop_last(of.stores, &alone[i * 7 % AGENTS]);
  }
  check_blocks();
}

/* A crowd puts an agent that moves into its new list before it takes the agent out of the old one. */
Test(lists, a_block_is_left_for_an_agent_that_moves_when_every_agent_is_alone) {
  SCOPED(free_memory) agent_list *alone = calloc(AGENTS + 1, sizeof *alone);
  for (uint32_t i = 0; i < AGENTS; i++) of.spots[i] = lists_add(of.stores, &alone[i], i, i);
  for (uint32_t i = AGENTS; i > 0; i--) {
    lists_add(of.stores, &alone[i], i, i - 1);
    cr_assert_eq(lists_take_out(of.stores, &alone[i - 1], of.spots[i - 1]), UINT32_MAX);
  }
  for (uint32_t i = 1; i <= AGENTS; i++) lists_drop_last(of.stores, &alone[i]);
  check_blocks();
}

Test(lists, reuse_the_blocks_that_came_back_before_fresh_ones) {
  for (uint32_t i = 0; i < AGENTS; i++) add(0, i);
  uint64_t bytes = lists_bytes(&of.common), blocks = (AGENTS + LIST_BLOCK_AGENTS - 1) / LIST_BLOCK_AGENTS;
  cr_assert_eq(bytes, (1 + blocks) * sizeof(list_block));
  for (uint32_t round = 0; round < 100; round++) {
    for (uint32_t i = 0; i < AGENTS; i++) take_out((i * 7 + round) % AGENTS);
    cr_assert_eq(of.heads[0], 0);
    for (uint32_t i = 0; i < AGENTS; i++) add(0, i);
  }
  cr_assert_eq(lists_bytes(&of.common), bytes);
  check_blocks();
}

Test(lists, count_the_bytes_of_blocks_that_were_ever_in_use) {
  cr_assert_eq(lists_bytes(&of.common), sizeof(list_block), "the block that is none");
  for (uint32_t i = 0; i < 3 * LIST_BLOCK_AGENTS; i++) add(i % 2, i);
  cr_assert_eq(lists_bytes(&of.common), (1 + 2 * 2) * sizeof(list_block));
  for (uint32_t i = 0; i < 3 * LIST_BLOCK_AGENTS; i++) take_out(i);
  cr_assert_eq(lists_bytes(&of.common), (1 + 2 * 2) * sizeof(list_block), "what was given back stays");
}

/* All agents are alone in lists of one store, then of the next: that one finds no block that was never used. */
Test(lists, blocks_go_to_other_stores_when_all_were_used) {
  SCOPED(free_memory) agent_list *alone = calloc(AGENTS, sizeof *alone);
  for (uint32_t round = 0; round < 2 * STORES; round++) {
    list_store *lists = &of.stores[round % STORES];
    for (uint32_t i = 0; i < AGENTS; i++) of.spots[i] = lists_add(lists, &alone[i], i, i);
    cr_assert_leq(of.common.fresh, of.common.maximum);
    for (uint32_t i = 0; i < AGENTS; i++) cr_assert_eq(lists_block_of(lists, of.spots[i])->agents[0], i);
    for (uint32_t i = 0; i < AGENTS; i++) lists_drop_last(lists, &alone[i]);
    check_blocks();
  }
  cr_assert_not(lists_stock(&of.stores[0], 2 * AGENTS), "so many there are not");
  check_blocks();
}

Test(lists, a_store_that_was_stocked_needs_no_block_that_stores_share) {
  SCOPED(free_memory) agent_list *alone = calloc(AGENTS, sizeof *alone);
  list_store *lists = &of.stores[1];
  for (uint32_t i = 0; i < 3; i++) of.spots[i] = lists_add(lists, &alone[i], i, i);
  for (uint32_t i = 0; i < 2; i++) lists_drop_last(lists, &alone[i]);
  for (uint32_t count = 1; count < AGENTS - 3; count = count * 2 + 1) {
    cr_assert(lists_stock(lists, count));
    uint32_t fresh = of.common.fresh;
    for (uint32_t i = 3; i < 3 + count; i++) of.spots[i] = lists_add(lists, &alone[i], i, i);
    cr_assert_eq(of.common.fresh, fresh);
    for (uint32_t i = 3; i < 3 + count; i++) lists_drop_last(lists, &alone[i]);
  }
}
