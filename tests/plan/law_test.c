/* The law of importance: what each period is at any load, which bands keep a bound, and what becomes of the exempt. The
 * periods are those of PAPERS' table, computed apart from this code. */
#include "plan/fit.h"
#include "plan/planning.h"

enum { BANDS = 5 };

static const double cost_s = 1e-6, shortest_s = 0.05, longest_s = 2.0;
static const double members[BANDS] = {150, 200, 350, 500, 50000};
static const double importance[BANDS] = {1.0, 0.75, 0.5, 0.25, 0.0};

static fit_kind bands[BANDS];

/* w = 2^(12 i), as an elasticity of 1 / w. */
static void make_kinds(void) {
  for (uint32_t i = 0; i < BANDS; i++)
    bands[i] = (fit_kind){.members = members[i],
                          .nominal = cost_s / shortest_s,
                          .minimum = cost_s / longest_s,
                          .elasticity = sqrt(exp2(-12.0 * importance[i]) / cost_s)};
}

static double wanted(void) {
  double sum = 0.0;
  for (uint32_t i = 0; i < BANDS; i++) sum += bands[i].members * bands[i].nominal;
  return sum;
}

static double period_s(const fit_kind *kind, double lambda) {
  return cost_s / fit_utilisation(FIT_SQUARE_ROOT, kind, lambda);
}

/* Above a load of a half the table has no upper bound on periods, and its periods never reach the law's bound. */
Test(law, gives_the_periods_of_the_table_at_every_load) {
  static const struct {
    double share, load, periods_ms[BANDS];
  } rows[] = {{0.05, 0.5, {50, 54, 152, 431, 1219}},       {0.03, 0.83, {50, 94, 265, 749, 2119}},
              {0.025, 1.0, {50, 115, 325, 919, 2599}},     {0.01, 2.5, {104, 295, 834, 2360, 6674}},
              {0.005, 5.0, {209, 590, 1668, 4719, 13348}}, {0.0025, 10.0, {417, 1180, 3337, 9438, 26695}}};
  for (size_t row = 0; row < COUNT_OF(rows); row++) {
    make_kinds();
    double desired = rows[row].share * wanted();
    fit_wishes wishes = fit_stretch_wishes(bands, BANDS, desired, 0.5);
    fit_result fit = fit_solve(FIT_SQUARE_ROOT, bands, BANDS, desired, 0);
    cr_assert_float_eq(wishes.load, rows[row].load, 0.01 * rows[row].load);
    cr_assert_float_eq(fit.fitted_sum, desired, 1e-9 * desired);
    for (uint32_t i = 0; i < BANDS; i++) {
      double period_ms = 1e3 * period_s(&bands[i], fit.lambda);
      cr_assert_float_eq(period_ms, rows[row].periods_ms[i], 0.5 + 0.001 * rows[row].periods_ms[i],
                         "share %g, importance %g: %g ms", rows[row].share, importance[i], period_ms);
    }
  }
}

/* Returns the load; *bound_s is the bound on the longest period, which is the same for all bands. */
static double least_and_bound(double share, double *bound_s) {
  make_kinds();
  fit_wishes wishes = fit_stretch_wishes(bands, BANDS, share * wanted(), 0.5);
  *bound_s = cost_s / bands[BANDS - 1].minimum;
  return wishes.load;
}

Test(law, keeps_the_wish_up_to_half_a_load_and_stretches_it_no_faster_than_the_load) {
  double bound_s, load;
  load = least_and_bound(0.1, &bound_s);
  cr_assert_float_eq(load, 0.25, 1e-12);
  cr_assert_float_eq(bound_s, longest_s, 1e-12);
  load = least_and_bound(0.05, &bound_s);
  cr_assert_float_eq(bound_s, longest_s, 1e-12);
  load = least_and_bound(0.0125, &bound_s);
  cr_assert_float_eq(load, 2.0, 1e-12);
  cr_assert_float_eq(bound_s, longest_s * 4.0, 1e-12);
}

/* Twice the load: no band becomes more than about twice as slow. */
Test(law, has_no_cliff) {
  double before[BANDS] = {0};
  for (double load = 0.1; load < 30.0; load *= 1.1) {
    make_kinds();
    double desired = 0.025 * wanted() / load;
    fit_stretch_wishes(bands, BANDS, desired, 0.5);
    double lambda = fit_solve(FIT_SQUARE_ROOT, bands, BANDS, desired, 0).lambda;
    cr_assert(isfinite(lambda), "load %g", load);
    for (uint32_t i = 0; i < BANDS; i++) {
      double period = period_s(&bands[i], lambda);
      if (before[i] > 0.0) cr_assert_leq(period, before[i] * 1.15, "load %g, importance %g", load, importance[i]);
      before[i] = period;
    }
  }
}

/* A hundred exempt agents want three times what there is. */
Test(law, leaves_half_to_the_others_when_the_exempt_want_more_than_there_is) {
  fit_kind kinds[2] = {{.members = 100, .nominal = 0.03, .minimum = 0.001},
                       {.members = 1000, .nominal = 0.01, .minimum = 0.0001, .elasticity = 3.0}};
  fit_wishes wishes = fit_stretch_wishes(kinds, 2, 1.0, 0.5);
  cr_assert_float_eq(wishes.held, 3.0, 1e-12);
  cr_assert_float_eq(wishes.held_rate, 1.0 / 6.0, 1e-12);
  fit_result fit = fit_solve(FIT_SQUARE_ROOT, kinds, 2, 1.0, 0);
  cr_assert_float_eq(100 * fit_utilisation(FIT_SQUARE_ROOT, &kinds[0], fit.lambda), 0.5, 1e-9);
  cr_assert_float_eq(1000 * fit_utilisation(FIT_SQUARE_ROOT, &kinds[1], fit.lambda), 0.5, 1e-9);
}

/* Exempt agents get half at most, also where wishes may take less than half. Where wishes may take more, the exempt get
 * what these leave. */
Test(law, leaves_the_exempt_half_at_most_whatever_wishes_may_take) {
  static const double parts[] = {0.1, 1.0 / 3.0, 0.5, 0.9}, held[] = {0.5, 0.5, 0.5, 0.1};
  for (size_t i = 0; i < COUNT_OF(parts); i++) {
    fit_kind kinds[2] = {{.members = 100, .nominal = 0.03, .minimum = 0.03},
                         {.members = 1000, .nominal = 0.01, .minimum = 0.005, .elasticity = 3.0}};
    fit_stretch_wishes(kinds, 2, 1.0, parts[i]);
    fit_result fit = fit_solve(FIT_SQUARE_ROOT, kinds, 2, 1.0, 0);
    cr_assert(isfinite(fit.lambda), "everybody fits at a part of %g", parts[i]);
    cr_assert_float_eq(100 * fit_utilisation(FIT_SQUARE_ROOT, &kinds[0], fit.lambda), held[i], 1e-9, "%g", parts[i]);
    cr_assert_float_eq(1000 * kinds[1].minimum, parts[i] * 5.0 / 8.0, 1e-9, "%g", parts[i]);
  }
}

/* A hard kind keeps its longest period for as long as half of the capacity is enough, and shrinks beyond. */
Test(law, keeps_hard_bounds_for_as_long_as_half_of_the_capacity_holds_them) {
  for (double desired = 0.4; desired > 0.01; desired *= 0.7) {
    fit_kind kinds[2] = {{.members = 100, .nominal = 0.01, .minimum = 0.0005, .elasticity = 1.0, .hard = true},
                         {.members = 1000, .nominal = 0.01, .minimum = 0.0005, .elasticity = 1.0}};
    fit_wishes wishes = fit_stretch_wishes(kinds, 2, desired, 0.5);
    double hard = 100 * 0.0005, expected = hard > desired / 2 ? desired / 2 : hard;
    double lambda = fit_solve(FIT_SQUARE_ROOT, kinds, 2, desired, 0).lambda;
    cr_assert_float_eq(wishes.held, hard / desired, 1e-9);
    cr_assert_geq(100 * fit_utilisation(FIT_SQUARE_ROOT, &kinds[0], lambda), expected * (1 - 1e-9), "%g", desired);
    cr_assert_gt(fit_utilisation(FIT_SQUARE_ROOT, &kinds[1], lambda), 0.0);
  }
}

Test(law, survives_no_capacity_and_nobody) {
  make_kinds();
  fit_wishes wishes = fit_stretch_wishes(bands, BANDS, 0.0, 0.5);
  cr_assert(isinf(wishes.load));
  for (uint32_t i = 0; i < BANDS; i++) cr_assert_eq(bands[i].minimum, 0.0);
  wishes = fit_stretch_wishes(NULL, 0, 0.0, 0.5);
  cr_assert_eq(wishes.load, 0.0);
  cr_assert_eq(wishes.held_rate, 1.0);
}
