/* Herds in a world: they are added, unfolded near observers, folded again, and nothing of them is lost. */
#include "support/herd_world.h"

#include <math.h>

Test(herds, are_added_folded_and_represent_their_members) {
  herd_world herds = herd_world_create(1, NULL, NULL);
  muster_herd herd = add_herd(&herds, 1000.0, 0.0, 32);
  muster_frame_report report = run_frame(&herds.little);
  muster_herd_info info = herd_info_of(&herds, herd);
  cr_assert_eq(report.represented, 32);
  cr_assert_eq(report.herds_folded, 1);
  cr_assert_eq(report.leaves, 0);
  cr_assert_eq(info.members, 32);
  cr_assert_eq(info.leaves, 0);
  herd_world_destroy(&herds);
}

Test(herds, that_are_near_an_observer_unfold_to_individuals_and_fold_when_it_leaves) {
  herd_world herds = herd_world_create(1, NULL, NULL);
  muster_herd herd = add_herd(&herds, 10.0, 5.0, 32);
  muster_observer observer = observe(&herds, 0.0, 0.0);
  run_frames(&herds.little, 3);
  muster_herd_info info = herd_info_of(&herds, herd);
  cr_assert_eq(info.leaves, 32, "%u", info.leaves);
  cr_assert_eq(info.depth, 5);
  cr_assert_eq(info.members, 32);
  cr_assert(fabs(info.position.x - 10.0) < 1e-3 && fabs(info.position.y - 5.0) < 1e-3, "%g %g", info.position.x,
            info.position.y);
  cr_assert(fabsf(info.velocity_x - 1.0f) < 1e-4f);
  cr_assert(fabsf(info.totals[0] - 64.0f) < 1e-3f);
  muster_observer_move(herds.little.world, observer, (muster_position){5000.0, 0.0, 0.0});
  muster_frame_report report = {0};
  for (uint32_t i = 0; i < 6; i++) report = run_frame(&herds.little);
  info = herd_info_of(&herds, herd);
  cr_assert_eq(info.leaves, 0, "%u", info.leaves);
  cr_assert_eq(info.members, 32);
  cr_assert_eq(report.represented, 32);
  cr_assert(fabsf(info.totals[0] - 64.0f) < 1e-3f);
  herd_world_destroy(&herds);
}
