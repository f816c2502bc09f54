/* What herds refuse, and what becomes of them when there is no room or a callback fails. */
#include "world/herd_fixture.h"

static void expect_herds_refused(const herd_world *herds, muster_herd_type_def def, const char *word) {
  cr_assert_eq(muster_herd_type_register(herds->little.world, &def).index, 0, "%s", word);
  expect_error(word);
}

#define REFUSES(field, value, word) expect_herds_refused(&herds, CHANGED(good, it.field = value), word)

Test(herd_rules, refuse_definitions_that_cannot_be) {
  SCOPED_HERDS herds = herd_world_create(1, NULL, NULL);
  const muster_herd_type_def good = WITH(muster_herd_type_def, it.member = herds.little.type);
  REFUSES(branching, 0, "branching");
  REFUSES(branching, 1, "branching");
  REFUSES(branching, 33, "branching");
  REFUSES(depth, 0, "depth");
  REFUSES(depth, 11, "depth");
  REFUSES(branching, 5, "power of depth");
  REFUSES(zone_m[1], 50.0f, "zone_m[1]");
  REFUSES(zone_m[4], NAN, "zone_m[4]");
  REFUSES(zone_m[0], 40.0f, "visible_m");
  REFUSES(hysteresis, 0.0f, "hysteresis");
  REFUSES(spread_m, 0.0f, "spread_m");
  REFUSES(spread_mps, -1.0f, "spread_mps");
  REFUSES(totals, 5, "totals");
  REFUSES(herds_max, 0, "herds_max");
  REFUSES(unfolded_max, 0, "unfolded_max");
  REFUSES(look_ns, 0, "look_ns");
  REFUSES(hold_ns, UINT64_MAX, "hold_ns");
  REFUSES(member, (muster_type){9}, "member type");
  REFUSES(member, (muster_type){2}, "blocks");
  REFUSES(totals, 3, "published_bytes");
  REFUSES(period_ns, 0, "period_ns");
  REFUSES(size, 0, "muster_herd_type_def_default");
}

Test(herd_rules, refuse_herds_that_cannot_be_with_those_behind_them) {
  static const muster_herd_def wrong[] = {{.members = 5, .position = {.x = NAN}},
                                          {.velocity_y = INFINITY},
                                          {.partition = 65536},
                                          {.totals = {NAN}}},
                               right = {.members = 5}, three[] = {{.members = 5}, {.members = 33}, {.members = 5}};
  SCOPED_HERDS herds = herd_world_create(1, NULL, NULL);
  muster_herd ids[3] = {{0}};
  cr_assert_eq(muster_herds_add(herds.little.world, herds.type, three, 3, ids), 1);
  expect_error("members");
  cr_assert_eq(muster_herd_generation(ids[1]), 0);
  for (uint32_t i = 0; i < COUNT_OF(wrong); i++)
    cr_assert_eq(muster_herds_add(herds.little.world, herds.type, &wrong[i], 1, NULL), 0, "herd %u", i);
  cr_assert_eq(muster_herds_add(herds.little.world, (muster_herd_type){3}, &wrong[3], 1, NULL), 0);
  cr_assert_eq(muster_herds_add(herds.little.world, (muster_herd_type){2}, &right, 1, NULL), 0);
  expect_error("a registered herd type");
  cr_assert_eq(run_frame(&herds.little).represented, 5);
}

/* Without a number a herd has as many members as its tree has places. */
Test(herd_rules, a_herd_of_no_number_is_whole) {
  static const struct { uint32_t branching, depth, members; } trees[] = {{2, 5, 32}, {3, 2, 9}, {2, 1, 2}};
  for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
    muster_herd_type_def type = muster_herd_type_def_default();
    type.branching = trees[i].branching;
    type.depth = trees[i].depth;
    herd_world herds = herd_world_create(1, NULL, &type);
    const muster_herd_def defs[2] = {{.totals = {3.0f}}, {.members = 1}};
    muster_herd ids[2];
    cr_assert_eq(muster_herds_add(herds.little.world, herds.type, defs, 2, ids), 2, "%s", muster_last_error());
    cr_expect_eq(herd_info_of(&herds, ids[0]).members, trees[i].members);
    cr_expect_eq(herd_info_of(&herds, ids[1]).members, 1);
    cr_expect_eq(run_frame(&herds.little).represented, trees[i].members + 1);
    herd_world_destroy(&herds);
  }
}

Test(herd_rules, planner_worlds_have_no_herds_and_recorded_ones_no_more_of_them) {
  SCOPED_WORLD planner = little_world_of(1, WITH(muster_world_def, it.planner_workers = 1));
  muster_herd_type_def type = WITH(muster_herd_type_def, it.member = (muster_type){1});
  cr_assert_eq(muster_herd_type_register(planner.world, &type).index, 0);
  expect_error("planner");
  SCOPED(recorded_forget) struct recorded run = {0};
  muster_record_def record = WITH(muster_record_def, it.write = recorded_write, it.user = &run);
  herd_world herds = herd_world_create(1, NULL, NULL);
  muster_herd herd = add_herd(&herds, 0, 0, 8);
  cr_assert_eq(muster_record_begin(herds.little.world, &record), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(muster_herds_add(herds.little.world, herds.type, &(muster_herd_def){.members = 8}, 1, NULL), 0);
  expect_error("recorded");
  cr_assert(muster_agent_is_null(muster_herd_name(herds.little.world, herd, 1)));
  expect_error("recorded");
  herd_world_destroy(&herds);
  SCOPED_WORLD little = little_world_create(1, NULL);
  cr_assert_eq(muster_record_begin(little.world, &record), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(muster_herd_type_register(little.world, &type).index, 0);
  expect_error("recorded");
}

Test(herd_rules, without_room_in_the_pool_the_nearest_are_unfolded_and_the_rest_are_counted) {
  SCOPED_HERDS herds = herd_world_with(WITH(muster_herd_type_def, it.unfolded_max = 2));
  muster_herd herd[5];
  for (uint32_t i = 0; i < 5; i++) herd[i] = add_herd(&herds, 20.0 * (5 - i), 0.0, 32);
  observe(&herds, 0.0, 0.0);
  run_frames(&herds.little, 40);
  muster_frame_report report = run_frame(&herds.little);
  cr_assert_eq(report.herds_unfolded, 2);
  cr_assert_eq(report.represented, 160);
  cr_assert_gt(statistics_of(&herds.little).unfolds_refused, 0);
  cr_assert_gt(herd_info_of(&herds, herd[4]).leaves, 0);
  cr_assert_gt(herd_info_of(&herds, herd[3]).leaves, 0);
  cr_assert_eq(herd_info_of(&herds, herd[0]).leaves, 0);
}

Test(herd_rules, herds_that_nobody_sees_make_room_for_a_crowd_of_others) {
  SCOPED_HERDS herds = herd_world_with(WITH(muster_herd_type_def, it.unfolded_max = 4, it.herds_max = 8192));
  muster_herd far[4];
  for (uint32_t i = 0; i < 4; i++) far[i] = add_herd(&herds, 9000.0 + i, 0.0, 32);
  for (uint32_t i = 0; i < 4000; i++) add_herd(&herds, (double)(i % 64), (double)(i / 64), 32);
  muster_observer observer = observe(&herds, 9000.0, 0.0);
  run_frames(&herds.little, 10);
  for (uint32_t i = 0; i < 4; i++) cr_assert_gt(herd_info_of(&herds, far[i]).leaves, 0);
  muster_observer_move(herds.little.world, observer, (muster_position){30.0, 30.0, 0.0});
  run_frames(&herds.little, 60);
  for (uint32_t i = 0; i < 4; i++) cr_assert_eq(herd_info_of(&herds, far[i]).leaves, 0);
  cr_assert_eq(run_frame(&herds.little).herds_unfolded, 4);
}

Test(herd_rules, without_agents_herds_stay_coarse_and_can_still_be_folded) {
  muster_world_def world = WITH(virtual_world_def, it.limits.agents_max = 12);
  SCOPED_HERDS herds = herd_world_create(1, &world, NULL);
  add_seen_herd(&herds, 0.0, 60);
  uint32_t leaves = herd_info_of(&herds, only_herd).leaves;
  cr_assert(leaves > 1 && leaves <= 11, "%u", leaves);
  expect_herd(&herds, only_herd, leaves, 32);
  look_from(&herds, only_observer, 9000.0, 60);
  expect_herd(&herds, only_herd, 0, 32);
}

/* -------------------------------------------------------------------------------------------------------- callbacks */

static struct {
  uint32_t unfolds, folds;
  bool refuses, removes;
} host;

static muster_result on_unfold(const muster_herd_change *change) {
  host.unfolds++;
  if (host.refuses) return MUSTER_E_FULL;
  if (host.removes) muster_herd_remove(change->world, change->herd);
  uint32_t members = 0;
  for (uint32_t i = 0; i < change->child_count; i++) {
    members += change->child_members[i];
    cr_assert_eq(*(uint64_t *)change->child_states[i], 0);
    *(uint64_t *)change->child_states[i] =
        change->parent_state ? *(uint64_t *)change->parent_state : 100u + change->children[i];
  }
  cr_assert_eq(members, change->members);
  return MUSTER_OK;
}

static muster_result on_fold(const muster_herd_change *change) {
  host.folds++;
  if (host.refuses) return MUSTER_E_FULL;
  if (change->parent_state) *(uint64_t *)change->parent_state = *(uint64_t *)change->child_states[0];
  return MUSTER_OK;
}

static muster_herd_type_def host_def(bool retains) {
  return WITH(muster_herd_type_def, it.unfold = retains ? NULL : on_unfold, it.fold = retains ? NULL : on_fold,
              it.retains = retains);
}

Test(herd_rules, a_callback_that_refuses_leaves_the_herd_as_it_was) {
  host.refuses = true;
  SCOPED_HERDS herds = seen_herd(host_def(false), 0.0, 60);
  cr_assert_eq(herd_info_of(&herds, only_herd).leaves, 0);
  cr_assert(host.unfolds >= 2 && host.unfolds <= 10, "tried again after look_ns: %u", host.unfolds);
  host.refuses = false;
  run_frames(&herds.little, 30);
  cr_assert_eq(herd_info_of(&herds, only_herd).leaves, 32);
  host.refuses = true;
  look_from(&herds, only_observer, 9000.0, 60);
  cr_assert_eq(herd_info_of(&herds, only_herd).leaves, 32);
  cr_assert_gt(statistics_of(&herds.little).folds_refused, 0);
  cr_assert_gt(statistics_of(&herds.little).unfolds_refused, 0);
  host.refuses = false;
  run_frames(&herds.little, 60);
  expect_herd(&herds, only_herd, 0, 32);
}

Test(herd_rules, a_callback_may_remove_the_herd_that_it_unfolds) {
  host.removes = true;
  SCOPED_HERDS herds = seen_herd(host_def(false), 0.0, 10);
  cr_assert_eq(run_frame(&herds.little).represented, 0);
}

Test(herd_rules, retained_members_come_back_where_they_were_with_their_state) {
  SCOPED_HERDS herds = seen_herd(host_def(true), 0.0, 3);
  muster_agent agents[32];
  muster_position before[32];
  read_leaves(&herds, only_herd, agents, 32);
  for (uint32_t i = 0; i < 32; i++) {
    muster_agent_info info = info_of(&herds.little, agents[i]);
    before[i] = info.position;
    *(uint64_t *)info.state = 1000 + i;
  }
  look_from(&herds, only_observer, 9000.0, 60);
  cr_assert_eq(herd_info_of(&herds, only_herd).leaves, 0);
  look_from(&herds, only_observer, 0.0, 3);
  double moved_x = herd_info_of(&herds, only_herd).position.x;
  read_leaves(&herds, only_herd, agents, 32);
  for (uint32_t i = 0; i < 32; i++) {
    muster_agent_info info = info_of(&herds.little, agents[i]);
    cr_assert(fabs(info.position.x - moved_x - before[i].x) < 1e-3 && fabs(info.position.y - before[i].y) < 1e-3);
    cr_assert_eq(*(uint64_t *)info.state, 1000 + i);
  }
}

/* ----------------------------------------------------------------------------------------------------------- blocks */

static void break_some(muster_herd_block *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    if (i == 1) block->x[i] = NAN;
    if (i == 2) block->velocity_y[i] = INFINITY;
    if (i == 3) block->members[i] = 33;
    if (i == 4) block->y[i] = 2e9f;
    if (i == 5) block->totals[0][i] = NAN;
    if (i == 6) block->members[i] = 0;
    if (i == 7) block->members[i] = 31;
    if (i >= 8) block->x[i] = block->y[i] = NAN, block->members[i] = 7;
  }
}

Test(herd_rules, what_a_block_update_leaves_that_cannot_be_is_refused_herd_by_herd) {
  SCOPED_HERDS herds = herd_world_with(WITH(muster_herd_type_def, it.run_block = break_some));
  muster_herd herd[9];
  for (uint32_t i = 0; i < 9; i++) herd[i] = add_herd(&herds, i == 8 ? 9000.0 : 100.0 * i, 0.0, 32);
  observe(&herds, 9000.0, 0.0);
  run_frames(&herds.little, 100);
  muster_herd_info info = muster_herd_info_default();
  for (uint32_t i = 0; i < 6; i++) {
    info = herd_info_of(&herds, herd[i]);
    cr_assert(fabs(info.position.x - 100.0 * i) < 1e-3 && info.members == 32 && isfinite(info.velocity_y));
    cr_assert(fabsf(info.totals[0] - 64.0f) < 1e-3f);
  }
  cr_assert_eq(muster_herd_read(herds.little.world, herd[6], &info), MUSTER_E_STALE);
  cr_assert_eq(herd_info_of(&herds, herd[7]).members, 31);
  cr_assert_eq(herd_info_of(&herds, herd[8]).leaves, 32, "unfolded: what is written there is not kept");
  cr_assert_eq(run_frame(&herds.little).represented, 6 * 32 + 31 + 32);
  muster_statistics statistics = statistics_of(&herds.little);
  cr_assert(statistics.herds_refused >= 5 && statistics.herds_refused % 5 == 0);
}
