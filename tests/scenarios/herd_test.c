/* The herd scenario: the same world on any number of workers, every deer accounted for, wolves that hunt near and far.
 */
#include "scenarios/herd_scene.h"

/* Deer = first + births - deaths - killed. */
static void check_numbers(const struct scene *scene) {
  double deer = scene_reported(scene, "deer"), births = scene_reported(scene, "births");
  double deaths = scene_reported(scene, "deaths"), killed = scene_reported(scene, "killed");
  cr_assert_eq(deer, scene_reported(scene, "first_deer") + births - deaths - killed,
               "frame %u: %g deer, %g born, %g died, %g killed", scene->frames, deer, births, deaths, killed);
  cr_assert_eq(scene_reported(scene, "represented"), deer + scene_reported(scene, "wolves"));
}

Test(herd, the_same_seed_gives_the_same_world) {
  muster_module_options options = WITH(muster_module_options, it.agents = 16384, it.observers = 6);
  scene_check_determinism(muster_module_herd(), options, HERD_CAPACITY_NS, 150);
  cr_assert_eq(scene_hash_after(muster_module_herd(), options, 4, HERD_CAPACITY_NS, 150),
               scene_hash_after(muster_module_herd(), options, 1, HERD_CAPACITY_NS, 150));
}

Test(herd, every_deer_is_accounted_for_at_all_times) {
  herd_choice choice = {.visible_m = 35.0f, .observer_mps = 2.0f, .wolves = 24, .members = 31, .pace = 50};
  SCOPED(scene_close) struct scene scene = herd_scene(8192, 12, 2, HERD_CAPACITY_NS, &choice);
  for (uint32_t i = 0; i < 600; i++) {
    scene_frame(&scene, SCENE_FRAME_NS);
    check_numbers(&scene);
  }
  scene_says(&scene, "births > 100, deaths > 100, folds > 10, unfolds > 10, herds_refused = 0");
}

Test(herd, wolves_take_deer_of_herds_at_every_level) {
  herd_choice choice = {.visible_m = 35.0f, .observer_mps = 2.0f, .wolves = 64, .members = 32, .pace = 0};
  SCOPED(scene_close) struct scene scene = herd_scene(32768, 24, 1, HERD_CAPACITY_NS, &choice);
  for (uint32_t i = 0; i < 1200; i++) scene_frame(&scene, 3 * SCENE_FRAME_NS);
  check_numbers(&scene);
  double killed = scene_reported(&scene, "killed"), folded = scene_reported(&scene, "killed_folded");
  cr_assert_gt(folded, 3.0);
  cr_assert_gt(killed - folded, 3.0);
  cr_assert_gt(scene_reported(&scene, "scares"), 100.0);
  cr_assert_eq(scene_reported(&scene, "births") + scene_reported(&scene, "deaths"), 0.0);
}

Test(herd, leaves_are_few_beside_those_they_stand_for) {
  SCOPED(scene_close) struct scene scene = herd_scene(262144, 2, 1, HERD_CAPACITY_NS, NULL);
  scene_frames(&scene, 60);
  cr_assert_eq(scene_reported(&scene, "first_deer"), 262144.0);
  double leaves = scene_reported(&scene, "leaves");
  cr_assert_gt(leaves, 200.0);
  cr_assert_lt(leaves, 10000.0);
  cr_assert_eq(scene_reported(&scene, "unfolds_refused"), 0.0);
}

Test(herd, a_last_herd_has_the_rest) {
  SCOPED(scene_close) struct scene scene = herd_scene(32 * 5 + 7, 1, 1, HERD_CAPACITY_NS, NULL);
  scene_frames(&scene, 3);
  cr_assert_eq(scene_reported(&scene, "first_deer"), 32.0 * 5 + 7);
  cr_assert_eq(scene_reported(&scene, "herds_folded") + scene_reported(&scene, "herds_unfolded"), 6.0);
  check_numbers(&scene);
}

Test(herd, options_that_are_wrong_are_refused) {
  scene_check_refusals(muster_module_herd());
}
