#include "plan/little_costs.h"

static const cost_estimate *frame_of(little_costs *costs, uint32_t samples, uint64_t cost_ns) {
  for (uint32_t i = 0; i < samples; i++) learn(costs, (cost_known){.cost_ns = (double)cost_ns});
  costs_turn(&costs->table, 1);
  return estimate_of(costs);
}

Test(costs, one_update_that_takes_forty_thousand_times_as_long_hardly_moves_the_mean) {
  little_costs *costs = little_costs_begin(5000);
  for (int i = 0; i < 20; i++) frame_of(costs, 100, 5000);
  learn(costs, (cost_known){.cost_ns = 200000000});
  cr_assert_lt(estimate_of(costs)->mean_ns, 6000.0);
  cr_assert_lt(frame_of(costs, 100, 5000)->mean_ns, 6000.0);
}

Test(costs, a_hundredth_that_takes_a_hundred_times_as_long_is_counted_in_full) {
  little_costs *costs = little_costs_begin(1000);
  double mean_ns = 0;
  for (int frame = 0; frame < 400; frame++) {
    for (int i = 0; i < 5; i++) {
      for (int k = 0; k < 99; k++) learn(costs, (cost_known){.cost_ns = 1000});
      learn(costs, (cost_known){.cost_ns = 100000});
    }
    costs_turn(&costs->table, 1);
    if (frame >= 200) mean_ns += estimate_of(costs)->mean_ns / 200.0;
  }
  cr_assert_float_eq(mean_ns, 1990.0, 200.0, "%g", mean_ns);
}

Test(costs, a_step_is_followed_within_a_frame_or_fifty_samples_and_back) {
  static const uint32_t samples[] = {60, 1000};
  for (int i = 0; i < 2; i++) {
    little_costs *costs = little_costs_begin(10000);
    for (int frame = 0; frame < 50; frame++) frame_of(costs, samples[i], 10000);
    const cost_estimate *estimate = frame_of(costs, samples[i], 20000);
    cr_assert_float_eq(estimate->mean_ns, 20000.0, 1500.0);
    for (int frame = 0; frame < 50; frame++) frame_of(costs, samples[i], 20000);
    estimate = frame_of(costs, samples[i], 10000);
    cr_assert_float_eq(estimate->mean_ns, 10000.0, 1500.0);
  }
}

/* Agents that matter cost four times as much as the others, and run when their turn comes: a frame runs either these or
 * the others. */
Test(costs, what_goes_to_and_fro_with_whose_turn_it_is_is_averaged) {
  static const uint32_t samples[] = {100, 1000};
  for (int i = 0; i < 2; i++) {
    little_costs *costs = little_costs_begin(5000);
    double least_ns = INFINITY, most_ns = 0;
    for (uint32_t frame = 0; frame < 300; frame++) {
      double mean_ns = frame_of(costs, samples[i], frame % 3 ? 2000 : 8000)->mean_ns;
      if (frame < 60) continue;
      least_ns = fmin(least_ns, mean_ns);
      most_ns = fmax(most_ns, mean_ns);
    }
    cr_assert_lt(most_ns, 5600.0, "%g", most_ns);
    cr_assert_gt(least_ns, 2900.0, "%g", least_ns);
  }
}

/* Ten seconds after costs have stopped going to and fro, a step is followed again. */
Test(costs, a_step_is_followed_after_costs_went_to_and_fro) {
  little_costs *costs = little_costs_begin(5000);
  for (uint32_t frame = 0; frame < 90; frame++) frame_of(costs, 100, frame % 3 ? 2000 : 8000);
  for (uint32_t frame = 0; frame < 300; frame++) frame_of(costs, 100, 5000);
  const cost_estimate *estimate = frame_of(costs, 100, 10000);
  cr_assert_float_eq(estimate->mean_ns, 10000.0, 1000.0);
}

Test(costs, noise_is_averaged_over_frames_and_does_not_pass_for_change) {
  little_costs *costs = little_costs_begin(10000);
  double worst = 0;
  for (uint32_t frame = 0; frame < 300; frame++) {
    for (uint32_t i = 0; i < 1000; i++) /* uniform in 0 .. 20 us */
      learn(costs, (cost_known){.cost_ns = (double)(random_at(7, frame, i, 0) % 20000)});
    costs_turn(&costs->table, 1);
    double error = fabs(estimate_of(costs)->mean_ns / 10000.0 - 1.0);
    if (frame > 20 && error > worst) worst = error;
  }
  cr_assert_lt(worst, 0.06, "%g", worst);
}

Test(costs, tell_mean_high_percentile_and_variance) {
  little_costs *costs = little_costs_begin(10000);
  for (uint32_t i = 0; i < 20000; i++) learn(costs, (cost_known){.cost_ns = (double)(random_at(7, i, 0, 0) % 20000)});
  const cost_estimate *estimate = estimate_of(costs);
  cr_assert_float_eq(estimate->mean_ns, 10000.0, 2500.0, "%g", estimate->mean_ns);
  cr_assert_float_eq(estimate->high_ns, 19000.0, 1000.0);
  cr_assert_float_eq(sqrt(estimate->variance_ns2), 20000.0 / sqrt(12.0), 1200.0, "%g", sqrt(estimate->variance_ns2));
}

/* A compiler that warms up, a table that is loaded: 20 us are guessed, and true, but for the very first. */
Test(costs, a_first_update_that_takes_ten_thousand_times_as_long_says_little) {
  little_costs *costs = little_costs_begin(20000);
  learn(costs, (cost_known){.cost_ns = 200000000});
  const cost_estimate *estimate = estimate_of(costs);
  cr_assert_lt(estimate->mean_ns, 5 * 20000.0, "%g", estimate->mean_ns);
  cr_assert_lt(estimate->high_ns, 2 * 20000.0, "%g", estimate->high_ns);
  estimate = frame_of(costs, 100, 20000);
  cr_assert_float_eq(estimate->mean_ns, 20000.0, 2000.0, "%g", estimate->mean_ns);
}

Test(costs, what_a_model_says_is_so_from_the_first_on) {
  little_costs *costs = little_costs_begin(20000);
  learn(costs, (cost_known){.cost_ns = 200000000, .source = COST_MODELLED});
  cr_assert_eq(estimate_of(costs)->mean_ns, 200000000.0);
}

Test(costs, a_guess_that_is_far_off_is_corrected_within_a_hundred_samples) {
  static const uint64_t truths_ns[] = {100, 300000, 3000000};
  for (int i = 0; i < 3; i++) {
    little_costs *costs = little_costs_begin(20000);
    double mean_ns = frame_of(costs, 100, truths_ns[i])->mean_ns, truth_ns = (double)truths_ns[i];
    cr_assert(mean_ns > 0.8 * truth_ns && mean_ns < truth_ns + 300.0 + 0.2 * truth_ns, "%g for %g", mean_ns, truth_ns);
  }
}

Test(costs, without_a_guess_the_first_sample_is_it_and_one_of_nothing_is_none) {
  little_costs unknown = {.table = {.estimates = unknown.estimates, .actions = unknown.actions}};
  learn(&unknown, (cost_known){.cost_ns = 700});
  cr_assert_eq(estimate_of(&unknown)->mean_ns, 700.0);
  little_costs *costs = little_costs_begin(0);
  learn(costs, (cost_known){.cost_ns = 0});
  for (int i = 0; i < 10; i++) frame_of(costs, 100, 5000000);
  cr_assert_float_eq(estimate_of(costs)->mean_ns, 5000000.0, 250000.0);
}

/* The estimate hardly moves, compared with what three milliseconds in each frame would do to it. */
Test(costs, one_overrun_does_not_move_the_estimate_of_thousands) {
  little_costs *costs = little_costs_begin(1000);
  for (int frame = 0; frame < 100; frame++) {
    frame_of(costs, 4000, 1000);
    learn(costs, (cost_known){.cost_ns = 3000000, .source = COST_OVERRAN});
    cr_assert_lt(estimate_of(costs)->mean_ns, 1001.0, "frame %d", frame);
  }
}

Test(costs, overruns_that_are_no_exception_are_counted_in_full) {
  little_costs *costs = little_costs_begin(1000);
  frame_of(costs, 1000, 1000);
  for (int frame = 0; frame < 40; frame++) {
    for (int i = 0; i < 500; i++) learn(costs, (cost_known){.cost_ns = 1000000, .source = COST_OVERRAN});
    costs_turn(&costs->table, 1);
  }
  cr_assert_gt(estimate_of(costs)->mean_ns, 900000.0);
}

/* Every eighth update comes to its actions; what waits for them is released no more often than it comes to them. */
Test(costs, how_often_updates_come_to_their_actions_is_learnt) {
  little_costs *costs = little_costs_begin(5000);
  cr_assert_eq(costs->actions[0].per_update, 1.0, "nobody knows yet");
  for (int i = 0; i < 100; i++) {
    costs->actions[0].begun = 2;
    costs_learn_actions(&costs->actions[0], 16);
    cr_assert_eq(costs->actions[0].begun, 0);
  }
  cr_assert_float_eq(costs->actions[0].per_update, 0.125, 1e-6);
  for (int i = 0; i < 100; i++) costs_learn_actions(&costs->actions[0], 0);
  cr_assert_float_eq(costs->actions[0].per_update, 0.125, 1e-6, "frames without updates say nothing");
}

Test(costs, each_type_has_a_window_of_its_own) {
  enum { TYPES = 3, SAMPLES = 100 };
  static cost_estimate estimates[TYPES][MUSTER_LEVELS];
  static cost_actions actions[TYPES];
  cost_table table = {.estimates = estimates, .actions = actions};
  for (uint32_t type = 0; type < TYPES; type++) costs_guess(&table, type, 5000);
  for (uint32_t type = 0; type < TYPES; type++)
    for (uint32_t i = 0; i < SAMPLES * type; i++) costs_add(&table, type, 0, &(cost_known){.cost_ns = 5000});
  costs_turn(&table, TYPES);
  for (uint32_t type = 1; type < TYPES; type++)
    cr_assert_gt(estimates[type][0].window, estimates[type - 1][0].window, "type %u", type);
}
