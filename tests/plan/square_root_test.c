/* The square-root rule against bisection on the papers' own terms, and against what makes it the optimum: no exchange
 * of budget between two agents lowers the weighted staleness. */
#include "plan/fit.h"
#include "plan/planning.h"

enum { AGENTS_MAX = 40, CASES = 50000 };

typedef struct test_agent {
  double cost, nominal, longest, elasticity; /* C_i, T_io, T_imax, e_i */
} test_agent;

typedef struct test_case {
  test_agent agents[AGENTS_MAX];
  fit_kind kinds[AGENTS_MAX];
  uint32_t count;
  double nominal_sum, minimum_sum, desired;
} test_case;

/* Spread over orders of magnitude. */
static double draw_wide(struct dice *dice, double low, double high) {
  return low * pow(high / low, draw(dice, 0, 1));
}

static test_agent draw_agent(struct dice *dice) {
  double nominal = draw_wide(dice, 1e-3, 10);
  return (test_agent){.cost = draw(dice, 0, 1) < 0.05 ? 0 : draw_wide(dice, 1e-7, 1e-3),
                      .nominal = nominal,
                      .longest = nominal * (draw(dice, 0, 1) < 0.1 ? 1 : draw_wide(dice, 1, 1000)),
                      .elasticity = draw(dice, 0, 1) < 0.1 ? 0 : draw_wide(dice, 1e-3, 1e3)};
}

static fit_kind kind_of(const test_agent *agent) {
  return (fit_kind){.members = 1,
                    .nominal = agent->cost / agent->nominal,
                    .minimum = agent->cost / agent->longest,
                    .elasticity = agent->cost > 0 ? sqrt(agent->elasticity / agent->cost) : 0};
}

/* One in ten is underloaded, one in ten has less than everything at its longest takes. */
static void draw_case(test_case *test, struct dice *dice) {
  *test = (test_case){.count = 1 + (uint32_t)draw(dice, 0, AGENTS_MAX - 1e-3)};
  for (uint32_t i = 0; i < test->count; i++) {
    test_agent *agent = &test->agents[i];
    *agent = draw_agent(dice);
    test->kinds[i] = kind_of(agent);
    test->nominal_sum += agent->cost / agent->nominal;
    test->minimum_sum += agent->cost / (agent->elasticity > 0 ? agent->longest : agent->nominal);
  }
  test->desired = test->minimum_sum + (test->nominal_sum - test->minimum_sum) * draw(dice, -0.1, 1.1);
  if (test->desired < 0) test->desired = 0;
  if (draw(dice, 0, 1) < 0.02) test->desired = INFINITY;
}

/* ---------------------------------------------------------------------------------------------------- the reference */

static double reference_period(const test_agent *agent, double mu) {
  if (agent->elasticity <= 0 || agent->cost <= 0) return agent->nominal;
  return fmin(fmax(mu * sqrt(agent->cost * agent->elasticity), agent->nominal), agent->longest);
}

static double reference_sum(const test_case *test, double mu) {
  double sum = 0;
  for (uint32_t i = 0; i < test->count; i++) sum += test->agents[i].cost / reference_period(&test->agents[i], mu);
  return sum;
}

static double reference_mu(const test_case *test) {
  double low = 1e-12, high = 1e15;
  for (int i = 0; i < 120; i++) {
    double middle = sqrt(low * high);
    if (reference_sum(test, middle) > test->desired)
      low = middle;
    else
      high = middle;
  }
  return high;
}

static double period_of(const test_case *test, uint32_t i, double lambda) {
  return test->agents[i].nominal / fit_rate(FIT_SQUARE_ROOT, &test->kinds[i], lambda);
}

static void expect_case(const test_case *test, uint32_t run, const fit_result *fit) {
  double mu = reference_mu(test);
  for (uint32_t i = 0; i < test->count; i++) {
    double period = period_of(test, i, fit->lambda), expected = reference_period(&test->agents[i], mu);
    cr_assert(fabs(period / expected - 1) < 1e-9, "case %u agent %u: period %.12g, by bisection %.12g", run, i, period,
              expected);
  }
  double fitted = fmin(fmax(test->desired, test->minimum_sum), test->nominal_sum);
  cr_assert(fabs(fit->fitted_sum - fitted) <= 1e-12 * fitted, "case %u: %.15g fitted of %.15g", run, fit->fitted_sum,
            fitted);
  bool under = test->desired >= test->nominal_sum, over = test->desired < test->minimum_sum;
  cr_assert(under  ? fit->pressure == 0
            : over ? fit->pressure > 1
                   : fit->pressure > 0 && fit->pressure <= 1,
            "case %u: pressure %g", run, fit->pressure);
}

Test(square_root, agrees_with_bisection_in_50000_random_cases_from_any_starting_point) {
  struct dice dice = {84, 0};
  uint64_t rounds = 0;
  uint32_t most = 0;
  test_case test;
  for (uint32_t run = 0; run < CASES; run++) {
    draw_case(&test, &dice);
    double guess = draw(&dice, 0, 1) < 0.3 ? 0 : draw_wide(&dice, 1e-6, 1e6);
    if (run % 50 == 0) guess = INFINITY;
    fit_result fit = fit_solve(FIT_SQUARE_ROOT, test.kinds, test.count, test.desired, guess);
    expect_case(&test, run, &fit);
    rounds += fit.rounds;
    if (fit.rounds > most) most = fit.rounds;
  }
  cr_log_info("rounds: mean %g, most %u", (double)rounds / CASES, most);
  cr_assert_leq(most, 64);
}

Test(square_root, starts_where_it_ended_and_needs_few_rounds_for_a_small_change) {
  struct dice dice = {84, 1000000};
  uint64_t rounds = 0;
  test_case test;
  for (uint32_t run = 0; run < 1000; run++) {
    draw_case(&test, &dice);
    double span = test.nominal_sum - test.minimum_sum;
    if (span <= 0) continue;
    double desired = test.minimum_sum + 0.5 * span;
    fit_result before = fit_solve(FIT_SQUARE_ROOT, test.kinds, test.count, desired, 0);
    rounds += fit_solve(FIT_SQUARE_ROOT, test.kinds, test.count, desired * 1.02, before.lambda).rounds;
  }
  cr_log_info("mean rounds %g", (double)rounds / 1000);
  cr_assert_leq(rounds, 6000);
}

/* ------------------------------------------------------------------------------------------------------ the optimum */

Test(square_root, leaves_no_exchange_of_budget_that_would_lower_the_weighted_staleness) {
  struct dice dice = {84, 2000000};
  test_case test;
  for (uint32_t run = 0; run < CASES / 2; run++) {
    draw_case(&test, &dice);
    fit_result fit = fit_solve(FIT_SQUARE_ROOT, test.kinds, test.count, test.desired, 0);
    double most_gain = 0, least_loss = INFINITY;
    for (uint32_t i = 0; i < test.count; i++) {
      const test_agent *agent = &test.agents[i];
      if (agent->cost <= 0 || agent->elasticity <= 0) continue;
      /* The sum of T_i / e_i falls so much when an agent gets a little more of the CPU. */
      double period = period_of(&test, i, fit.lambda), worth = period * period / (agent->cost * agent->elasticity);
      if (period > agent->nominal * (1 + 1e-9) && worth > most_gain) most_gain = worth;
      if (period < agent->longest * (1 - 1e-9) && worth < least_loss) least_loss = worth;
    }
    cr_assert(most_gain <= least_loss * (1 + 1e-6), "case %u: a gain of %g for a loss of %g", run, most_gain,
              least_loss);
  }
}

/* The weighted staleness that the elastic rule leaves, with the same elasticities and CPU. */
static double staleness_of(const test_case *test, fit_rule rule, double lambda) {
  double sum = 0;
  for (uint32_t i = 0; i < test->count; i++) {
    fit_kind kind = test->kinds[i];
    if (kind.elasticity <= 0) continue;
    if (rule == FIT_ELASTIC) kind.elasticity = test->agents[i].elasticity * test->agents[i].cost;
    sum += test->agents[i].nominal / fit_rate(rule, &kind, lambda) / test->agents[i].elasticity;
  }
  return sum;
}

Test(square_root, is_never_staler_than_the_elastic_rule_for_the_same_cpu) {
  struct dice dice = {84, 3000000};
  test_case test;
  for (uint32_t run = 0; run < 5000; run++) {
    draw_case(&test, &dice);
    fit_kind elastic[AGENTS_MAX];
    for (uint32_t i = 0; i < test.count; i++) {
      elastic[i] = test.kinds[i];
      elastic[i].elasticity = test.agents[i].elasticity * test.agents[i].cost;
    }
    fit_result root = fit_solve(FIT_SQUARE_ROOT, test.kinds, test.count, test.desired, 0);
    fit_result line = fit_solve(FIT_ELASTIC, elastic, test.count, test.desired, 0);
    double ours = staleness_of(&test, FIT_SQUARE_ROOT, root.lambda);
    double theirs = staleness_of(&test, FIT_ELASTIC, line.lambda);
    cr_assert(ours <= theirs * (1 + 1e-9), "case %u: %g, the elastic rule %g", run, ours, theirs);
  }
}

/* -------------------------------------------------------------------------------------------------------- the edges */

Test(square_root, survives_no_elasticity_no_cost_no_budget_and_nobody) {
  fit_kind rigid = {10, 0.02, 0.005, 0, false}, free_of_cost = {10, 0, 0, 0, false}, fixed = {10, 0.02, 0.02, 1, false};
  fit_kind endless = {10, 0.02, 0, 1, false};
  cr_assert_eq(fit_rate(FIT_SQUARE_ROOT, &rigid, fit_solve(FIT_SQUARE_ROOT, &rigid, 1, 0.1, 0).lambda), 1.0);
  cr_assert_eq(fit_rate(FIT_SQUARE_ROOT, &free_of_cost, fit_solve(FIT_SQUARE_ROOT, &free_of_cost, 1, 0, 0).lambda),
               1.0);
  cr_assert_eq(fit_rate(FIT_SQUARE_ROOT, &fixed, fit_solve(FIT_SQUARE_ROOT, &fixed, 1, 0.1, 0).lambda), 1.0);
  cr_assert_float_eq(fit_solve(FIT_SQUARE_ROOT, &endless, 1, 0.1, 0).fitted_sum, 0.1, 1e-12);
  cr_assert(isinf(fit_solve(FIT_SQUARE_ROOT, &rigid, 1, 0.0, 0).pressure));
  cr_assert_eq(fit_solve(FIT_SQUARE_ROOT, NULL, 0, 1.0, 0).fitted_sum, 0.0);
  cr_assert_eq(fit_solve(FIT_SQUARE_ROOT, &fixed, 1, INFINITY, 3.0).lambda, 0.0);
}

Test(square_root, stretches_everything_to_its_longest_when_even_that_does_not_fit_and_says_by_how_much) {
  fit_kind kinds[2] = {{10, 0.02, 0.005, 1, false}, {5, 0.04, 0.01, 2, false}};
  fit_result fit = fit_solve(FIT_SQUARE_ROOT, kinds, 2, 0.05, 0);
  cr_assert(isinf(fit.lambda));
  cr_assert_float_eq(fit.pressure, 2.0, 1e-12);
  cr_assert_float_eq(fit_rate(FIT_SQUARE_ROOT, &kinds[0], fit.lambda), 0.25, 1e-12);
}

Test(square_root, makes_periods_proportional_to_the_root_of_cost_times_elasticity) {
  const double cost[2] = {1e-6, 16e-6}, elasticity[2] = {0.125, 8};
  fit_kind kinds[2];
  for (uint32_t i = 0; i < 2; i++)
    kinds[i] = (fit_kind){1, cost[i] / 1e-3, cost[i] / 1e3, sqrt(elasticity[i] / cost[i]), false};
  double lambda = fit_solve(FIT_SQUARE_ROOT, kinds, 2, 1e-4, 0).lambda;
  double first = cost[0] / fit_utilisation(FIT_SQUARE_ROOT, &kinds[0], lambda);
  double second = cost[1] / fit_utilisation(FIT_SQUARE_ROOT, &kinds[1], lambda);
  cr_assert_float_eq(second / first, sqrt(16 * 64), 1e-9);
}

/* A guess where no root can be costs as few rounds as any other such guess. */
Test(square_root, a_guess_that_is_out_of_all_bounds_costs_no_rounds) {
  const fit_kind kinds[] = {{.members = 10, .nominal = 0.1, .minimum = 0.001, .elasticity = 3},
                            {.members = 4, .nominal = 0.2, .minimum = 0.01, .elasticity = 0.5}};
  fit_result high = fit_solve(FIT_SQUARE_ROOT, kinds, 2, 0.4, 1e-200), low;
  low = fit_solve(FIT_SQUARE_ROOT, kinds, 2, 0.4, 1e200);
  cr_assert_float_eq(high.fitted_sum, 0.4, 1e-12);
  cr_assert_eq(low.lambda, high.lambda);
  cr_assert_eq(low.rounds, high.rounds);
}
