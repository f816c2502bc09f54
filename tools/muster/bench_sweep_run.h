/* bench_sweep_run.h - the same animals at rising loads: how often the most important agents run. */
#ifndef TOOLS_BENCH_SWEEP_RUN_H
#define TOOLS_BENCH_SWEEP_RUN_H

#include <stdbool.h>
#include <stdint.h>

enum { SWEEP_LOADS = 40 };

typedef enum sweep_rule {
  SWEEP_LAW = 0, /* Muster's default: the law of importance, and deadlines */
  SWEEP_PAPERS,  /* Tan & Wong's elastic periods and Rankin's order */
  SWEEP_RULES
} sweep_rule;

typedef struct sweep_setup {
  uint64_t seed;
  uint32_t agents;
  void (*show)(double load, void *user); /* called before each load */
  void *user;
} sweep_setup;

/* Agents of some importance. */
typedef struct sweep_band {
  double agents;     /* mean */
  double interval_s; /* agents x window / completed updates: agents that never ran count, too */
  double period_s;   /* that the fit gives them: the inverse of the mean rate */
} sweep_band;

typedef struct sweep_point {
  double pressure;                   /* as reported, mean of the window */
  sweep_band important, unimportant; /* importance >= 0.9, and 0 */
} sweep_point;

typedef struct sweep_result {
  double load; /* what all agents at the longest period take, as a part of the capacity */
  sweep_point rules[SWEEP_RULES];
} sweep_result;

/* From a load of 0.3 on, each ten percent above the last. Null, or what went wrong. */
const char *sweep_measure(const sweep_setup *setup, sweep_result results[SWEEP_LOADS]);

#endif
