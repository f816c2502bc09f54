/* The herd scenario on several workers at once: what they share is counted right, and the world is the same. */
#include "scenarios/herd_scene.h"

static uint64_t run(uint32_t workers) {
  herd_choice choice = {.visible_m = 35.0f, .observer_mps = 4.0f, .wolves = 12, .members = 31, .pace = 50};
  SCOPED(scene_close) struct scene it = herd_scene(65536, 6, workers, HERD_CAPACITY_NS, &choice);
  scene_frames(&it, 60);
  double first = scene_reported(&it, "first_deer"), births = scene_reported(&it, "births");
  double gone = scene_reported(&it, "deaths") + scene_reported(&it, "killed");
  cr_assert_gt(births, 0.0);
  cr_assert_gt(gone, 0.0);
  cr_assert_eq(scene_reported(&it, "deer"), first + births - gone);
  return muster_world_hash(it.world);
}

Test(herd_sight_threads, blocks_and_leaves_are_updated_side_by_side) {
  uint64_t alone = run(1);
  cr_assert_eq(run(4), alone);
}
