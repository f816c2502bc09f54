/* The cells of the observer grid, checked against all agents and all observers. */
#include "world/fixture.h"

#include <muster/view.h>

enum { AGENTS = 12000, CELLS_MAX = 65536, OBSERVERS = 2, ACROSS = 100 };

#define HYSTERESIS 0.011f
#define ONE_STEP   (1.0f / 254.0f)

static little_world little;
static muster_observer observers[OBSERVERS];
static muster_field_cell cells[CELLS_MAX];

/* What holds for a cell, found without the grid; column and row count from the rectangle's corner. */
typedef struct truth {
  uint32_t agents;
  float least_given; /* what observers give to the least important agent in it */
  float least_held;  /* the least importance that an agent in it has now */
  bool near;         /* an observer reaches far into it */
} truth;

static truth truths[ACROSS][ACROSS];

static muster_observer observe(double x, double y, float far_m) {
  muster_observer observer = observe_as(
      &little, WITH(muster_observer_def, it.position = (muster_position){x, y, 0}, it.near_m = 20, it.far_m = far_m));
  cr_assert_neq(muster_observer_generation(observer), 0, "%s", muster_last_error());
  return observer;
}

/* Runs frames until no importance is left to compute. */
static void settle(void) {
  while (run_frame(&little).score_waiting > 0) continue;
}

/* Scatters agents over +-400 m, with a hole in the middle; every tenth one is in partition 1. */
static void create(void) {
  little = world_of(type_running(nothing, 0));
  srand(1);
  for (uint32_t i = 0; i < AGENTS; i++) {
    double x = rand() % 800000 / 1000.0 - 400.0, y = rand() % 800000 / 1000.0 - 400.0;
    if (fabs(x) < 60 && fabs(y) < 60) x += 130;
    spawn_in(&little, (muster_position){x, y, 3}, i % 10 == 0);
  }
  while (run_frame(&little).spawns_waiting) continue;
  observers[0] = observe(-80, 10.5, 160);
  observers[1] = observe(200, -150, 200);
  settle();
}

static void destroy(void) {
  little_world_destroy(&little);
}

TestSuite(view_field, .init = create, .fini = destroy);

static muster_view around(double half_m) {
  return WITH(muster_view, it.x0 = it.y0 = -half_m, it.x1 = it.y1 = half_m);
}

static uint32_t see(const muster_view *view, uint32_t capacity) {
  uint32_t count = 0;
  for (uint32_t cursor = 0; cursor != MUSTER_VIEW_END;) {
    uint32_t room = CELLS_MAX - count < capacity ? CELLS_MAX - count : capacity;
    count += muster_field_view(little.world, view, cells + count, room, &cursor);
  }
  cr_assert_lt(count, CELLS_MAX);
  return count;
}

static float given_by(const muster_observer_def *observer, double x, double y, double z) {
  double distance =
      sqrt(pow(x - observer->position.x, 2) + pow(y - observer->position.y, 2) + pow(z - observer->position.z, 2));
  double share = ((double)observer->far_m - distance) / (double)(observer->far_m - observer->near_m);
  return (float)fmin(fmax(share, 0), 1);
}

static void add_agent(const muster_agent_info *info, const muster_observer_def *eyes, double x0, double edge_m) {
  float given = 0;
  for (uint32_t i = 0; i < OBSERVERS; i++)
    given = fmaxf(given, given_by(&eyes[i], info->position.x, info->position.y, info->position.z));
  truth *here = &truths[(int)floor((info->position.y - x0) / edge_m)][(int)floor((info->position.x - x0) / edge_m)];
  here->least_given = here->agents && here->least_given < given ? here->least_given : given;
  here->least_held = here->agents && here->least_held < info->importance ? here->least_held : info->importance;
  here->agents++;
}

/* Fills the truths of a square. Its corner is a corner of a cell. */
static void find_truths(double x0, double edge_m, uint32_t partition) {
  muster_observer_def eyes[OBSERVERS];
  memset(truths, 0, sizeof truths);
  for (uint32_t i = 0; i < OBSERVERS; i++) eyes[i] = observer_of(&little, observers[i]);
  for (muster_agent at = {0}; !muster_agent_is_null(at = muster_agent_next(little.world, at));) {
    muster_agent_info info = info_of(&little, at);
    if (info.partition == partition) add_agent(&info, eyes, x0, edge_m);
  }
  for (uint32_t row = 0; row < ACROSS; row++)
    for (uint32_t column = 0; column < ACROSS; column++)
      for (uint32_t i = 0; i < OBSERVERS; i++) {
        double x = x0 + (column + 0.5) * edge_m, y = x0 + (row + 0.5) * edge_m;
        truths[row][column].near |= partition == 0 && given_by(&eyes[i], x, y, 0) > 0.1f;
      }
}

/* Sees all cells of partition 0, and fills truths for the same columns and rows. Returns the number of cells. */
static uint32_t see_and_find(void) {
  double edge_m = muster_field_edge_m(little.world), x0 = -ACROSS / 2 * edge_m;
  muster_view view = around(ACROSS / 2 * edge_m);
  find_truths(x0, edge_m, 0);
  return see(&view, CELLS_MAX);
}

static const truth *truth_of(const muster_field_cell *cell) {
  double edge_m = muster_field_edge_m(little.world), column = cell->x / edge_m + ACROSS / 2,
         row = cell->y / edge_m + ACROSS / 2;
  cr_assert(column >= 0 && column < ACROSS && row >= 0 && row < ACROSS);
  cr_assert(floor(column) >= column && floor(row) >= row, "cells are multiples of their edge");
  return &truths[(int)row][(int)column];
}

static uint32_t count_flag(uint32_t count, uint32_t flag) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < count; i++) found += (cells[i].flags & flag) != 0;
  return found;
}

Test(view_field, says_of_each_cell_what_its_least_important_agent_gets) {
  cr_assert_eq(muster_field_edge_m(little.world), 8.0);
  uint32_t count = see_and_find(), exact = 0, important = 0;
  for (uint32_t i = 0; i < count; i++) {
    const truth *is = truth_of(&cells[i]);
    if (!is->agents) continue;
    exact++;
    important += cells[i].importance > 0.5f;
    cr_assert(!(cells[i].flags & MUSTER_FIELD_EMPTY));
    double shown = (double)cells[i].importance, given = (double)is->least_given;
    cr_assert(shown <= given + 1e-4, "%g, not %g", shown, given);
    cr_assert(shown >= given - (double)ONE_STEP - 1e-4, "%g, not %g", shown, given);
  }
  cr_assert(exact > 1000 && important > 100, "%u cells, %u important", exact, important);
  cr_assert_eq(count_flag(count, MUSTER_FIELD_WAITING), 0);
}

Test(view_field, knows_every_cell_in_which_somebody_gets_anything) {
  uint32_t count = see_and_find(), missing = 0;
  static bool known[ACROSS * ACROSS];
  for (uint32_t i = 0; i < count; i++) {
    bool *is = &known[truth_of(&cells[i]) - &truths[0][0]];
    cr_assert(!*is, "twice");
    *is = true;
  }
  for (uint32_t row = 0; row < ACROSS; row++)
    for (uint32_t column = 0; column < ACROSS; column++) {
      const truth *is = &truths[row][column];
      missing += !known[row * ACROSS + column];
      cr_assert(known[row * ACROSS + column] || !(is->agents && is->least_given > 0));
    }
  cr_assert_gt(missing, 0);
}

Test(view_field, says_where_nobody_is) {
  uint32_t count = see_and_find(), empty = 0;
  for (uint32_t i = 0; i < count; i++) {
    const truth *is = truth_of(&cells[i]);
    bool said = cells[i].flags & MUSTER_FIELD_EMPTY;
    cr_assert(!said || (is->agents == 0 && cells[i].importance == 0.0f));
    cr_assert(said || is->agents > 0 || !is->near, "near an observer, without agents, and not known to be empty");
    empty += said;
  }
  cr_assert_gt(empty, 100);
}

/* An observer leaps, and there is so little time that its cells are looked at over several frames. */
Test(view_field, lists_cells_when_an_observer_moves_until_they_were_looked_at) {
  muster_observer_move(little.world, observers[0], (muster_position){-150, 220, 0});
  uint32_t frames = 0, waiting, most = 0;
  do {
    run_frame_with(&little, 10000);
    uint32_t count = see_and_find();
    waiting = count_flag(count, MUSTER_FIELD_WAITING);
    most = waiting > most ? waiting : most;
    for (uint32_t i = 0; i < count; i++) {
      const truth *is = truth_of(&cells[i]);
      if (is->agents) cr_assert_leq(cells[i].importance, is->least_held + HYSTERESIS);
      cr_assert(!(cells[i].flags & MUSTER_FIELD_WAITING) || !(cells[i].flags & MUSTER_FIELD_EMPTY));
    }
    frames++;
  } while (waiting > 0);
  cr_assert(most > 100 && frames > 1, "%u waited, over %u frames", most, frames);
  settle();
  uint32_t count = see_and_find();
  for (uint32_t i = 0; i < count; i++) {
    const truth *is = truth_of(&cells[i]);
    if (is->agents) cr_assert(fabsf(cells[i].importance - is->least_given) < ONE_STEP + 1e-4f);
  }
}

Test(view_field, has_the_cells_that_overlap_the_rectangle_and_no_others) {
  /* From within the cell -104 .. -96 to where one ends. */
  muster_view view = WITH(muster_view, it.x0 = -97, it.x1 = -80, it.y0 = 3, it.y1 = 17);
  cr_assert_eq(see(&view, CELLS_MAX), 3 * 3);
  bool seen[3][3] = {{false}};
  for (uint32_t i = 0; i < 9; i++) {
    double column = (cells[i].x + 104) / 8, row = cells[i].y / 8;
    cr_assert(column >= 0 && column < 3 && row >= 0 && row < 3, "%g, %g", cells[i].x, cells[i].y);
    cr_assert(!seen[(int)row][(int)column]);
    seen[(int)row][(int)column] = true;
  }
  view.x0 = view.y0 = -1e200;
  view.x1 = view.y1 = 1e200;
  uint32_t all = see(&view, CELLS_MAX);
  cr_assert_geq(all, see_and_find());
  view.partition = 1;
  cr_assert_eq(see(&view, CELLS_MAX), 0, "nobody observes there");
}

Test(view_field, is_the_same_in_however_many_parts_it_is_taken) {
  static muster_field_cell whole[CELLS_MAX];
  muster_view view = around(150);
  uint32_t count = see(&view, CELLS_MAX);
  memcpy(whole, cells, sizeof whole);
  cr_assert_gt(count, 1000);
  for (uint32_t capacity = 1; capacity < 2000; capacity = capacity * 5 + 2) {
    for (view.looks_max = 1; view.looks_max < 500; view.looks_max *= 7) {
      memset(cells, 0, sizeof cells);
      cr_assert_eq(see(&view, capacity), count);
      cr_assert_eq(memcmp(whole, cells, count * sizeof *cells), 0);
    }
  }
}

/* What is beyond its edges takes no room, and is no reason to ask again. */
Test(view_field, of_a_tile_needs_room_for_its_own_cells_alone) {
  enum { TILE = 8, TILES = 4 };
  double tile_m = TILE * muster_field_edge_m(little.world);
  uint32_t whole = 0;
  for (int i = 0; i < 4 * TILES * TILES; i++) {
    double x = (i % (2 * TILES) - TILES) * tile_m, y = (i / (2 * TILES) - TILES) * tile_m;
    const muster_view view = WITH(muster_view, it.x0 = x, it.y0 = y, it.x1 = x + tile_m, it.y1 = y + tile_m);
    uint32_t cursor = 0, count = muster_field_view(little.world, &view, cells, TILE * TILE, &cursor);
    cr_expect(count % (TILE * TILE) == 0 && cursor == MUSTER_VIEW_END, "%u cells of the tile at %g, %g", count, x, y);
    whole += count > 0;
  }
  cr_expect_geq(whole, 2 * TILES, "%u tiles are known", whole);
}

Test(view_field, looks_at_no_more_tiles_than_it_may) {
  muster_view view = CHANGED(around(1000), it.looks_max = 3);
  uint32_t cursor = 0;
  cr_assert_eq(muster_field_view(little.world, &view, cells, CELLS_MAX, &cursor), 3 * 64);
  cr_assert_neq(cursor, MUSTER_VIEW_END);
  cursor = MUSTER_VIEW_END - 1; /* a cursor that no call returned */
  cr_assert_eq(muster_field_view(little.world, &view, cells, CELLS_MAX, &cursor), 0);
  cr_assert_eq(cursor, MUSTER_VIEW_END);
}

Test(view_field, refuses_what_it_cannot_look_at_and_is_through) {
  muster_view good = around(100), blank = {0};
  muster_view empty = CHANGED(good, it.x1 = it.x0), endless = CHANGED(good, it.y1 = (double)INFINITY);
  const muster_view *bad[] = {NULL, &empty, &endless, &blank};
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    uint32_t cursor = 0;
    cr_assert_eq(muster_field_view(little.world, bad[i], cells, CELLS_MAX, &cursor), 0);
    cr_assert_eq(cursor, MUSTER_VIEW_END);
    cr_assert_neq(*muster_last_error(), '\0');
  }
  uint32_t cursor = 0;
  cr_assert_eq(muster_field_view(little.world, &good, cells, 0, &cursor), 0);
  cr_assert_eq(cursor, MUSTER_VIEW_END);
  cr_assert_eq(muster_field_edge_m(NULL), 0.0);
}
