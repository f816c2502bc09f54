/* Neighbours in crowds: how many agents a query looks at, which ones, and how it tells that there are more. */
#include "grid.h"

enum { CROWD = 4000, QUERIES = 100 };

static const double cell_m = 32.0;

/* On a square of 1,024 steps; these are powers of two, so that squares of distances are exact. */
static muster_position draw_position(struct fixture *fixture, double step_m) {
  double x = draw(fixture, 1024), y = draw(fixture, 1024);
  return (muster_position){x * step_m, y * step_m, 0};
}

/* A crowd on a square of 1,024 steps, of three types: the third is one of a hundred. */
static struct fixture *create_crowd(double step_m) {
  struct fixture *fixture = create_for(CROWD, CROWD, cell_m);
  for (uint32_t i = 0; i < CROWD; i++)
    put(fixture, i, draw_position(fixture, step_m), 0, i % 100 == 0 ? 2 : (uint16_t)(i % 2));
  return fixture;
}

/* Queries that were cut, of QUERIES. */
static uint32_t check_crowd(struct fixture *fixture, uint32_t type, uint32_t capacity, float radius_m) {
  fixture->cut = 0;
  for (uint32_t i = 0; i < QUERIES; i++)
    check_query(fixture, &(struct query){i * (CROWD / QUERIES), type, capacity, radius_m});
  return fixture->cut;
}

Test(nearby, a_query_looks_at_256_agents_at_most_however_many_are_near) {
  static const double steps_m[] = {0, 0x1p-11, 0x1p-8, 0x1p-5, 0.25, 4};
  static const float radii_m[] = {0.0f, 4.0f, 40.0f, 400.0f, 1e6f};
  for (uint32_t i = 0; i < COUNT_OF(steps_m); i++) {
    SCOPED(free_fixture) struct fixture *fixture = create_crowd(steps_m[i]);
    for (uint32_t k = 0; k < COUNT_OF(radii_m); k++) {
      check_crowd(fixture, UINT32_MAX, 8, radii_m[k]);
      check_crowd(fixture, UINT32_MAX, AGENTS_MAX, radii_m[k]);
      check_crowd(fixture, 2, 8, radii_m[k]);
    }
  }
}

Test(nearby, all_in_one_spot_are_told_that_there_are_more_and_still_find_as_many_as_they_want) {
  SCOPED(free_fixture) struct fixture *fixture = create_crowd(0);
  cr_assert_eq(check_crowd(fixture, UINT32_MAX, 8, 10.0f), QUERIES);
  for (uint32_t i = 0; i < CROWD; i++) {
    struct answer answer = ask(fixture, &(struct query){i, UINT32_MAX, 8, 10.0f});
    cr_assert_eq(answer.count, 8);
    cr_assert_leq(answer.looks.looked, 2 * BIN_AGENTS);
  }
}

Test(nearby, in_one_spot_everybody_is_looked_at_by_somebody) {
  SCOPED(free_fixture) struct fixture *fixture = create_crowd(0);
  SCOPED(free_memory) bool *seen = calloc(CROWD, sizeof *seen);
  for (uint32_t i = 0; i < CROWD; i++) {
    struct answer answer = ask(fixture, &(struct query){i, UINT32_MAX, 64, 10.0f});
    for (uint32_t k = 0; k < answer.count; k++) seen[answer.found[k].index] = true;
  }
  uint32_t unseen = 0;
  for (uint32_t i = 0; i < CROWD; i++) unseen += !seen[i];
  cr_assert_leq(unseen, CROWD / 4, "%u are seen by nobody", unseen);
}

Test(nearby, in_a_crowd_that_stands_apart_the_nearest_are_found_and_nothing_is_cut) {
  SCOPED(free_fixture) struct fixture *fixture = create_crowd(0x1p-6); /* 16 on a square metre, all in one cell */
  cr_assert_eq(check_crowd(fixture, UINT32_MAX, 8, 10.0f), 0);
  cr_assert_leq(check_crowd(fixture, UINT32_MAX, 64, 10.0f), QUERIES / 20);
}

Test(nearby, what_is_rare_in_a_crowd_may_be_missed_and_this_is_told) {
  SCOPED(free_fixture) struct fixture *fixture = create_crowd(0x1p-6);
  cr_assert_gt(check_crowd(fixture, 2, 8, 10.0f), QUERIES / 2);
}

/* ----------------------------------------------------------------------------------------------------- what decides */

static void check_same(const struct fixture *one, const struct fixture *other, uint32_t queries) {
  struct fixture drawn = {.counter = 1000000, .store.maximum = one->store.maximum};
  uint32_t cut = 0;
  for (uint32_t i = 0; i < queries; i++) {
    struct query query = draw_query(&drawn);
    if (!is_linked(one, query.index)) continue;
    struct answer first = ask(one, &query), second = ask(other, &query);
    cr_assert_eq(first.count, second.count);
    cr_assert_eq(first.looks.cut, second.looks.cut);
    cr_assert_arr_eq(first.found, second.found, first.count * sizeof *first.found);
    cut += first.looks.cut;
  }
  cr_assert_gt(cut, 0, "or nothing was to be chosen");
}

/* The same agents at the same places, added in reverse order, to a grid of `buckets` buckets (0: its usual number). */
static struct fixture *create_again(const struct fixture *from, uint32_t buckets) {
  struct fixture *fixture = create_for(from->store.maximum, from->store.maximum, cell_m);
  if (buckets) fixture->space.mask = buckets - 1;
  for (uint32_t i = from->store.maximum; i-- > 0;) {
    const agent_place *place = &from->store.places[i];
    if (is_linked(from, i)) put(fixture, i, space_position(&from->space, place), place->partition, place->type);
  }
  return fixture;
}

static void wander(struct fixture *fixture, double step_m, uint32_t steps) {
  for (uint32_t step = 0; step < steps; step++) {
    uint32_t index = draw(fixture, fixture->store.maximum);
    if (!is_linked(fixture, index))
      put(fixture, index, draw_position(fixture, step_m), (uint16_t)draw(fixture, 2), (uint16_t)draw(fixture, TYPES));
    else if (draw(fixture, 4))
      move_to(fixture, index, draw_position(fixture, step_m));
    else
      take_out(fixture, index);
  }
}

Test(nearby, does_not_depend_on_the_order_in_which_agents_came_nor_on_the_number_of_buckets) {
  static const double steps_m[] = {0, 0x1p-11, 0x1p-7, 0.125, 0.5};
  for (uint32_t i = 0; i < COUNT_OF(steps_m); i++) {
    SCOPED(free_fixture) struct fixture *fixture = create_crowd(steps_m[i]);
    wander(fixture, steps_m[i], 3 * CROWD);
    SCOPED(free_fixture) struct fixture *again = create_again(fixture, 0), *together = create_again(fixture, 1);
    check_same(fixture, again, 2000);
    check_same(fixture, together, 500);
  }
}

Test(nearby, crowds_that_form_and_scatter_again_leave_the_grid_as_it_was) {
  SCOPED(free_fixture) struct fixture *fixture = create_crowd(0x1p-7);
  uint32_t blocks = fixture->space.blocks.fresh;
  for (uint32_t round = 0; round < 6; round++) {
    double step_m = round % 2 ? 0x1p-13 : 4;
    for (uint32_t i = 0; i < CROWD; i++) move_to(fixture, i, draw_position(fixture, step_m));
    for (uint32_t i = 0; i < CROWD; i += 40) check_query(fixture, &(struct query){i, UINT32_MAX, 8, 30.0f});
  }
  for (uint32_t i = 0; i < CROWD; i++) take_out(fixture, i);
  for (uint32_t i = 0; i <= fixture->space.mask; i++) {
    cr_assert_eq(fixture->space.buckets[i].list, 0);
    cr_assert_eq(fixture->space.buckets[i].count, 0);
    cr_assert_not(fixture->space.buckets[i].crowded);
  }
  cr_assert_leq(fixture->space.blocks.fresh, blocks + CROWD);
  uint32_t nodes = 1, crowds = 1;
  for (uint32_t at = fixture->space.crowds.free_node; at; at = fixture->space.crowds.nodes[at].parent) nodes++;
  for (uint32_t at = fixture->space.crowds.free_crowd; at; at = fixture->space.crowds.cells[at].next) crowds++;
  cr_assert_eq(nodes, fixture->space.crowds.fresh_node, "all were given back");
  cr_assert_eq(crowds, fixture->space.crowds.fresh_crowd, "all were given back");
}

Test(nearby, a_cell_becomes_a_crowd_at_65_agents_and_a_plain_one_again_at_64) {
  SCOPED(free_fixture) struct fixture *fixture = create(AGENTS_MAX, cell_m);
  for (uint32_t i = 0; i < CROWD_AGENTS; i++) put_at(fixture, i, i % 8, i / 8.0);
  cr_assert_eq(space_crowd(&fixture->space, 0, 0, 0), 0);
  for (uint32_t round = 0; round < 3; round++) {
    put_at(fixture, CROWD_AGENTS, 3, 3);
    cr_assert_neq(space_crowd(&fixture->space, 0, 0, 0), 0);
    for (uint32_t i = 0; i <= CROWD_AGENTS; i++) check_query(fixture, &(struct query){i, UINT32_MAX, 7, 9.0f});
    take_out(fixture, round == 0 ? 0 : CROWD_AGENTS);
    if (round == 0) put_at(fixture, 0, 0, 0), take_out(fixture, CROWD_AGENTS);
    cr_assert_eq(space_crowd(&fixture->space, 0, 0, 0), 0);
    for (uint32_t i = 0; i < CROWD_AGENTS; i++) check_query(fixture, &(struct query){i, UINT32_MAX, 7, 9.0f});
  }
  cr_assert_eq(fixture->cut, 0);
}

/* ------------------------------------------------------------------------------------------------------- the others */

Test(nearby, one_outside_of_the_crowd_finds_what_it_found_without_it) {
  SCOPED(free_fixture) struct fixture *fixture = create_for(CROWD + 10, CROWD + 10, cell_m);
  fixture->space.mask = 0; /* the crowd is in its bucket, too */
  for (uint32_t i = CROWD; i < CROWD + 10; i++) put_at(fixture, i, 500.0 + i % 3, 500.0 + i % 4);
  struct query query = {CROWD + 4, UINT32_MAX, 8, 40.0f};
  struct answer alone = ask(fixture, &query);
  for (uint32_t i = 0; i < CROWD; i++) put(fixture, i, (muster_position){400, 400, 0}, (uint16_t)(i % 2), 0);
  struct answer beside = ask(fixture, &query);
  cr_assert_eq(beside.count, 8);
  cr_assert_not(beside.looks.cut);
  cr_assert_eq(beside.looks.looked, 10);
  cr_assert_eq(alone.looks.looked, 10);
  cr_assert_eq(fixture->space.buckets[0].count, 10, "nobody of the crowd is passed on the way");
  cr_assert_arr_eq(alone.found, beside.found, 8 * sizeof *alone.found);
}

Test(nearby, one_who_comes_near_the_crowd_finds_its_nearest_side) {
  SCOPED(free_fixture) struct fixture *fixture = create_for(CROWD + 1, CROWD + 1, cell_m);
  for (uint32_t i = 0; i < CROWD; i++) put(fixture, i, draw_position(fixture, 0x1p-6), 0, 0);
  static const double places[][2] = {{-8, 6}, {40, 6}, {6, -20}, {20, 31.875}, {13, 13}, {-1, -1}};
  for (uint32_t i = 0; i < COUNT_OF(places); i++) {
    put_at(fixture, CROWD, places[i][0], places[i][1]);
    check_query(fixture, &(struct query){CROWD, UINT32_MAX, 8, 60.0f});
    cr_assert_eq(fixture->cut, 0);
    take_out(fixture, CROWD);
  }
}

Test(nearby, beyond_32_cells_a_query_of_few_agents_finds_all_and_of_many_some) {
  SCOPED(free_fixture) struct fixture *fixture = create_for(CROWD, CROWD, 1.0);
  for (uint32_t i = 0; i < NEARBY_LOOKS; i++) put(fixture, i, draw_position(fixture, 4), 0, 0);
  for (uint32_t i = 0; i < NEARBY_LOOKS; i++) check_query(fixture, &(struct query){i, UINT32_MAX, AGENTS_MAX, 3000.0f});
  cr_assert_eq(fixture->cut, 0);
  for (uint32_t i = NEARBY_LOOKS; i < CROWD; i++) put(fixture, i, draw_position(fixture, 4), 0, 0);
  for (uint32_t i = 0; i < CROWD; i += 40) {
    check_query(fixture, &(struct query){i, UINT32_MAX, 8, 3000.0f});
    cr_assert_eq(ask(fixture, &(struct query){i, UINT32_MAX, 8, 3000.0f}).count, 8);
  }
  cr_assert_gt(fixture->cut, 0);
}
