/* rankin.h - the experiments of Rankin, Acton & Katchabaw, run and summed up.
 *
 * Ticks of 30 ms, 4 characters per tick, all weights 1. Time is virtual, but the characters really decide, so that what
 * a run takes of the CPU is measured and not modelled. */
#ifndef TOOLS_RANKIN_H
#define TOOLS_RANKIN_H

#include "repro.h"

#include "scenarios/scenarios.h"

enum { RANKIN_FINDINGS = 5, RANKIN_SIZES = 3, RANKIN_LEVELS = 3, RANKIN_LARGE = 2, RANKIN_TICKS = 200 };

/* One run. */
typedef struct rankin_plan {
  uint32_t characters, level; /* RANKIN_DYNAMIC: in a large world, by importance and pressure */
  uint32_t ticks;
  bool alike;                     /* of equal importance; else four roles */
  float importance, ageing, runs; /* weights */
} rankin_plan;

/* What came of it. */
typedef struct rankin_outcome {
  double cpu_s;
  uint32_t least, most;         /* runs of one character */
  double by_role[RANKIN_ROLES]; /* mean runs, the least important role first */
  uint64_t longest_wait_ns;
  uint64_t completed;
  uint32_t levels[MUSTER_LEVELS], eased;
  double pressure;
  uint64_t top_p50_ns, top_p99_ns; /* staleness of the most important tenth */
  uint64_t period_ns;              /* wanted */
} rankin_outcome;

typedef struct rankin_finding {
  const char *name;
  bool holds;
  const char *counter_case; /* where it must not hold */
  bool counter_holds;
  double value, counter_value; /* what was looked at */
} rankin_finding;

typedef struct rankin_results {
  rankin_finding findings[RANKIN_FINDINGS];
  uint32_t sizes[RANKIN_SIZES], levels[RANKIN_LEVELS];
  double stress_s[RANKIN_SIZES][RANKIN_LEVELS]; /* seconds per 200 ticks */
  uint32_t large[RANKIN_LARGE];
  rankin_outcome dynamic[RANKIN_LARGE];
} rankin_results;

/* Runs one plan. False after a complaint. */
bool rankin_run(const rankin_plan *plan, rankin_outcome *outcome);

/* The tables as text; the figures as plots. */
void rankin_print(const rankin_results *results);
bool rankin_plot(const rankin_results *results, const char *folder);

#endif
