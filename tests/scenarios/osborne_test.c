/* The herds of Osborne & Dickinson's experiments: with level of detail and without. */
#include "scenarios/scenarios.h"
#include "support/full_frames.h"
#include "support/with.h"

#include <muster/herd.h>

#include <math.h>

enum { CYCLES = 40 };

static const osborne_def def = {.herds = 64, .side_m = 600, .seed = 7};

static void close_loop(osborne_loop **loop) {
  osborne_loop_close(*loop);
}

static double distance_of(const osborne_loop *one, const osborne_loop *other, uint64_t animal) {
  muster_position a = osborne_loop_place(one, animal), b = osborne_loop_place(other, animal);
  return hypot(a.x - b.x, a.y - b.y);
}

Test(osborne, loops_begin_alike_and_differ_by_rounding) {
  SCOPED(close_loop) osborne_loop *eight = osborne_loop_open(&def, true), *one = osborne_loop_open(&def, false);
  cr_assert(eight && one);
  cr_assert_eq(osborne_loop_agents(eight), 64 * OSBORNE_MEMBERS);
  for (uint64_t i = 0; i < osborne_loop_agents(eight); i++) cr_assert_eq(distance_of(eight, one, i), 0);
  osborne_loop_run(eight);
  osborne_loop_run(one);
  for (uint64_t i = 0; i < osborne_loop_agents(eight); i++) cr_assert_lt(distance_of(eight, one, i), 1e-2);
}

/* 20 m/s at most, and no animal beyond the fence. */
Test(osborne, animals_of_a_loop_move_within_the_fence) {
  SCOPED(close_loop) osborne_loop *loop = osborne_loop_open(&def, true);
  double moved_m = 0;
  cr_assert_not_null(loop);
  for (uint32_t cycle = 0; cycle < CYCLES; cycle++) {
    muster_position before = osborne_loop_place(loop, 5);
    osborne_loop_run(loop);
    muster_position after = osborne_loop_place(loop, 5);
    double way_m = hypot(after.x - before.x, after.y - before.y);
    cr_assert_leq(way_m, 20 * 0.5 + 1e-3);
    moved_m += way_m;
  }
  cr_assert_gt(moved_m, 1);
  for (uint64_t i = 0; i < osborne_loop_agents(loop); i++) {
    muster_position place = osborne_loop_place(loop, i);
    cr_assert(fabs(place.x) <= 300.01 && fabs(place.y) <= 300.01, "animal %lu", i);
  }
}

static muster_world *create_world(muster_position player) {
  const muster_world_def world_def =
      WITH(muster_world_def, it.clock.kind = MUSTER_CLOCK_VIRTUAL, it.clock.capacity_ns = 1000000000,
           it.limits.agents_max = osborne_agents_max(&def));
  const muster_observer_def observer = WITH(muster_observer_def, it.position = player);
  muster_herd_type type;
  muster_world *world = muster_world_create(&world_def);
  cr_assert_not_null(world);
  cr_assert_eq(osborne_populate(world, &def, &type), MUSTER_OK, "%s", muster_last_error());
  cr_assert_neq(muster_observer_generation(muster_observer_add(world, &observer)), 0u);
  return world;
}

/* Each animal within 50 m of the player is an individual of its own, and all others are still represented. */
Test(osborne, a_world_represents_all_and_simulates_those_near) {
  muster_world *world = create_world((muster_position){0, 0, 0});
  muster_frame_report report = muster_frame_report_default();
  for (uint64_t cycle = 1; cycle <= CYCLES; cycle++) {
    cr_assert_eq(muster_frame_run(world, &(muster_frame){cycle * OSBORNE_CYCLE_NS, 1000000000}), MUSTER_OK);
    muster_frame_report_read(world, &report);
    cr_assert_eq(report.represented, 64 * OSBORNE_MEMBERS);
    cr_assert_eq(report.herds_folded + report.herds_unfolded, 64u);
  }
  cr_assert(report.leaves > 2 * report.herds_unfolded && report.leaves < 64 * OSBORNE_MEMBERS, "%u leaves",
            report.leaves);
  for (muster_herd herd = muster_herd_next(world, (muster_herd){0}); muster_herd_generation(herd);
       herd = muster_herd_next(world, herd)) {
    muster_herd_info info = muster_herd_info_default();
    cr_assert_eq(muster_herd_read(world, herd, &info), MUSTER_OK);
    cr_assert_eq(info.members, (uint32_t)OSBORNE_MEMBERS);
    cr_assert(fabs(info.position.x) <= 301 && fabs(info.position.y) <= 301);
  }
  destroy_full(world);
}

static uint64_t hash_after_cycles(void) {
  muster_world *world = create_world((muster_position){50, -20, 0});
  for (uint64_t cycle = 1; cycle <= CYCLES; cycle++)
    cr_assert_eq(muster_frame_run(world, &(muster_frame){cycle * OSBORNE_CYCLE_NS, 1000000000}), MUSTER_OK);
  uint64_t hash = muster_world_hash(world);
  destroy_full(world);
  return hash;
}

Test(osborne, the_same_seed_gives_the_same_world) {
  cr_assert_eq(hash_after_cycles(), hash_after_cycles());
}
