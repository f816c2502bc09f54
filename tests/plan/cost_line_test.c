/* Costs that grow with elapsed time, and others that do not: what shows a line, and what must not. */
#include "plan/little_costs.h"

enum { FRAMES = 2000, SAMPLES = 40 };

static double uniform(uint32_t purpose, uint32_t frame, uint32_t sample) {
  return ((double)(random_at(11, frame, sample, purpose) >> 12) + 0.5) * 0x1p-52;
}

/* Log-normal with mean 1. */
static double noise(double sigma, uint32_t frame, uint32_t sample) {
  double u = uniform(1, frame, sample), v = uniform(2, frame, sample);
  return exp(sigma * sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v) - sigma * sigma / 2.0);
}

/* Updates that come up to `apart` of a usual second sooner or later, and take `fixed_ns` and `second_ns` more for each
 * second. */
static void line_frames(little_costs *costs, uint32_t frames, double fixed_ns, double second_ns, double sigma,
                        double apart) {
  for (uint32_t frame = 0; frame < frames; frame++) {
    for (uint32_t i = 0; i < SAMPLES; i++) {
      double elapsed_s = 1.0 + apart * (2.0 * uniform(3, frame, i) - 1.0);
      cost_known update = {.cost_ns = (fixed_ns + second_ns * elapsed_s) * noise(sigma, frame, i),
                           .elapsed_ns = (uint64_t)(elapsed_s * 1e9),
                           .usual_elapsed_ns = 1e9f};
      learn(costs, update);
    }
    costs_turn(&costs->table, 1);
  }
}

static void expect_line(const little_costs *costs, double fixed_ns, double second_ns, double tolerance) {
  const cost_estimate *estimate = estimate_of(costs);
  cr_expect_float_eq(costs_fixed_ns(estimate), fixed_ns, tolerance * fixed_ns, "a %g", costs_fixed_ns(estimate));
  cr_expect_float_eq(costs_slope(estimate) * 1e9, second_ns, tolerance * second_ns, "b %g",
                     costs_slope(estimate) * 1e9);
  cr_expect(estimate_is_possible(estimate));
}

Test(cost_line, is_found_within_some_frames) {
  little_costs *costs = little_costs_begin(20000);
  line_frames(costs, 20, 10000.0, 50000.0, 0.0, 0.1);
  expect_line(costs, 10000.0, 50000.0, 0.05);
  float part = costs_part(estimate_of(costs), 0, 3000000000u);
  uint32_t predicted_ns = costs_whole_ns((double)((float)estimate_of(costs)->predicted_ns * part));
  cr_expect_float_eq(predicted_ns, 160000.0, 2000.0, "%u", predicted_ns);
}

Test(cost_line, is_found_in_noise) {
  little_costs *costs = little_costs_begin(20000);
  line_frames(costs, FRAMES, 10000.0, 50000.0, 0.5, 0.3);
  expect_line(costs, 10000.0, 50000.0, 0.25);
}

Test(cost_line, is_forgotten_when_costs_do_not_grow_any_more) {
  little_costs *costs = little_costs_begin(20000);
  line_frames(costs, 100, 10000.0, 50000.0, 0.0, 0.1);
  cr_assert_gt(estimate_of(costs)->slope, 0.0f);
  line_frames(costs, FRAMES, 60000.0, 0.0, 0.0, 0.1);
  cr_expect_eq(estimate_of(costs)->slope, 0.0f, "%g", (double)estimate_of(costs)->slope);
}

Test(cost_line, is_not_seen_in_costs_that_do_not_grow) {
  static const double sigmas[] = {0.0, 0.1, 0.5, 1.3};
  for (uint32_t i = 0; i < COUNT_OF(sigmas); i++) {
    little_costs *costs = little_costs_begin(20000);
    for (uint32_t part = 0; part < FRAMES / 10; part++) {
      line_frames(costs, 10, 20000.0, 0.0, sigmas[i], 0.5);
      cr_assert_eq(estimate_of(costs)->slope, 0.0f, "sigma %g", sigmas[i]);
    }
  }
}

Test(cost_line, is_not_seen_where_no_update_comes_at_another_time_than_others) {
  little_costs *costs = little_costs_begin(20000);
  line_frames(costs, FRAMES, 10000.0, 50000.0, 0.3, 0.0);
  cr_expect_eq(estimate_of(costs)->slope, 0.0f);
}

Test(cost_line, is_not_seen_in_one_late_update_that_was_long) {
  little_costs *costs = little_costs_begin(20000);
  line_frames(costs, 10, 20000.0, 0.0, 0.05, 0.01);
  cost_known late = {.cost_ns = 2e7, .elapsed_ns = 20000000000u, .usual_elapsed_ns = 1e9f};
  learn(costs, late);
  for (uint32_t i = 0; i < 50; i++) {
    line_frames(costs, 1, 20000.0, 0.0, 0.05, 0.01);
    cr_assert_eq(estimate_of(costs)->slope, 0.0f);
  }
}

/* Agents that usually run after another time cost something else: that is about them. */
Test(cost_line, is_not_seen_in_agents_that_differ) {
  little_costs *costs = little_costs_begin(20000);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    for (uint32_t i = 0; i < SAMPLES; i++) {
      double usual_s = i % 2 ? 4.0 : 1.0, elapsed_s = usual_s * (0.9 + 0.2 * uniform(3, frame, i));
      cost_known update = {.cost_ns = 10000.0 * usual_s,
                           .elapsed_ns = (uint64_t)(elapsed_s * 1e9),
                           .usual_elapsed_ns = (float)(usual_s * 1e9)};
      learn(costs, update);
    }
    costs_turn(&costs->table, 1);
    cr_assert_eq(estimate_of(costs)->slope, 0.0f);
  }
}

Test(cost_line, follows_when_all_costs_are_scaled) {
  little_costs *costs = little_costs_begin(20000);
  line_frames(costs, 100, 10000.0, 50000.0, 0.0, 0.1);
  costs_scale(&costs->table, 1, 0.5);
  expect_line(costs, 5000.0, 25000.0, 0.05);
}
