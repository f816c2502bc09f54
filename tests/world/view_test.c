/* Agents of a rectangle at once, and rasters of them. */
#include "world/fixture.h"

#include <muster/view.h>

enum { AGENTS = 3000, SIDE = 50 };

static little_world little;
static muster_view_agent shown[AGENTS];

/* Spawns AGENTS agents on a grid of SIDE columns, a metre apart; every tenth one is in partition 1. */
static void create(void) {
  little = world_of(type_running(nothing, 0));
  for (uint32_t i = 0; i < AGENTS; i++)
    spawn_in(&little, (muster_position){i % SIDE, (double)(i / SIDE) - 20.0, 7}, i % 10 == 0);
  while (run_frame(&little).spawns_waiting) continue;
  run_frames(&little, 20);
}

static void destroy(void) {
  little_world_destroy(&little);
}

TestSuite(view, .init = create, .fini = destroy);

static muster_view all(void) {
  return WITH(muster_view, it.x0 = it.y0 = -1000, it.x1 = it.y1 = 1000);
}

static uint32_t see(const muster_view *view, uint32_t capacity) {
  uint32_t cursor = 0, count = 0;
  while (cursor != MUSTER_VIEW_END) {
    uint32_t room = AGENTS - count < capacity ? AGENTS - count : capacity;
    count += muster_agents_view(little.world, view, shown + count, room, &cursor);
  }
  return count;
}

Test(view, shows_of_each_agent_what_reading_it_tells) {
  muster_view view = all();
  cr_assert_eq(see(&view, AGENTS), AGENTS - AGENTS / 10);
  for (uint32_t i = 0; i < AGENTS - AGENTS / 10; i++) {
    const muster_view_agent *agent = &shown[i];
    muster_agent_info info = info_of(&little, agent->agent);
    cr_expect(fabs((double)agent->x - 1000 - info.position.x) < 1e-3);
    cr_expect(fabs((double)agent->y - 1000 - info.position.y) < 1e-3);
    cr_expect(fabs((double)agent->period_s - (double)info.period_ns * 1e-9) < 1e-4);
    cr_expect(fabs((double)agent->staleness_s - (double)(little.now_ns - info.last_update_ns) * 1e-9) < 1e-4);
    cr_expect(agent->importance == info.importance && agent->level == info.level && agent->type == info.type.index);
    cr_expect(((agent->flags & MUSTER_VIEW_DUE) != 0) == (info.delays > 0));
    cr_expect(info.partition == 0 &&
              (i == 0 || muster_agent_index(shown[i - 1].agent) < muster_agent_index(agent->agent)));
  }
}

Test(view, has_those_in_the_rectangle_and_no_others) {
  /* Ten columns, the last one excluded. */
  muster_view view = WITH(muster_view, it.x0 = 10, it.x1 = 20, it.y0 = -20, it.y1 = -15);
  cr_expect_eq(see(&view, AGENTS), 9 * 5);
  for (uint32_t i = 0; i < 9 * 5; i++) cr_expect(shown[i].x >= 0 && shown[i].x < 10 && shown[i].y < 5);
  view.partition = 1;
  cr_expect_eq(see(&view, AGENTS), 5);
  view.partition = 2;
  cr_expect_eq(see(&view, AGENTS), 0);
}

Test(view, is_the_same_in_however_many_parts_it_is_taken) {
  static muster_view_agent whole[AGENTS];
  muster_view view = all();
  uint32_t count = see(&view, AGENTS);
  memcpy(whole, shown, sizeof whole);
  for (uint32_t capacity = 1; capacity < 2000; capacity = capacity * 3 + 1) {
    for (view.looks_max = 1; view.looks_max < 5000; view.looks_max *= 7) {
      memset(shown, 0, sizeof shown);
      cr_assert_eq(see(&view, capacity), count);
      cr_assert_eq(memcmp(whole, shown, count * sizeof *shown), 0);
    }
  }
}

Test(view, looks_at_no_more_agents_than_it_may) {
  muster_view view = CHANGED(all(), it.looks_max = 100);
  uint32_t cursor = 0;
  cr_expect_eq(muster_agents_view(little.world, &view, shown, AGENTS, &cursor), 90);
  cr_expect_eq(cursor, 100);
}

/* In parts of `capacity`; in how many looks all are found must not matter. */
static uint32_t see_outside(const muster_view *view, uint32_t capacity, muster_agent *ids, muster_position *places) {
  uint32_t cursor = 0, count = 0;
  while (cursor != MUSTER_VIEW_END) {
    uint32_t room = AGENTS - count < capacity ? AGENTS - count : capacity;
    count += muster_agents_outside(little.world, view, ids + count, places + count, NULL, room, &cursor);
  }
  return count;
}

Test(view, outside_are_all_others_of_all_partitions) {
  static muster_agent ids[AGENTS], again[AGENTS];
  static muster_position places[AGENTS];
  muster_view view = WITH(muster_view, it.x0 = 10, it.x1 = 20, it.y0 = -20, it.y1 = -15);
  uint32_t count = see_outside(&view, AGENTS, ids, places);
  cr_assert_eq(count, AGENTS - 10 * 5);
  for (uint32_t i = 0; i < count; i++) {
    muster_position place = info_of(&little, ids[i]).position;
    cr_expect(place.x < 10 || place.x >= 20 || place.y >= -15);
    cr_expect_eq(memcmp(&place, &places[i], sizeof place), 0);
  }
  view.looks_max = 7;
  cr_assert_eq(see_outside(&view, 3, again, places), count);
  cr_expect_eq(memcmp(ids, again, count * sizeof *ids), 0);
}

Test(view, tells_who_is_due_and_who_was_woken) {
  muster_view view = all();
  uint32_t count = see(&view, AGENTS), woken = 0;
  for (uint32_t i = 0; i < count; i++) {
    cr_expect(!(shown[i].flags & MUSTER_VIEW_WOKEN));
    muster_agent_wake(little.world, shown[i].agent);
  }
  run_frame_with(&little, 10000); /* too little time for all agents */
  see(&view, AGENTS);
  for (uint32_t i = 0; i < count; i++) {
    bool due = info_of(&little, shown[i].agent).delays > 0;
    woken += (shown[i].flags & MUSTER_VIEW_WOKEN) != 0;
    cr_expect_eq((shown[i].flags & MUSTER_VIEW_DUE) != 0, due);
    cr_expect(due || !(shown[i].flags & MUSTER_VIEW_WOKEN));
  }
  cr_expect(woken > 0 && woken < count, "%u of %u", woken, count);
}

Test(view, a_raster_counts_everybody_once_and_has_the_shortest_period_and_the_latest_of_a_cell) {
  enum { COLUMNS = 5, ROWS = 3 };
  muster_raster_cell cells[COLUMNS * ROWS] = {0};
  muster_raster raster = {.columns = COLUMNS, .rows = ROWS, .cells = cells};
  muster_view view = WITH(muster_view, it.x1 = SIDE, it.y0 = -20, it.y1 = 40, it.looks_max = 37);
  uint32_t added = 0;
  for (uint32_t cursor = 0; cursor != MUSTER_VIEW_END;)
    added += muster_agents_raster(little.world, &view, &raster, &cursor);
  cr_expect_eq(added, AGENTS - AGENTS / 10);
  float period_s = INFINITY, stretch = 0, cells_period_s = INFINITY, cells_stretch = 0;
  for (uint32_t i = 0; i < COLUMNS * ROWS; i++) {
    cr_expect_eq(cells[i].count, 9 * 20, "cell %u has %u", i, cells[i].count);
    cr_expect_eq(cells[i].with_period, cells[i].count);
    cells_period_s = fminf(cells_period_s, cells[i].period_s_least);
    cells_stretch = fmaxf(cells_stretch, cells[i].stretch_most);
  }
  uint32_t count = see(&view, AGENTS);
  for (uint32_t i = 0; i < count; i++) {
    period_s = fminf(period_s, shown[i].period_s);
    stretch = fmaxf(stretch, shown[i].staleness_s / shown[i].period_s);
  }
  cr_expect(period_s > 0 && stretch > 0 && cells_period_s == period_s && cells_stretch == stretch);
}

static muster_raster_cell cell_of(const muster_view_agent *of, uint32_t count) {
  muster_raster_cell cell = {0};
  muster_raster_add(&(muster_raster){.width_m = 1, .height_m = 1, .columns = 1, .rows = 1, .cells = &cell}, of, count);
  return cell;
}

/* One agent at a player's feet among many that no player sees. */
Test(view, one_that_runs_often_is_what_a_cell_shows_of_many) {
  enum { MANY = 200 };
  muster_view_agent crowd[MANY] = {0};
  for (uint32_t i = 0; i < MANY; i++)
    crowd[i] = (muster_view_agent){.period_s = 8.0f, .staleness_s = 0.01f * (float)i, .level = 3};
  crowd[70] = (muster_view_agent){.period_s = 0.0f, .staleness_s = 90.0f, .level = 2}; /* without a period */
  muster_raster_cell cell = cell_of(crowd, MANY);
  cr_expect(cell.count == MANY && cell.with_period == MANY - 1);
  cr_expect(cell.period_s_least == 8.0f && cell.level_least == 2.0f);
  cr_expect_float_eq(cell.staleness_s, 1.99f, 1e-6, "the longest of those who run alike");
  cr_expect_float_eq(cell.stretch_most, 1.99f / 8.0f, 1e-6);
  crowd[120] = (muster_view_agent){.period_s = 0.1f, .staleness_s = 0.15f};
  cell = cell_of(crowd, MANY);
  cr_expect(cell.period_s_least == 0.1f && cell.level_least == 0.0f && cell.staleness_s == 0.15f);
  cr_expect_float_eq(cell.stretch_most, 1.5f, 1e-6, "it is late, too");
  cell = cell_of(&crowd[70], 1);
  cr_expect(cell.period_s_least == 0.0f && cell.staleness_s == 90.0f && cell.stretch_most == 0.0f);
  cr_expect(cell_of(crowd + 119, 2).period_s_least == 0.1f && cell_of(crowd + 120, 2).period_s_least == 0.1f);
}

Test(view, an_extent_is_where_the_agents_of_a_partition_are) {
  muster_extent extent = {0};
  for (uint32_t cursor = 0; cursor != MUSTER_VIEW_END;)
    cr_assert_eq(muster_agents_extent(little.world, 0, 64, &extent, &cursor), MUSTER_OK);
  cr_expect_eq(extent.agents, AGENTS - AGENTS / 10);
  cr_expect(extent.x0 == 1 && extent.x1 == SIDE - 1 && extent.y0 == -20 && extent.y1 == AGENTS / SIDE - 21);
  extent = (muster_extent){0};
  uint32_t cursor = 0;
  muster_agents_extent(little.world, 9, AGENTS, &extent, &cursor);
  cr_expect(extent.agents == 0 && cursor == MUSTER_VIEW_END);
}

/* Wherever all of them are, also when zero is not among their places. */
Test(view, an_extent_has_no_place_where_nobody_is) {
  static const double sides[4][2] = {{1, 1}, {-1, 1}, {1, -1}, {-1, -1}};
  for (uint32_t side = 0; side < 4; side++) {
    little_world corner = little_world_create(1, NULL);
    const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 0};
    muster_type_def type = type_with(&atom, 1);
    register_type(&corner, &type);
    for (uint32_t i = 0; i < 5; i++)
      spawn_in(&corner, (muster_position){sides[side][0] * (100 + i), sides[side][1] * (240 - i), 0}, 0);
    run_frame(&corner);
    for (uint32_t looks = 1; looks <= 6; looks++) {
      muster_extent extent = {0};
      for (uint32_t cursor = 0; cursor != MUSTER_VIEW_END;)
        cr_assert_eq(muster_agents_extent(corner.world, 0, looks, &extent, &cursor), MUSTER_OK);
      cr_expect_eq(extent.agents, 5);
      cr_expect(extent.x0 == (sides[side][0] > 0 ? 100 : -104) && extent.x1 == (sides[side][0] > 0 ? 104 : -100));
      cr_expect(extent.y0 == (sides[side][1] > 0 ? 236 : -240) && extent.y1 == (sides[side][1] > 0 ? 240 : -236));
    }
    little_world_destroy(&corner);
  }
}

/* Who is outside of a raster, or on its edge as floats round it, counts in the nearest cell. */
Test(view, a_raster_has_everybody_in_its_cells) {
  enum { COLUMNS = 4, ROWS = 3, APART = COLUMNS * ROWS };
  static const float along[] = {-7.0f, 0.0f, 0.5f, 9.99f, 10.0f, 39.99f, 40.0f, 40.01f, 4000.0f};
  static const uint32_t column_of[] = {0, 0, 0, 0, 1, 3, 3, 3, 3}, row_of[] = {0, 0, 0, 0, 1, 2, 2, 2, 2};
  enum { PLACES = sizeof along / sizeof *along };
  for (uint32_t i = 0; i < PLACES; i++)
    for (uint32_t k = 0; k < PLACES; k++) {
      muster_raster_cell cells[3 * APART] = {0};
      muster_raster raster = {.columns = COLUMNS, .rows = ROWS, .width_m = 40, .height_m = 30, .cells = cells + APART};
      muster_view_agent agent = {.x = along[i], .y = along[k], .period_s = 1.0f};
      muster_raster_add(&raster, &agent, 1);
      for (uint32_t n = 0; n < 3 * APART; n++)
        cr_expect_eq(cells[n].count, n == APART + row_of[k] * COLUMNS + column_of[i], "%g, %g: cell %u",
                     (double)along[i], (double)along[k], n);
    }
}

Test(view, refuses_what_it_cannot_look_at_and_is_through) {
  muster_view good = all(), blank = {0};
  muster_view empty = CHANGED(good, it.x1 = it.x0), endless = CHANGED(good, it.y1 = (double)INFINITY);
  const muster_view *bad[] = {NULL, &empty, &endless, &blank};
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    uint32_t cursor = 0;
    cr_expect_eq(muster_agents_view(little.world, bad[i], shown, AGENTS, &cursor), 0);
    cr_expect_eq(cursor, MUSTER_VIEW_END);
    cr_expect(*muster_last_error());
  }
  uint32_t cursor = 0;
  muster_raster none = {.columns = 1, .rows = 1};
  cr_expect_eq(muster_agents_raster(little.world, &good, &none, &cursor), 0);
  cr_expect_eq(cursor, MUSTER_VIEW_END);
  cr_expect_eq(muster_agents_extent(little.world, 0, 1, NULL, &cursor), MUSTER_E_ARGUMENT);
}
