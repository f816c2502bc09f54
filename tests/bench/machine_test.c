/* bench/machine: what made-up readings of the clocks come to. */
#include "machine.h"

#include <criterion/criterion.h>

enum { US = 1000 };

static machine_report report;

/* A thread that begins a frame of a millisecond at second 1, when its own CPU clock stands at 5,000 ns. */
static machine_watch begun(void) {
  machine_watch begins = {0};
  cr_assert(machine_watch_begin(&begins, 1001000000, 1000000000, 5000));
  return begins;
}

static machine_watch watch;

static void begin(void) {
  watch = begun();
}

TestSuite(bench_machine, .init = begin);

/* Both clocks go on by so much. */
static bool step(machine_watch *of, uint64_t wall_ns, uint64_t own_ns) {
  return machine_watch_step(of, of->mark_ns + wall_ns, of->mark_cpu_ns + own_ns);
}

static machine_watch late_by(uint64_t own_ns, uint64_t wall_ns) {
  return (machine_watch){.late_own_ns = own_ns, .late_wall_ns = wall_ns};
}

Test(bench_machine, a_frame_goes_on_until_its_deadline_and_is_late_by_what_lies_behind_it) {
  cr_assert(step(&watch, 400 * US, 400 * US));
  cr_assert(step(&watch, 599 * US, 1 * US));
  cr_assert(step(&watch, 1 * US - 1, 1 * US - 1), "the deadline is a nanosecond away");
  cr_assert_not(step(&watch, 81 * US + 1, 90 * US));
  cr_assert_eq(watch.late_wall_ns, 81 * US);
  cr_assert_eq(watch.late_own_ns, 81 * US, "not more than what lies behind the deadline");
}

Test(bench_machine, what_the_thread_did_not_run_is_not_its_own) {
  cr_assert(step(&watch, 999 * US, 2 * US));
  cr_assert_not(step(&watch, 301 * US, 30 * US));
  cr_assert_eq(watch.late_wall_ns, 300 * US);
  cr_assert_eq(watch.late_own_ns, 32 * US);
}

Test(bench_machine, cpu_time_that_the_step_before_took_in_counts_and_older_does_not) {
  cr_assert(step(&watch, 998 * US, 50 * US));
  cr_assert(step(&watch, 1 * US, 70 * US), "taken between the readings: on the wall it is in the next step");
  cr_assert_not(step(&watch, 101 * US, 1 * US));
  cr_assert_eq(watch.late_wall_ns, 100 * US);
  cr_assert_eq(watch.late_own_ns, 71 * US);
}

Test(bench_machine, who_ends_at_the_deadline_is_not_late) {
  cr_assert_not(step(&watch, 1000 * US, 1000 * US));
  cr_assert_eq(watch.late_wall_ns, 0);
  cr_assert_eq(watch.late_own_ns, 0);
}

Test(bench_machine, who_wakes_after_the_deadline_has_missed_the_frame_and_not_the_next) {
  cr_assert_not(step(&watch, 2000 * US, 2000 * US));
  cr_assert_not(machine_watch_begin(&watch, 1100000000, 1100000000, 9000));
  cr_assert_eq(watch.late_own_ns, 0, "what was late in the frame before is forgotten");
  machine_add_frame(&report, &watch, 1);
  cr_assert_eq(report.missed, 1);
  cr_assert(machine_watch_begin(&watch, 1200000000, 1199000000, 9000));
  machine_add_frame(&report, &watch, 1);
  cr_assert_eq(report.missed, 1);
  cr_assert_eq(report.frames, 2);
}

Test(bench_machine, stalls_are_steps_longer_than_20_us_each_by_its_own_clock) {
  machine_watch watches[2] = {begun(), begun()};
  step(&watches[0], 20 * US, 20 * US);
  step(&watches[0], 20 * US + 1, 20 * US);
  step(&watches[0], 160 * US - 1, 59 * US);
  step(&watches[1], 300 * US, 21 * US);
  machine_add_watch(&report, &watches[0]);
  machine_add_watch(&report, &watches[1]);
  cr_assert_eq(report.steps, 4);
  cr_assert_eq(report.watched_ns, 500 * US);
  cr_assert_eq(report.wall.count, 3);
  cr_assert_eq(report.wall.total_ns, 480 * US);
  cr_assert_eq(report.wall.longest_ns, 300 * US);
  cr_assert_eq(report.own.count, 2);
  cr_assert_eq(report.own.total_ns, 80 * US);
  cr_assert_eq(report.own.longest_ns, 59 * US);
  cr_assert_float_eq(machine_stalls_per_second(&report, &report.own), 4000, 1e-6);
  cr_assert_float_eq(machine_stalled_share(&report, &report.own), 0.16, 1e-9);
  cr_assert_float_eq(machine_stalled_share(&report, &report.wall), 0.96, 1e-9);
}

Test(bench_machine, a_frame_is_as_late_as_the_latest_of_its_threads) {
  static const uint64_t within[MACHINE_LIMITS] = {
      [MACHINE_GRACE] = 1, [MACHINE_50_US] = 2, [MACHINE_GRACE_AND_CLAIM] = 3, [MACHINE_100_US] = 4};
  machine_watch frames[5][2] = {{late_by(1, 20 * US), late_by(20 * US, 1)},
                                {late_by(0, 0), late_by(20 * US + 1, 50 * US)},
                                {late_by(70 * US, 70 * US), late_by(3 * US, 200 * US)},
                                {late_by(100 * US, 400 * US), late_by(100 * US, 300 * US)},
                                {late_by(100 * US + 1, 100 * US + 1), late_by(0, 0)}};
  for (uint32_t i = 0; i < 5; i++) machine_add_frame(&report, frames[i], 2);
  cr_assert_eq(report.frames, 5);
  for (uint32_t i = 0; i < MACHINE_LIMITS; i++) {
    cr_assert_eq(report.own_late.within[i], within[i], "limit %u: %u", i, (unsigned)report.own_late.within[i]);
    cr_assert_eq(report.wall_late.within[i], i == MACHINE_GRACE ? 1 : 2);
  }
  cr_assert_eq(report.own_late.latest_ns, 100 * US + 1);
  cr_assert_eq(report.wall_late.latest_ns, 400 * US);
  cr_assert_float_eq(machine_share(&report, report.own_late.within[MACHINE_100_US]), 0.8, 1e-9);
}

Test(bench_machine, an_audit_allows_as_much_more_as_the_longest_step_before_the_deadline) {
  machine_watch watches[2] = {begun(), begun()};
  step(&watches[0], 900 * US, 30 * US);
  step(&watches[0], 110 * US, 200 * US);
  step(&watches[1], 900 * US, 20 * US);
  step(&watches[1], 150 * US, 30 * US);
  machine_add_frame(&report, watches, 2);
  cr_assert_eq(watches[1].late_own_ns, 50 * US);
  cr_assert_eq(report.as_audited, 1, "50 us late and 20 + 30 allowed; the step that crosses allows nothing");
  machine_watch_begin(&watches[1], 1001000000, 1000000000, 5000);
  step(&watches[1], 900 * US, 20 * US);
  step(&watches[1], 150 * US + 1, 30 * US + 1);
  machine_add_frame(&report, watches, 2);
  cr_assert_eq(report.as_audited, 1, "a nanosecond too late");
  machine_watch_begin(&watches[0], 1001000000, 1000000000, 5000);
  step(&watches[0], 900 * US, 60 * US);
  machine_watch_begin(&watches[0], 1001000000, 1000000000, 5000);
  step(&watches[0], 999 * US, 10 * US);
  machine_add_frame(&report, watches, 2);
  cr_assert_eq(report.as_audited, 1, "the longest step of the frame before allows nothing");
  cr_assert_eq(report.frames, 3);
}

Test(bench_machine, nothing_measured_is_a_share_of_nothing) {
  cr_assert_eq(machine_share(&report, 0), 0);
  cr_assert_eq(machine_stalls_per_second(&report, &report.own), 0);
  cr_assert_eq(machine_stalled_share(&report, &report.own), 0);
}

static void count_frame(void *user, uint64_t frame) {
  uint64_t *count = user;
  cr_assert_eq(frame, (*count)++, "frames come in order");
}

Test(bench_machine, every_frame_is_waited_for_and_all_threads_are_heard) {
  uint64_t waited = 0;
  machine_setup setup = {.workers = 3, .frames = 20, .budget_ns = 200 * US, .wait = count_frame, .user = &waited};
  cr_assert_null(machine_measure(&setup, &report));
  cr_assert_eq(waited, 20);
  cr_assert_eq(report.frames, 20);
  cr_assert_leq(report.missed, 60);
  cr_assert_geq(report.steps + report.missed, 60, "a thread takes a step in each frame, or has missed it");
  for (uint32_t i = 0; i < MACHINE_LIMITS; i++)
    cr_assert_leq(report.wall_late.within[i], report.own_late.within[i], "own lateness is the smaller");
}
