/* A crowd that jumps, and costs that follow it. */
#include "scenarios/scene.h"

/* An eighth of the scenario's own population, and of what two workers have for it. */
#define AGENTS      6250
#define CAPACITY_NS 2500000u

static struct scene open_with(uint64_t seed, uint32_t workers) {
  return scene_open(muster_module_flashcrowd(), scene_options(AGENTS, seed), workers, CAPACITY_NS);
}

Test(flashcrowd, is_the_same_on_any_number_of_workers) {
  scene_check_determinism(muster_module_flashcrowd(), scene_options(AGENTS, 3), CAPACITY_NS, 320);
}

Test(flashcrowd, keeps_the_budget_and_the_wait_bound) {
  SCOPED(scene_close) struct scene scene = open_with(1, 2);
  scene_frames(&scene, 640);
  double overload = scene_overload(&scene);
  cr_assert(overload > 1.5 && overload < 3.0, "%g times what fits", overload);
  scene_check_waits(&scene);
  cr_assert_eq(scene.worst_excess_ns, 0);
  scene_expect(&scene, "violations", 0);
}

/* Under twice the load; the population of the exempt is 1 in 100. */
Test(flashcrowd, after_a_jump_the_new_neighbourhood_soon_runs_as_often_as_it_should) {
  SCOPED(scene_close) struct scene scene = open_with(2, 2);
  scene_frames(&scene, 3 * 300 + 90);
  scene_says(&scene, "jumps = 3, jumps_settled = 3, watched > 40, frames_to_nine_tenths_max <= 15");
  scene_says(&scene, "frames_to_last_max <= 30");
  cr_assert_gt(scene_reported(&scene, "story_updates"), AGENTS / 100 * 900 / 5);
  cr_assert_eq(scene_reported(&scene, "story_late"), 0, "the exempt do not give way");
}

/* The mean cost of an update, in virtual time, before and after the crowd has come to town: it is dearer there. */
Test(flashcrowd, costs_more_where_the_crowd_is) {
  double looks_each[2];
  for (int i = 0; i < 2; i++) {
    muster_module_options options = CHANGED(scene_options(AGENTS, 4), it.observers = i ? 500 : 1);
    SCOPED(scene_close) struct scene scene = scene_open(muster_module_flashcrowd(), options, 1, 10000000);
    scene_frames(&scene, 60);
    looks_each[i] = scene_reported(&scene, "looks") / scene_reported(&scene, "updates");
    cr_assert_gt(scene_reported(&scene, "crowded_updates"), 1000);
  }
  cr_assert_gt(looks_each[1], looks_each[0] + 0.5);
}

Test(flashcrowd, the_guarantee_alone_bounds_every_wait) {
  scene_check_guarantee(muster_module_flashcrowd(), AGENTS, CAPACITY_NS, 400);
}

Test(flashcrowd, refuses_options_that_it_cannot_meet) {
  scene_check_refusals(muster_module_flashcrowd());
}
