#include "plan/closing.h"

#include <math.h>

static const double least_ns = 8000.0, least_share = 0.01, least_most_ns = 50000.0;
static const double learnt_most = 0.05, most_share = 0.125;
/* Of the budget: how far a late frame moves it. */
static const double step_share = 0.01;

static double unlearnt_ns(uint64_t budget_ns) {
  return fmin(least_ns + (double)budget_ns * least_share, least_most_ns);
}

uint64_t closing_time_ns(double learnt_ns, uint64_t budget_ns) {
  double learnt_most_ns = (double)budget_ns * learnt_most; /* another budget may have been given when it was learnt */
  return (uint64_t)fmin(unlearnt_ns(budget_ns) + fmin(learnt_ns, learnt_most_ns), (double)budget_ns * most_share);
}

double closing_learn(double learnt_ns, uint64_t budget_ns, uint64_t late_ns) {
  double step_ns = (double)budget_ns * step_share, most_ns = (double)budget_ns * learnt_most;
  learnt_ns = fmin(learnt_ns, most_ns); /* under a larger budget it may have been more */
  if (late_ns <= CLOSING_LATE_NS) return fmax(learnt_ns - step_ns / (CLOSING_LATE_ONE_IN - 1), 0.0);
  if (learnt_ns + (double)late_ns > most_ns + CLOSING_LATE_NS) return learnt_ns;
  return fmin(learnt_ns + step_ns, most_ns);
}
