/* What different readers say of the same agents, in worlds in which everything happens: views, rasters, extents and
 * explanations against reading one by one. */
#include "support/busy_worlds.h"
#include "support/herd_world.h"

#include <muster/explain.h>
#include <muster/view.h>

#include <math.h>

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

static uint32_t reasons_of(const little_world *little, muster_agent agent) {
  muster_agent_explanation why = muster_agent_explanation_default();
  cr_assert_eq(muster_agent_explain(little->world, agent, &why), MUSTER_OK, "%s", muster_last_error());
  return why.reasons;
}

static void expect_flag(const muster_view_agent *agent, uint32_t flag, bool holds, const char *name) {
  cr_assert_eq((agent->flags & flag) != 0, holds, "%s of agent %u: %#x", name, muster_agent_index(agent->agent),
               agent->flags);
}

static void check_shown(const little_world *little, const muster_view *view, const muster_view_agent *agent,
                        const muster_agent_info *info) {
  uint32_t reasons = reasons_of(little, agent->agent);
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
  muster_raster own = {.width_m = view->x1 - view->x0,
                       .height_m = view->y1 - view->y0,
                       .columns = COLUMNS,
                       .rows = ROWS,
                       .cells = expected};
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
  little_world little = busy_world(kind, 1);
  uint32_t flags = 0;
  busy_populate(&little);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    muster_view view = muster_view_default();
    view.x0 = -200.5 + frame * 3;
    view.y0 = -150.25 - frame;
    view.x1 = view.x0 + 300 + frame;
    view.y1 = view.y0 + 200 + frame * 2;
    if (frame == FRAMES / 2) muster_type_quarantine(little.world, (muster_type){1});
    busy_frame(&little, kind, frame);
    if (frame % 4 != 1 && frame < FRAMES - 2) continue;
    uint32_t count = list_all(&little);
    flags |= check_views(&little, &view, count);
    check_sums(&little, &view, count);
  }
  little.provokes_idle = true;
  little_world_destroy(&little);
  return flags;
}

Test(readers_agree, in_each_kind_of_busy_world) {
  uint32_t flags = 0;
  for (uint32_t kind = 1; kind < BUSY_KINDS; kind += 2) flags |= check_kind(&busy_kinds[kind]);
  cr_assert_eq(flags & (MUSTER_VIEW_DUE | MUSTER_VIEW_WOKEN | MUSTER_VIEW_QUARANTINED),
               MUSTER_VIEW_DUE | MUSTER_VIEW_WOKEN | MUSTER_VIEW_QUARANTINED, "%#x", flags);
}

/* Updates that are cut, and actions that found no time. */
Test(readers_agree, of_agents_that_are_in_the_middle_of_something) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 700000},
                                      {nothing, MUSTER_ROLE_BEHAVIOUR, 700000},
                                      {nothing, MUSTER_ROLE_ACTION, 900000}};
  little_world little = papers_world(1);
  muster_type_def type = actors_def(atoms, MUSTER_ACT_SERIAL, NULL);
  uint32_t flags = 0;
  type.atom_count = 3;
  type.limit_ns = 1000000000u;
  register_type(&little, &type);
  for (uint32_t i = 0; i < 12; i++) spawn_at(&little, i);
  for (uint32_t i = 0; i < 60; i++) {
    muster_view view = muster_view_default();
    view.x1 = view.y1 = 8;
    run_frame_with(&little, 2500000 + i * 37000u);
    flags |= check_views(&little, &view, list_all(&little));
    for (uint32_t k = 0; k < 12; k++) {
      muster_agent_explanation why = muster_agent_explanation_default();
      cr_assert_eq(muster_agent_explain(little.world, listed[k], &why), MUSTER_OK);
      cr_assert_eq(why.atoms, 2, "the action is none of them");
      if (why.reasons & (MUSTER_REASON_WAITS_FOR_ACTION | MUSTER_REASON_PREEMPTED | MUSTER_REASON_CARRIED))
        cr_assert_eq(why.waited_ns, little.now_ns - why.due_ns);
      if (why.reasons & MUSTER_REASON_WAITS_FOR_ACTION) cr_assert_eq(why.priority_ns, 0);
    }
  }
  cr_assert_eq(flags & (MUSTER_VIEW_PREEMPTED | MUSTER_VIEW_ACTING), MUSTER_VIEW_PREEMPTED | MUSTER_VIEW_ACTING);
  little.provokes_idle = true;
  little_world_destroy(&little);
}

/* ----------------------------------------------------------------------------------------------------- changed, blocks
 */

static uint32_t changed_ones(little_world *little, muster_agent *which) {
  muster_agent ids[16];
  muster_position places[16];
  bool changed[16];
  uint32_t cursor = 0, count = 0;
  muster_view view = muster_view_default();
  view.x0 = view.y0 = 5000;
  view.x1 = view.y1 = 5001;
  uint32_t seen = muster_agents_outside(little->world, &view, ids, places, changed, 16, &cursor);
  for (uint32_t i = 0; i < seen; i++)
    if (changed[i]) which[count++] = ids[i];
  return count;
}

Test(readers_agree, a_change_is_told_once) {
  static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 1000};
  little_world little = little_world_create(1, NULL);
  muster_type_def type = type_with(&atom, 1);
  muster_agent agents[4], which[16];
  type.period_ns = type.period_max_ns = 86400000000000u;
  register_type(&little, &type);
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
  little_world_destroy(&little);
}

/* Leaves are shown, and blocks are not: they stand nowhere. */
Test(readers_agree, blocks_of_herds_are_nowhere) {
  herd_world herds = herd_world_create(1, NULL, NULL);
  for (uint32_t i = 0; i < 3; i++) add_herd(&herds, 3000, 100.0 * i, 20);
  muster_herd near = add_herd(&herds, 10, 10, 20);
  observe(&herds, 10, 10);
  run_frames(&herds.little, 20);
  muster_agent leaves[32], ids[64];
  muster_position places[64];
  uint32_t count = muster_herd_leaves(herds.little.world, near, leaves, NULL, 32), all = list_all(&herds.little);
  cr_assert(count > 1 && all > count, "%u leaves of %u agents", count, all);
  muster_view view = muster_view_default();
  uint32_t cursor = 0;
  view.x0 = view.y0 = -2e9; /* nobody is further away */
  view.x1 = view.y1 = 2e9;
  cr_assert_eq(muster_agents_view(herds.little.world, &view, shown, MOST, &cursor), count);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t known = 0;
    for (uint32_t k = 0; k < count; k++) known += muster_agent_equal(shown[i].agent, leaves[k]);
    cr_assert_eq(known, 1);
  }
  view.x1 = view.y1 = -99999;
  cursor = 0;
  cr_assert_eq(muster_agents_outside(herds.little.world, &view, ids, places, NULL, 64, &cursor), count);
  muster_extent extent = {0};
  cursor = 0;
  cr_assert_eq(muster_agents_extent(herds.little.world, 0, 1000, &extent, &cursor), MUSTER_OK);
  cr_assert_eq(extent.agents, count);
  cr_assert(extent.x0 > -300 && extent.x1 < 300);
  herd_world_destroy(&herds);
}

/* ------------------------------------------------------------------------------------------------------ refusals */

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
  static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 1000};
  little_world little = little_world_create(1, NULL);
  muster_type_def type = type_with(&atom, 1);
  register_type(&little, &type);
  spawn_at(&little, 3);
  spawn_at(&little, 300);
  run_frames(&little, 3);
  for (uint32_t i = 0; i < 4; i++) {
    muster_view view = muster_view_default();
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
      uint32_t cursor = 0;
      view.x0 = wrong[k][0], view.y0 = wrong[k][1], view.x1 = wrong[k][2], view.y1 = wrong[k][3];
      cr_assert_eq(viewers[i](little.world, &view, &cursor), 0, "viewer %u, view %zu", i, k);
      cr_assert_eq(cursor, MUSTER_VIEW_END, "viewer %u, view %zu", i, k);
      cr_assert_not_null(strstr(muster_last_error(), "finite and not empty"), "%s", muster_last_error());
    }
    uint32_t cursor = 0;
    view.x0 = view.y0 = 0;
    view.x1 = view.y1 = 10;
    view.looks_max = 0;
    cr_assert_eq(viewers[i](little.world, &view, &cursor), 0, "viewer %u", i);
    cr_assert_eq(cursor, MUSTER_VIEW_END, "viewer %u", i);
    view.looks_max = 100000;
    for (cursor = 2; cursor < 2000000000u; cursor = cursor * 31 + 1) { /* beyond the last one: nothing, and the end */
      uint32_t from = cursor;
      if (i < 3) cr_assert_eq(viewers[i](little.world, &view, &from), 0, "viewer %u from %u", i, cursor);
      if (i < 3) cr_assert_eq(from, MUSTER_VIEW_END, "viewer %u from %u", i, cursor);
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
  little_world_destroy(&little);
}
