/* A crowd that jumps, and costs that follow it. */
#include "scenarios/scenarios.h"
#include "scenarios/scene.h"
#include "support/papers_rules.h"

/* An eighth of the scenario's own population, and of what two workers have for it. */
#define AGENTS      6250
#define CAPACITY_NS 2500000u

Test(flashcrowd, is_the_same_on_any_number_of_workers) {
  scene_check_determinism(muster_module_flashcrowd(), scene_options(AGENTS, 3), CAPACITY_NS, 320);
}

Test(flashcrowd, keeps_the_budget_and_the_wait_bound) {
  muster_module_options options = scene_options(AGENTS, 1);
  struct scene it = scene_open(muster_module_flashcrowd(), &options, 2, CAPACITY_NS);
  scene_frames(&it, 640);
  double overload = scene_overload(&it);
  cr_assert(overload > 1.5 && overload < 3.0, "%g times what fits", overload);
  scene_check_waits(&it);
  cr_assert_eq(it.worst_excess_ns, 0);
  cr_assert_eq(scene_reported(&it, "violations"), 0);
  scene_close(&it);
}

/* Under twice the load; the population of the exempt is 1 in 100. */
Test(flashcrowd, after_a_jump_the_new_neighbourhood_soon_runs_as_often_as_it_should) {
  muster_module_options options = scene_options(AGENTS, 2);
  struct scene it = scene_open(muster_module_flashcrowd(), &options, 2, CAPACITY_NS);
  scene_frames(&it, 3 * 300 + 90);
  cr_assert_eq(scene_reported(&it, "jumps"), 3);
  cr_assert_eq(scene_reported(&it, "jumps_settled"), 3);
  cr_assert_gt(scene_reported(&it, "watched"), 40);
  cr_assert_leq(scene_reported(&it, "frames_to_nine_tenths_max"), 15);
  cr_assert_leq(scene_reported(&it, "frames_to_last_max"), 30);
  cr_assert_gt(scene_reported(&it, "story_updates"), AGENTS / 100 * 900 / 5);
  cr_assert_eq(scene_reported(&it, "story_late"), 0, "the exempt do not give way");
  scene_close(&it);
}

/* The mean cost of an update, in virtual time, before and after the crowd has come to town: it is dearer there. */
Test(flashcrowd, costs_more_where_the_crowd_is) {
  muster_module_options options = scene_options(AGENTS, 4);
  double looks_each[2];
  for (int i = 0; i < 2; i++) {
    options.observers = i ? 500 : 1;
    struct scene it = scene_open(muster_module_flashcrowd(), &options, 1, 10000000);
    scene_frames(&it, 60);
    looks_each[i] = scene_reported(&it, "looks") / scene_reported(&it, "updates");
    cr_assert_gt(scene_reported(&it, "crowded_updates"), 1000);
    scene_close(&it);
  }
  cr_assert_gt(looks_each[1], looks_each[0] + 0.5);
}

Test(flashcrowd, the_guarantee_alone_bounds_every_wait) {
  muster_module_options options = scene_options(AGENTS, 6);
  muster_world_def rules = papers_world_def();
  rules.priority.wait = 0.0f; /* priorities do not rise with age */
  struct scene it = scene_open_with(muster_module_flashcrowd(), &options, 2, CAPACITY_NS, &rules);
  scene_frames(&it, 400);
  cr_assert_gt(it.longest_wait_ns, rules.priority.guarantee_ns, "or nobody needed it");
  scene_check_waits(&it);
  scene_close(&it);
}

Test(flashcrowd, refuses_options_that_it_cannot_meet) {
  scene_check_refusals(muster_module_flashcrowd());
}
