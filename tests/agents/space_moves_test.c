/* Many moves at once: against moves one by one, in any order of chunks and parts, with crowds that come to be. */
#include "agents/agents_sound.h"
#include "agents/space_moves.h"
#include "grid.h"
#include "support/backwards.h"

enum { AGENTS = 6000, GRID_AGENTS = 1 << 17, ROUNDS = 12 };

struct movers {
  struct fixture *fixture;
  space_moves moves;
  uint32_t moved[AGENTS];
};

static struct movers *create_moving(double span_m) {
  struct movers *moving = calloc(1, sizeof *moving);
  moving->fixture = create_for(AGENTS, GRID_AGENTS, 32.0);
  struct fixture *fixture = moving->fixture;
  space_moves_create(&moving->moves, &fixture->space, &fixture->store, AGENTS, &fixture->arena);
  for (uint32_t i = 0; i < AGENTS; i++) put_at(fixture, i, span_m * draw(fixture, 1000), span_m * draw(fixture, 1000));
  return moving;
}

static void destroy_moving(struct movers **moving) {
  free_fixture(&(*moving)->fixture);
  free(*moving);
}

/* Sets places of agents that come to other lists; moves the others. */
static uint32_t set_places(struct movers *moving, uint32_t round, double span_m) {
  struct fixture *fixture = moving->fixture;
  uint32_t count = 0;
  for (uint32_t i = 0; i < AGENTS; i++) {
    uint64_t random = random_at(7, round, i, 0);
    if (random % 4 == 0) continue;
    double gathers_m = random % 8 == 1 && round % 3 ? 40.0 : span_m * 1000; /* some come together in two cells */
    muster_position to = {(double)(random >> 8 & 0xffff) / 65536.0 * gathers_m,
                          (double)(random >> 24 & 0xffff) / 65536.0 * (gathers_m < 100 ? 20.0 : gathers_m), 0};
    space_spot spot = space_spot_of(&fixture->space, to);
    if (space_stays(&fixture->space, &fixture->store.places[i], spot)) {
      space_move(&fixture->space, &fixture->store, i, spot);
    } else {
      space_set_place(&fixture->store, i, spot);
      moving->moved[count++] = i;
    }
  }
  return count;
}

static void check_sound(const struct fixture *fixture) {
  soundness found = {0};
  cr_assert(space_is_sound(&fixture->space, &fixture->store, &found), "%s", found.trouble);
}

/* Lists that hold the same agents in the same order. */
static void check_same_lists(const struct space *one, const struct space *other) {
  for (uint32_t bucket = 0; bucket <= one->mask; bucket++) {
    agent_list a = one->buckets[bucket].list, b = other->buckets[bucket].list;
    cr_assert_eq(one->buckets[bucket].count, other->buckets[bucket].count);
    while (a && b) {
      const list_block *left = lists_last(one->stores, a), *right = lists_last(other->stores, b);
      cr_assert_eq(left->count, right->count);
      cr_assert_arr_eq(left->agents, right->agents, left->count * sizeof *left->agents);
      a = left->previous;
      b = right->previous;
    }
    cr_assert(!a && !b);
  }
}

static void check_rounds(double span_m) {
  SCOPED(destroy_moving) struct movers *one = create_moving(span_m), *other = create_moving(span_m);
  cr_assert_gt(space_parts(&one->fixture->space), 8);
  for (uint32_t round = 0; round < ROUNDS; round++) {
    uint32_t count = set_places(one, round, span_m);
    cr_assert_eq(set_places(other, round, span_m), count);
    cr_assert_gt(count, 2 * one->moves.to.sort.chunk);
    space_moves_run(&one->moves, one->moved, count, NULL);
    space_moves_run(&other->moves, other->moved, count, &backwards);
    check_sound(one->fixture);
    check_same_lists(&one->fixture->space, &other->fixture->space);
  }
}

Test(space_moves, lists_are_the_same_whatever_the_order_of_chunks_and_parts) {
  check_rounds(2.0);
}

Test(space_moves, cells_become_crowds_and_agents_enter_them) {
  SCOPED(destroy_moving) struct movers *moving = create_moving(1.0);
  uint32_t entered = 0;
  for (uint32_t round = 0; round < ROUNDS; round++) {
    uint32_t count = set_places(moving, round, 1.0);
    space_moves_run(&moving->moves, moving->moved, count, NULL);
    check_sound(moving->fixture);
    for (uint32_t i = 0; i < count; i++) entered += moving->fixture->store.places[moving->moved[i]].depth > 0;
  }
  cr_assert_gt(entered, 100);
}

Test(space_moves, none_is_nothing) {
  SCOPED(destroy_moving) struct movers *moving = create_moving(2.0);
  space_moves_run(&moving->moves, moving->moved, 0, NULL);
  check_sound(moving->fixture);
}
