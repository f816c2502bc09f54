/* engine.h - suites of measures, the systems that they compare, and how one measure of one system is taken: in a
 * process of its own, so that no system's threads, spinning or affinity disturbs another's figures, and so that a
 * system that dies or hangs harms nothing else. */
#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include "system.h"

#include <limits.h>

enum { BENCH_SERIES_MAX = 3, BENCH_SAMPLES_MAX = 8192, BENCH_SYSTEMS_MAX = 16, BENCH_LIMIT_SECONDS = 60 };

/* What a measure brings: one row per system. */
typedef struct bench_series {
  const char *key;   /* in JSON */
  const char *title; /* in the table */
  const char *unit;
  bool more_is_better;
} bench_series;

typedef struct bench_samples {
  uint32_t count;
  double values[BENCH_SAMPLES_MAX];
} bench_samples;

typedef struct bench_context {
  const bench_system *system;
  void *pool;
  uint32_t workers;
  bool quick;             /* a few samples, to see that it works */
  bench_samples *samples; /* [BENCH_SERIES_MAX] */
} bench_context;

typedef enum bench_need {
  BENCH_NEEDS_NOTHING = 0, /* no pool is created: code of Muster's own is measured, and no other system takes part */
  BENCH_NEEDS_SUBMIT,
  BENCH_NEEDS_RANGES,
  BENCH_NEEDS_COUNT,
  BENCH_NEEDS_TWO_LEVELS,
  BENCH_NEEDS_LEVELS, /* more than two levels, mixed at will */
  BENCH_NEEDS_RANGES_AT_LEVELS
} bench_need;

typedef void bench_take_function(bench_context *context);

typedef struct bench_measure {
  bench_series series[BENCH_SERIES_MAX + 1]; /* ended by an empty one */
  bench_take_function *take;
  bench_need need;
  uint32_t workers_min;
  bool in_sweep; /* taken for every number of workers */
} bench_measure;

typedef struct bench_suite {
  const char *name, *summary;
  const bench_measure *measures; /* ended by an empty one, which has no `take` */
} bench_suite;

extern const bench_suite bench_suites[]; /* ended by an empty one */

typedef struct bench_absence {
  const char *key, *best; /* as it comes, and as fastest */
  const char *name;
  const char *packages; /* that the system needs */
  char reason[256];
} bench_absence;

typedef struct bench_systems {
  const bench_system *present[BENCH_SYSTEMS_MAX];
  uint32_t present_count;
  bench_absence absent[BENCH_SYSTEMS_MAX];
  uint32_t absent_count;
} bench_systems;

/* The folder "bench" beside the program, where libraries for benches lie. False: it cannot be told. */
bool bench_own_folder(char folder[PATH_MAX]);

/* Finds the systems: those built in, and the peers' libraries in `folder`; null: the folder "bench" beside the
 * program. */
void bench_systems_find(bench_systems *systems, const char *folder);

/* The key of a system that is known, present or not, by its number; null behind the last. */
const char *bench_system_key(uint32_t number);

/* Whether the system takes part in a measure with so many workers. */
bool bench_takes_part(const bench_system *system, const bench_measure *measure, uint32_t workers);

/* Memory for `take` that a child process can write into; null when refused. */
bench_samples *bench_samples_create(void);

/* Takes a measure of a system once, in a child process. Before the first, work_calibrate. Null, or what went wrong
 * (valid until the next call). */
const char *bench_take(const bench_measure *measure, const bench_context *context);

/* For measures: adds a sample; beyond BENCH_SAMPLES_MAX they are dropped. */
void bench_sample(bench_context *context, uint32_t series, double value);

/* For measures: how many samples to take. */
static inline uint32_t bench_amount(const bench_context *context, uint32_t normally, uint32_t quick) {
  return context->quick ? quick : normally;
}

#endif
