/* plan/fit.h - stage 4: how far must periods stretch to fit the budget?
 *
 * The elastic task model (Buttazzo; Tan & Wong, section 4) in closed form: with U_io = C_i / T_io, U_imin =
 * C_i / T_imax and elasticities E_i, the fitted utilisation is U_i = max(U_imin, U_io - lambda E_i) for the one lambda
 * at which they sum to U_d. The sum is convex and piecewise linear in lambda: Newton's method started anywhere is
 * monotone after its first step and ends exactly, in at most one round per kind of agent; warm-started, in two or
 * three. Kinds are classes of alike agents, so the cost follows the number of classes, not the population. */
#ifndef PLAN_FIT_H
#define PLAN_FIT_H

#include <muster/muster.h>

/* `members` agents that share cost, period bounds and elasticity. */
typedef struct fit_kind {
  double members;
  double nominal;    /* U_io of one agent */
  double minimum;    /* U_imin of one agent */
  double elasticity; /* E_i of one agent; 0 = its period never gives way */
} fit_kind;

typedef struct fit_result {
  double lambda;      /* infinity when everything that can is at its longest period */
  double nominal_sum; /* sum of U_io */
  double minimum_sum; /* what it takes when everything that can is at its longest period */
  double fitted_sum;  /* sum of the fitted utilisations */
  double pressure;    /* 0 = all nominal, 1 = all at their longest, above 1 = even that exceeds the desired utilisation,
                         by that factor */
  uint32_t rounds;    /* of Newton's method */
} fit_result;

/* Solves for lambda, starting at `guess` (the last frame's, or 0). `desired` is U_d; infinity is allowed. A kind with
 * no elasticity or no cost keeps its nominal utilisation. O(count) per round. */
fit_result fit_solve(const fit_kind *kinds, uint32_t count, double desired, double guess);

/* U_i of one agent of a kind under lambda. */
double fit_utilisation(const fit_kind *kind, double lambda);

/* T_io / T_i of one agent of a kind under lambda: 1 = its nominal period, at least T_io / T_imax. */
double fit_rate(const fit_kind *kind, double lambda);

#endif
