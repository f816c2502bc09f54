/* Capability levels under pressure: the least important agents give way first, no agent flaps between levels, and state
 * survives. */
#include "support/little_world.h"

#include <muster/explain.h>
#include <muster/tune.h>

enum { CROWD = 500, LEVELS = 3 };

struct life {
  uint64_t elapsed_ns;
  uint32_t changes; /* changes of level */
  uint32_t level, runs;
};

static const uint32_t costs_ns[MUSTER_LEVELS] = {100000, 30000, 10000, 1};
static uint32_t load; /* percent of costs_ns that the model charges; shared, so one world at a time */

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

/* By importance, agents below `cheapest_below` are at their cheapest level, all others at the dearest. */
static little_world create_graded(float level_pressure, float cheapest_below) {
  static const muster_atom atom = {live, MUSTER_ROLE_BEHAVIOUR, 100000};
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.levels.pressure = level_pressure;
  def.debt_budgets = 0;
  little_world little = little_world_create(1, &def);
  muster_type_def type = type_with(&atom, 1);
  type.state_bytes = sizeof(struct life);
  type.levels.count = LEVELS;
  type.levels.importance[0] = type.levels.importance[1] = cheapest_below;
  type.models.cost_ns = cost_of;
  type.limit_ns = 1000000000u;
  type.period_ns = 10 * FRAME_NS;
  type.period_max_ns = 100 * FRAME_NS;
  register_type(&little, &type);
  load = 100;
  return little;
}

static little_world create(float level_pressure) {
  return create_graded(level_pressure, 0.0f);
}

static void spawn_crowd(const little_world *little, muster_agent agents[CROWD], bool alike) {
  for (uint32_t i = 0; i < CROWD; i++) {
    muster_agent_def def = muster_agent_def_default();
    def.type = little->type;
    def.importance_floor = alike ? 0.5f : (float)(i + 1) / CROWD;
    agents[i] = muster_agent_spawn(little->world, &def);
  }
}

static const struct life *life_of(const little_world *little, muster_agent agent) {
  return info_of(little, agent).state;
}

/* 500 agents at 100 us every 10 frames are 5 ms a frame: the whole budget. Six times as much does not fit. */
Test(shedding, lowers_the_least_important_first_and_the_top_tenth_last) {
  little_world little = create(0.5f);
  muster_agent agents[CROWD];
  spawn_crowd(&little, agents, false);
  load = 600;
  run_frames(&little, 600);
  muster_frame_report report = run_frame(&little);
  cr_assert_gt(report.agents_shed, 0);
  cr_assert_lt(report.agents_shed, CROWD);
  cr_assert_leq(report.pressure, 0.55f, "pressure stays at %g", (double)report.pressure);
  muster_agent_explanation why = muster_agent_explanation_default();
  char words[2048];
  cr_assert_eq(muster_agent_explain(little.world, agents[0], &why), MUSTER_OK);
  cr_assert(why.reasons & MUSTER_REASON_SHED && why.shed > 0);
  muster_explanation_print(&why, words, sizeof words);
  cr_assert_not_null(strstr(words, "for the pressure"), "%s", words);
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
    cr_assert_lt(info.period_ns, info_of(&little, agents[CROWD / 2]).period_ns / 2, "its period is %lu",
                 (unsigned long)info.period_ns);
  }
  little_world_destroy(&little);
}

/* Four of five stand at their cheapest level by importance: pressure begins with the others, and not with steps over
 * the four, which lower nobody. The load is little too much, so these steps would be short. */
Test(shedding, begins_at_the_least_important_with_something_to_give) {
  enum { TWO_STEPS = 70 };
  little_world little = create_graded(0.5f, 0.8f);
  muster_agent agents[CROWD];
  spawn_crowd(&little, agents, false);
  load = 2000;
  run_frames(&little, TWO_STEPS);
  muster_frame_report report = run_frame(&little);
  cr_assert_gt(report.agents_shed, 0, "pressure is %g", (double)report.pressure);
  cr_assert_lt(report.agents_shed, CROWD / 10, "%u are lowered at once", report.agents_shed);
  cr_assert_gt(info_of(&little, agents[CROWD * 4 / 5 - 1]).level, 0);
  little_world_destroy(&little);
}

Test(shedding, is_off_without_a_pressure_to_begin_at) {
  little_world little = create(0.0f);
  muster_agent agents[CROWD];
  spawn_crowd(&little, agents, false);
  load = 600;
  run_frames(&little, 300);
  muster_frame_report report = run_frame(&little);
  cr_assert_eq(report.agents_shed, 0);
  cr_assert_eq(report.levels[0], CROWD);
  cr_assert_gt(report.pressure, 0.5f);
  little_world_destroy(&little);
}

/* Under a steady load the levels come to rest, even if all agents are alike. */
static void come_to_rest(bool alike) {
  little_world little = create(0.5f);
  muster_agent agents[CROWD];
  spawn_crowd(&little, agents, alike);
  load = 600;
  run_frames(&little, 1500);
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
  little_world_destroy(&little);
}

Test(shedding, does_not_flap_under_a_steady_load) {
  come_to_rest(false);
  come_to_rest(true);
}

static uint64_t huge_cost(const muster_cost_query *query, void *user) {
  (void)user;
  return query->level ? 6000000 : 627000000;
}

/* One agent is too much load, and nearly none a level lower: no depth fits. Each attempt to come up waits for twice as
 * long as the one before. */
Test(shedding, tries_ever_less_often_where_no_depth_fits) {
  static const muster_atom atom = {live, MUSTER_ROLE_BEHAVIOUR, 100000};
  enum { GIANTS = 1, FRAMES = 6000 };
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.levels.pressure = 0.5f;
  def.clock.capacity_ns = FRAME_NS * 11 / 20;
  def.debt_budgets = 0;
  little_world little = little_world_create(1, &def);
  muster_type_def type = type_with(&atom, 1);
  type.state_bytes = sizeof(struct life);
  type.levels.count = 2;
  type.levels.importance[0] = 0.0f;
  type.models.cost_ns = huge_cost;
  type.limit_ns = 1000000000u;
  type.period_ns = 10 * FRAME_NS;
  type.period_max_ns = 100 * FRAME_NS;
  register_type(&little, &type);
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
  little_world_destroy(&little);
}

Test(shedding, ends_with_the_load_and_state_survives) {
  little_world little = create(0.5f);
  muster_agent agents[CROWD];
  spawn_crowd(&little, agents, false);
  run_frames(&little, 100);
  cr_assert_eq(run_frame(&little).agents_shed, 0);
  load = 1000;
  run_frames(&little, 600);
  cr_assert_gt(run_frame(&little).agents_shed, CROWD / 2);
  cr_assert_gt(life_of(&little, agents[0])->level, 0);
  load = 50;
  run_frames(&little, 4000);
  muster_frame_report report = run_frame(&little);
  cr_assert_eq(report.agents_shed, 0, "%u are still down", report.agents_shed);
  cr_assert_eq(report.levels[0], CROWD);
  for (uint32_t i = 0; i < CROWD; i++) {
    muster_agent_info info = info_of(&little, agents[i]);
    const struct life *life = info.state;
    cr_assert_eq(life->elapsed_ns, info.last_update_ns - FRAME_NS, "agent %u lost time", i);
    cr_assert_eq(life->level, 0);
  }
  little_world_destroy(&little);
}

/* Exempt agents are not lowered: they stand at the end of the order of giving way. */
Test(shedding, spares_the_exempt) {
  little_world little = create(0.5f);
  muster_agent agents[CROWD], exempt[10];
  spawn_crowd(&little, agents, false);
  for (uint32_t i = 0; i < 10; i++) {
    muster_agent_def def = muster_agent_def_default();
    def.type = little.type;
    def.elasticity = 0.0f;
    exempt[i] = muster_agent_spawn(little.world, &def);
  }
  load = 1000;
  run_frames(&little, 600);
  cr_assert_gt(info_of(&little, agents[0]).level, 0);
  for (uint32_t i = 0; i < 10; i++) cr_assert_eq(info_of(&little, exempt[i]).level, 0);
  little_world_destroy(&little);
}

/* However deep it goes, nobody is told to have given up more levels than he has: here some are at the cheapest one by
 * their importance. */
Test(shedding, is_explained_by_the_levels_that_are_given_up) {
  little_world little = create_graded(0.5f, 0.4f);
  muster_agent agents[CROWD];
  uint32_t down = 0;
  spawn_crowd(&little, agents, false);
  for (uint32_t round = 0; round < 60; round++) {
    load = round % 20 < 14 ? 4000 : 10; /* the deepest, and none */
    run_frames(&little, 10);
    for (uint32_t i = 0; i < CROWD; i += 7) {
      muster_agent_explanation whole = muster_agent_explanation_default();
      cr_assert_eq(muster_agent_explain(little.world, agents[i], &whole), MUSTER_OK);
      cr_assert_leq(whole.shed, whole.level, "agent %u is down by %u levels, at level %u", i, whole.shed,
                    whole.level);
      cr_assert_eq((whole.reasons & MUSTER_REASON_SHED) != 0, whole.shed > 0);
      down += whole.shed > 0;
    }
  }
  cr_assert_gt(down, 100, "hardly anybody gave way");
  little_world_destroy(&little);
}

/* Shedding can be turned on and off while the world runs, and follows removals. */
Test(shedding, is_turned_while_the_world_runs) {
  little_world little = create(0.0f);
  muster_agent agents[CROWD];
  spawn_crowd(&little, agents, false);
  load = 600;
  run_frames(&little, 100);
  muster_world_tuning tuning = muster_world_tuning_default();
  tuning.levels.pressure = 0.5f;
  cr_assert_eq(muster_world_tune(little.world, &tuning), MUSTER_OK);
  run_frames(&little, 500);
  cr_assert_gt(run_frame(&little).agents_shed, 0);
  for (uint32_t i = 0; i < CROWD / 2; i++) muster_agent_remove(little.world, agents[i]);
  run_frame(&little);
  cr_assert_leq(run_frame(&little).agents_shed, CROWD / 2);
  tuning.levels.pressure = 0.0f;
  muster_world_tune(little.world, &tuning);
  run_frames(&little, 100);
  muster_frame_report report = run_frame(&little);
  cr_assert_eq(report.agents_shed, 0);
  cr_assert_eq(report.levels[0], CROWD / 2);
  little_world_destroy(&little);
}

Test(shedding, begins_at_a_pressure_that_can_be) {
  const float bad[] = {-0.1f, 0.01f, 1.5f};
  for (uint32_t i = 0; i < 3; i++) {
    muster_world_def def = muster_world_def_default();
    def.levels.pressure = bad[i];
    cr_assert_null(muster_world_create(&def));
    cr_assert_not_null(strstr(muster_last_error(), "levels.pressure"));
  }
}
