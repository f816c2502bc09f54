#include "plan/fit.h"

#include "base/assert.h"

#include <math.h>

static bool gives_way(const fit_kind *kind) {
  return kind->elasticity > 0.0 && kind->nominal > kind->minimum;
}

double fit_utilisation(const fit_kind *kind, double lambda) {
  if (!gives_way(kind)) return kind->nominal;
  return fmax(kind->minimum, kind->nominal - lambda * kind->elasticity);
}

double fit_rate(const fit_kind *kind, double lambda) {
  return kind->nominal > 0.0 ? fit_utilisation(kind, lambda) / kind->nominal : 1.0;
}

/* One linear piece of the sum: its value at lambda and its slope there. */
typedef struct fit_piece {
  double sum, slope;
} fit_piece;

static fit_piece evaluate(const fit_kind *kinds, uint32_t count, double lambda) {
  fit_piece piece = {0, 0};
  for (uint32_t i = 0; i < count; i++) {
    const fit_kind *kind = &kinds[i];
    piece.sum += kind->members * fit_utilisation(kind, lambda);
    if (gives_way(kind) && kind->nominal - lambda * kind->elasticity > kind->minimum)
      piece.slope += kind->members * kind->elasticity;
  }
  return piece;
}

/* Newton from the guess. A step from the right of the root lands left of it or on it, and from there on lambda only
 * grows. When every kind is saturated at lambda the slope is zero and the root lies to the left: start again at 0. */
static double solve(const fit_kind *kinds, uint32_t count, double desired, double guess, uint32_t *rounds) {
  double lambda = guess > 0.0 && isfinite(guess) ? guess : 0.0;
  for (*rounds = 1; *rounds <= count + 2; ++*rounds) {
    fit_piece piece = evaluate(kinds, count, lambda);
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

fit_result fit_solve(const fit_kind *kinds, uint32_t count, double desired, double guess) {
  ASSERT(desired >= 0.0);
  fit_result result = {0};
  for (uint32_t i = 0; i < count; i++) {
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
  result.lambda = solve(kinds, count, desired, guess, &result.rounds);
  result.fitted_sum = evaluate(kinds, count, result.lambda).sum;
  result.pressure = (result.nominal_sum - result.fitted_sum) / (result.nominal_sum - result.minimum_sum);
  return result;
}
