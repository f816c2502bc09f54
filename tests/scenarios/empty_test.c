/* No observer for hours, and then one: no agent was forgotten, and the arrival is served at once. */
#include "scenarios/scene.h"

#define AGENTS      3000
#define CAPACITY_NS 3000000u

/* Runs frames like a host that heeds skip_ns. */
static void run_skipping(struct scene *scene, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++)
    scene_frame(scene, SCENE_FRAME_NS + (scene->frames ? scene->module->skip_ns(scene->instance, scene->now_ns) : 0));
}

static struct scene open_with(uint64_t seed, uint32_t workers) {
  return scene_open(muster_module_empty(), scene_options(AGENTS, seed), workers, CAPACITY_NS);
}

static uint64_t hash_on(uint32_t workers, uint64_t seed) {
  SCOPED(scene_close) struct scene scene = open_with(seed, workers);
  run_skipping(&scene, 220);
  scene_expect(&scene, "visits", 1);
  return muster_world_hash(scene.world);
}

Test(empty, is_the_same_on_any_number_of_workers) {
  uint64_t alone = hash_on(1, 3);
  cr_assert_eq(hash_on(2, 3), alone);
  cr_assert_eq(hash_on(8, 3), alone);
  cr_assert_neq(hash_on(1, 4), alone);
}

/* The longest period is 5 minutes; a release falls into a frame of a minute, and waits within the bound. */
Test(empty, nobody_is_forgotten_while_nobody_looks) {
  SCOPED(scene_close) struct scene scene = open_with(1, 2);
  run_skipping(&scene, 119);
  const uint64_t minute_ns = 60000000000u;
  scene_says(&scene, "visits = 0, simulated_s > 7000");
  cr_assert_leq(scene.longest_wait_ns, scene_wait_bound_ns(&scene, minute_ns + SCENE_FRAME_NS));
  double longest_ns = 5.0 * (double)minute_ns + (double)scene_wait_bound_ns(&scene, minute_ns + SCENE_FRAME_NS);
  cr_assert_leq(scene_reported(&scene, "longest_interval_s"), longest_ns * 1e-9);
  cr_assert_gt(scene_reported(&scene, "activities"), AGENTS * 7000 / 300);
  scene_expect(&scene, "violations", 0);
}

static void check_arrival(uint32_t visit_frames, uint64_t quiet_frame_ns, uint32_t quiet_frames) {
  SCOPED(scene_close) struct scene scene = open_with(2, 2);
  for (uint32_t i = 0; i < quiet_frames; i++) scene_frame(&scene, quiet_frame_ns);
  scene_frames(&scene, visit_frames);
  scene_says(&scene, "visits = 1, watched > 40");
  cr_assert_eq(scene_reported(&scene, "visits_settled"), 1, "everybody around runs at the shortest period");
  scene_says(&scene, "frames_to_nine_tenths <= 15, frames_to_last <= 24, violations = 0");
}

Test(empty, an_arrival_is_served_at_once) {
  check_arrival(150, 60000000000u, 121);
}

Test(empty, an_arrival_is_served_at_once_after_frames_of_a_few_seconds) {
  check_arrival(150, 4000000000u, 1801);
}

Test(empty, visitors_leave_and_come_again) {
  SCOPED(scene_close) struct scene scene = open_with(5, 1);
  run_skipping(&scene, 121 + 601 + 121 + 60);
  scene_says(&scene, "visits = 2, visits_settled = 2, violations = 0");
}

Test(empty, refuses_options_that_it_cannot_meet) {
  scene_check_refusals(muster_module_empty());
}
