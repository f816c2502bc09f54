/* Everything that breaks schedulers, at twice the load that fits: nothing breaks. */
#include "scenarios/hostile.h"
#include "scenarios/scenarios.h"
#include "scenarios/scene.h"
#include "support/papers_rules.h"

/* A fifth of the population and the budget that are meant for two workers. */
#define AGENTS      4000
#define CAPACITY_NS 4000000u

Test(hostile, is_the_same_on_any_number_of_workers) {
  scene_check_determinism(muster_module_hostile(), scene_options(AGENTS, 3), CAPACITY_NS, 80);
}

Test(hostile, keeps_its_invariants_its_budget_and_the_wait_bound) {
  muster_module_options options = scene_options(AGENTS, 1);
  struct scene it = scene_open(muster_module_hostile(), &options, 2, CAPACITY_NS);
  scene_frames(&it, 400);
  double overload = scene_overload(&it);
  cr_assert(overload > 1.5 && overload < 3.0, "%g times what fits", overload);
  scene_check_waits(&it);
  cr_assert_leq(it.worst_excess_ns, 1000, "an action atom's cost");
  static const char *const must_be_none[] = {"census_errors",     "lifetime_errors", "messages_heard_twice",
                                             "messages_invented", "misplaced",       "violations"};
  for (size_t i = 0; i < sizeof must_be_none / sizeof *must_be_none; i++)
    cr_assert_eq(scene_reported(&it, must_be_none[i]), 0, "%s", must_be_none[i]);
  scene_close(&it);
}

/* Each kind does what it is there for, or the test before proves nothing. */
Test(hostile, is_hostile) {
  muster_module_options options = scene_options(AGENTS, 2);
  struct scene it = scene_open(muster_module_hostile(), &options, 2, CAPACITY_NS);
  uint64_t longest_ns = 0;
  for (uint32_t i = 0; i < 350; i++) {
    muster_frame_report report = scene_frame(&it, SCENE_FRAME_NS);
    if (report.longest_claim_ns > longest_ns) longest_ns = report.longest_claim_ns;
  }
  cr_assert_geq(longest_ns, 2000000, "an endless update takes up to 2.5 ms, 50 times its limit");
  cr_assert_leq(longest_ns, 2500200);
  cr_assert_gt(scene_reported(&it, "cost_flips"), 60);
  cr_assert_gt(scene_reported(&it, "kills"), 25);
  cr_assert_gt(scene_reported(&it, "births"), AGENTS + 400);
  cr_assert_gt(scene_reported(&it, "deaths"), 400);
  cr_assert_float_eq(scene_reported(&it, "population"), AGENTS, AGENTS / 20);
  cr_assert_gt(scene_reported(&it, "level_changes"), AGENTS, "flappers go from level to level");
  cr_assert_gt(scene_reported(&it, "chorus_calls"), AGENTS / 5);
  cr_assert_gt(scene_reported(&it, "ring_wakes"), 350 * AGENTS / 20 / 8, "a ring has a wake on its way in every frame");
  cr_assert_gt(scene_reported(&it, "messages_heard"), 200);
  cr_assert_gt(scene_reported(&it, "messages_lost"), 2000, "boxes are full");
  cr_assert_gt(scene_reported(&it, "moves_refused"), 2000);
  muster_statistics statistics = muster_statistics_default();
  muster_statistics_read(it.world, &statistics);
  cr_assert_eq(scene_reported(&it, "moves_refused") * 2, (double)statistics.positions_refused);
  cr_assert_gt(statistics.messages_refused, 500, "more is sent than may be");
  scene_close(&it);
}

/* Also before the first frame of a new world. */
Test(hostile, compares_births_with_the_population_from_the_first_frame_on) {
  muster_module_options options = scene_options(AGENTS, 5);
  struct scene it = scene_open(muster_module_hostile(), &options, 1, CAPACITY_NS);
  hostile *self = it.instance;
  self->tally.births = 1;
  it.module->before_frame(self, it.world, SCENE_FRAME_NS);
  cr_assert_eq(self->tally.census_errors, 1);
  scene_close(&it);
}

/* A module that registers what the library refuses says why. */
Test(hostile, hands_on_the_result_of_a_type_that_is_refused) {
  muster_module_options options = scene_options(AGENTS, 5);
  struct scene it = scene_open(muster_module_hostile(), &options, 1, CAPACITY_NS);
  muster_type type = {7};
  muster_type_def def = muster_type_def_default();
  def.name = "of no atoms";
  cr_assert_eq(scaffold_register(it.world, &def, &type), MUSTER_E_ARGUMENT);
  cr_assert(strstr(muster_last_error(), "of no atoms"), "%s", muster_last_error());
  cr_assert_eq(type.index, 0);
  scene_close(&it);
}

Test(hostile, the_guarantee_alone_bounds_every_wait) {
  muster_module_options options = scene_options(AGENTS, 6);
  muster_world_def rules = papers_world_def();
  rules.priority.wait = 0.0f; /* priorities do not rise with age */
  struct scene it = scene_open_with(muster_module_hostile(), &options, 2, CAPACITY_NS, &rules);
  scene_frames(&it, 300);
  cr_assert_gt(it.longest_wait_ns, rules.priority.guarantee_ns, "or nobody needed it");
  scene_check_waits(&it);
  scene_close(&it);
}

Test(hostile, refuses_options_that_it_cannot_meet) {
  scene_check_refusals(muster_module_hostile());
  muster_module_options options = muster_module_options_default();
  options.agents = 99;
  scene_refuses(muster_module_hostile(), options, MUSTER_E_ARGUMENT, "99 agents are fewer than 100");
}
