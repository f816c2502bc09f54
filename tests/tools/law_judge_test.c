/* What `muster bench law` makes of what it saw: quantiles near a bound, and which promise is missed. */
#include "bench_law_report.h"
#include "bench_law_tally.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Every agent runs exactly as the law says. */
static law_row lawful(void) {
  law_row row = {.world = "wildlife", .own_p99_most = law_own_p99_most, .load = 6, .seed = 3};
  row.cell = (law_cell){.own_p50 = 1, .own_p99 = 1, .wait_s = 1, .wait_bound_s = 2};
  row.cell.important = (load_band){.agents = 100, .runs = 1e6, .interval_s = 1, .period_s = 1};
  for (uint32_t i = 0; i < MUSTER_BANDS; i++) {
    double period_s = 10.0 / (i + 1);
    row.cell.stays[i] = (law_stay){.agents = 100,
                                   .p99_s = 0.99 * period_s,
                                   .lawful_p99_s = 0.99 * period_s,
                                   .runs = 1e6,
                                   .interval_s = period_s,
                                   .period_s = period_s};
  }
  return row;
}

Test(law_judge, misses_nothing_where_all_run_as_the_law_says) {
  law_row row = lawful();
  cr_expect_eq(law_misses(&row), 0);
}

Test(law_judge, holds_each_promise_up_to_its_bound) {
  law_row row = lawful();
  row.cell.own_p50 = 1.2;
  row.cell.own_p99 = 1.6;
  row.cell.important.interval_s = 1.15;
  row.cell.stays[2].p99_s = law_age_allowed_s(&row.cell.stays[2]);
  cr_expect_float_eq(row.cell.stays[2].p99_s, 1.5 * row.cell.stays[2].lawful_p99_s + 2.0 / 30, 1e-6);
  cr_expect_eq(law_misses(&row), 0);
  row.cell.own_p50 = 1.21;
  cr_expect_eq(law_misses(&row), LAW_MISS_OWN_P50);
  row.cell.own_p99 = 1.61;
  cr_expect_eq(law_misses(&row), LAW_MISS_OWN_P50 | LAW_MISS_OWN_P99);
  row = lawful();
  row.cell.important.interval_s = 1.151;
  cr_expect_eq(law_misses(&row), LAW_MISS_INTERVAL);
  row.cell.stays[4].p99_s = law_age_allowed_s(&row.cell.stays[4]) + 0.01;
  cr_expect_eq(law_misses(&row), LAW_MISS_INTERVAL | LAW_MISS_AGE);
  row = lawful();
  row.cell.waits_beyond = 1;
  cr_expect_eq(law_misses(&row), LAW_MISS_WAIT);
  row.cell.waits_beyond = 0;
  row.cell.idle_frames = 1;
  cr_expect_eq(law_misses(&row), LAW_MISS_IDLE);
  row.cell.idle_frames = 0;
  row.cell.idle_windows = 1;
  cr_expect_eq(law_misses(&row), LAW_MISS_IDLE);
}

Test(law_judge, misses_what_is_not_known_of_the_important) {
  law_row row = lawful();
  row.cell.own_p50 = row.cell.own_p99 = row.cell.important.interval_s = (double)NAN;
  cr_expect_eq(law_misses(&row), LAW_MISS_OWN_P50 | LAW_MISS_OWN_P99 | LAW_MISS_INTERVAL);
}

Test(law_judge, sees_a_band_that_runs_less_often_than_one_that_matters_less) {
  law_row row = lawful();
  row.cell.stays[3].interval_s = 1.03 * row.cell.stays[2].interval_s;
  cr_expect_eq(law_misses(&row), LAW_MISS_ORDER);
  row.cell.stays[3].interval_s = 1.01 * row.cell.stays[2].interval_s;
  cr_expect_eq(law_misses(&row), 0);
}

/* Of a hundred intervals the mean is known to within a tenth. */
Test(law_judge, takes_no_noise_for_an_order) {
  law_row row = lawful();
  row.cell.stays[2].runs = row.cell.stays[3].runs = 100;
  row.cell.stays[3].interval_s = 1.3 * row.cell.stays[2].interval_s;
  row.cell.stays[4].interval_s = fmin(row.cell.stays[4].interval_s, row.cell.stays[3].interval_s);
  cr_expect_eq(law_misses(&row), 0);
  row.cell.stays[3].interval_s = 1.5 * row.cell.stays[2].interval_s;
  cr_expect_eq(law_misses(&row), LAW_MISS_ORDER);
}

/* No agent ran in one band: the bands on both sides of it are compared. */
Test(law_judge, passes_over_a_band_in_which_nobody_ran) {
  law_row row = lawful();
  row.cell.stays[2] = (law_stay){.p99_s = (double)NAN, .interval_s = (double)NAN};
  cr_expect_eq(law_misses(&row), 0);
  row.cell.stays[3].interval_s = 1.03 * row.cell.stays[1].interval_s;
  cr_expect_eq(law_misses(&row), LAW_MISS_ORDER);
}

/* A type with long periods matters more: then the more important band has the longer period, and no more than that. */
Test(law_judge, lets_a_band_run_as_seldom_as_the_law_says) {
  law_row row = lawful();
  row.cell.stays[1].period_s = row.cell.stays[1].interval_s = 1.3 * row.cell.stays[0].period_s;
  cr_expect_eq(law_misses(&row), 0);
  row.cell.stays[1].interval_s *= 1.03;
  cr_expect_eq(law_misses(&row), LAW_MISS_ORDER);
}

Test(law_judge, names_the_row_and_what_it_misses) {
  char text[160];
  law_row row = lawful();
  row.cell.own_p99 = 9;
  row.cell.waits_beyond = 1;
  law_name_misses(&row, text, sizeof text);
  cr_expect_str_eq(text, "wildlife at load 6, seed 3: p99, wait");
}

Test(law_judge, counts_values_to_within_half_a_step) {
  law_tally *tally = calloc(1, sizeof *tally);
  tally->width = 0.25;
  cr_expect(isnan(law_tally_quantile(tally, 0.5)));
  for (uint32_t i = 1; i <= 100; i++) law_tally_add(tally, i);
  cr_expect_eq(law_tally_quantile(tally, 0.5), 50);
  cr_expect_eq(law_tally_quantile(tally, 0.99), 99);
  cr_expect_eq(law_tally_quantile(tally, 1), 100);
  law_tally_add(tally, 1e9);
  cr_expect_eq(law_tally_quantile(tally, 1), (LAW_TALLY_STEPS - 1) * 0.25);
  free(tally);
}

/* With one period all ages up to it are equally frequent; with two, only agents of the long period are old. */
Test(law_judge, knows_the_ages_that_periods_bring) {
  law_periods *periods = calloc(1, sizeof *periods);
  cr_expect(isnan(law_periods_age(periods, 0.5)));
  for (uint32_t i = 0; i < 100; i++) law_periods_add(periods, 2.0);
  cr_expect_float_eq(law_periods_age(periods, 0.5), 1.0, 0.01);
  cr_expect_float_eq(law_periods_age(periods, 0.99), 1.98, 0.02);
  for (uint32_t i = 0; i < 100; i++) law_periods_add(periods, 0.1);
  cr_expect_float_eq(law_periods_age(periods, 0.75), 1.0, 0.01);
  free(periods);
}
