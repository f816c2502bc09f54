#include "plan/controller.h"

#include <criterion/criterion.h>

enum { BUDGET_NS = 10000000 };

static struct controller controller;

/* A frame in which work waits and updates use a part of what is offered. */
static void learn(double used) {
  controller_learn(
      &controller,
      &(controller_sample){
          .offered_ns = 1e7, .used_ns = used * 1e7, .backlog_ns = 0, .budget_ns = BUDGET_NS, .waited = true});
}

static void begin(void) {
  controller_create(&controller, 1.0);
}

TestSuite(controller, .init = begin);

Test(controller, plans_what_is_offered_until_it_learns_better) {
  cr_assert_eq(controller_plan(&controller, 5e6, 0.0), 5e6);
  cr_assert_eq(controller_plan(&controller, -1.0, 0.0), 0.0, "planning alone takes longer than the budget");
  cr_assert_eq(controller_repay(&controller, BUDGET_NS), 0);
}

Test(controller, share_goes_to_what_is_used_without_passing_it) {
  double before = controller.share;
  for (int i = 0; i < 200; i++) {
    learn(0.9);
    cr_assert_leq(controller.share, before);
    cr_assert_geq(controller.share, 0.9);
    cr_assert_leq(before - controller.share, 0.02, "no frame moves it by more");
    before = controller.share;
  }
  cr_assert_lt(controller.share, 0.901);
}

Test(controller, a_large_error_that_lasts_is_met_in_a_few_frames_and_one_that_does_not_is_not) {
  for (int i = 0; i < 2; i++) learn(0.4);
  cr_assert_gt(controller.share, 0.95, "two frames may be noise");
  learn(1.0);
  for (int i = 0; i < 2; i++) learn(0.4);
  cr_assert_gt(controller.share, 0.9, "the third was of the other opinion");
  for (int i = 0; i < 7; i++) learn(0.4);
  cr_assert_lt(controller.share, 0.6);
  cr_assert_geq(controller.share, 0.4);
}

Test(controller, share_does_not_wind_up_while_nothing_waits_and_a_spike_hardly_moves_it) {
  controller_sample idle = {.offered_ns = 1e7, .used_ns = 1e5, .budget_ns = BUDGET_NS, .waited = false};
  controller_sample spike = {
      .offered_ns = 1e7, .used_ns = 1e5, .budget_ns = BUDGET_NS, .overrun_ns = BUDGET_NS, .waited = true};
  for (int i = 0; i < 1000; i++) controller_learn(&controller, &idle);
  cr_assert_eq(controller.share, 1.0);
  controller_learn(&controller, &spike);
  cr_assert_geq(controller.share, 0.98);
}

Test(controller, share_comes_back_when_nothing_waits_since_too_careful_a_plan_would_never_show) {
  controller_sample idle = {.offered_ns = 1e7, .used_ns = 4e6, .budget_ns = BUDGET_NS, .waited = false};
  for (int i = 0; i < 100; i++) learn(0.4);
  cr_assert_lt(controller.share, 0.45);
  for (int i = 0; i < 200; i++) {
    double before = controller.share;
    controller_learn(&controller, &idle);
    cr_assert_lt(controller.share - before, 0.0201, "no frame moves it by more");
  }
  cr_assert(controller.share > 0.98 && controller.share <= 1.0, "%g", controller.share);
}

Test(controller, share_stays_within_its_bounds_whatever_it_is_told) {
  for (int i = 0; i < 500; i++) learn(0.0);
  cr_assert_geq(controller.share, 1.0 / 64.0);
  for (int i = 0; i < 500; i++) learn(50.0);
  cr_assert_leq(controller.share, 1.25);
}

/* After so many frames with this backlog. */
static double planned_with_backlog(double backlog_ns, int frames) {
  begin();
  controller_sample sample = {.offered_ns = 1e7, .backlog_ns = backlog_ns, .budget_ns = BUDGET_NS};
  for (int i = 0; i < frames; i++) controller_learn(&controller, &sample);
  return controller_plan(&controller, 1e7, 0.0);
}

Test(controller, a_backlog_is_hardly_noticed_until_it_has_stood_for_long_and_then_takes_half_at_most) {
  cr_assert_eq(planned_with_backlog(0.5e7, 1000), 1e7, "half a frame's may wait");
  cr_assert_float_eq(planned_with_backlog(1e8, 1), 0.98e7, 1.0);
  cr_assert_float_eq(planned_with_backlog(1e8, 20), 0.98e7, 1.0);
  cr_assert_lt(planned_with_backlog(1e8, 1000), 0.8e7);
  cr_assert_eq(planned_with_backlog(1e9, 5000), 0.5e7);
  for (double backlog_ns = 0; backlog_ns < 2e8; backlog_ns += 1e6)
    cr_assert_leq(planned_with_backlog(backlog_ns + 1e6, 800), planned_with_backlog(backlog_ns, 800));
}

Test(controller, a_backlog_that_comes_and_goes_is_never_more_than_hardly_noticed) {
  for (int i = 0; i < 1000; i++) {
    controller_sample sample = {.offered_ns = 1e7, .backlog_ns = 1e7 * (40 - i % 41), .budget_ns = BUDGET_NS};
    controller_learn(&controller, &sample);
    cr_assert_geq(controller_plan(&controller, 1e7, 0.0), 0.93e7);
  }
}

Test(controller, debt_is_bounded_and_repaid_a_third_of_a_budget_at_a_time) {
  controller_learn(&controller, &(controller_sample){.overrun_ns = 190000000, .budget_ns = BUDGET_NS});
  cr_assert_eq(controller.debt_ns, BUDGET_NS, "one budget at most");
  uint64_t repaid_ns = 0, frames = 0;
  for (; controller.debt_ns; frames++) {
    uint64_t part_ns = controller_repay(&controller, BUDGET_NS);
    cr_assert_leq(part_ns, BUDGET_NS / 3 + 1);
    repaid_ns += part_ns;
  }
  cr_assert_eq(repaid_ns, BUDGET_NS);
  cr_assert_eq(frames, 4);
  controller_create(&controller, 0.0);
  controller_learn(&controller, &(controller_sample){.overrun_ns = 190000000, .budget_ns = BUDGET_NS});
  cr_assert_eq(controller.debt_ns, 0);
}

Test(controller, a_large_error_upwards_that_lasts_is_met_as_fast) {
  for (int i = 0; i < 100; i++) learn(0.4);
  for (int i = 0; i < 2; i++) learn(1.0);
  cr_assert_lt(controller.share, 0.5, "two frames may be noise");
  for (int i = 0; i < 6; i++) learn(1.0);
  cr_assert_gt(controller.share, 0.8);
}

static controller_sample lacking(double lacks_ns) {
  return (controller_sample){
      .offered_ns = 1e7, .used_ns = 6e6, .lacks_ns = lacks_ns, .budget_ns = BUDGET_NS, .waited = true};
}

Test(controller, releases_what_a_queue_lacks_at_once_but_no_more_than_half_a_frame) {
  cr_assert_eq(controller_standing(1e7), 0.5e7);
  cr_assert_eq(controller_plan(&controller, 1e7, 0.2e7), 1.2e7);
  cr_assert_eq(controller_plan(&controller, 1e7, 9e7), 1.5e7);
  cr_assert_eq(controller_plan(&controller, -1.0, 9e7), 0.0, "planning alone takes longer than the budget");
}

/* A frame whose releases come to a quarter of it, and whose updates take what is believed, needs the rest from the
 * queue; and what is missing there comes at once, though it is more than what is planned. */
Test(controller, keeps_a_queue_for_frames_in_which_updates_take_less_than_usual) {
  cr_assert_eq(controller_queue(&controller, 1e7), controller_standing(1e7));
  cr_assert_eq(controller_queue(&controller, -1.0), 0.0);
  controller.share = 0.25;
  cr_assert_eq(controller_queue(&controller, 1e7), 0.75e7);
  cr_assert_eq(controller_plan(&controller, 1e7, 0.4e7), 0.25e7 + 0.4e7);
  cr_assert_eq(controller_plan(&controller, 1e7, 9e7), 0.25e7 + 0.5e7);
}

Test(controller, share_rises_while_workers_run_dry_and_falls_when_they_do_not) {
  double before = controller.share;
  controller_sample some = lacking(0.3e7), much = lacking(9e7);
  controller_learn(&controller, &some);
  cr_assert_float_eq(controller.share - before, 0.3 / 64, 1e-9, "though little of the time was used: it was not there");
  before = controller.share;
  controller_learn(&controller, &much);
  cr_assert_float_eq(controller.share - before, 0.02, 1e-9, "no frame moves it by more");
  for (int i = 0; i < 1000; i++) controller_learn(&controller, &much);
  cr_assert_eq(controller.share, 1.25);
  controller_sample full = lacking(0.0);
  for (int i = 0; i < 200; i++) controller_learn(&controller, &full);
  cr_assert_lt(controller.share, 0.61);
}

Test(controller, share_does_not_rise_in_a_spike) {
  controller_sample spike = lacking(0.5e7);
  spike.overrun_ns = BUDGET_NS;
  double before = controller.share;
  for (int i = 0; i < 5; i++) controller_learn(&controller, &spike);
  cr_assert_eq(controller.share, before);
}
