/* The closed form of the elastic task model against the paper's own iteration, which is kept here as the reference. */
#include "plan/fit.h"
#include "plan/planning.h"

enum { AGENTS_MAX = 40, CASES = 83000 };

typedef struct reference_agent {
  double cost, nominal, longest, elasticity; /* C_i, T_io, T_imax, E_i */
  double utilisation, period;                /* U_i, T_i */
  bool saturated;
} reference_agent;

/* One round of Tan & Wong's fig. 2 as it must read: compress from the nominal utilisation what the saturated ones
 * leave. True when another agent saturated, so that another round is due. */
static bool compress_once(reference_agent *agents, uint32_t count, double desired) {
  double compressible = 0, fixed = 0, elasticity = 0;
  for (uint32_t i = 0; i < count; i++) {
    bool can_give = !agents[i].saturated && agents[i].elasticity > 0 && agents[i].cost > 0;
    if (can_give) {
      compressible += agents[i].cost / agents[i].nominal;
      elasticity += agents[i].elasticity;
    } else {
      fixed += agents[i].utilisation;
    }
  }
  bool again = false;
  for (uint32_t i = 0; i < count; i++) {
    reference_agent *agent = &agents[i];
    if (agent->saturated || agent->elasticity <= 0 || agent->cost <= 0) continue;
    double nominal = agent->cost / agent->nominal, minimum = agent->cost / agent->longest;
    agent->utilisation = nominal - (compressible - desired + fixed) * agent->elasticity / elasticity;
    if (agent->utilisation > minimum) continue;
    agent->utilisation = minimum;
    agent->saturated = again = true;
  }
  return again;
}

static void reference_fit(reference_agent *agents, uint32_t count, double desired) {
  double nominal_sum = 0;
  for (uint32_t i = 0; i < count; i++) {
    agents[i].saturated = false;
    agents[i].utilisation = agents[i].cost / agents[i].nominal;
    nominal_sum += agents[i].utilisation;
  }
  if (nominal_sum > desired)
    while (compress_once(agents, count, desired)) {
    }
  for (uint32_t i = 0; i < count; i++)
    agents[i].period = agents[i].cost > 0 ? agents[i].cost / agents[i].utilisation : agents[i].nominal;
}

static uint32_t draw_agents(reference_agent *agents, struct dice *dice) {
  uint32_t count = 1 + (uint32_t)draw(dice, 0, AGENTS_MAX - 1e-3);
  for (uint32_t i = 0; i < count; i++) {
    double nominal = draw(dice, 1, 100);
    agents[i] = (reference_agent){.cost = draw(dice, 0, 1) < 0.05 ? 0 : draw(dice, 0.01, 5),
                                  .nominal = nominal,
                                  .longest = draw(dice, 0, 1) < 0.05 ? nominal : nominal * draw(dice, 1, 20),
                                  .elasticity = draw(dice, 0, 1) < 0.1 ? 0 : draw(dice, 0.01, 10)};
  }
  return count;
}

static fit_kind kind_of(const reference_agent *agent) {
  return (fit_kind){.members = 1,
                    .nominal = agent->cost / agent->nominal,
                    .minimum = agent->cost / agent->longest,
                    .elasticity = agent->elasticity};
}

static double period_of(const reference_agent *agent, double lambda) {
  fit_kind kind = kind_of(agent);
  return agent->nominal / fit_rate(FIT_ELASTIC, &kind, lambda);
}

Test(fit, agrees_with_the_papers_iteration_in_83000_random_cases_from_any_starting_point) {
  struct dice dice = {83, 0};
  double worst = 0;
  for (uint32_t run = 0; run < CASES; run++) {
    reference_agent agents[AGENTS_MAX];
    fit_kind kinds[AGENTS_MAX];
    uint32_t count = draw_agents(agents, &dice);
    double nominal_sum = 0, minimum_sum = 0;
    for (uint32_t i = 0; i < count; i++) {
      kinds[i] = kind_of(&agents[i]);
      nominal_sum += kinds[i].nominal;
      minimum_sum += agents[i].elasticity > 0 ? kinds[i].minimum : kinds[i].nominal;
    }
    double desired = minimum_sum + (nominal_sum - minimum_sum) * draw(&dice, 1e-6, 1.1);
    double guess = draw(&dice, 0, 1) < 0.5 ? 0 : draw(&dice, 0, 10);
    fit_result fit = fit_solve(FIT_ELASTIC, kinds, count, desired, guess);
    reference_fit(agents, count, desired);
    cr_assert(fit.rounds <= count + 3, "case %u took %u rounds for %u agents", run, fit.rounds, count);
    for (uint32_t i = 0; i < count; i++) {
      double error = fabs(period_of(&agents[i], fit.lambda) / agents[i].period - 1.0);
      if (error > worst) worst = error;
      cr_assert(error < 1e-6, "case %u agent %u: period %g, the paper's %g", run, i, period_of(&agents[i], fit.lambda),
                agents[i].period);
    }
  }
  cr_log_info("worst relative difference %g", worst);
}

Test(fit, keeps_everything_nominal_when_it_fits) {
  fit_kind kinds[2] = {{10, 0.02, 0.005, 1, false}, {5, 0.04, 0.01, 2, false}};
  fit_result fit = fit_solve(FIT_ELASTIC, kinds, 2, 0.4, 0);
  cr_assert_eq(fit.lambda, 0.0);
  cr_assert_eq(fit.pressure, 0.0);
  cr_assert_float_eq(fit.fitted_sum, 0.4, 1e-12);
  cr_assert_eq(fit_rate(FIT_ELASTIC, &kinds[0], fit.lambda), 1.0);
}

Test(fit, stretches_everything_to_its_longest_when_even_that_does_not_fit_and_says_by_how_much) {
  fit_kind kinds[2] = {{10, 0.02, 0.005, 1, false}, {5, 0.04, 0.01, 2, false}};
  fit_result fit = fit_solve(FIT_ELASTIC, kinds, 2, 0.05, 0);
  cr_assert(isinf(fit.lambda));
  cr_assert_float_eq(fit.pressure, 2.0, 1e-12);
  cr_assert_float_eq(fit_rate(FIT_ELASTIC, &kinds[0], fit.lambda), 0.25, 1e-12);
}

Test(fit, survives_no_elasticity_no_cost_no_budget_and_nobody) {
  fit_kind rigid = {10, 0.02, 0.005, 0, false}, free_of_cost = {10, 0, 0, 1, false}, fixed = {10, 0.02, 0.02, 1, false};
  cr_assert_eq(fit_rate(FIT_ELASTIC, &rigid, fit_solve(FIT_ELASTIC, &rigid, 1, 0.1, 0).lambda), 1.0);
  cr_assert_eq(fit_rate(FIT_ELASTIC, &free_of_cost, fit_solve(FIT_ELASTIC, &free_of_cost, 1, 0.0, 0).lambda), 1.0);
  cr_assert_eq(fit_rate(FIT_ELASTIC, &fixed, fit_solve(FIT_ELASTIC, &fixed, 1, 0.1, 0).lambda), 1.0);
  cr_assert(isinf(fit_solve(FIT_ELASTIC, &rigid, 1, 0.0, 0).pressure));
  cr_assert_eq(fit_solve(FIT_ELASTIC, NULL, 0, 1.0, 0).fitted_sum, 0.0);
  cr_assert_eq(fit_solve(FIT_ELASTIC, &rigid, 1, INFINITY, 3.0).lambda, 0.0);
}

Test(fit, counts_members_as_that_many_equal_agents) {
  fit_kind together = {7, 0.03, 0.002, 1.5, false}, apart[7];
  for (uint32_t i = 0; i < 7; i++) apart[i] = (fit_kind){1, 0.03, 0.002, 1.5, false};
  fit_result one = fit_solve(FIT_ELASTIC, &together, 1, 0.1, 0), many = fit_solve(FIT_ELASTIC, apart, 7, 0.1, 0);
  cr_assert_float_eq(one.lambda, many.lambda, 1e-12);
  cr_assert_float_eq(one.fitted_sum, 0.1, 1e-12);
}

Test(fit, makes_the_more_elastic_stretch_more) {
  fit_kind kinds[2] = {{1, 0.1, 0.01, 1, false}, {1, 0.1, 0.01, 3, false}};
  fit_result fit = fit_solve(FIT_ELASTIC, kinds, 2, 0.15, 0);
  double stiff = fit_utilisation(FIT_ELASTIC, &kinds[0], fit.lambda),
         soft = fit_utilisation(FIT_ELASTIC, &kinds[1], fit.lambda);
  cr_assert_float_eq((0.1 - soft) / (0.1 - stiff), 3.0, 1e-9);
  cr_assert_float_eq(stiff + soft, 0.15, 1e-12);
}

Test(fit, of_nothing_presses_without_end) {
  const fit_kind kinds[2] = {{.members = 1, .nominal = 0.5, .minimum = 0.0, .elasticity = 1.0},
                             {.members = 1, .nominal = 0.5, .minimum = 0.1, .elasticity = 1.0}};
  for (uint32_t count = 1; count <= 2; count++) {
    fit_result result = fit_solve(FIT_ELASTIC, kinds, count, 0.0, 0.0);
    cr_assert(isinf(result.pressure) && result.pressure > 0.0, "%g", result.pressure);
    cr_assert(isinf(result.lambda) && result.lambda > 0.0);
  }
}
