/* The herd scenario: the same world on any number of workers, every deer accounted for, wolves that hunt near and far.
 */
#include "scenarios/herd_scene.h"

/* Deer = first + births - deaths - killed. */
static void check_numbers(const struct scene *it) {
  double deer = scene_reported(it, "deer"), births = scene_reported(it, "births");
  double deaths = scene_reported(it, "deaths"), killed = scene_reported(it, "killed");
  cr_assert_eq(deer, scene_reported(it, "first_deer") + births - deaths - killed,
               "frame %u: %g deer, %g born, %g died, %g killed", it->frames, deer, births, deaths, killed);
  cr_assert_eq(scene_reported(it, "represented"), deer + scene_reported(it, "wolves"));
}

Test(herd, the_same_seed_gives_the_same_world) {
  muster_module_options options = muster_module_options_default();
  options.agents = 16384;
  options.observers = 6;
  scene_check_determinism(muster_module_herd(), options, HERD_CAPACITY_NS, 150);
  cr_assert_eq(scene_hash_after(muster_module_herd(), &options, 4, HERD_CAPACITY_NS, 150),
               scene_hash_after(muster_module_herd(), &options, 1, HERD_CAPACITY_NS, 150));
}

Test(herd, every_deer_is_accounted_for_at_all_times) {
  herd_choice choice = {.visible_m = 35.0f, .observer_mps = 2.0f, .wolves = 24, .members = 31, .pace = 50};
  struct scene it = herd_scene(8192, 12, 2, HERD_CAPACITY_NS, &choice);
  for (uint32_t i = 0; i < 600; i++) {
    scene_frame(&it, SCENE_FRAME_NS);
    check_numbers(&it);
  }
  cr_assert_gt(scene_reported(&it, "births"), 100.0);
  cr_assert_gt(scene_reported(&it, "deaths"), 100.0);
  cr_assert_gt(scene_reported(&it, "folds"), 10.0);
  cr_assert_gt(scene_reported(&it, "unfolds"), 10.0);
  cr_assert_eq(scene_reported(&it, "herds_refused"), 0.0);
  scene_close(&it);
}

Test(herd, wolves_take_deer_of_herds_at_every_level) {
  herd_choice choice = {.visible_m = 35.0f, .observer_mps = 2.0f, .wolves = 64, .members = 32, .pace = 0};
  struct scene it = herd_scene(32768, 24, 1, HERD_CAPACITY_NS, &choice);
  for (uint32_t i = 0; i < 1200; i++) scene_frame(&it, 3 * SCENE_FRAME_NS);
  check_numbers(&it);
  double killed = scene_reported(&it, "killed"), folded = scene_reported(&it, "killed_folded");
  cr_assert_gt(folded, 3.0);
  cr_assert_gt(killed - folded, 3.0);
  cr_assert_gt(scene_reported(&it, "scares"), 100.0);
  cr_assert_eq(scene_reported(&it, "births") + scene_reported(&it, "deaths"), 0.0);
  scene_close(&it);
}

Test(herd, leaves_are_few_beside_those_they_stand_for) {
  struct scene it = herd_scene(262144, 2, 1, HERD_CAPACITY_NS, NULL);
  scene_frames(&it, 60);
  cr_assert_eq(scene_reported(&it, "first_deer"), 262144.0);
  double leaves = scene_reported(&it, "leaves");
  cr_assert_gt(leaves, 200.0);
  cr_assert_lt(leaves, 10000.0);
  cr_assert_eq(scene_reported(&it, "unfolds_refused"), 0.0);
  scene_close(&it);
}

Test(herd, a_last_herd_has_the_rest) {
  struct scene it = herd_scene(32 * 5 + 7, 1, 1, HERD_CAPACITY_NS, NULL);
  scene_frames(&it, 3);
  cr_assert_eq(scene_reported(&it, "first_deer"), 32.0 * 5 + 7);
  cr_assert_eq(scene_reported(&it, "herds_folded") + scene_reported(&it, "herds_unfolded"), 6.0);
  check_numbers(&it);
  scene_close(&it);
}

Test(herd, options_that_are_wrong_are_refused) {
  scene_check_refusals(muster_module_herd());
}
