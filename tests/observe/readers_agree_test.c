/* What different readers say of the same agents, in worlds in which everything happens: views, rasters, extents and
 * explanations against reading one by one. */
#include "support/busy_worlds.h"
#include "support/herd_world.h"
#include "world/fixture.h"

#include <muster/view.h>

enum { MOST = 4000, FRAMES = 36, COLUMNS = 7, ROWS = 5 };

static muster_agent listed[MOST];
static muster_agent_info infos[MOST];
static muster_view_agent shown[MOST];

static uint32_t list_all(const little_world *little) {
  uint32_t count = 0;
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little->world, agent)); count++) {
    cr_assert_lt(count, MOST);
    listed[count] = agent;
    infos[count] = info_of(little, agent);
  }
  return count;
}

static bool is_inside(const muster_view *view, muster_position at) {
  return at.x >= view->x0 && at.x < view->x1 && at.y >= view->y0 && at.y < view->y1;
}

static muster_view view_of(double x0, double y0, double x1, double y1) {
  return WITH(muster_view, it.x0 = x0, it.y0 = y0, it.x1 = x1, it.y1 = y1);
}

static void expect_flag(const muster_view_agent *agent, uint32_t flag, bool holds, const char *name) {
  cr_assert_eq((agent->flags & flag) != 0, holds, "%s of agent %u: %#x", name, muster_agent_index(agent->agent),
               agent->flags);
}

static void check_shown(const little_world *little, const muster_view *view, const muster_view_agent *agent,
                        const muster_agent_info *info) {
  uint32_t reasons = explain(little, agent->agent).reasons;
  cr_assert_leq(fabs((double)agent->x - (info->position.x - view->x0)), 1e-3);
  cr_assert_leq(fabs((double)agent->y - (info->position.y - view->y0)), 1e-3);
  cr_assert_eq(agent->period_s, (float)((double)info->period_ns * 1e-9));
  cr_assert_eq(agent->staleness_s, (float)((double)(little->now_ns - info->last_update_ns) * 1e-9));
  cr_assert_eq(agent->importance, info->importance);
  cr_assert_eq(agent->type, info->type.index);
  cr_assert_eq(agent->level, info->level);
  expect_flag(agent, MUSTER_VIEW_PREEMPTED, info->atoms_done > 0, "preempted");
  expect_flag(agent, MUSTER_VIEW_QUARANTINED, info->quarantined, "quarantined");
  expect_flag(agent, MUSTER_VIEW_GHOST, false, "ghost");
  if (!info->quarantined) expect_flag(agent, MUSTER_VIEW_ACTING, reasons & MUSTER_REASON_WAITS_FOR_ACTION, "acting");
  if (!info->quarantined) expect_flag(agent, MUSTER_VIEW_DUE, info->delays > 0, "due");
  if (agent->flags & MUSTER_VIEW_DUE && !info->quarantined)
    expect_flag(agent, MUSTER_VIEW_WOKEN, reasons & MUSTER_REASON_WOKEN, "woken");
  if (info->quarantined) cr_assert(reasons & MUSTER_REASON_QUARANTINED);
  cr_assert_eq((reasons & MUSTER_REASON_PENALTY) != 0, info->penalty > 0);
}

/* Views of a rectangle and of what is outside of it; returns the flags that any agent had. */
static uint32_t check_views(little_world *little, const muster_view *view, uint32_t count) {
  static muster_agent ids[MOST];
  static muster_position places[MOST];
  uint32_t cursor = 0, inside = 0, beyond = 0, flags = 0;
  uint32_t seen = muster_agents_view(little->world, view, shown, MOST, &cursor);
  cr_assert_eq(cursor, MUSTER_VIEW_END);
  uint32_t others = (cursor = 0, muster_agents_outside(little->world, view, ids, places, NULL, MOST, &cursor));
  cr_assert_eq(cursor, MUSTER_VIEW_END);
  for (uint32_t i = 0; i < count; i++) {
    if (!is_inside(view, infos[i].position)) {
      cr_assert(beyond < others && muster_agent_equal(ids[beyond], listed[i]), "agent %u is outside",
                muster_agent_index(listed[i]));
      cr_assert_eq(memcmp(&places[beyond++], &infos[i].position, sizeof *places), 0);
    } else if (infos[i].partition == view->partition) {
      cr_assert(inside < seen && muster_agent_equal(shown[inside].agent, listed[i]), "agent %u is inside",
                muster_agent_index(listed[i]));
      flags |= shown[inside].flags;
      check_shown(little, view, &shown[inside++], &infos[i]);
    }
  }
  cr_assert_eq(inside, seen);
  cr_assert_eq(beyond, others);
  return flags;
}

/* A raster of the rectangle, whatever its own width and height were, and the extent of everybody. */
static void check_sums(const little_world *little, const muster_view *view, uint32_t count) {
  muster_raster_cell cells[COLUMNS * ROWS] = {0}, expected[COLUMNS * ROWS] = {0};
  muster_raster raster = {.width_m = 3, .height_m = 9000, .columns = COLUMNS, .rows = ROWS, .cells = cells};
  muster_raster own =
      CHANGED(raster, it.width_m = view->x1 - view->x0, it.height_m = view->y1 - view->y0, it.cells = expected);
  uint32_t cursor = 0, seen = muster_agents_view(little->world, view, shown, MOST, &cursor), counts[ROWS][COLUMNS];
  memset(counts, 0, sizeof counts);
  muster_raster_add(&own, shown, seen);
  cursor = 0;
  cr_assert_eq(muster_agents_raster(little->world, view, &raster, &cursor), seen);
  cr_assert(raster.width_m == 3 && raster.height_m == 9000);
  for (uint32_t i = 0; i < seen; i++)
    counts[(uint32_t)((double)shown[i].y * ROWS / own.height_m)]
          [(uint32_t)((double)shown[i].x * COLUMNS / own.width_m)]++;
  for (uint32_t i = 0; i < COLUMNS * ROWS; i++) {
    cr_assert_eq(memcmp(&cells[i], &expected[i], sizeof cells[i]), 0, "cell %u", i);
    cr_assert_eq(cells[i].count, counts[i / COLUMNS][i % COLUMNS], "cell %u", i);
  }
  muster_extent extent = {0}, all = {0};
  cursor = 0;
  cr_assert_eq(muster_agents_extent(little->world, view->partition, MOST, &extent, &cursor), MUSTER_OK);
  for (uint32_t i = 0; i < count; i++) {
    muster_position at = infos[i].position;
    if (infos[i].partition != view->partition) continue;
    all.x0 = all.agents && all.x0 < at.x ? all.x0 : at.x;
    all.y0 = all.agents && all.y0 < at.y ? all.y0 : at.y;
    all.x1 = all.agents && all.x1 > at.x ? all.x1 : at.x;
    all.y1 = all.agents && all.y1 > at.y ? all.y1 : at.y;
    all.agents++;
  }
  cr_assert_eq(memcmp(&extent, &all, sizeof extent), 0);
}

static uint32_t check_kind(const busy_kind *kind) {
  SCOPED_WORLD little = careless(busy_driven(kind, 1, 0));
  uint32_t flags = 0;
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    double x0 = -200.5 + frame * 3, y0 = -150.25 - frame;
    muster_view view = view_of(x0, y0, x0 + 300 + frame, y0 + 200 + frame * 2);
    if (frame == FRAMES / 2) muster_type_quarantine(little.world, (muster_type){1});
    busy_frame(&little, kind, frame);
    if (frame % 4 != 1 && frame < FRAMES - 2) continue;
    uint32_t count = list_all(&little);
    flags |= check_views(&little, &view, count);
    check_sums(&little, &view, count);
  }
  return flags;
}

static void expect_flags(uint32_t flags, uint32_t wanted) {
  cr_assert_eq(flags & wanted, wanted, "%#x", flags);
}

Test(readers_agree, in_each_kind_of_busy_world) {
  uint32_t flags = 0;
  for (uint32_t kind = 1; kind < BUSY_KINDS; kind += 2) flags |= check_kind(&busy_kinds[kind]);
  expect_flags(flags, MUSTER_VIEW_DUE | MUSTER_VIEW_WOKEN | MUSTER_VIEW_QUARANTINED);
}

/* Updates that are cut, and actions that found no time. */
Test(readers_agree, of_agents_that_are_in_the_middle_of_something) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 700000},
                                      {nothing, MUSTER_ROLE_BEHAVIOUR, 700000},
                                      {nothing, MUSTER_ROLE_ACTION, 900000}};
  const muster_view view = view_of(0, 0, 8, 8);
  SCOPED_WORLD little = careless(papers_world(1));
  uint32_t flags = 0;
  add_type(&little, CHANGED(actors_def(atoms, MUSTER_ACT_SERIAL, NULL), it.atom_count = 3, it.limit_ns = 1000000000u));
  for (uint32_t i = 0; i < 12; i++) spawn_at(&little, i);
  for (uint32_t i = 0; i < 60; i++) {
    run_frame_with(&little, 2500000 + i * 37000u);
    flags |= check_views(&little, &view, list_all(&little));
    for (uint32_t k = 0; k < 12; k++) {
      muster_agent_explanation why = explain(&little, listed[k]);
      cr_assert_eq(why.atoms, 2, "the action is none of them");
      if (why.reasons & (MUSTER_REASON_WAITS_FOR_ACTION | MUSTER_REASON_PREEMPTED | MUSTER_REASON_CARRIED))
        cr_assert_eq(why.waited_ns, little.now_ns - why.due_ns);
      if (why.reasons & MUSTER_REASON_WAITS_FOR_ACTION) cr_assert_eq(why.priority_ns, 0);
    }
  }
  expect_flags(flags, MUSTER_VIEW_PREEMPTED | MUSTER_VIEW_ACTING);
}

/* ------------------------------------------------------------------------------------------------ changed, blocks */

static uint32_t changed_ones(little_world *little, muster_agent *which) {
  muster_agent ids[16];
  muster_position places[16];
  bool changed[16];
  uint32_t cursor = 0, count = 0;
  const muster_view view = view_of(5000, 5000, 5001, 5001);
  uint32_t seen = muster_agents_outside(little->world, &view, ids, places, changed, 16, &cursor);
  for (uint32_t i = 0; i < seen; i++)
    if (changed[i]) which[count++] = ids[i];
  return count;
}

Test(readers_agree, a_change_is_told_once) {
  SCOPED_WORLD little = world_of(due_every(DAY_NS, type_running(nothing, 1000)));
  muster_agent agents[4], which[16];
  for (uint32_t i = 0; i < 4; i++) agents[i] = spawn_at(&little, i);
  run_frame(&little);
  cr_assert_eq(changed_ones(&little, which), 4, "all have come");
  cr_assert_eq(changed_ones(&little, which), 0, "which was told");
  run_frame(&little);
  cr_assert_eq(changed_ones(&little, which), 0);
  for (uint32_t i = 0; i < 4; i += 3) {
    muster_agent_move(little.world, agents[i], (muster_position){9, 9, 0});
    run_frame(&little);
    cr_assert_eq(changed_ones(&little, which), 1);
    cr_assert(muster_agent_equal(which[0], agents[i]));
    cr_assert_eq(changed_ones(&little, which), 0);
  }
}

/* Leaves are shown, and blocks are not: they stand nowhere. */
Test(readers_agree, blocks_of_herds_are_nowhere) {
  SCOPED_HERDS herds = herd_world_create(1, NULL, NULL);
  for (uint32_t i = 0; i < 3; i++) add_herd(&herds, 3000, 100.0 * i, 20);
  muster_herd near = add_herd(&herds, 10, 10, 20);
  observe(&herds, 10, 10);
  run_frames(&herds.little, 20);
  muster_agent leaves[32], ids[64];
  muster_position places[64];
  uint32_t count = muster_herd_leaves(herds.little.world, near, leaves, NULL, 32), all = list_all(&herds.little);
  cr_assert(count > 1 && all > count, "%u leaves of %u agents", count, all);
  muster_view view = view_of(-2e9, -2e9, 2e9, 2e9); /* nobody is further away */
  uint32_t cursor = 0;
  cr_assert_eq(muster_agents_view(herds.little.world, &view, shown, MOST, &cursor), count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t known = 0;
    for (uint32_t k = 0; k < count; k++) known += muster_agent_equal(shown[i].agent, leaves[k]);
    cr_assert_eq(known, 1);
  }
  view = view_of(-2e9, -2e9, -99999, -99999);
  cursor = 0;
  cr_assert_eq(muster_agents_outside(herds.little.world, &view, ids, places, NULL, 64, &cursor), count);
  muster_extent extent = {0};
  cursor = 0;
  cr_assert_eq(muster_agents_extent(herds.little.world, 0, 1000, &extent, &cursor), MUSTER_OK);
  cr_assert_eq(extent.agents, count);
  cr_assert(extent.x0 > -300 && extent.x1 < 300);
}

typedef uint32_t (*viewer)(muster_world *world, const muster_view *view, uint32_t *cursor);

static uint32_t view_agents(muster_world *world, const muster_view *view, uint32_t *cursor) {
  return muster_agents_view(world, view, shown, MOST, cursor);
}

static uint32_t view_outside_of(muster_world *world, const muster_view *view, uint32_t *cursor) {
  static muster_position places[MOST];
  return muster_agents_outside(world, view, listed, places, NULL, MOST, cursor);
}

static uint32_t view_raster(muster_world *world, const muster_view *view, uint32_t *cursor) {
  muster_raster_cell cell = {0};
  muster_raster raster = {.width_m = 1, .height_m = 1, .columns = 1, .rows = 1, .cells = &cell};
  return muster_agents_raster(world, view, &raster, cursor);
}

static uint32_t view_field_of(muster_world *world, const muster_view *view, uint32_t *cursor) {
  static muster_field_cell cells[256];
  return muster_field_view(world, view, cells, 256, cursor);
}

Test(readers_agree, on_what_is_no_view) {
  static const viewer viewers[] = {view_agents, view_outside_of, view_raster, view_field_of};
  static const double wrong[][4] = {
      {0, 0, 10, 0},        {0, 0, 0, 10},          {0, 10, 10, 5},         {10, 0, 5, 10},   {0, 0, 10, INFINITY},
      {0, 0, INFINITY, 10}, {0, -INFINITY, 10, 10}, {-INFINITY, 0, 10, 10}, {NAN, 0, 10, 10}, {0, 0, 10, NAN}};
  SCOPED_WORLD little = world_of(type_running(nothing, 1000));
  spawn_at(&little, 3);
  spawn_and_run(&little, 300, 3);
  for (uint32_t i = 0; i < 4; i++) {
    uint32_t cursor;
    for (size_t k = 0; k < COUNT_OF(wrong); k++) {
      muster_view view = view_of(wrong[k][0], wrong[k][1], wrong[k][2], wrong[k][3]);
      cursor = 0;
      cr_assert_eq(viewers[i](little.world, &view, &cursor), 0, "viewer %u, view %zu", i, k);
      cr_assert_eq(cursor, MUSTER_VIEW_END, "viewer %u, view %zu", i, k);
      expect_error("finite and not empty");
    }
    muster_view view = CHANGED(view_of(0, 0, 10, 10), it.looks_max = 0);
    cursor = 0;
    cr_assert_eq(viewers[i](little.world, &view, &cursor), 0, "viewer %u", i);
    cr_assert_eq(cursor, MUSTER_VIEW_END, "viewer %u", i);
    view.looks_max = 100000;
    for (cursor = 2; cursor < 2000000000u; cursor = cursor * 31 + 1) { /* beyond the last one: nothing, and the end */
      uint32_t from = cursor;
      if (i == 3) break;
      cr_assert_eq(viewers[i](little.world, &view, &from), 0, "viewer %u from %u", i, cursor);
      cr_assert_eq(from, MUSTER_VIEW_END, "viewer %u from %u", i, cursor);
    }
    cr_assert_eq(viewers[i](NULL, &view, &cursor), 0);
    cr_assert_eq(cursor, MUSTER_VIEW_END);
    cursor = 0;
    if (i < 3) cr_assert_eq(viewers[i](little.world, &view, &cursor), 1, "viewer %u: one is inside, and one is not", i);
    if (i < 3) cr_assert_eq(cursor, MUSTER_VIEW_END);
  }
  uint32_t cursor = 0;
  muster_extent extent = {0};
  cr_assert_eq(muster_agents_extent(little.world, 0, 0, &extent, &cursor), MUSTER_E_ARGUMENT);
  cr_assert(cursor == MUSTER_VIEW_END && extent.agents == 0);
  cr_assert_eq(muster_agents_extent(NULL, 0, 9, &extent, &cursor), MUSTER_E_ARGUMENT);
}
