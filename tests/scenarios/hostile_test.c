/* Everything that breaks schedulers, at twice the load that fits: nothing breaks. */
#include "examples/worlds/hostile.h"
#include "scenarios/scene.h"

/* A fifth of the population and the budget that are meant for two workers. */
#define AGENTS      4000
#define CAPACITY_NS 4000000u

static struct scene open_with(uint64_t seed, uint32_t workers) {
  return scene_open(muster_module_hostile(), scene_options(AGENTS, seed), workers, CAPACITY_NS);
}

Test(hostile, is_the_same_on_any_number_of_workers) {
  scene_check_determinism(muster_module_hostile(), scene_options(AGENTS, 3), CAPACITY_NS, 80);
}

Test(hostile, keeps_its_invariants_its_budget_and_the_wait_bound) {
  SCOPED(scene_close) struct scene scene = open_with(1, 2);
  scene_frames(&scene, 400);
  double overload = scene_overload(&scene);
  cr_assert(overload > 1.5 && overload < 3.0, "%g times what fits", overload);
  scene_check_waits(&scene);
  cr_assert_leq(scene.worst_excess_ns, 1000, "an action atom's cost");
  scene_says(&scene, "census_errors = 0, lifetime_errors = 0, messages_heard_twice = 0, messages_invented = 0");
  scene_says(&scene, "misplaced = 0, violations = 0");
}

/* Each kind does what it is there for, or the test before proves nothing. */
Test(hostile, is_hostile) {
  SCOPED(scene_close) struct scene scene = open_with(2, 2);
  scene_frames(&scene, 350);
  cr_assert_geq(scene.longest_claim_ns, 2000000, "an endless update takes up to 2.5 ms, 50 times its limit");
  cr_assert_leq(scene.longest_claim_ns, 2500200);
  static const scene_figure least[] = {
      {"cost_flips", 60},
      {"kills", 25},
      {"births", AGENTS + 400},
      {"deaths", 400},
      {"level_changes", AGENTS}, /* flappers go from level to level */
      {"chorus_calls", AGENTS / 5},
      {"ring_wakes", 350 * AGENTS / 20 / 8}, /* a ring has a wake on its way in every frame */
      {"messages_heard", 200},
      {"messages_lost", 2000}, /* boxes are full */
      {"moves_refused", 2000},
  };
  for (size_t i = 0; i < COUNT_OF(least); i++) {
    double reported = scene_reported(&scene, least[i].name);
    cr_assert_gt(reported, least[i].value, "%s is only %g", least[i].name, reported);
  }
  cr_assert_float_eq(scene_reported(&scene, "population"), AGENTS, AGENTS / 20);
  muster_statistics statistics = muster_statistics_default();
  muster_statistics_read(scene.world, &statistics);
  cr_assert_eq(scene_reported(&scene, "moves_refused") * 2, (double)statistics.positions_refused);
  cr_assert_gt(statistics.messages_refused, 500, "more is sent than may be");
}

/* Also before the first frame of a new world. */
Test(hostile, compares_births_with_the_population_from_the_first_frame_on) {
  SCOPED(scene_close) struct scene scene = open_with(5, 1);
  hostile *self = scene.instance;
  self->tally.births = 1;
  scene.module->before_frame(self, scene.world, SCENE_FRAME_NS);
  cr_assert_eq(self->tally.census_errors, 1);
}

/* A module that registers what the library refuses says why. */
Test(hostile, hands_on_the_result_of_a_type_that_is_refused) {
  SCOPED(scene_close) struct scene scene = open_with(5, 1);
  muster_type type = {7};
  muster_type_def def = WITH(muster_type_def, it.name = "of no atoms");
  cr_assert_eq(scaffold_register(scene.world, &def, &type), MUSTER_E_ARGUMENT);
  cr_assert(strstr(muster_last_error(), "of no atoms"), "%s", muster_last_error());
  cr_assert_eq(type.index, 0);
}

Test(hostile, the_guarantee_alone_bounds_every_wait) {
  scene_check_guarantee(muster_module_hostile(), AGENTS, CAPACITY_NS, 300);
}

Test(hostile, refuses_options_that_it_cannot_meet) {
  scene_check_refusals(muster_module_hostile());
  scene_refuses(muster_module_hostile(), scene_options(99, 1), MUSTER_E_ARGUMENT, "99 agents are fewer than 100");
}
