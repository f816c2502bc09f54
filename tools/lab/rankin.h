/* rankin.h - the experiments of Rankin, Acton & Katchabaw, run and summed up.
 *
 * Ticks of 30 ms, 4 characters per tick, all weights 1. Time is virtual, but the characters really decide, so that what
 * a run takes of the CPU is measured and not modelled. */
#ifndef TOOLS_RANKIN_H
#define TOOLS_RANKIN_H

#include "repro.h"

#include "scenarios/scenarios.h"

enum {
  RANKIN_FINDINGS = 5, /* the paper's */
  RANKIN_PARTS = 5,    /* other parts of its design that can be taken out */
  RANKIN_SIZES = 3,
  RANKIN_LEVELS = 3,
  RANKIN_LARGE = 2,
  RANKIN_TICKS = 200,
  RANKIN_OUT_OF_REACH = 100000 /* ticks, for S */
};

/* One run. */
typedef struct rankin_plan {
  uint32_t characters, level; /* RANKIN_DYNAMIC: in a large world, by importance and pressure */
  uint32_t ticks;
  bool alike;                     /* of equal importance; else four roles */
  float importance, ageing, runs; /* weights */
  uint32_t guarantee_ticks;       /* S: the unit of ageing; and an agent that has waited longer leads */
  uint64_t capacity_ns;           /* modelled work of a tick; 0 = 4 updates, whatever they cost */
} rankin_plan;

/* The result of a run. */
typedef struct rankin_outcome {
  double cpu_s;
  uint32_t least, most;         /* runs of one character */
  double by_role[RANKIN_ROLES]; /* mean runs, the least important role first */
  uint64_t longest_wait_ns;
  uint64_t completed;
  uint32_t levels[MUSTER_LEVELS], shed;
  double pressure;
  uint64_t top_p50_ns, top_p99_ns; /* staleness of the most important band that there is */
  uint64_t period_ns;              /* wanted */
} rankin_outcome;

/* What is claimed, and where it must not hold. */
typedef struct rankin_finding {
  const char *name;
  const char *unit; /* of what was looked at */
  const char *counter_case;
  bool timed;       /* by the CPU; the others are of virtual time */
  bool holds[2];    /* and in the counter-case */
  double values[2]; /* what was looked at */
} rankin_finding;

typedef struct rankin_results {
  repro_results base; /* quick: large worlds are a quarter as large, with a quarter of the time */
  rankin_finding findings[RANKIN_FINDINGS + RANKIN_PARTS];
  double stress_s[RANKIN_SIZES][RANKIN_LEVELS]; /* seconds per 200 ticks */
  uint32_t large[RANKIN_LARGE];
  double large_ms; /* of work that there is time for in each tick */
  rankin_outcome dynamic[RANKIN_LARGE];
} rankin_results;

/* Runs one plan. False with the reason in muster_last_error(), as all that follow. */
bool rankin_run(const rankin_plan *plan, rankin_outcome *outcome);

/* The paper's findings, and behind them the effects of its parts; each with a run of its own, and a second one in which
 * it must not hold. */
bool rankin_find(rankin_finding findings[RANKIN_FINDINGS + RANKIN_PARTS]);

/* 40 characters at level 2, all weights 1. */
extern const rankin_plan rankin_basic;

/* CPU time of plans: of each the least of some runs, since whatever disturbs one only adds to it. All take turns, so
 * that other work of the machine affects each equally. */
bool rankin_measure(const rankin_plan *plans, uint32_t count, uint32_t turns, double *least_s);

/* The results of sliced updates of equal characters. */
typedef struct rankin_slices {
  double ticks;       /* from the first slice of an update to its last, the mean */
  double longest_ms;  /* modelled work of a tick, the most */
  uint32_t completed; /* long updates */
  uint32_t missed;    /* ticks in which a more important agent did not run */
} rankin_slices;

/* Updates of four slices, of which a tick runs one of each of 4 among 40 characters, with a weight for progress. */
bool rankin_run_progress(float weight, rankin_slices *slices);

/* An update of three ticks' time, in `atoms` atoms, beside four characters that are more important. */
bool rankin_run_long(uint32_t atoms, rankin_slices *slices);

#endif
