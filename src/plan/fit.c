#include "plan/fit.h"

#include "base/assert.h"

#include <math.h>

static bool gives_way(const fit_kind *kind) {
  return kind->elasticity > 0.0 && kind->nominal > kind->minimum;
}

/* fmin and fmax would be calls, so this is written out. */
static inline double between(double low, double value, double high) {
  double raised = value > low ? value : low;
  return raised < high ? raised : high;
}

double fit_utilisation(fit_rule rule, const fit_kind *kind, double lambda) {
  if (!gives_way(kind)) return kind->nominal;
  double wanted = rule == FIT_ELASTIC ? kind->nominal - lambda * kind->elasticity : 1.0 / (lambda * kind->elasticity);
  return between(kind->minimum, wanted, kind->nominal);
}

double fit_rate(fit_rule rule, const fit_kind *kind, double lambda) {
  return kind->nominal > 0.0 ? fit_utilisation(rule, kind, lambda) / kind->nominal : 1.0;
}

static double sum_of(fit_rule rule, const fit_kind *kinds, uint32_t count, double lambda) {
  double sum = 0;
  for (uint32_t i = 0; i < count; i++) sum += kinds[i].members * fit_utilisation(rule, &kinds[i], lambda);
  return sum;
}

/* One linear piece of the sum: its value at a point and its slope there. */
typedef struct fit_piece {
  double sum, slope;
} fit_piece;

/* ---------------------------------------------------------------------------------------------------------- elastic */

/* Kinds that never give way need no branch here or below: with elasticity 0 they stay nominal and have no slope. */
static fit_piece elastic_piece(const fit_kind *kinds, uint32_t count, double lambda) {
  fit_piece piece = {0, 0};
  for (uint32_t i = 0; i < count; i++) {
    const fit_kind *kind = &kinds[i];
    double wanted = kind->nominal - lambda * kind->elasticity;
    bool gives = wanted > kind->minimum;
    piece.sum += kind->members * (gives ? wanted : kind->minimum);
    piece.slope += gives ? kind->members * kind->elasticity : 0.0;
  }
  return piece;
}

/* Newton from the guess. A step from the right of the root lands left of it or on it, and from there on lambda only
 * grows. When every kind is saturated at lambda the slope is zero and the root lies to the left: start again at 0. */
static double solve_elastic(const fit_kind *kinds, uint32_t count, double desired, double guess, uint32_t *rounds) {
  double lambda = guess > 0.0 && isfinite(guess) ? guess : 0.0;
  for (*rounds = 1; *rounds <= count + 2; ++*rounds) {
    fit_piece piece = elastic_piece(kinds, count, lambda);
    double excess = piece.sum - desired;
    if (piece.slope <= 0.0) {
      if (lambda == 0.0 || excess >= 0.0) return lambda;
      lambda = 0.0;
      continue;
    }
    double next = fmax(0.0, lambda + excess / piece.slope);
    if (fabs(next - lambda) <= 1e-12 * lambda) return next;
    lambda = next;
  }
  return lambda;
}

/* ------------------------------------------------------------------------------------------------------ square root */

/* Where the root may be, in nu = 1 / lambda: the sum is below the desired one at `low` and above it at `high`. */
typedef struct fit_bracket {
  double low, high;
} fit_bracket;

/* Below the first bend of the sum all kinds are at their minimum, beyond the last all are nominal. */
static fit_bracket bends_of(const fit_kind *kinds, uint32_t count) {
  fit_bracket bracket = {INFINITY, 0};
  for (uint32_t i = 0; i < count; i++) {
    if (!gives_way(&kinds[i])) continue;
    bracket.low = fmin(bracket.low, kinds[i].minimum * kinds[i].elasticity);
    bracket.high = fmax(bracket.high, kinds[i].nominal * kinds[i].elasticity);
  }
  return bracket;
}

/* The geometric mean of the bracket, since bends are spread over orders of magnitude. */
static double middle_of(fit_bracket bracket) {
  return bracket.low > 0.0 ? sqrt(bracket.low) * sqrt(bracket.high) : bracket.high * 0.5;
}

/* The sum at nu and its slope: the utilisation of kinds between their bounds grows with nu. */
static fit_piece root_piece(const fit_kind *kinds, uint32_t count, double nu) {
  fit_piece piece = {0, 0};
  for (uint32_t i = 0; i < count; i++) {
    const fit_kind *kind = &kinds[i];
    double slope = 1.0 / kind->elasticity, wanted = nu * slope;
    bool grows = (wanted > kind->minimum) & (wanted < kind->nominal);
    piece.sum += kind->members * between(kind->minimum, wanted, kind->nominal);
    piece.slope += grows ? kind->members * slope : 0.0;
  }
  return piece;
}

/* Newton from the guess. A step that leaves the bracket, or cannot be taken because no kind is between its bounds at
 * nu, is replaced by one to the bracket's middle. */
static double solve_square_root(const fit_kind *kinds, uint32_t count, double desired, double guess, uint32_t *rounds) {
  enum { ROUNDS_MAX = 200 };
  fit_bracket bracket = bends_of(kinds, count);
  double nu = 1.0 / guess;
  if (!(nu > bracket.low && nu < bracket.high)) nu = middle_of(bracket);
  for (*rounds = 1; *rounds < ROUNDS_MAX; ++*rounds) {
    fit_piece piece = root_piece(kinds, count, nu);
    double excess = piece.sum - desired;
    if (fabs(excess) <= 1e-14 * desired) break;
    if (excess < 0.0)
      bracket.low = nu;
    else
      bracket.high = nu;
    double next = nu - excess / piece.slope;
    if (!(next > bracket.low && next < bracket.high)) next = middle_of(bracket);
    if (fabs(next - nu) <= 1e-15 * nu) break;
    nu = next;
  }
  return 1.0 / nu;
}

/* ----------------------------------------------------------------------------------------------------------- wishes */

static bool is_held(const fit_kind *kind) {
  return kind->hard || !(kind->elasticity > 0.0);
}

static double least_of(const fit_kind *kind) {
  return kind->elasticity > 0.0 ? kind->minimum : kind->nominal;
}

/* The part of `wanted` that fits into `room`. */
static double part_of(double room, double wanted) {
  return wanted > room ? room / wanted : 1.0;
}

fit_wishes fit_stretch_wishes(fit_kind *kinds, uint32_t count, double desired, double part) {
  static const double held_most = 0.5;
  double all = 0.0, held = 0.0;
  for (uint32_t i = 0; i < count; i++) {
    double least = kinds[i].members * least_of(&kinds[i]);
    all += least;
    if (is_held(&kinds[i])) held += least;
  }
  double held_rate = part_of(desired * fmin(held_most, 1.0 - part), held), wish_rate = part_of(desired * part, all);
  for (uint32_t i = 0; i < count; i++) {
    fit_kind *kind = &kinds[i];
    kind->minimum = least_of(kind) * (is_held(kind) ? held_rate : wish_rate);
    if (!(kind->elasticity > 0.0)) kind->nominal = kind->minimum;
  }
  return (fit_wishes){
      .load = all > 0.0 ? all / desired : 0.0, .held = held > 0.0 ? held / desired : 0.0, .held_rate = held_rate};
}

/* ------------------------------------------------------------------------------------------------------------- both */

fit_result fit_solve(fit_rule rule, const fit_kind *kinds, uint32_t count, double desired, double guess) {
  ASSERT(desired >= 0.0);
  fit_result result = {0};
  for (uint32_t i = 0; i < count; i++) {
    ASSERT(kinds[i].nominal >= kinds[i].minimum && kinds[i].elasticity >= 0.0);
    result.nominal_sum += kinds[i].members * kinds[i].nominal;
    result.minimum_sum += kinds[i].members * (gives_way(&kinds[i]) ? kinds[i].minimum : kinds[i].nominal);
  }
  if (result.nominal_sum <= desired) {
    result.fitted_sum = result.nominal_sum;
    return result;
  }
  if (result.minimum_sum >= desired) {
    result.lambda = INFINITY;
    result.fitted_sum = result.minimum_sum;
    result.pressure = desired > 0.0 ? result.minimum_sum / desired : INFINITY;
    return result;
  }
  result.lambda =
      (rule == FIT_ELASTIC ? solve_elastic : solve_square_root)(kinds, count, desired, guess, &result.rounds);
  result.fitted_sum = sum_of(rule, kinds, count, result.lambda);
  result.pressure = (result.nominal_sum - result.fitted_sum) / (result.nominal_sum - result.minimum_sum);
  return result;
}
