/* plan/fit.h - stage 4: how far must periods stretch to fit the budget?
 *
 * With U_io = C_i / T_io and U_imin = C_i / T_imax, both rules have one scalar lambda under which the utilisations sum
 * to U_d, all nominal at 0 and all at their longest periods at infinity:
 *
 *   elastic        U_i = max(U_imin, U_io - lambda E_i)            the elastic task model in closed form (Buttazzo;
 *                                                                  Tan & Wong, section 4)
 *   square root    U_i = clamp(1 / (lambda E_i), U_imin, U_io)     with E_i = sqrt(e_i / C_i) this is
 *                                                                  T_i = clamp(lambda sqrt(C_i e_i), T_io, T_imax)
 *
 * The square-root rule minimises the sum of T_i / e_i, and so of mean staleness over e_i, within U_d: where no bound
 * holds, the gain from another nanosecond of budget, T_i^2 / (C_i e_i), is the same for all.
 *
 * The elastic sum is convex and piecewise linear in lambda: Newton's method started anywhere is monotone after its
 * first step and ends exactly, in at most one round per kind of agent. The square-root sum is monotone and piecewise
 * linear in 1 / lambda, but not convex: Newton's steps are kept inside a bracket that each round narrows. Both take two
 * or three rounds from the last frame's lambda. Kinds are classes of alike agents, so the cost follows the number of
 * classes, not the population. */
#ifndef PLAN_FIT_H
#define PLAN_FIT_H

#include <muster/muster.h>

typedef enum fit_rule { FIT_ELASTIC = 0, FIT_SQUARE_ROOT } fit_rule;

/* `members` agents that share cost, period bounds and elasticity. */
typedef struct fit_kind {
  double members;
  double nominal;    /* U_io of one agent */
  double minimum;    /* U_imin of one agent */
  double elasticity; /* E_i of one agent, as its rule has it; 0 = its period never gives way */
  bool hard;         /* T_imax is a bound, not a wish */
} fit_kind;

/* What the law of importance (PAPERS) makes of T_imax, where it is a wish. */
typedef struct fit_wishes {
  double load;      /* L: what all agents would take at their longest periods, in parts of the desired utilisation */
  double held;      /* the part of it that is no wish and does not give way: exempt and hard kinds */
  double held_rate; /* 1, or less: how far kinds without elasticity are slowed down */
} fit_wishes;

typedef struct fit_result {
  double lambda;      /* infinity when every kind that can stretch is at its longest period */
  double nominal_sum; /* sum of U_io */
  double minimum_sum; /* the sum when every kind that can stretch is at its longest period */
  double fitted_sum;  /* sum of the fitted utilisations */
  double pressure;    /* 0 = all nominal, 1 = all at their longest, above 1 = even that exceeds the desired utilisation,
                         by that factor */
  uint32_t rounds;    /* of Newton's method */
} fit_result;

/* Makes room where not even the longest periods fit, so that fit_solve always finds a lambda below infinity. The wishes
 * of all kinds may take `part` (0..1) of `desired`; beyond that, longest periods stretch by load / part. What is held
 * may take half, or the rest where that is less; beyond that, held kinds shrink alike. Rewrites the kinds.
 * O(count). */
fit_wishes fit_stretch_wishes(fit_kind *kinds, uint32_t count, double desired, double part);

/* Solves for lambda, starting at `guess` (the last frame's, or 0). `desired` is U_d; infinity is allowed. A kind with
 * no elasticity or no cost keeps its nominal utilisation. O(count) per round. */
fit_result fit_solve(fit_rule rule, const fit_kind *kinds, uint32_t count, double desired, double guess);

/* U_i of one agent of a kind under lambda. */
double fit_utilisation(fit_rule rule, const fit_kind *kind, double lambda);

/* T_io / T_i of one agent of a kind under lambda: 1 = its nominal period, at least T_io / T_imax. */
double fit_rate(fit_rule rule, const fit_kind *kind, double lambda);

#endif
