/* The loads of the axes of `muster stress`, and what it sums up of a step. */
#include "stress.h"
#include "support/with.h"

#include <criterion/criterion.h>
#include <math.h>

/* ------------------------------------------------------------------------------------------------------------- axes */

static const stress_load first = {.knobs = {100, 10, 20, 2, 4, 4}};
static const stress_load most = {.knobs = {350, 20, 320, 4, 8, 6}};

static stress_load load; /* of the last step that there was */

static bool step_to(uint32_t axis, uint32_t step) {
  stress_load next;
  bool there = stress_load_of(axis, &first, &most, step, &next);
  if (there) load = next;
  return there;
}

static uint32_t steps_of(uint32_t axis) {
  uint32_t step = 0;
  while (step_to(axis, step)) step++;
  return step;
}

Test(stress_axes, double_one_knob_up_to_its_most_and_leave_the_others) {
  cr_assert(step_to(STRESS_AGENTS, 0));
  cr_expect_eq(memcmp(load.knobs, first.knobs, sizeof load.knobs), 0);
  cr_assert(step_to(STRESS_AGENTS, 1));
  cr_expect_eq(load.knobs[STRESS_AGENTS], 200);
  cr_assert(step_to(STRESS_AGENTS, 2));
  cr_expect_eq(load.knobs[STRESS_AGENTS], 350);
  cr_expect_float_eq(stress_times(STRESS_AGENTS, &first, &load), 3.5, 1e-9);
  for (uint32_t knob = STRESS_OBSERVERS; knob < STRESS_KNOBS; knob++) cr_expect_eq(load.knobs[knob], first.knobs[knob]);
  cr_expect(!step_to(STRESS_AGENTS, 3));
  for (uint32_t knob = 0; knob < STRESS_WORKERS; knob++) {
    steps_of(knob);
    cr_expect_eq(load.knobs[knob], most.knobs[knob], "%s", stress_axis_name(knob));
    cr_expect(!load.crowd);
  }
}

Test(stress_axes, of_workers_begins_at_one_and_ends_with_all) {
  static const uint32_t workers[] = {1, 2, 4, 6};
  for (uint32_t step = 0; step < 4; step++) {
    cr_assert(step_to(STRESS_WORKERS, step));
    cr_expect_eq(load.knobs[STRESS_WORKERS], workers[step]);
    cr_expect_eq(load.knobs[STRESS_AGENTS], 100);
    cr_expect_float_eq(stress_times(STRESS_WORKERS, &first, &load), workers[step], 1e-9);
  }
  cr_expect(!step_to(STRESS_WORKERS, 4));
}

Test(stress_axes, of_a_crowd_raises_agents_in_one_cell) {
  cr_assert(step_to(STRESS_CROWD, 0));
  cr_expect(load.crowd);
  cr_expect_eq(load.knobs[STRESS_AGENTS], 100);
  cr_expect_eq(steps_of(STRESS_CROWD), 3);
  cr_expect_eq(load.knobs[STRESS_AGENTS], 350);
  cr_expect_eq(load.knobs[STRESS_OBSERVERS], 10);
  cr_expect_eq(stress_value(STRESS_CROWD, &load), 350);
}

Test(stress_axes, of_all_raises_everything_until_all_is_at_its_most) {
  cr_assert(step_to(STRESS_ALL, 1));
  cr_expect_eq(load.knobs[STRESS_AGENTS], 200);
  cr_expect_eq(load.knobs[STRESS_MESSAGES], 40);
  cr_expect_eq(load.knobs[STRESS_SPAWNS], 4);
  cr_expect_eq(load.knobs[STRESS_WORKERS], 6);
  cr_expect_eq(steps_of(STRESS_ALL), 5, "messages take four doublings");
  cr_expect_eq(memcmp(load.knobs, most.knobs, sizeof load.knobs), 0);
  cr_expect_float_eq(stress_times(STRESS_ALL, &first, &load), 16, 1e-9);
}

Test(stress_axes, end_for_any_numbers) {
  static const stress_load least = {.knobs = {1, 1, 1, 1, 1, 1}};
  stress_load huge = {.knobs = {UINT32_MAX, 1, 1, 1, 1, 1}};
  uint32_t step = 0;
  while (step < 100 && stress_load_of(STRESS_AGENTS, &least, &huge, step, &load)) step++;
  cr_expect_eq(step, 33);
}

/* ------------------------------------------------------------------------------------------------------------- sums */

Test(stress_sums, come_to_means_ranks_and_shares) {
  uint64_t wall_ns[100], overrun_own_ns[100];
  stress_sums sums = {.wall_ns = wall_ns, .overrun_own_ns = overrun_own_ns};
  muster_statistics statistics = WITH(muster_statistics, it.bytes_used = 4096, it.spawns_refused = 10,
                                      it.commands_dropped = 20, it.messages_dropped = 30, it.nearby_cut = 40,
                                      it.bands[MUSTER_BANDS - 1] = (muster_band){
                                          .agents = 4, .wanted_ns = 100, .agent_time_ns = 4000, .completed = 20});
  stress_figures figures = {.spawns_refused = 1, .commands_refused = 2};
  for (uint64_t i = 0; i < 100; i++) {
    bool late = i < 3;
    muster_frame_report report = WITH(
        muster_frame_report, it.wall_ns = 100 - i, it.longest_atom_ns = 1000,
        it.overrun_own_ns = late ? 1000 + MUSTER_PROMISE_GRACE_NS + 1 : 0, it.completed = 10,
        it.carried = i < 40 ? 3 : 0, it.preempted = i < 50, it.used_cpu_ns = i < 50 ? 36 : 24, it.given_cpu_ns = 40,
        it.overhead_ns = 20, it.serial_ns = 5, it.work_ns = 50, it.pressure = i == 7 ? 3.0f : 1.0f,
        it.important_load = i == 0 ? (float)INFINITY : 0.5f, it.spawns_waiting = (uint32_t)i, it.commands_waiting = 1);
    stress_add(&sums, &report, i < 2 || i > 90);
  }
  stress_sum_up(&sums, &statistics, &figures);
  cr_expect_eq(figures.frames, 100);
  cr_expect_eq(figures.kept, 97);
  cr_expect_eq(figures.excused, 2, "frames that kept the promise need no excuse");
  cr_expect_eq(figures.wall_p50_ns, 50);
  cr_expect_eq(figures.wall_p99_ns, 99);
  cr_expect_eq(figures.wall_max_ns, 100);
  cr_expect_gt(figures.overrun_own_p99_ns, 0);
  cr_expect_float_eq(figures.updates_per_frame, 10, 1e-9);
  cr_expect_float_eq(figures.carried_per_frame, 1.2, 1e-9);
  cr_expect_float_eq(figures.budget_used_share, 0.75, 1e-9);
  cr_expect_float_eq(figures.waiting_share, 0.5, 1e-9);
  cr_expect_float_eq(figures.waiting_used_share, 0.9, 1e-9);
  cr_expect_float_eq(figures.overhead_per_update_ns, 2, 1e-9);
  cr_expect_float_eq(figures.serial_share, 0.1, 1e-9);
  cr_expect_float_eq(figures.serial_per_frame_ns, 5, 1e-9);
  cr_expect_float_eq(figures.pressure, 1.02, 1e-9);
  cr_expect_float_eq(figures.pressure_max, 3, 1e-9);
  cr_expect(isfinite(figures.important_load));
  cr_expect_eq(figures.waiting, 100);
  cr_expect_eq(figures.bytes, 4096);
  cr_expect_eq(figures.spawns_refused, 11);
  cr_expect_eq(figures.commands_refused, 22);
  cr_expect_eq(figures.messages_dropped, 30);
  cr_expect_eq(figures.queries_cut, 40);
  cr_expect_eq(figures.important_agents, 4);
  cr_expect_float_eq(stress_stretch(&figures), 2, 1e-9);
}

Test(stress_sums, know_that_important_agents_that_never_ran_waited_all_the_time) {
  uint64_t wall_ns[1], overrun_own_ns[1];
  stress_sums sums = {.wall_ns = wall_ns, .overrun_own_ns = overrun_own_ns};
  muster_frame_report report = muster_frame_report_default();
  muster_statistics statistics = muster_statistics_default();
  stress_figures figures = {0};
  stress_add(&sums, &report, false);
  statistics.bands[MUSTER_BANDS - 1] = (muster_band){.agents = 4, .wanted_ns = 100, .agent_time_ns = 4000};
  stress_sum_up(&sums, &statistics, &figures);
  cr_expect_float_eq(stress_stretch(&figures), 10, 1e-9);
  statistics.bands[MUSTER_BANDS - 1] = (muster_band){0};
  figures = (stress_figures){0};
  stress_sum_up(&sums, &statistics, &figures);
  cr_expect_eq(stress_stretch(&figures), 0, "nothing is known");
}
