/* The neighbour grid against a look at every agent. */
#include "grid.h"

static void check_random_world(double cell_m, uint32_t agents, uint32_t span_m, uint64_t seed) {
  SCOPED(free_fixture) struct fixture *fixture = create(agents, cell_m);
  fixture->counter = seed << 32;
  for (uint32_t i = 0; i < agents; i++) put_anywhere(fixture, i, span_m);
  check_some_queries(fixture, 200);
  if (agents <= NEARBY_LOOKS) cr_assert_eq(fixture->cut, 0);
}

Test(space, finds_the_same_agents_in_the_same_order_as_a_look_at_everybody) {
  for (uint64_t run = 0; run < 20; run++) {
    check_random_world(32.0, 1 + (uint32_t)run * 20, 200, run);
    check_random_world(2.0, AGENTS_MAX, 40, 100 + run);
    check_random_world(1024.0, AGENTS_MAX, 400, 200 + run);
  }
}

Test(space, finds_them_in_a_crowd_on_few_places_where_most_distances_are_equal) {
  for (uint64_t run = 0; run < 10; run++) {
    SCOPED(free_fixture) struct fixture *fixture = create(AGENTS_MAX, 8.0);
    fixture->counter = run << 32;
    for (uint32_t i = 0; i < AGENTS_MAX; i++)
      put_at(fixture, i, (double)draw(fixture, 5) - 2.0, (double)draw(fixture, 5) - 2.0);
    check_some_queries(fixture, 300);
  }
}

Test(space, tells_agents_of_different_cells_apart_that_share_a_bucket) {
  SCOPED(free_fixture) struct fixture *fixture = create(AGENTS_MAX, 4.0);
  fixture->space.mask = 0; /* one bucket for all */
  for (uint32_t i = 0; i < AGENTS_MAX; i++) put_anywhere(fixture, i, 100);
  check_some_queries(fixture, 500);
}

Test(space, stays_right_while_agents_come_move_and_go) {
  SCOPED(free_fixture) struct fixture *fixture = create(AGENTS_MAX, 16.0);
  for (uint32_t step = 0; step < 20000; step++) {
    uint32_t index = draw(fixture, AGENTS_MAX);
    if (!is_linked(fixture, index)) {
      put_anywhere(fixture, index, 200);
    } else if (draw(fixture, 3)) {
      uint16_t partition = fixture->store.places[index].partition;
      muster_position position = draw_eighths(fixture, 200);
      move_to(fixture, index, position);
      muster_position is = space_position(&fixture->space, &fixture->store.places[index]);
      cr_assert(is.x == position.x && is.y == position.y && is.z == position.z);
      cr_assert_eq(fixture->store.places[index].partition, partition);
    } else {
      take_out(fixture, index);
    }
    if (step % 20 == 0) check_some_queries(fixture, 3);
  }
}

Test(space, a_step_inside_a_cell_is_seen_too) {
  SCOPED(free_fixture) struct fixture *fixture = create(2, 32.0);
  put_at(fixture, 0, 1, 1);
  put_at(fixture, 1, 4, 5);
  check_query(fixture, &(struct query){0, UINT32_MAX, 1, 5.0f});
  move_to(fixture, 1, (muster_position){4, 5.125, 0});
  check_query(fixture, &(struct query){0, UINT32_MAX, 1, 5.0f});
  cr_assert_eq(ask(fixture, &(struct query){0, UINT32_MAX, 1, 5.0f}).count, 0);
}

Test(space, the_circle_is_closed_on_every_side_also_across_zero) {
  SCOPED(free_fixture) struct fixture *fixture = create(8, 1.0);
  static const double sides[8][2] = {{3, 0},     {-3, 0},     {0, 3},     {0, -3},
                                     {3.125, 0}, {-3.125, 0}, {0, 3.125}, {0, -3.125}};
  put_at(fixture, 8, 0, 0);
  for (uint32_t i = 0; i < 8; i++) put_at(fixture, i, sides[i][0], sides[i][1]);
  struct answer answer = ask(fixture, &(struct query){8, UINT32_MAX, 8, 3.0f});
  cr_assert_eq(answer.count, 4);
  for (uint32_t i = 0; i < 4; i++) cr_assert_eq(answer.found[i].index, i);
}

Test(space, a_radius_that_is_negative_or_no_number_finds_nobody) {
  SCOPED(free_fixture) struct fixture *fixture = create(2, 32.0);
  static const float radii_m[] = {0.0f, -1.0f, NAN};
  put_at(fixture, 0, 0, 0);
  put_at(fixture, 1, 0, 0);
  for (uint32_t i = 0; i < 3; i++) {
    struct answer answer = ask(fixture, &(struct query){0, UINT32_MAX, 2, radii_m[i]});
    cr_assert_eq(answer.count, i == 0 ? 1 : 0);
    cr_assert_not(answer.looks.cut);
  }
}

Test(space, a_radius_of_many_cells_finds_everyone_within_it) {
  SCOPED(free_fixture) struct fixture *fixture = create(4, 0.5);
  put_at(fixture, 0, 0, 0);
  put_at(fixture, 1, 20, 0);
  put_at(fixture, 2, -90, 30);
  put_at(fixture, 3, 101, 0);
  check_query(fixture, &(struct query){0, UINT32_MAX, 4, 100.0f});
  check_query(fixture, &(struct query){0, UINT32_MAX, 4, INFINITY});
}

/* Anywhere up to 1e9 m away. Rounding may decide about agents on the very border, and about no others. */
Test(space, keeps_its_word_at_any_distance_from_the_origin) {
  static const double cells[] = {0.5, 32.0, 10000.0};
  for (uint32_t run = 0; run < 60; run++) {
    double cell_m = cells[run % 3];
    SCOPED(free_fixture) struct fixture *fixture = create(AGENTS_MAX, cell_m);
    fixture->counter = (uint64_t)run << 32;
    double corner = run < 30 ? -1e9 : 1e9 - 20.0 * cell_m;
    for (uint32_t i = 0; i < AGENTS_MAX; i++)
      put_at(fixture, i, corner + 20.0 * cell_m * (double)muster_random_share(random_at(2, run, i, 0)),
             corner + 20.0 * cell_m * (double)muster_random_share(random_at(2, run, i, 1)));
    for (uint32_t i = 0; i < AGENTS_MAX; i++) {
      float radius_m = (float)cell_m * 5.0f * muster_random_share(random_at(3, run, i, 0));
      struct answer answer = ask(fixture, &(struct query){i, UINT32_MAX, AGENTS_MAX, radius_m});
      cr_assert_not(answer.looks.cut);
      struct query fewest = {i, UINT32_MAX, AGENTS_MAX, radius_m * 0.9999f};
      struct query most = {i, UINT32_MAX, AGENTS_MAX, radius_m * 1.0001f};
      uint32_t few = look_at_everybody(fixture, &fewest, fixture->expected);
      uint32_t many = look_at_everybody(fixture, &most, fixture->expected);
      cr_assert(few <= answer.count && answer.count <= many, "%u found, expected %u to %u", answer.count, few, many);
      for (uint32_t k = 1; k < answer.count; k++)
        cr_assert_leq(answer.found[k - 1].distance_squared, answer.found[k].distance_squared);
    }
  }
}

static void check_kept(const struct space *space, muster_position position) {
  agent_place place = {0};
  space_place(space, &place, position);
  muster_position is = space_position(space, &place);
  cr_assert(fabs(is.x - position.x) < 1e-3 && fabs(is.y - position.y) < 1e-3, "(%.9g, %.9g) became (%.9g, %.9g)",
            position.x, position.y, is.x, is.y);
  cr_assert_float_eq(is.z, position.z, 1e-3);
}

Test(space, keeps_a_position_to_the_millimetre_at_any_distance_from_the_origin) {
  static const double cells[] = {0.5, 32.0, 10000.0};
  for (uint32_t cell = 0; cell < 3; cell++) {
    struct space space = {.cell_m = cells[cell]};
    for (uint32_t i = 0; i < 10000; i++) {
      double reach = pow(10.0, (double)(i % 10));
      double x = (2.0 * (double)muster_random_share(random_at(4, cell, i, 0)) - 1.0) * reach;
      double y = (2.0 * (double)muster_random_share(random_at(4, cell, i, 1)) - 1.0) * reach;
      check_kept(&space, (muster_position){x, y, fmod(x, 8000.0)});
    }
    check_kept(&space, (muster_position){1e9, -1e9, 0});
    check_kept(&space, (muster_position){-1e9, 1e9, 0});
    check_kept(&space, (muster_position){-1e-12, 1e-12, 0});
  }
}

Test(space, accepts_what_is_finite_and_within_a_billion_metres) {
  static const double refused[] = {1.0000001e9, -1.0000001e9, INFINITY, -INFINITY, NAN};
  cr_assert(space_accepts((muster_position){1e9, -1e9, 1e9}));
  cr_assert(space_accepts((muster_position){0, 0, 0}));
  for (uint32_t i = 0; i < COUNT_OF(refused); i++) {
    cr_assert_not(space_accepts((muster_position){refused[i], 0, 0}));
    cr_assert_not(space_accepts((muster_position){0, refused[i], 0}));
    cr_assert_not(space_accepts((muster_position){0, 0, refused[i]}));
  }
}
