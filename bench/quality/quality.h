/* quality.h - how fresh each rule keeps a crowd with the same CPU: importance-weighted staleness of Muster's fits, of a
 * round robin and of a frequency by distance, beside the least that this CPU allows.
 *
 * Observers stand in the crowd and make the agents around them important; an agent's age grows with time and an update
 * takes it back to zero. Measured is the mean over time of
 *
 *     sum w_i age_i / sum w_i        w_i = 2^(k x importance)
 *
 * over all agents, also those that never run, by two judges: k = 12 and k = 6, at which staleness at full importance
 * weighs 4096 and 64 times what it does at none. A rule is judged by the weights that it was given; the other judge's
 * figure is shown beside it. Time is virtual, costs are exact, and each rule may use the same CPU, frame by frame; so
 * figures are the same on any machine. The optimum is T_i = max(mu sqrt(C_i / w_i), T_io) with the mu that uses the CPU
 * up, and an age of T_i / 2: nothing that keeps the shortest periods can be fresher, frames or not. It knows no longest
 * period. Muster's rule of importance does, a wish that stretches with the load, so that no agent waits for longer than
 * twice what an equal share would be; the price of that is computed in advance, too. */
#ifndef BENCH_QUALITY_H
#define BENCH_QUALITY_H

#include <stdbool.h>
#include <stdint.h>

enum { QUALITY_CROWDS = 5, QUALITY_SHARES = 5, QUALITY_CASES = QUALITY_CROWDS * QUALITY_SHARES, QUALITY_JUDGES = 2 };

typedef enum quality_rule {
  QUALITY_IMPORTANCE = 0, /* Muster's default: the law of importance, k = 12, and deadlines */
  QUALITY_IMPORTANCE_6,   /* the same with k = 6 */
  QUALITY_SQUARE_ROOT,    /* these two in the papers' order: elasticity from importance, as if k were 6, */
  QUALITY_ELASTIC,        /* and Tan & Wong's elastic periods likewise */
  QUALITY_ROUND_ROBIN,    /* one after the other; agents that are not due yet are passed over */
  QUALITY_DISTANCE, /* every k-th frame, k by the squared distance to the nearest observer, as voxel servers do; scaled
                       to use this CPU */
  QUALITY_RULES
} quality_rule;

typedef struct quality_setup {
  uint64_t seed;
  const char *spawns;                          /* a spawn file; null = its crowd is left out */
  const char *only;                            /* the name of the one crowd that is measured, or null */
  bool quick;                                  /* small crowds for a short time */
  double sigma;                                /* of the logarithms of what updates cost; 0: always the same */
  void (*show)(const char *doing, void *user); /* called before each measure; null = not wanted */
  void *user;
} quality_setup;

typedef struct quality_result {
  double staleness_ms[QUALITY_JUDGES];
  double ratio[QUALITY_JUDGES]; /* to the optimum's */
  double cpu_share;             /* CPU that it used / CPU that it was allowed */
} quality_result;

/* One crowd with one share of the CPU that all agents at the shortest period would take. */
typedef struct quality_case {
  const char *crowd;
  double cpu;  /* the share */
  double load; /* what all at the longest period would take / that CPU */
  uint32_t agents, observers;
  double optimum_ms[QUALITY_JUDGES]; /* the optimum's staleness */
  double wish[QUALITY_JUDGES];       /* ratio to it of the optimum with periods as long as Muster's */
  quality_result rules[QUALITY_RULES];
} quality_case;

/* k of each judge; Muster's rule that was given the same weights has the judge's number. */
extern const uint32_t quality_octaves[QUALITY_JUDGES];

/* The name of each rule and of each crowd, as in rows, and what it is. */
extern const char *const quality_rules[QUALITY_RULES][2], *const quality_crowds[QUALITY_CROWDS][2];

/* Measures the cases: all shares of the first crowd, then of the next. Null, or what went wrong. */
const char *quality_measure(const quality_setup *setup, quality_case cases[QUALITY_CASES], uint32_t *count);

#endif
