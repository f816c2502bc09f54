/* Herds in a world: they are added, unfolded near observers and folded again, and nothing of them is lost. */
#include "world/herd_fixture.h"

Test(herds, are_added_folded_and_represent_their_members) {
  SCOPED_HERDS herds = herd_world_create(1, NULL, NULL);
  muster_herd herd = add_herd(&herds, 1000.0, 0.0, 0);
  muster_frame_report report = run_frame(&herds.little);
  cr_assert_eq(report.represented, 32);
  cr_assert_eq(report.herds_folded, 1);
  cr_assert_eq(report.leaves, 0);
  expect_herd(&herds, herd, 0, 32);
}

/* Folded or not, and wherever others were removed between them. */
Test(herds, that_are_left_are_walked_through_in_their_order_and_no_others) {
  enum { HERDS = 6 };
  SCOPED_HERDS herds = herd_world_create(1, NULL, NULL);
  muster_herd all[HERDS], at = {0};
  for (uint32_t i = 0; i < HERDS; i++) all[i] = add_herd(&herds, i < 3 ? 0.0 : 5000.0, 0.0, 32);
  observe(&herds, 0.0, 0.0);
  run_frames(&herds.little, 3);
  for (uint32_t i = 1; i < HERDS; i += 3) assert_ok(muster_herd_remove(herds.little.world, all[i]));
  run_frames(&herds.little, 3);
  for (uint32_t i = 0; i < HERDS; i++) {
    if (i % 3 == 1) continue;
    at = muster_herd_next(herds.little.world, at);
    cr_assert_eq(at.value, all[i].value, "herd %u", i);
  }
  cr_expect(muster_herd_is_null(muster_herd_next(herds.little.world, at)));
}

/* A herd that was added at (10, 5), and has not moved nor lost anything since. */
static void expect_as_added(const herd_world *herds, muster_herd herd, uint32_t leaves) {
  muster_herd_info info = herd_info_of(herds, herd);
  expect_herd(herds, herd, leaves, 32);
  cr_assert(fabs(info.position.x - 10.0) < 1e-3 && fabs(info.position.y - 5.0) < 1e-3);
  cr_assert(fabsf(info.velocity_x - 1.0f) < 1e-4f);
  cr_assert(fabsf(info.totals[0] - 64.0f) < 1e-3f);
}

Test(herds, that_are_near_an_observer_unfold_to_individuals_and_fold_when_it_leaves) {
  SCOPED_HERDS herds = herd_world_create(1, NULL, NULL);
  muster_herd herd = add_herd(&herds, 10.0, 5.0, 32);
  muster_observer observer = observe(&herds, 0.0, 0.0);
  run_frames(&herds.little, 3);
  expect_as_added(&herds, herd, 32);
  cr_assert_eq(herd_info_of(&herds, herd).depth, 5);
  look_from(&herds, observer, 5000.0, 5);
  cr_assert_eq(run_frame(&herds.little).represented, 32);
  expect_as_added(&herds, herd, 0);
}

Test(herds, unfold_as_deep_as_the_nearest_observer_of_their_partition_wants) {
  SCOPED_HERDS herds = seen_herd(muster_herd_type_def_default(), 230.0, 3);
  cr_assert_eq(herd_info_of(&herds, only_herd).depth, 1);
  observe(&herds, 0.0, -180.0);
  run_frames(&herds.little, 3);
  cr_assert_eq(herd_info_of(&herds, only_herd).depth, 2);
  muster_observer_def def = WITH(muster_observer_def, it.partition = 1);
  muster_observer_add(herds.little.world, &def);
  run_frames(&herds.little, 30);
  cr_assert_eq(herd_info_of(&herds, only_herd).depth, 2);
}

Test(herds, do_not_fold_and_unfold_for_an_observer_that_sways_about_a_border) {
  SCOPED_HERDS herds = seen_herd(muster_herd_type_def_default(), 240.0, 3);
  muster_statistics_clear(herds.little.world);
  for (uint32_t i = 0; i < 200; i++) {
    muster_observer_move(herds.little.world, only_observer, (muster_position){i % 2 ? 246.0 : 254.0, 0.0, 0.0});
    run_frame(&herds.little);
  }
  cr_assert_eq(statistics_of(&herds.little).folds, 0);
  cr_assert_eq(statistics_of(&herds.little).unfolds, 0);
}

/* Its position less the way that a herd went up to its last update is where it began; likewise its total. */
Test(herds, are_told_of_all_time_that_passes_whether_folded_or_not) {
  SCOPED_HERDS herds = walking_herds(1, virtual_world_def_default(),
                                     WITH(muster_herd_type_def, it.spread_mps = 0.0f, it.look_ns = 10000000u));
  add_seen_herd(&herds, 1000.0, 0);
  uint32_t leaves = 0;
  for (uint32_t i = 0; i < 2000; i++) {
    if (i % 37 == 0)
      muster_observer_move(herds.little.world, only_observer, (muster_position){(double)(i * 31 % 400), 0.0, 0.0});
    run_frame(&herds.little);
    muster_herd_info info = herd_info_of(&herds, only_herd);
    double passed_s = (double)(info.last_update_ns - FRAME_NS) * 1e-9;
    cr_assert(fabs(info.position.x - passed_s) < 2e-3, "%g after %g s", info.position.x, passed_s);
    cr_assert(fabs((double)info.totals[0] - 64.0 - 32.0 * passed_s) < 0.02, "after %g s", passed_s);
    leaves |= 1u << info.depth;
  }
  cr_assert_eq(leaves & 63u, 63u, "every depth was seen: %x", leaves);
  cr_assert(herds.little.now_ns - herd_info_of(&herds, only_herd).last_update_ns < 3000000000u);
}

static uint64_t hash_after_walks(uint32_t workers) {
  SCOPED_HERDS herds = walking_herds(workers, WITH(virtual_world_def, it.seed = 7),
                                     WITH(muster_herd_type_def, it.herds_max = 4096, it.look_ns = 50000000u));
  for (uint32_t i = 0; i < 3000; i++) add_herd(&herds, (double)(i % 60) * 40.0, (double)(i / 60) * 40.0, 32);
  muster_observer observer = observe(&herds, 0.0, 0.0);
  for (uint32_t i = 0; i < 120; i++) {
    muster_observer_move(herds.little.world, observer,
                         (muster_position){i % 40 == 39 ? 2000.0 : 10.0 * i, 5.0 * i, 0.0});
    if (i % 10 == 0)
      muster_herd_wake(herds.little.world, muster_herd_next(herds.little.world, muster_herd_make(i, 1)), i % 32);
    run_frame(&herds.little);
  }
  muster_frame_report report = run_frame(&herds.little);
  cr_assert_eq(report.represented, 3000 * 32);
  cr_assert_gt(report.leaves, 0);
  return muster_world_hash(herds.little.world);
}

Test(herds, give_the_same_world_on_any_number_of_workers) {
  uint64_t hash = hash_after_walks(1);
  cr_assert_eq(hash_after_walks(2), hash);
  cr_assert_eq(hash_after_walks(4), hash);
}

Test(herds, leave_and_enter_memory_as_reported) {
  SCOPED_HERDS herds = herd_world_create(1, NULL, NULL);
  for (uint32_t i = 0; i < 1024; i++) add_herd(&herds, 1e5 + i, 0.0, 32);
  observe(&herds, 1e5 + 512, 0.0);
  run_frames(&herds.little, 30);
  muster_frame_report report = run_frame(&herds.little);
  muster_statistics statistics = statistics_of(&herds.little);
  cr_assert_gt(report.herds_unfolded, 0);
  cr_assert(statistics.bytes_folded <= 24u * report.herds_folded + 64u);
  cr_assert(statistics.bytes_unfolded <= 1126u * report.herds_unfolded);
}

/* A herd that is added to a block must not be told of the time before, of which the block's other herds were told. */
Test(herds, that_come_to_a_block_are_told_of_the_time_since_then_alone) {
  SCOPED_HERDS herds = herd_world_with(WITH(muster_herd_type_def, it.run_block = walk_block_on));
  add_herd(&herds, 0.0, 0.0, 32);
  for (uint32_t i = 0; i < 20; i++) {
    run_frames(&herds.little, 7);
    uint64_t added_ns = herds.little.now_ns;
    muster_herd late = add_herd(&herds, 50.0, 0.0, 32);
    for (uint32_t frame = 0; frame < 40; frame++) {
      run_frame(&herds.little);
      double most_m = (double)(herds.little.now_ns - added_ns) * 1e-9 + 1e-4;
      double x = herd_info_of(&herds, late).position.x - 50.0;
      cr_assert(x >= -1e-4 && x <= most_m, "herd %u, frame %u: %g m of at most %g", i, frame, x, most_m);
    }
  }
}
