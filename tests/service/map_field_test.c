/* Squares of the observer grid, gathered between frames. */
#include "room.h"
#include "service/map_field.h"
#include "service/map_gather.h"
#include "support/little_world.h"
#include "support/sanitized.h"

#include <muster/view.h>

enum { AGENTS = 4000, SQUARES = 4096 };

static const struct rectangle around = {true, -300, -300, 300, 300};

static void observe(const little_world *little, double x, float far_m) {
  muster_observer_def def = WITH(muster_observer_def, it.position.x = x, it.far_m = far_m);
  cr_assert_neq(muster_observer_generation(muster_observer_add(little->world, &def)), 0, "%s", muster_last_error());
}

/* Agents scattered over +-300 m, and an observer in the middle. */
static little_world create(void) {
  muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 0};
  muster_type_def type = type_with(&atom, 1);
  little_world little = little_world_create(1, NULL);
  register_type(&little, &type);
  srand(7);
  for (uint32_t i = 0; i < AGENTS; i++)
    spawn_in(&little, (muster_position){rand() % 600 - 300, rand() % 600 - 300, 0}, 0);
  while (run_frame(&little).spawns_waiting) continue;
  observe(&little, 0, 160);
  while (run_frame(&little).score_waiting) continue;
  return little;
}

static void finish(map_field *map, const little_world *little, uint32_t cursor) {
  while (cursor != MUSTER_VIEW_END) map_field_look(map, little->world, &around, 0, &cursor);
}

Test(map_field, a_square_is_worth_nothing_while_a_cell_in_it_is_not_known) {
  map_field map = {.across = 2};
  field_square square = {.cells = 3, .least = 0.5f};
  cr_assert(!(map_field_importance(&map, &square) > 0));
  square.cells = 4;
  cr_assert_float_eq(map_field_importance(&map, &square), 0.5f, 1e-6);
}

Test(map_field, begins_anew_when_the_cells_get_another_size) {
  SCOPED(little_world_destroy) little_world little = create();
  SCOPED(map_field_free) map_field map, whole;
  uint32_t cursor = 0;
  cr_assert(map_field_begin(&map, SQUARES) && map_field_begin(&whole, SQUARES));
  map_field_look(&map, little.world, &around, 0, &cursor);
  double before_m = map.edge_m;
  cr_assert(map.cells > 0 && cursor != MUSTER_VIEW_END, "it is half gathered");
  for (int i = 0; i < 8; i++) observe(&little, 20 * i, 1600);
  while (run_frame(&little).score_waiting) continue;
  finish(&map, &little, cursor);
  finish(&whole, &little, 0);
  cr_assert_gt(map.edge_m, before_m * 2);
  cr_assert(map.cells == whole.cells && map.columns == whole.columns && map.rows == whole.rows);
  for (uint32_t i = 0; i < map.columns * map.rows; i++) {
    cr_assert_eq(map.squares[i].cells, whole.squares[i].cells);
    cr_assert_eq(map.squares[i].flags, whole.squares[i].flags);
    cr_assert_float_eq(map.squares[i].least, whole.squares[i].least, 1e-9);
  }
}

Test(map_field, counts_each_cell_once_and_has_room_for_no_more_squares) {
  SCOPED(little_world_destroy) little_world little = create();
  uint32_t before = 0;
  for (uint32_t max = SQUARES; max >= FIELD_SQUARES_MIN; max /= 4) {
    SCOPED(map_field_free) map_field map;
    uint32_t cells = 0;
    cr_assert(map_field_begin(&map, max));
    finish(&map, &little, 0);
    cr_assert_leq(map.columns * map.rows, max);
    for (uint32_t i = 0; i < map.columns * map.rows; i++) cells += map.squares[i].cells;
    cr_assert_eq(cells, map.cells);
    cr_assert_geq(cells, before, "a rectangle that grew to whole squares has more");
    before = cells;
  }
  cr_assert_gt(before, 1000);
}

/* A larger square says of its cells what they say one by one, also of those that wait. */
Test(map_field, says_of_a_square_what_its_cells_say) {
  little_world little = create();
  uint32_t waiting = 0, mixed = 0;
  observe(&little, 40, 160);
  run_frame_with(&little, 20000); /* that is too short for all */
  map_field fine;
  cr_assert(map_field_begin(&fine, 1 << 20));
  finish(&fine, &little, 0);
  cr_assert_eq(fine.across, 1);
  for (uint32_t max = SQUARES / 16; max >= FIELD_SQUARES_MIN; max /= 4) {
    map_field map;
    cr_assert(map_field_begin(&map, max));
    finish(&map, &little, 0);
    cr_assert_gt(map.across, 1);
    double square_m = map.edge_m * map.across;
    for (uint32_t i = 0; i < map.columns * map.rows; i++) {
      field_square wanted = {.flags = MUSTER_FIELD_EMPTY};
      double x0 = map.rectangle.x0 + i % map.columns * square_m, y0 = map.rectangle.y0 + i / map.columns * square_m;
      bool inside = x0 >= fine.rectangle.x0 && y0 >= fine.rectangle.y0 && x0 + square_m <= fine.rectangle.x1 &&
                    y0 + square_m <= fine.rectangle.y1;
      for (uint32_t k = 0; inside && k < fine.columns * fine.rows; k++) {
        const field_square *cell = &fine.squares[k];
        double x = fine.rectangle.x0 + (k % fine.columns + 0.5) * fine.edge_m,
               y = fine.rectangle.y0 + (k / fine.columns + 0.5) * fine.edge_m;
        if (!cell->cells || x < x0 || y < y0 || x > x0 + square_m || y > y0 + square_m) continue;
        bool empty = cell->flags & MUSTER_FIELD_EMPTY, others = wanted.cells && !(wanted.flags & MUSTER_FIELD_EMPTY);
        if (!empty) wanted.least = others && wanted.least < cell->least ? wanted.least : cell->least;
        if (!empty) wanted.flags &= ~(uint32_t)MUSTER_FIELD_EMPTY;
        wanted.flags |= cell->flags & MUSTER_FIELD_WAITING;
        wanted.cells++;
        waiting += (cell->flags & MUSTER_FIELD_WAITING) != 0;
        mixed += (cell->flags & MUSTER_FIELD_WAITING) != (wanted.flags & MUSTER_FIELD_WAITING);
      }
      if (!inside || !wanted.cells) continue;
      cr_assert(map.squares[i].cells == wanted.cells && map.squares[i].flags == wanted.flags, "square %u of %u: %x, %x",
                i, max, map.squares[i].flags, wanted.flags);
      if (!(wanted.flags & MUSTER_FIELD_EMPTY)) cr_assert_eq(map.squares[i].least, wanted.least);
    }
    map_field_free(&map);
  }
  cr_expect(waiting > 0 && mixed > 0, "%u cells wait, and %u do not beside one that does", waiting, mixed);
  map_field_free(&fine);
  little_world_destroy(&little);
}

Test(map_queries, are_equal_only_when_all_four_sides_are) {
  const map_query query = {.max = 100, .width = 8, .height = 8, .rectangle = {true, 1, 2, 3, 4}};
  cr_assert(map_queries_equal(&query, &query));
  for (int i = 0; i < 4; i++) {
    map_query other = query;
    double *sides[] = {&other.rectangle.x0, &other.rectangle.y0, &other.rectangle.x1, &other.rectangle.y1};
    *sides[i] += 0.5;
    cr_assert_not(map_queries_equal(&query, &other), "side %d", i);
  }
}

/* Nothing of it is kept then: whoever asks again begins anew. */
Test(map_field, a_map_for_which_there_is_no_memory_is_refused_as_a_whole, .disabled = UNDER_SANITIZER) {
  map_gather gather;
  const map_query query = {.subject = MAP_OF_AGENTS, .max = 100, .width = UINT32_MAX, .height = UINT32_MAX};
  cr_expect(!map_gather_begin(&gather, &query));
  cr_expect(!gather.shown && !gather.cells);
  map_gather_free(&gather);
}
