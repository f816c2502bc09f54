/* Far herds: what passes for a block of them. */
#include "scenarios/herd.h"

#include <muster/herd.h>

#include <criterion/criterion.h>

enum { HERDS = MUSTER_HERD_BLOCK };

typedef struct arrays {
  _Alignas(64) float x[HERDS], y[HERDS], velocity_x[HERDS], velocity_y[HERDS], elapsed_s[HERDS];
  _Alignas(64) float grazed_g[HERDS], fawns[HERDS];
  _Alignas(64) uint32_t herds[HERDS];
  _Alignas(64) uint16_t members[HERDS];
} arrays;

static arrays lanes;
static herd_block_tally tallies[2];
static herd_world world;

/* Herd number i is block 1's, with 1 + i mod 32 deer. */
static muster_herd_block begin(float elapsed_s, float pace) {
  world = (herd_world){.ground = herd_ground_of(4000.0f, 1), .blocks = tallies, .block_count = 2};
  world.choice.pace = pace;
  tallies[0] = tallies[1] = (herd_block_tally){0};
  lanes = (arrays){0};
  for (uint32_t i = 0; i < HERDS; i++) {
    lanes.x[i] = (float)(i % 32) * 100.0f - 1550.0f;
    lanes.y[i] = (float)(i / 32) * 100.0f - 1550.0f;
    lanes.velocity_x[i] = (float)(i % 7) - 3.0f;
    lanes.velocity_y[i] = (float)(i % 5) - 2.0f;
    lanes.members[i] = (uint16_t)(1 + i % HERD_MEMBERS);
    lanes.herds[i] = MUSTER_HERD_BLOCK + i;
    lanes.elapsed_s[i] = elapsed_s;
  }
  return (muster_herd_block){.count = HERDS,
                             .x = lanes.x,
                             .y = lanes.y,
                             .velocity_x = lanes.velocity_x,
                             .velocity_y = lanes.velocity_y,
                             .members = lanes.members,
                             .totals = {lanes.grazed_g, lanes.fawns},
                             .elapsed_s = lanes.elapsed_s,
                             .herds = lanes.herds,
                             .random = 12345,
                             .user = &world};
}

static uint64_t deer(void) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < HERDS; i++) all += lanes.members[i];
  return all;
}

static void run(muster_herd_block *block, uint32_t updates) {
  for (uint32_t i = 0; i < updates; i++) {
    herd_run_block(block);
    block->random = block->random * 6364136223846793005u + 1442695040888963407u;
  }
}

Test(herd_block, deer_are_born_and_die_and_all_are_counted) {
  muster_herd_block block = begin(0.5f, 100.0f);
  uint64_t before = deer();
  run(&block, 100);
  cr_assert_gt(tallies[1].births, 1000);
  cr_assert_gt(tallies[1].deaths, 1000);
  cr_assert_eq(deer(), before + tallies[1].births - tallies[1].deaths);
  cr_assert_eq(tallies[0].births + tallies[0].deaths, 0);
  for (uint32_t i = 0; i < HERDS; i++) cr_assert_leq(lanes.members[i], HERD_MEMBERS);
}

Test(herd_block, who_dies_takes_along_what_it_grazed_and_nothing_is_lost) {
  double grazed_g = 0, deer_s = 0;
  muster_herd_block block = begin(0.5f, 100.0f);
  for (uint32_t i = 0; i < 100; i++) {
    deer_s += 0.5 * (double)deer();
    run(&block, 1);
  }
  for (uint32_t i = 0; i < HERDS; i++) grazed_g += (double)lanes.grazed_g[i];
  cr_assert_gt(tallies[1].grazed_by_dead_g, 0.0);
  cr_assert_float_eq((grazed_g + tallies[1].grazed_by_dead_g) / (deer_s * (double)herd_grazing_g), 1.0, 1e-4);
}

/* By ten updates of 100 ms as by one of a second: 1,024 herds with room. */
Test(herd_block, births_and_deaths_follow_the_time_not_the_updates) {
  uint64_t births[2], deaths[2];
  for (uint32_t form = 0; form < 2; form++) {
    muster_herd_block block = begin(form ? 1.0f : 0.1f, 10.0f);
    for (uint32_t i = 0; i < HERDS; i++) lanes.members[i] = 16;
    run(&block, form ? 30 : 300);
    births[form] = tallies[1].births;
    deaths[form] = tallies[1].deaths;
    cr_assert_float_eq((double)births[form] / ((double)herd_births * 10 * 30 * 16 * HERDS), 1.05, 0.08);
  }
  cr_assert_float_eq((double)births[0] / (double)births[1], 1.0, 0.06);
  cr_assert_float_eq((double)deaths[0] / (double)deaths[1], 1.0, 0.08);
}

Test(herd_block, herds_come_to_walking_speed_and_stay_on_the_ground) {
  muster_herd_block block = begin(1.0f, 1.0f);
  for (uint32_t i = 0; i < HERDS; i++) lanes.velocity_x[i] *= 5.0f;
  for (uint32_t update = 0; update < 200; update++) {
    run(&block, 1);
    for (uint32_t i = 0; i < HERDS; i++) cr_assert(fabsf(lanes.x[i]) <= 2000.01f && fabsf(lanes.y[i]) <= 2000.01f);
  }
  double moved = 0;
  for (uint32_t i = 0; i < HERDS; i++) {
    moved += (double)hypotf(lanes.x[i] - ((float)(i % 32) * 100.0f - 1550.0f), 0.0f) / HERDS;
    cr_assert_float_eq((double)hypotf(lanes.velocity_x[i], lanes.velocity_y[i]), (double)herd_walk_mps, 0.05);
  }
  cr_assert_gt(moved, 20.0);
}

Test(herd_block, who_is_not_due_stays_as_it_is) {
  muster_herd_block block = begin(0.5f, 100.0f);
  for (uint32_t i = 0; i < HERDS; i += 2) {
    lanes.elapsed_s[i] = 0.0f;
    lanes.x[i] = 1e30f; /* whatever is there */
  }
  run(&block, 50);
  int64_t there = 0;
  for (uint32_t i = 1; i < HERDS; i += 2) there += lanes.members[i] - (int64_t)(1 + i % HERD_MEMBERS);
  cr_assert_eq(there, (int64_t)(tallies[1].births - tallies[1].deaths));
}
