/* quality.h - how fresh each rule keeps a crowd with the same CPU: importance-weighted staleness of Muster's fits, of a
 * round robin and of a frequency by distance, beside the least that this CPU allows.
 *
 * The crowd stands on a square, with observers in it who make those around them important; an agent's age grows with
 * time and an update takes it back to zero. Measured is the mean over time of
 *
 *     sum w_i age_i / sum w_i        w_i = 2^(6 i - 3) for importance i
 *
 * w is the inverse of the elasticity that Muster derives from importance, so every rule is judged by the very word that
 * the designer gave: at full importance staleness weighs 64 times as much as at none, and nobody weighs nothing. Time
 * is virtual, costs are exact, and each rule may use the same CPU, frame by frame; so figures are the same on any
 * machine. The optimum is T_i = clamp(mu sqrt(C_i / w_i), T_io, T_imax) with the mu that uses the CPU up, and an age of
 * T_i / 2: nothing that keeps the bounds can be fresher, frames or not. */
#ifndef BENCH_QUALITY_H
#define BENCH_QUALITY_H

#include <stdbool.h>
#include <stdint.h>

enum { QUALITY_CROWDS = 2, QUALITY_LOADS = 3, QUALITY_CASES = QUALITY_CROWDS * QUALITY_LOADS };

typedef enum quality_rule {
  QUALITY_ELASTIC = 0, /* Muster's default: rate-elastic, elasticity from importance */
  QUALITY_CHOSEN,      /* the same with elasticities set by hand to what is best at this very load */
  QUALITY_CHOSEN_ONCE, /* the same with those that are best at the middle load */
  QUALITY_SQUARE_ROOT, /* Muster's square-root rule, elasticity from importance */
  QUALITY_ROUND_ROBIN, /* one after the other; who is not due yet is passed over */
  QUALITY_DISTANCE, /* every k-th frame, k by the squared distance to the nearest observer, as voxel servers do; scaled
                       to use this CPU */
  QUALITY_RULES
} quality_rule;

typedef struct quality_setup {
  uint64_t seed;
  bool quick;                                  /* a small crowd for a short time */
  void (*show)(const char *doing, void *user); /* called before each measure; null = nobody wants to know */
  void *user;
} quality_setup;

typedef struct quality_result {
  double staleness_ms;
  double ratio;     /* to the optimum's */
  double cpu_share; /* of what it was allowed, what it used */
} quality_result;

/* One crowd with one share of the CPU that everybody at the shortest period would take. */
typedef struct quality_case {
  const char *crowd;
  double cpu; /* the share */
  uint32_t agents, observers;
  double optimum_ms; /* the optimum's staleness */
  quality_result rules[QUALITY_RULES];
} quality_case;

/* A rule's name, as in rows, and what it is. */
const char *quality_rule_name(quality_rule rule);
const char *quality_rule_summary(quality_rule rule);

/* A crowd's name and what it is; null beyond the last. */
const char *quality_crowd_name(uint32_t crowd);
const char *quality_crowd_summary(uint32_t crowd);

/* Measures the cases: all loads of the first crowd, then of the next. Null, or what went wrong. */
const char *quality_measure(const quality_setup *setup, quality_case cases[QUALITY_CASES]);

#endif
