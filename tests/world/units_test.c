/* Values in other units than Muster's: nothing is refused, but the log says it once, and the report while it lasts. */
#include "base/clock.h"
#include "run/runner.h"
#include "world/fixture.h"

#include <muster/planner.h>

static little_world world_that_says(struct said *said, muster_clock clock) {
  little_world little = careless(
      little_world_of(1, WITH(muster_world_def, it.clock.kind = clock, it.watch.stuck_ns = 0, it.log = log_to(said))));
  add_type(&little, type_running(nothing, 1000));
  return little;
}

/* The last report of so many frames. */
static muster_frame_report frames_of(little_world *little, uint32_t frames, uint64_t step_ns, uint64_t budget_ns) {
  muster_frame_report report = muster_frame_report_default();
  for (uint32_t i = 0; i < frames; i++) {
    little->now_ns += step_ns;
    assert_ok(muster_frame_run(little->world, &(muster_frame){little->now_ns, budget_ns}));
  }
  muster_frame_report_read(little->world, &report);
  return report;
}

Test(units, milliseconds_and_microseconds_for_nanoseconds_are_told_once) {
  static const uint64_t steps[] = {1, 16, 16667, 50000, 100000};
  for (uint32_t i = 0; i < COUNT_OF(steps); i++) {
    struct said said = {0};
    SCOPED_WORLD little = world_that_says(&said, MUSTER_CLOCK_VIRTUAL);
    spawn_at(&little, 0);
    cr_assert_eq(frames_of(&little, 100, steps[i], 2000000).time_hardly_moves, 0, "after 100 frames");
    muster_frame_report report = frames_of(&little, 1000, steps[i], 2000000);
    cr_assert_eq(report.time_hardly_moves, 1, "steps of %lu ns", steps[i]);
    cr_assert_eq(said.lines, 1, "%s", said.last);
    cr_assert_not_null(strstr(said.last, "simulation time hardly moves"), "%s", said.last);
    cr_assert_not_null(strstr(said.last, "nanoseconds"), "%s", said.last);
    /* The host has been mended. */
    cr_assert_eq(frames_of(&little, 300, 16666667, 2000000).time_hardly_moves, 0);
    cr_assert_eq(said.lines, 1, "%s", said.last);
  }
}

/* Ticks of 100 ns, taken for nanoseconds: a frame of 166 us might be one, but not one that takes 16 ms. */
static muster_frame_report run_ticks(uint64_t wall_ns, struct said *said) {
  uint64_t told_ns = 1000000000u;
  muster_frame_report report = muster_frame_report_default();
  SCOPED_WORLD little = world_that_says(said, MUSTER_CLOCK_WALL);
  little.world->runner->clock = clock_told(&told_ns);
  spawn_at(&little, 0);
  for (uint32_t i = 0; i < 600; i++) {
    told_ns += wall_ns;
    report = frames_of(&little, 1, 166667, 2000000);
  }
  return report;
}

Test(units, ticks_for_nanoseconds_are_told_where_the_wall_clock_is_much_faster) {
  struct said said = {0};
  cr_assert_eq(run_ticks(16666700, &said).time_hardly_moves, 1);
  cr_assert_not_null(strstr(said.last, "simulation time hardly moves"), "%s", said.last);
  said = (struct said){0};
  cr_assert_eq(run_ticks(166667, &said).time_hardly_moves, 0, "a server of 6,000 frames a second: %s", said.last);
}

Test(units, of_plans_are_told_as_those_of_frames) {
  struct said said = {0};
  SCOPED_WORLD little =
      careless(little_world_of(1, WITH(muster_world_def, it.planner_workers = 1, it.log = log_to(&said))));
  add_type(&little, type_running(nothing, 1000));
  spawn_at(&little, 0);
  for (uint64_t now_ms = 16; now_ms < 10000; now_ms += 16) {
    muster_plan_entry entries[4];
    muster_plan_summary summary = muster_plan_summary_default();
    cr_assert_eq(muster_plan(little.world, &(muster_frame){now_ms, 2000000}, entries, 4, &summary), MUSTER_OK);
    cr_assert_eq(muster_plan_report(little.world, NULL, 0), MUSTER_OK);
  }
  cr_assert_not_null(strstr(said.last, "simulation time hardly moves"), "%s", said.last);
}

Test(units, time_of_real_servers_and_of_paused_ones_is_not_told) {
  static const uint64_t steps[] = {1000000, 6944444, 16666667, 50000000, 1000000000};
  for (uint32_t i = 0; i < COUNT_OF(steps); i++) {
    struct said said = {0};
    SCOPED_WORLD little = world_that_says(&said, MUSTER_CLOCK_VIRTUAL);
    spawn_at(&little, 0);
    cr_assert_eq(frames_of(&little, 300, steps[i], 5000000).time_hardly_moves, 0);
    cr_assert_eq(frames_of(&little, 300, 0, 5000000).time_hardly_moves, 0, "paused");
    cr_assert_eq(frames_of(&little, 60, steps[i], 5000000).time_hardly_moves, 0);
    cr_assert_eq(said.lines, 0, "%s", said.last);
  }
}

Test(units, microseconds_for_the_nanoseconds_of_a_budget_are_told_once) {
  struct said said = {0};
  SCOPED_WORLD little = world_that_says(&said, MUSTER_CLOCK_VIRTUAL);
  spawn_at(&little, 0);
  frames_of(&little, 400, 16666667, 16667);
  cr_assert_eq(said.lines, 1, "%s", said.last);
  cr_assert_not_null(strstr(said.last, "a budget of 16667 ns"), "%s", said.last);
  cr_assert_not_null(strstr(said.last, "budget_ns is nanoseconds"), "%s", said.last);
  frames_of(&little, 400, 16666667, 200000);
  cr_assert_eq(said.lines, 1, "%s", said.last);
}

/* An agent every 3 m, and an observer 40 m from the last, all times the scale. */
static struct said places_by(double scale, double lonely_m) {
  struct said said = {0};
  SCOPED_WORLD little = world_that_says(&said, MUSTER_CLOCK_VIRTUAL);
  for (uint32_t i = 0; i < 50; i++) spawn_at(&little, 3.0 * i * scale);
  cr_assert(!muster_observer_is_null(observe_at(&little, (50 * 3.0 + lonely_m) * scale)));
  frames_of(&little, 3000, 16666667, 5000000);
  return said;
}

Test(units, positions_in_centimetres_are_told_once_where_no_observer_sees_anybody) {
  struct said said = places_by(100.0, 40.0);
  cr_assert_eq(said.lines, 1, "%s", said.last);
  cr_assert_not_null(strstr(said.last, "no agent is near any observer"), "%s", said.last);
  cr_assert_not_null(strstr(said.last, "centimetres"), "%s", said.last);
  said = places_by(1.0, 40.0);
  cr_assert_eq(said.lines, 0, "%s", said.last);
  said = places_by(1.0, 100000.0);
  cr_assert_eq(said.lines, 0, "too far for centimetres: %s", said.last);
}
