/* No observer for hours, and then one: no agent was forgotten, and the arrival is served at once. */
#include "scenarios/scenarios.h"
#include "scenarios/scene.h"

#define AGENTS      3000
#define CAPACITY_NS 3000000u

/* Runs frames like a host that heeds skip_ns. */
static void run_skipping(struct scene *it, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++)
    scene_frame(it, SCENE_FRAME_NS + (it->frames ? it->module->skip_ns(it->instance, it->now_ns) : 0));
}

static uint64_t hash_on(uint32_t workers, uint64_t seed) {
  muster_module_options options = scene_options(AGENTS, seed);
  struct scene it = scene_open(muster_module_empty(), &options, workers, CAPACITY_NS);
  run_skipping(&it, 220);
  uint64_t hash = muster_world_hash(it.world);
  cr_assert_eq(scene_reported(&it, "visits"), 1);
  scene_close(&it);
  return hash;
}

Test(empty, is_the_same_on_any_number_of_workers) {
  uint64_t alone = hash_on(1, 3);
  cr_assert_eq(hash_on(2, 3), alone);
  cr_assert_eq(hash_on(8, 3), alone);
  cr_assert_neq(hash_on(1, 4), alone);
}

/* The longest period is 5 minutes; a release falls into a frame of a minute, and waits within the bound. */
Test(empty, nobody_is_forgotten_while_nobody_looks) {
  muster_module_options options = scene_options(AGENTS, 1);
  struct scene it = scene_open(muster_module_empty(), &options, 2, CAPACITY_NS);
  run_skipping(&it, 119);
  const uint64_t minute_ns = 60000000000u;
  cr_assert_eq(scene_reported(&it, "visits"), 0);
  cr_assert_gt(scene_reported(&it, "simulated_s"), 7000);
  cr_assert_leq(it.longest_wait_ns, scene_wait_bound_ns(&it, minute_ns + SCENE_FRAME_NS));
  double longest_ns = 5.0 * (double)minute_ns + (double)scene_wait_bound_ns(&it, minute_ns + SCENE_FRAME_NS);
  cr_assert_leq(scene_reported(&it, "longest_interval_s"), longest_ns * 1e-9);
  cr_assert_gt(scene_reported(&it, "activities"), AGENTS * 7000 / 300);
  cr_assert_eq(scene_reported(&it, "violations"), 0);
  scene_close(&it);
}

static void check_arrival(uint32_t visit_frames, uint64_t quiet_frame_ns, uint32_t quiet_frames) {
  muster_module_options options = scene_options(AGENTS, 2);
  struct scene it = scene_open(muster_module_empty(), &options, 2, CAPACITY_NS);
  for (uint32_t i = 0; i < quiet_frames; i++) scene_frame(&it, quiet_frame_ns);
  scene_frames(&it, visit_frames);
  cr_assert_eq(scene_reported(&it, "visits"), 1);
  cr_assert_gt(scene_reported(&it, "watched"), 40);
  cr_assert_eq(scene_reported(&it, "visits_settled"), 1, "everybody around runs at the shortest period");
  cr_assert_leq(scene_reported(&it, "frames_to_nine_tenths"), 15);
  cr_assert_leq(scene_reported(&it, "frames_to_last"), 24);
  cr_assert_eq(scene_reported(&it, "violations"), 0);
  scene_close(&it);
}

Test(empty, an_arrival_is_served_at_once) {
  check_arrival(150, 60000000000u, 121);
}

Test(empty, an_arrival_is_served_at_once_after_frames_of_a_few_seconds) {
  check_arrival(150, 4000000000u, 1801);
}

Test(empty, visitors_leave_and_come_again) {
  muster_module_options options = scene_options(AGENTS, 5);
  struct scene it = scene_open(muster_module_empty(), &options, 1, CAPACITY_NS);
  run_skipping(&it, 121 + 601 + 121 + 60);
  cr_assert_eq(scene_reported(&it, "visits"), 2);
  cr_assert_eq(scene_reported(&it, "visits_settled"), 2);
  cr_assert_eq(scene_reported(&it, "violations"), 0);
  scene_close(&it);
}

Test(empty, refuses_options_that_it_cannot_meet) {
  scene_check_refusals(muster_module_empty());
}
