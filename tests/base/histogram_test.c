/* Quantiles against sorted arrays. */
#include "base/histogram.h"
#include "base/random.h"
#include "support/with.h"

#include <criterion/criterion.h>
#include <math.h>

enum { VALUES_MAX = 5000 };

/* The smallest value that `share` of the sorted values do not exceed. */
static uint64_t exact_quantile(const uint64_t *sorted, uint32_t count, double share) {
  uint32_t rank = (uint32_t)ceil(share * (double)count);
  return sorted[rank > 0 ? rank - 1 : 0];
}

static void check_quantiles(const struct histogram *histogram, uint64_t *values, uint32_t count) {
  static const double shares[] = {0.0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0};
  qsort(values, count, sizeof *values, compare_numbers);
  for (uint32_t i = 0; i < COUNT_OF(shares); i++) {
    uint64_t exact = exact_quantile(values, count, shares[i]), told = histogram_quantile(histogram, shares[i]);
    cr_assert_geq(told, exact, "share %g of %u values: %lu, exactly %lu", shares[i], count, told, exact);
    cr_assert_leq(told - exact, exact / 32, "share %g of %u values: %lu, exactly %lu", shares[i], count, told, exact);
    cr_assert_leq(told, values[count - 1]);
  }
  cr_assert_eq(histogram_quantile(histogram, 1.0), values[count - 1]);
  cr_assert_eq(histogram->maximum, values[count - 1]);
  cr_assert_eq(histogram->total, count);
}

/* A random value of any magnitude from one bit to sixty-four. */
static uint64_t any_magnitude(uint64_t run, uint64_t i) {
  return random_at(1, run, i, 0) >> (random_at(1, run, i, 1) % 64);
}

Test(histogram, quantiles_of_any_magnitude_lie_within_a_32nd_above_those_of_the_sorted_values) {
  static uint64_t values[VALUES_MAX];
  for (uint32_t run = 0; run < 200; run++) {
    struct histogram histogram = {0};
    uint32_t count = 1 + (uint32_t)(random_at(2, run, 0, 0) % (run < 100 ? 20 : VALUES_MAX));
    for (uint32_t i = 0; i < count; i++) histogram_add(&histogram, values[i] = any_magnitude(run, i));
    check_quantiles(&histogram, values, count);
  }
}

Test(histogram, quantiles_of_a_narrow_range_lie_within_a_32nd_too) {
  static uint64_t values[VALUES_MAX];
  for (uint32_t run = 0; run < 50; run++) {
    struct histogram histogram = {0};
    for (uint32_t i = 0; i < VALUES_MAX; i++)
      histogram_add(&histogram, values[i] = 1000000 + random_at(3, run, i, 0) % 100000);
    check_quantiles(&histogram, values, VALUES_MAX);
  }
}

Test(histogram, tells_values_below_64_exactly) {
  for (uint64_t value = 0; value < 64; value++) {
    struct histogram histogram = {0};
    histogram_add(&histogram, value);
    histogram_add(&histogram, UINT64_MAX);
    cr_assert_eq(histogram_quantile(&histogram, 0.5), value);
  }
}

Test(histogram, holds_values_on_both_sides_of_every_power_of_two) {
  for (uint32_t octave = 1; octave < 64; octave++)
    for (uint64_t value = (1ull << octave) - 1; value <= (1ull << octave) + 1; value++) {
      struct histogram histogram = {0};
      histogram_add(&histogram, value);
      histogram_add(&histogram, UINT64_MAX);
      uint64_t told = histogram_quantile(&histogram, 0.5);
      cr_assert(told >= value && told - value <= value / 32, "%lu is told as %lu", value, told);
    }
}

Test(histogram, holds_the_smallest_and_the_largest_value) {
  struct histogram histogram = {0};
  histogram_add(&histogram, 0);
  cr_assert_eq(histogram_quantile(&histogram, 1.0), 0);
  histogram_add(&histogram, UINT64_MAX);
  cr_assert_eq(histogram_quantile(&histogram, 0.5), 0);
  cr_assert_eq(histogram_quantile(&histogram, 1.0), UINT64_MAX);
}

Test(histogram, is_zero_while_nothing_was_counted) {
  struct histogram histogram = {0};
  cr_assert_eq(histogram_quantile(&histogram, 0.0), 0);
  cr_assert_eq(histogram_quantile(&histogram, 0.5), 0);
  cr_assert_eq(histogram_quantile(&histogram, 1.0), 0);
}

Test(histogram, a_larger_share_never_has_a_smaller_value) {
  struct histogram histogram = {0};
  for (uint32_t i = 0; i < 1000; i++) histogram_add(&histogram, any_magnitude(4, i));
  uint64_t last = 0;
  for (uint32_t share = 0; share <= 1000; share++) {
    uint64_t value = histogram_quantile(&histogram, share / 1000.0);
    cr_assert_geq(value, last);
    last = value;
  }
}
