/* Values in other units than Muster's: nothing is refused, but the log says it once, and the report for as long as it
 * lasts. */
#include "base/clock.h"
#include "run/runner.h"
#include "support/little_world.h"
#include "world/world.h"

#include <muster/planner.h>
#include <stdio.h>

struct said {
  uint32_t lines;
  char last[512];
};

static void note_line(muster_log_level level, const char *message, void *user) {
  struct said *said = user;
  if (level < MUSTER_LOG_WARNING) return;
  said->lines++;
  snprintf(said->last, sizeof said->last, "%s", message);
}

static little_world world_that_says(struct said *said, muster_clock clock) {
  static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 1000};
  muster_world_def def = muster_world_def_default();
  def.clock.kind = clock;
  def.watch.stuck_ns = 0;
  def.log = (muster_log_sink){note_line, said};
  little_world little = little_world_create(1, &def);
  little.provokes_idle = true;
  muster_type_def type = type_with(&atom, 1);
  register_type(&little, &type);
  return little;
}

/* The last report of so many frames. */
static muster_frame_report frames_of(little_world *little, uint32_t frames, uint64_t step_ns, uint64_t budget_ns) {
  muster_frame_report report = muster_frame_report_default();
  for (uint32_t i = 0; i < frames; i++) {
    little->now_ns += step_ns;
    muster_result result = muster_frame_run(little->world, &(muster_frame){little->now_ns, budget_ns});
    cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  }
  muster_frame_report_read(little->world, &report);
  return report;
}

Test(units, milliseconds_and_microseconds_for_nanoseconds_are_told_once) {
  static const uint64_t steps[] = {1, 16, 16667, 50000, 100000};
  for (uint32_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    struct said said = {0};
    little_world little = world_that_says(&said, MUSTER_CLOCK_VIRTUAL);
    spawn_at(&little, 0);
    cr_assert_eq(frames_of(&little, 100, steps[i], 2000000).time_hardly_moves, 0, "after 100 frames");
    muster_frame_report report = frames_of(&little, 1000, steps[i], 2000000);
    cr_assert_eq(report.time_hardly_moves, 1, "steps of %lu ns", (unsigned long)steps[i]);
    cr_assert_eq(said.lines, 1, "%s", said.last);
    cr_assert_not_null(strstr(said.last, "simulation time hardly moves"), "%s", said.last);
    cr_assert_not_null(strstr(said.last, "nanoseconds"), "%s", said.last);
    /* The host has been mended. */
    cr_assert_eq(frames_of(&little, 300, 16666667, 2000000).time_hardly_moves, 0);
    cr_assert_eq(said.lines, 1, "%s", said.last);
    little_world_destroy(&little);
  }
}

/* Ticks of 100 ns, taken for nanoseconds: a frame of 166 us might be one, but not one that takes 16 ms. */
static muster_frame_report run_ticks(uint64_t wall_ns, struct said *said) {
  uint64_t told_ns = 1000000000u;
  muster_frame_report report = muster_frame_report_default();
  little_world little = world_that_says(said, MUSTER_CLOCK_WALL);
  little.world->runner->clock = clock_told(&told_ns);
  spawn_at(&little, 0);
  for (uint32_t i = 0; i < 600; i++) {
    told_ns += wall_ns;
    report = frames_of(&little, 1, 166667, 2000000);
  }
  little_world_destroy(&little);
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
  static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 1000};
  muster_world_def def = muster_world_def_default();
  def.planner_workers = 1;
  def.log = (muster_log_sink){note_line, &said};
  little_world little = little_world_create(1, &def);
  little.provokes_idle = true;
  muster_type_def type = type_with(&atom, 1);
  register_type(&little, &type);
  spawn_at(&little, 0);
  for (uint64_t now_ms = 16; now_ms < 10000; now_ms += 16) {
    muster_plan_entry entries[4];
    muster_plan_summary summary = muster_plan_summary_default();
    cr_assert_eq(muster_plan(little.world, &(muster_frame){now_ms, 2000000}, entries, 4, &summary), MUSTER_OK);
    cr_assert_eq(muster_plan_report(little.world, NULL, 0), MUSTER_OK);
  }
  cr_assert_not_null(strstr(said.last, "simulation time hardly moves"), "%s", said.last);
  little_world_destroy(&little);
}

Test(units, time_of_real_servers_and_of_paused_ones_is_not_told) {
  static const uint64_t steps[] = {1000000, 6944444, 16666667, 50000000, 1000000000};
  for (uint32_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    struct said said = {0};
    little_world little = world_that_says(&said, MUSTER_CLOCK_VIRTUAL);
    spawn_at(&little, 0);
    cr_assert_eq(frames_of(&little, 300, steps[i], 5000000).time_hardly_moves, 0);
    cr_assert_eq(frames_of(&little, 300, 0, 5000000).time_hardly_moves, 0, "paused");
    cr_assert_eq(frames_of(&little, 60, steps[i], 5000000).time_hardly_moves, 0);
    cr_assert_eq(said.lines, 0, "%s", said.last);
    little_world_destroy(&little);
  }
}

Test(units, microseconds_for_the_nanoseconds_of_a_budget_are_told_once) {
  struct said said = {0};
  little_world little = world_that_says(&said, MUSTER_CLOCK_VIRTUAL);
  spawn_at(&little, 0);
  frames_of(&little, 400, 16666667, 16667);
  cr_assert_eq(said.lines, 1, "%s", said.last);
  cr_assert_not_null(strstr(said.last, "a budget of 16667 ns"), "%s", said.last);
  cr_assert_not_null(strstr(said.last, "budget_ns is nanoseconds"), "%s", said.last);
  frames_of(&little, 400, 16666667, 200000);
  cr_assert_eq(said.lines, 1, "%s", said.last);
  little_world_destroy(&little);
}

/* An agent every 3 m, and an observer 40 m from the last, all times the scale. */
static struct said places_by(double scale, double lonely_m) {
  struct said said = {0};
  little_world little = world_that_says(&said, MUSTER_CLOCK_VIRTUAL);
  muster_observer_def observer = muster_observer_def_default();
  for (uint32_t i = 0; i < 50; i++) spawn_at(&little, 3.0 * i * scale);
  observer.position.x = (50 * 3.0 + lonely_m) * scale;
  cr_assert(!muster_observer_is_null(muster_observer_add(little.world, &observer)));
  frames_of(&little, 3000, 16666667, 5000000);
  little_world_destroy(&little);
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
