/* The neighbour grid against a look at everybody. */
#include "agents/space.h"

#include "base/random.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AGENTS_MAX = 400, FOUND_MAX = 512, EIGHTHS = 8, TYPES = 3, PARTITIONS_USED = 3 };

typedef struct fixture {
  arena arena;
  agent_store store;
  space space;
  bool linked[AGENTS_MAX];
  uint64_t counter;
} fixture;

static fixture *create(uint32_t agents_max, double cell_m) {
  fixture *fixture = calloc(1, sizeof *fixture);
  muster_allocator allocator = {0};
  arena_create(&fixture->arena, &allocator);
  store_create(&fixture->store, AGENTS_MAX, &fixture->arena);
  space_create(&fixture->space, agents_max, cell_m, &fixture->arena);
  cr_assert_not(fixture->arena.failed);
  return fixture;
}

static void destroy(fixture *fixture) {
  arena_destroy(&fixture->arena);
  free(fixture);
}

static uint32_t draw(fixture *fixture, uint32_t below) {
  return (uint32_t)(random_at(1, 0, 0, ++fixture->counter) % below);
}

static void put(fixture *fixture, uint32_t index, muster_position position, uint16_t partition, uint16_t type) {
  agent_place *place = &fixture->store.places[index];
  place->partition = partition;
  place->type = type;
  space_place(&fixture->space, place, position);
  space_link(&fixture->space, &fixture->store, index);
  store_activate(&fixture->store, index);
  fixture->linked[index] = true;
}

static void put_at(fixture *fixture, uint32_t index, double x, double y) {
  put(fixture, index, (muster_position){x, y, 0}, 0, 0);
}

/* In eighths of a metre, so that floats and squares of distances are exact and many distances are equal. */
static muster_position draw_eighths(fixture *fixture, uint32_t span_m) {
  double x = (double)draw(fixture, span_m * EIGHTHS) / EIGHTHS - span_m / 2.0;
  double y = (double)draw(fixture, span_m * EIGHTHS) / EIGHTHS - span_m / 2.0;
  return (muster_position){x, y, (double)draw(fixture, 1000)};
}

typedef struct query {
  uint32_t index, type, capacity;
  float radius_m;
} query;

static int compare(const void *a, const void *b) {
  const space_neighbour *left = a, *right = b;
  if (left->distance_squared != right->distance_squared)
    return left->distance_squared < right->distance_squared ? -1 : 1;
  return left->index < right->index ? -1 : left->index > right->index;
}

/* Everyone within the radius, in the order that is promised. */
static uint32_t look_at_everybody(const fixture *fixture, const query *query, space_neighbour *out) {
  const agent_place *centre = &fixture->store.places[query->index];
  muster_position from = space_position(&fixture->space, centre);
  uint32_t count = 0;
  for (uint32_t i = 0; i < AGENTS_MAX; i++) {
    const agent_place *place = &fixture->store.places[i];
    if (!fixture->linked[i] || i == query->index || place->partition != centre->partition) continue;
    if (query->type != UINT32_MAX && place->type != query->type) continue;
    muster_position to = space_position(&fixture->space, place);
    double square = (to.x - from.x) * (to.x - from.x) + (to.y - from.y) * (to.y - from.y);
    if (square > (double)query->radius_m * (double)query->radius_m) continue;
    out[count++] = (space_neighbour){i, (float)square};
  }
  qsort(out, count, sizeof *out, compare);
  return count < query->capacity ? count : query->capacity;
}

static void check_query(const fixture *fixture, const query *query) {
  space_neighbour found[FOUND_MAX], expected[FOUND_MAX];
  memset(found, 0xee, sizeof found);
  uint32_t wanted = look_at_everybody(fixture, query, expected);
  uint32_t count = space_nearby(&fixture->space, &fixture->store, query->index, query->radius_m, query->type, found,
                                query->capacity);
  cr_assert_eq(count, wanted, "radius %g, capacity %u: %u found, expected %u", (double)query->radius_m, query->capacity,
               count, wanted);
  for (uint32_t i = 0; i < count; i++)
    cr_assert(found[i].index == expected[i].index && found[i].distance_squared == expected[i].distance_squared,
              "radius %g, place %u: agent %u at %g, expected %u at %g", (double)query->radius_m, i, found[i].index,
              (double)found[i].distance_squared, expected[i].index, (double)expected[i].distance_squared);
  cr_assert_eq(found[query->capacity].index, 0xeeeeeeeeu, "wrote beyond the capacity");
}

static void check_some_queries(fixture *fixture, uint32_t queries) {
  static const uint32_t capacities[] = {0, 1, 2, 7, 64, AGENTS_MAX};
  static const uint32_t types[] = {UINT32_MAX, 0, 1, 2, TYPES};
  for (uint32_t i = 0; i < queries; i++) {
    query query = {draw(fixture, AGENTS_MAX), types[draw(fixture, 5)], capacities[draw(fixture, 6)],
                   (float)draw(fixture, 100 * EIGHTHS) / EIGHTHS};
    if (fixture->linked[query.index]) check_query(fixture, &query);
  }
}

static void check_random_world(double cell_m, uint32_t agents, uint32_t span_m, uint64_t seed) {
  fixture *fixture = create(agents, cell_m);
  fixture->counter = seed << 32;
  for (uint32_t i = 0; i < agents; i++)
    put(fixture, i, draw_eighths(fixture, span_m), (uint16_t)draw(fixture, PARTITIONS_USED),
        (uint16_t)draw(fixture, TYPES));
  check_some_queries(fixture, 200);
  destroy(fixture);
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
    fixture *fixture = create(AGENTS_MAX, 8.0);
    fixture->counter = run << 32;
    for (uint32_t i = 0; i < AGENTS_MAX; i++)
      put_at(fixture, i, (double)draw(fixture, 5) - 2.0, (double)draw(fixture, 5) - 2.0);
    check_some_queries(fixture, 300);
    destroy(fixture);
  }
}

Test(space, tells_agents_of_different_cells_apart_that_share_a_bucket) {
  fixture *fixture = create(AGENTS_MAX, 4.0);
  fixture->space.mask = 0; /* one bucket for all */
  for (uint32_t i = 0; i < AGENTS_MAX; i++)
    put(fixture, i, draw_eighths(fixture, 100), (uint16_t)draw(fixture, PARTITIONS_USED),
        (uint16_t)draw(fixture, TYPES));
  check_some_queries(fixture, 500);
  destroy(fixture);
}

Test(space, stays_right_while_agents_come_move_and_go) {
  fixture *fixture = create(AGENTS_MAX, 16.0);
  for (uint32_t step = 0; step < 20000; step++) {
    uint32_t index = draw(fixture, AGENTS_MAX);
    if (!fixture->linked[index]) {
      put(fixture, index, draw_eighths(fixture, 200), (uint16_t)draw(fixture, PARTITIONS_USED),
          (uint16_t)draw(fixture, TYPES));
    } else if (draw(fixture, 3)) {
      uint16_t partition = fixture->store.places[index].partition;
      muster_position position = draw_eighths(fixture, 200);
      space_move(&fixture->space, &fixture->store, index, space_spot_of(&fixture->space, position));
      muster_position is = space_position(&fixture->space, &fixture->store.places[index]);
      cr_assert(is.x == position.x && is.y == position.y && is.z == position.z);
      cr_assert_eq(fixture->store.places[index].partition, partition);
    } else {
      space_unlink(&fixture->space, &fixture->store, index);
      store_deactivate(&fixture->store, index);
      fixture->linked[index] = false;
    }
    if (step % 20 == 0) check_some_queries(fixture, 3);
  }
  destroy(fixture);
}

Test(space, a_step_inside_a_cell_is_seen_too) {
  fixture *fixture = create(2, 32.0);
  put_at(fixture, 0, 1, 1);
  put_at(fixture, 1, 4, 5);
  check_query(fixture, &(query){0, UINT32_MAX, 1, 5.0f});
  space_move(&fixture->space, &fixture->store, 1, space_spot_of(&fixture->space, (muster_position){4, 5.125, 0}));
  check_query(fixture, &(query){0, UINT32_MAX, 1, 5.0f});
  space_neighbour found;
  cr_assert_eq(space_nearby(&fixture->space, &fixture->store, 0, 5.0f, UINT32_MAX, &found, 1), 0);
  destroy(fixture);
}

Test(space, the_circle_is_closed_on_every_side_also_across_zero) {
  fixture *fixture = create(8, 1.0);
  static const double sides[8][2] = {{3, 0},     {-3, 0},     {0, 3},     {0, -3},
                                     {3.125, 0}, {-3.125, 0}, {0, 3.125}, {0, -3.125}};
  put_at(fixture, 8, 0, 0);
  for (uint32_t i = 0; i < 8; i++) put_at(fixture, i, sides[i][0], sides[i][1]);
  space_neighbour found[8];
  cr_assert_eq(space_nearby(&fixture->space, &fixture->store, 8, 3.0f, UINT32_MAX, found, 8), 4);
  for (uint32_t i = 0; i < 4; i++) cr_assert_eq(found[i].index, i);
  destroy(fixture);
}

Test(space, a_radius_that_is_negative_or_no_number_finds_nobody) {
  fixture *fixture = create(2, 32.0);
  space_neighbour found[2];
  put_at(fixture, 0, 0, 0);
  put_at(fixture, 1, 0, 0);
  cr_assert_eq(space_nearby(&fixture->space, &fixture->store, 0, 0.0f, UINT32_MAX, found, 2), 1);
  cr_assert_eq(space_nearby(&fixture->space, &fixture->store, 0, -1.0f, UINT32_MAX, found, 2), 0);
  cr_assert_eq(space_nearby(&fixture->space, &fixture->store, 0, NAN, UINT32_MAX, found, 2), 0);
  destroy(fixture);
}

Test(space, a_radius_of_many_cells_finds_everyone_within_it) {
  fixture *fixture = create(4, 0.5);
  put_at(fixture, 0, 0, 0);
  put_at(fixture, 1, 20, 0);
  put_at(fixture, 2, -90, 30);
  put_at(fixture, 3, 101, 0);
  check_query(fixture, &(query){0, UINT32_MAX, 4, 100.0f});
  check_query(fixture, &(query){0, UINT32_MAX, 4, INFINITY});
  destroy(fixture);
}

/* Anywhere up to 1e9 m away. Rounding may decide about those on the very border, and about nobody else. */
Test(space, keeps_its_word_at_any_distance_from_the_origin) {
  static const double cells[] = {0.5, 32.0, 10000.0};
  for (uint32_t run = 0; run < 60; run++) {
    double cell_m = cells[run % 3];
    fixture *fixture = create(AGENTS_MAX, cell_m);
    fixture->counter = (uint64_t)run << 32;
    double corner = run < 30 ? -1e9 : 1e9 - 20.0 * cell_m;
    for (uint32_t i = 0; i < AGENTS_MAX; i++)
      put_at(fixture, i, corner + 20.0 * cell_m * (double)random_share(random_at(2, run, i, 0)),
             corner + 20.0 * cell_m * (double)random_share(random_at(2, run, i, 1)));
    for (uint32_t i = 0; i < AGENTS_MAX; i++) {
      space_neighbour found[FOUND_MAX], fewest[FOUND_MAX], most[FOUND_MAX];
      float radius_m = (float)cell_m * 5.0f * random_share(random_at(3, run, i, 0));
      uint32_t count = space_nearby(&fixture->space, &fixture->store, i, radius_m, UINT32_MAX, found, AGENTS_MAX);
      uint32_t few = look_at_everybody(fixture, &(query){i, UINT32_MAX, AGENTS_MAX, radius_m * 0.9999f}, fewest);
      uint32_t many = look_at_everybody(fixture, &(query){i, UINT32_MAX, AGENTS_MAX, radius_m * 1.0001f}, most);
      cr_assert(few <= count && count <= many, "%u found, expected %u to %u", count, few, many);
      for (uint32_t k = 1; k < count; k++) cr_assert_leq(found[k - 1].distance_squared, found[k].distance_squared);
    }
    destroy(fixture);
  }
}

static void check_kept(const space *space, muster_position position) {
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
    space space = {.cell_m = cells[cell]};
    for (uint32_t i = 0; i < 10000; i++) {
      double reach = pow(10.0, (double)(i % 10));
      double x = (2.0 * (double)random_share(random_at(4, cell, i, 0)) - 1.0) * reach;
      double y = (2.0 * (double)random_share(random_at(4, cell, i, 1)) - 1.0) * reach;
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
  for (uint32_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    cr_assert_not(space_accepts((muster_position){refused[i], 0, 0}));
    cr_assert_not(space_accepts((muster_position){0, refused[i], 0}));
    cr_assert_not(space_accepts((muster_position){0, 0, refused[i]}));
  }
}
