/* Capability levels under pressure: the least important agents give way first, none flaps, and state survives. */
#include "world/fixture.h"

enum { CROWD = 500, LEVELS = 3 };

struct life {
  uint64_t elapsed_ns;
  uint32_t changes; /* changes of level */
  uint32_t level, runs;
};

static const uint32_t costs_ns[MUSTER_LEVELS] = {100000, 30000, 10000, 1};
static uint32_t load; /* percent of costs_ns that the model charges; shared, so one world at a time */
static muster_agent agents[CROWD];

static muster_atom_result live(muster_update *update) {
  struct life *life = update->state;
  cr_assert_lt(update->level, LEVELS, "level %u does not exist", update->level);
  life->elapsed_ns += update->elapsed_ns;
  if (life->runs++) life->changes += life->level != update->level;
  life->level = update->level;
  return MUSTER_ATOM_NEXT;
}

static uint64_t cost_of(const muster_cost_query *query, void *user) {
  (void)user;
  return (uint64_t)costs_ns[query->level] * load / 100;
}

/* A crowd of importances from 0 to 1, or of the same. By importance, those below `cheapest_below` are at their cheapest
 * level, all others at the dearest. */
static little_world create_graded(float level_pressure, float cheapest_below, bool alike) {
  little_world little =
      little_world_of(1, WITH(virtual_world_def, it.levels.pressure = level_pressure, it.debt_budgets = 0));
  add_type(&little,
           CHANGED(type_running(live, 100000), it.state_bytes = sizeof(struct life), it.levels.count = LEVELS,
                   it.levels.importance[0] = it.levels.importance[1] = cheapest_below, it.models.cost_ns = cost_of,
                   it.limit_ns = 1000000000u, it.period_ns = 10 * FRAME_NS, it.period_max_ns = 100 * FRAME_NS));
  load = 100;
  for (uint32_t i = 0; i < CROWD; i++)
    agents[i] = spawn_as(&little, WITH(muster_agent_def, it.importance_floor = alike ? 0.5f : (float)(i + 1) / CROWD));
  return little;
}

static little_world create(float level_pressure) {
  return create_graded(level_pressure, 0.0f, false);
}

/* The last of so many frames under that load. */
static muster_frame_report run_under(uint32_t percent, little_world *little, uint32_t frames) {
  load = percent;
  run_frames(little, frames - 1);
  return run_frame(little);
}

static const struct life *life_of(const little_world *little, muster_agent agent) {
  return info_of(little, agent).state;
}

/* 500 agents at 100 us every 10 frames are 5 ms a frame: the whole budget. Six times as much does not fit. */
Test(shedding, lowers_the_least_important_first_and_the_top_tenth_last) {
  SCOPED_WORLD little = create(0.5f);
  muster_frame_report report = run_under(600, &little, 601);
  cr_assert_gt(report.agents_shed, 0);
  cr_assert_lt(report.agents_shed, CROWD);
  cr_assert_leq(report.pressure, 0.55f, "pressure stays at %g", (double)report.pressure);
  muster_agent_explanation why = explain(&little, agents[0]);
  cr_assert(why.reasons & MUSTER_REASON_SHED && why.shed > 0);
  expect_explained(&why, "for the pressure");
  uint32_t before = LEVELS * 25;
  for (uint32_t i = 0; i + 25 <= CROWD; i += 25) { /* groups of 25: none is at lower levels than one before it */
    uint32_t sum = 0;
    for (uint32_t k = 0; k < 25; k++) sum += info_of(&little, agents[i + k]).level;
    if (i) cr_assert_leq(sum, before + 3, "agents from %u on are lower than those before", i);
    before = sum;
  }
  for (uint32_t i = CROWD * 9 / 10 + 5; i < CROWD; i++) {
    muster_agent_info info = info_of(&little, agents[i]);
    cr_assert_eq(info.level, 0, "agent %u of the top tenth is at level %u", i, info.level);
    cr_assert_lt(info.period_ns, info_of(&little, agents[CROWD / 2]).period_ns / 2, "period %lu", info.period_ns);
  }
}

/* Four of five stand at their cheapest level by importance: pressure begins with the others, and not with steps over
 * the four, which lower nobody. The load is little too much, so these steps would be short. */
Test(shedding, begins_at_the_least_important_with_something_to_give) {
  enum { TWO_STEPS = 70 };
  SCOPED_WORLD little = create_graded(0.5f, 0.8f, false);
  muster_frame_report report = run_under(2000, &little, TWO_STEPS + 1);
  cr_assert_gt(report.agents_shed, 0, "pressure is %g", (double)report.pressure);
  cr_assert_lt(report.agents_shed, CROWD / 10, "%u are lowered at once", report.agents_shed);
  cr_assert_gt(info_of(&little, agents[CROWD * 4 / 5 - 1]).level, 0);
}

Test(shedding, is_off_without_a_pressure_to_begin_at) {
  SCOPED_WORLD little = create(0.0f);
  muster_frame_report report = run_under(600, &little, 301);
  cr_assert_eq(report.agents_shed, 0);
  cr_assert_eq(report.levels[0], CROWD);
  cr_assert_gt(report.pressure, 0.5f);
}

/* Under a steady load the levels come to rest, even if all agents are alike. */
static void come_to_rest(bool alike) {
  SCOPED_WORLD little = create_graded(0.5f, 0.0f, alike);
  run_under(600, &little, 1500);
  uint32_t before[CROWD], changes = 0, flapped = 0;
  for (uint32_t i = 0; i < CROWD; i++) before[i] = life_of(&little, agents[i])->changes;
  run_frames(&little, 1500);
  for (uint32_t i = 0; i < CROWD; i++) {
    uint32_t more = life_of(&little, agents[i])->changes - before[i];
    changes += more;
    flapped += more > 2;
  }
  cr_assert_eq(flapped, 0, "%u agents flapped", flapped);
  cr_assert_leq(changes, CROWD / 10, "%u changes of level under a steady load", changes);
}

Test(shedding, does_not_flap_under_a_steady_load) {
  come_to_rest(false);
  come_to_rest(true);
}

static uint64_t huge_cost(const muster_cost_query *query, void *user) {
  (void)user;
  return query->level ? 6000000 : 627000000;
}

/* One agent is too much load, and nearly none a level lower. Each attempt to come up waits twice as long. */
Test(shedding, tries_ever_less_often_where_no_depth_fits) {
  enum { GIANTS = 1, FRAMES = 6000 };
  SCOPED_WORLD little = little_world_of(1, WITH(virtual_world_def, it.levels.pressure = 0.5f, it.debt_budgets = 0,
                                                it.clock.capacity_ns = FRAME_NS * 11 / 20));
  add_type(&little, CHANGED(type_running(live, 100000), it.state_bytes = sizeof(struct life), it.levels.count = 2,
                            it.levels.importance[0] = 0.0f, it.models.cost_ns = huge_cost, it.limit_ns = 1000000000u,
                            it.period_ns = 10 * FRAME_NS, it.period_max_ns = 100 * FRAME_NS));
  for (uint32_t i = 0; i < GIANTS; i++) spawn_at(&little, 0);
  uint32_t before = 0, early = 0, late = 0;
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    uint32_t shed = run_frame(&little).agents_shed;
    *(frame < FRAMES / 2 ? &early : &late) += shed != before;
    before = shed;
  }
  cr_log_info("%u changes early, %u late", early, late);
  cr_assert_gt(early, 2, "the load fits after all: %u, %u", early, late);
  cr_assert_lt(early, 60, "%u changes", early);
  cr_assert_lt(late, early / 2 + 2, "%u changes early, %u late", early, late);
}

Test(shedding, ends_with_the_load_and_state_survives) {
  SCOPED_WORLD little = create(0.5f);
  cr_assert_eq(run_under(100, &little, 101).agents_shed, 0);
  cr_assert_gt(run_under(1000, &little, 601).agents_shed, CROWD / 2);
  cr_assert_gt(life_of(&little, agents[0])->level, 0);
  muster_frame_report report = run_under(50, &little, 4001);
  cr_assert_eq(report.agents_shed, 0, "%u are still down", report.agents_shed);
  cr_assert_eq(report.levels[0], CROWD);
  for (uint32_t i = 0; i < CROWD; i++) {
    muster_agent_info info = info_of(&little, agents[i]);
    const struct life *life = info.state;
    cr_assert_eq(life->elapsed_ns, info.last_update_ns - FRAME_NS, "agent %u lost time", i);
    cr_assert_eq(life->level, 0);
  }
}

/* Exempt agents are not lowered: they stand at the end of the order of giving way. */
Test(shedding, spares_the_exempt) {
  SCOPED_WORLD little = create(0.5f);
  muster_agent exempt[10];
  for (uint32_t i = 0; i < 10; i++) exempt[i] = spawn_as(&little, WITH(muster_agent_def, it.elasticity = 0.0f));
  run_under(1000, &little, 600);
  cr_assert_gt(info_of(&little, agents[0]).level, 0);
  for (uint32_t i = 0; i < 10; i++) cr_assert_eq(info_of(&little, exempt[i]).level, 0);
}

/* However deep it goes, nobody is told to have given up more levels than he has: here some are at the cheapest one by
 * their importance. */
Test(shedding, is_explained_by_the_levels_that_are_given_up) {
  SCOPED_WORLD little = create_graded(0.5f, 0.4f, false);
  uint32_t down = 0;
  for (uint32_t round = 0; round < 60; round++) {
    load = round % 20 < 14 ? 4000 : 10; /* the deepest, and none */
    run_frames(&little, 10);
    for (uint32_t i = 0; i < CROWD; i += 7) {
      muster_agent_explanation whole = explain(&little, agents[i]);
      cr_assert_leq(whole.shed, whole.level, "agent %u is down by %u levels, at level %u", i, whole.shed, whole.level);
      cr_assert_eq((whole.reasons & MUSTER_REASON_SHED) != 0, whole.shed > 0);
      down += whole.shed > 0;
    }
  }
  cr_assert_gt(down, 100, "hardly anybody gave way");
}

/* Shedding can be turned on and off while the world runs, and follows removals. */
Test(shedding, is_turned_while_the_world_runs) {
  SCOPED_WORLD little = create(0.0f);
  run_under(600, &little, 100);
  assert_ok(tune_world(&little, WITH(muster_world_tuning, it.levels.pressure = 0.5f)));
  run_frames(&little, 500);
  cr_assert_gt(run_frame(&little).agents_shed, 0);
  for (uint32_t i = 0; i < CROWD / 2; i++) muster_agent_remove(little.world, agents[i]);
  run_frame(&little);
  cr_assert_leq(run_frame(&little).agents_shed, CROWD / 2);
  tune_world(&little, WITH(muster_world_tuning, it.levels.pressure = 0.0f));
  run_frames(&little, 100);
  muster_frame_report report = run_frame(&little);
  cr_assert_eq(report.agents_shed, 0);
  cr_assert_eq(report.levels[0], CROWD / 2);
}

Test(shedding, begins_at_a_pressure_that_can_be) {
  const float bad[] = {-0.1f, 0.01f, 1.5f};
  for (uint32_t i = 0; i < 3; i++)
    expect_world_refused(WITH(muster_world_def, it.levels.pressure = bad[i]), "levels.pressure");
}
