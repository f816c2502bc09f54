/* What observers change is found, wherever they go: against a look at every agent. */
#include "plan/crowd.h"

/* What the header of score promises. */
static const float promised = 0.05f;

enum { AGENTS = 3000, OBSERVERS = 60 };

/* How a random world is. */
struct world {
  double span_m;
  float cell_m;
  uint32_t observers, partitions;
  bool alike;      /* observers see equally far */
  double step_m;   /* of observers */
  double stroll_m; /* of agents */
  uint64_t seed;
};

static float far_of(struct crowd *crowd, const struct world *world, float near_m) {
  return world->alike ? 250.0f : near_m + 30.0f + (float)crowd_draw(crowd) * 400.0f;
}

static void add_observer(struct crowd *crowd, const struct world *world, uint32_t index) {
  float near_m = world->alike ? 25.0f : (float)crowd_draw(crowd) * 60.0f;
  uint32_t partition = (uint32_t)(crowd_draw(crowd) * world->partitions) * 777;
  crowd_observe(crowd, index, crowd_place(crowd, world->span_m), partition, near_m, far_of(crowd, world, near_m));
}

static struct crowd *populate(const struct world *world) {
  struct crowd *crowd = crowd_create_plain(AGENTS, OBSERVERS, world->cell_m);
  crowd->seed = world->seed;
  for (uint32_t i = 0; i < world->observers; i++) add_observer(crowd, world, i);
  for (uint32_t i = 0; i < AGENTS; i++)
    crowd_spawn(crowd, i, crowd_place(crowd, world->span_m), (uint32_t)(crowd_draw(crowd) * world->partitions) * 777,
                0);
  return crowd;
}

static muster_position step_from(struct crowd *crowd, muster_position from, double step_m) {
  from.x += (crowd_draw(crowd) - 0.5) * 2 * step_m;
  from.y += (crowd_draw(crowd) - 0.5) * 2 * step_m;
  from.z += (crowd_draw(crowd) - 0.5) * 0.2 * step_m;
  return from;
}

/* Observers walk, a few teleport, come or go; agents stroll. */
static void live_a_frame(struct crowd *crowd, const struct world *world) {
  for (uint32_t i = 0; i < world->observers; i++) {
    const observer_row *row = &crowd->observers.rows[i];
    double chance = crowd_draw(crowd);
    if (!row->present)
      add_observer(crowd, world, i);
    else if (chance < 0.01)
      observers_remove(&crowd->observers, i);
    else if (chance < 0.02)
      observers_move(&crowd->observers, i, crowd_place(crowd, world->span_m));
    else
      observers_move(&crowd->observers, i, step_from(crowd, row->position, world->step_m));
  }
  for (uint32_t i = 0; world->stroll_m > 0 && (i = store_next_active(&crowd->store, i)) != UINT32_MAX; i++)
    crowd_move(crowd, i, step_from(crowd, space_position(&crowd->space, &crowd->store.places[i]), world->stroll_m));
}

static void check_worlds(const struct world *worlds, size_t count) {
  for (const struct world *world = worlds; world < worlds + count; world++) {
    SCOPED(free_fixture) struct crowd *crowd = populate(world);
    crowd_settle_and_check(crowd, promised);
    for (uint32_t frame = 0; frame < 60; frame++) {
      live_a_frame(crowd, world);
      crowd_frame(crowd, SCORE_UNITS_MIN, 1);
      if (frame % 6) continue;
      crowd_settle_and_check(crowd, promised);
      crowd_check_sums(crowd);
    }
  }
}

Test(field, keeps_importance_right_while_observers_walk_and_teleport) {
  const struct world worlds[] = {{1000, 32, 10, 1, true, 2, 0, 1},  {3000, 32, 60, 1, true, 3, 0, 2},
                                 {3000, 32, 60, 3, true, 30, 0, 3}, {600, 32, 60, 1, true, 1, 0, 4},
                                 {2000, 128, 30, 1, true, 5, 0, 5}, {1500, 8, 30, 2, true, 5, 0, 6},
                                 {100, 32, 60, 1, true, 0.5, 0, 7}};
  check_worlds(worlds, COUNT_OF(worlds));
}

Test(field, keeps_importance_right_when_observers_see_differently_far) {
  const struct world worlds[] = {{1000, 32, 10, 1, false, 2, 0, 11},
                                 {2500, 32, 60, 1, false, 3, 0, 12},
                                 {2500, 32, 60, 3, false, 20, 0, 13},
                                 {800, 2, 30, 1, false, 1, 0, 14}};
  check_worlds(worlds, COUNT_OF(worlds));
}

Test(field, keeps_importance_right_while_agents_stroll) {
  const struct world worlds[] = {
      {1000, 32, 20, 1, true, 2, 0.14, 21}, {2000, 32, 60, 2, false, 3, 0.5, 22}, {2000, 32, 40, 1, true, 3, 40, 23}};
  check_worlds(worlds, COUNT_OF(worlds));
}

/* When cells are believed to be empty, agents in them are forgotten: the comparison would tell. */
Test(field, whose_cells_are_wrong_would_be_caught) {
  const struct world world = {1000, 32, 10, 1, true, 2, 0, 31};
  SCOPED(free_fixture) struct crowd *crowd = populate(&world);
  crowd_settle(crowd);
  cr_assert_leq(crowd_worst(crowd, promised), promised);
  for (uint32_t i = 0; i < crowd->board.field.tile_count; i++)
    memset(crowd->board.field.tiles[i].low, FIELD_EMPTY, TILE_CELLS);
  observers_move(&crowd->observers, 0, (muster_position){0, 0, 0});
  crowd_settle(crowd);
  cr_assert_gt(crowd_worst(crowd, promised), promised);
}

/* Of two worlds that live alike, one does its work in parts and from back to front. */
Test(field, the_number_of_parts_of_the_work_makes_no_difference) {
  const struct world world = {2000, 32, 60, 2, true, 10, 1, 41};
  SCOPED(free_fixture) struct crowd *one = populate(&world), *other = populate(&world);
  for (uint32_t frame = 0; frame < 40; frame++) {
    live_a_frame(one, &world);
    live_a_frame(other, &world);
    score_summary a = crowd_frame(one, SCORE_UNITS_MIN, 1), b = crowd_frame(other, SCORE_UNITS_MIN, 7);
    cr_assert(a.agents == b.agents && a.plots == b.plots && a.waiting == b.waiting);
    for (uint32_t i = 0; i < AGENTS; i++)
      cr_assert(one->store.rows[i].importance == other->store.rows[i].importance &&
                one->store.rows[i].class == other->store.rows[i].class &&
                one->store.rows[i].virtual_due_ns == other->store.rows[i].virtual_due_ns);
  }
}

Test(field, when_all_observers_teleport_every_frame_the_work_is_bounded_and_nothing_is_lost) {
  const struct world world = {4000, 32, 60, 1, true, 0, 0, 51};
  SCOPED(free_fixture) struct crowd *crowd = populate(&world);
  crowd_settle(crowd);
  for (uint32_t frame = 0; frame < 50; frame++) {
    for (uint32_t i = 0; i < world.observers; i++)
      observers_move(&crowd->observers, i, crowd_place(crowd, world.span_m));
    score_summary summary = crowd_frame(crowd, SCORE_UNITS_MIN, 1);
    cr_assert_leq(crowd->board.units, 3 * SCORE_UNITS_MIN + AGENTS / 10);
    cr_assert_leq(summary.agents, 3 * SCORE_UNITS_MIN);
  }
  crowd_settle_and_check(crowd, promised);
  crowd_check_sums(crowd);
}

Test(field, observers_that_see_the_whole_world_or_next_to_nothing_are_heeded_too) {
  const struct world world = {2000, 32, 20, 1, true, 3, 0, 61};
  SCOPED(free_fixture) struct crowd *crowd = populate(&world);
  crowd_observe(crowd, 30, (muster_position){0, 0, 0}, 0, 100, 1e6f);
  crowd_observe(crowd, 31, (muster_position){300, 0, 0}, 0, 0, 0.25f);
  crowd_settle_and_check(crowd, promised);
  cr_assert_gt(crowd->board.rounds, 0);
  observers_move(&crowd->observers, 30, (muster_position){90000, 0, 0});
  crowd_settle_and_check(crowd, promised);
  observers_remove(&crowd->observers, 30);
  crowd_settle_and_check(crowd, promised);
  for (uint32_t frame = 0; frame < 20; frame++) live_a_frame(crowd, &world);
  crowd_settle_and_check(crowd, promised);
}

Test(field, all_agents_in_one_cell_have_a_turn_each) {
  enum { CROWD = 20000 };
  SCOPED(free_fixture) struct crowd *crowd = crowd_create_plain(CROWD, 4, 32.0f);
  for (uint32_t i = 0; i < CROWD; i++)
    crowd_spawn(crowd, i, (muster_position){crowd_draw(crowd) * 10, crowd_draw(crowd) * 10, 0}, 0, 0);
  crowd_observe(crowd, 0, (muster_position){130, 0, 0}, 0, 25, 250);
  for (uint32_t frame = 0; frame < 200; frame++) {
    observers_move(&crowd->observers, 0, (muster_position){130 + frame, 0, 0});
    crowd_frame(crowd, SCORE_UNITS_MIN, 1);
    cr_assert_leq(crowd->board.units, 3 * SCORE_UNITS_MIN + SCORE_CROWD);
  }
  cr_assert_gt(crowd->board.rounds, 0);
  crowd_settle_and_check(crowd, promised);
  crowd_check_sums(crowd);
}

Test(field, observers_on_top_of_each_other_work) {
  SCOPED(free_fixture) struct crowd *crowd = crowd_create_plain(AGENTS, OBSERVERS, 32.0f);
  for (uint32_t i = 0; i < AGENTS; i++) crowd_spawn(crowd, i, crowd_place(crowd, 800), 0, 0);
  for (uint32_t i = 0; i < OBSERVERS; i++) crowd_observe(crowd, i, (muster_position){10, 10, 2}, 0, 25, 250);
  crowd_settle_and_check(crowd, promised);
  for (uint32_t i = 1; i < OBSERVERS; i++) observers_move(&crowd->observers, i, (muster_position){-300, 0, 0});
  crowd_settle_and_check(crowd, promised);
}

/* Tiles for one observer are 4,096; one whose far_m is 100 km covers more. */
Test(field, of_which_more_is_seen_than_there_are_tiles_forgets_and_stays_right) {
  SCOPED(free_fixture) struct crowd *crowd = crowd_create_plain(AGENTS, 4, 32.0f);
  for (uint32_t i = 0; i < AGENTS; i++) crowd_spawn(crowd, i, crowd_place(crowd, 3000), 0, 0);
  crowd_observe(crowd, 0, (muster_position){0, 0, 0}, 0, 25, 250);
  crowd_settle(crowd);
  for (uint32_t i = 0; i < 600; i++) { /* it crosses 600 km, and comes back now and then */
    double x = i % 20 ? i * 1000.0 : 0.0;
    observers_move(&crowd->observers, 0, (muster_position){x, x / 3, 0});
    crowd_frame(crowd, SCORE_UNITS_MIN, 1);
    if (i % 20) continue;
    crowd_settle_and_check(crowd, promised);
  }
  cr_assert_gt(crowd->board.field.forgets, 0);
  cr_assert_leq(crowd->board.field.tile_count, crowd->board.field.tiles_max);
}

Test(field, observers_that_all_see_further_from_now_on_get_larger_cells) {
  const struct world world = {2000, 32, 20, 1, true, 3, 0, 71};
  SCOPED(free_fixture) struct crowd *crowd = populate(&world);
  crowd_settle(crowd);
  double edge_m = crowd->board.field.edge_m;
  for (uint32_t i = 0; i < world.observers; i++) observers_remove(&crowd->observers, i);
  for (uint32_t i = 0; i < world.observers; i++)
    crowd_observe(crowd, i, crowd_place(crowd, world.span_m), 0, 200, 2000);
  crowd_settle(crowd);
  cr_assert_gt(crowd->board.field.edge_m, edge_m);
  crowd_check(crowd, promised);
}

/* Takes all that a list holds. */
static void take_all(struct field *field, uint32_t list) {
  uint8_t low[PLOT_CELLS_MAX];
  field_plot plot;
  memset(low, FIELD_EMPTY, sizeof low);
  while ((plot = field_next(field, list)).tile != FIELD_NO_CELL) field_settle(field, &plot, low);
}

/* An observer looks around at every kilometre; what is listed as little changed at kilometre 100 waits until tiles are
 * forgotten. */
Test(field, what_is_listed_stays_where_it_is_when_other_tiles_are_forgotten) {
  enum { WAITS_KM = 100, FAR_M = 250 };
  SCOPED(arena_destroy) struct arena arena = begin_arena();
  struct field field;
  field_create(&field, 4, 32.0, &arena);
  uint32_t scanned = 0, plots = 0;
  for (uint32_t km = 0; field.forgets == 0; km++) {
    field_view view = {{km * 1000.0, 0, 0}, 25, FAR_M, 0};
    cr_assert(field_touch(&field, &view, km == WAITS_KM ? FIELD_LITTLE : FIELD_MUCH, &scanned));
    take_all(&field, FIELD_MUCH);
    if (km == WAITS_KM) plots = field.lists[FIELD_LITTLE].count;
  }
  cr_assert_gt(plots, 0);
  for (; plots > 0; plots--) {
    field_plot plot = field_next(&field, FIELD_LITTLE);
    cr_assert_lt(plot.tile, field.tile_count, "of a tile that is gone");
    cr_assert_leq(fabs(plot.grid_x * 32.0 - WAITS_KM * 1000.0), FAR_M + 32.0);
    cr_assert_leq(fabs(plot.grid_y * 32.0), FAR_M + 32.0);
  }
  cr_assert_eq(field_next(&field, FIELD_LITTLE).tile, FIELD_NO_CELL);
}

Test(field, has_tiles_for_all_the_observers_that_there_may_be) {
  enum { MANY = 1000 };
  SCOPED(arena_destroy) struct arena arena = begin_arena();
  struct field field;
  field_create(&field, MANY, 32.0, &arena);
  uint32_t scanned = 0;
  for (uint32_t i = 0; i < MANY; i++) {
    field_view view = {{i * 1000.0, 0, 0}, 25, 250, 0};
    cr_assert(field_touch(&field, &view, FIELD_MUCH, &scanned), "no room for observer %u", i);
  }
}
