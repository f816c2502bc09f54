/* bench_pool.h - the worker pool beside other job systems: what `muster bench dispatch` and `muster bench priority`
 * were asked for, and one row for each system, series and number of workers. */
#ifndef TOOLS_BENCH_POOL_H
#define TOOLS_BENCH_POOL_H

#include "benches.h"
#include "engine.h"

enum { POOL_ROUNDS_MAX = 64, POOL_WORKERS_MAX = 256, POOL_ROWS_MAX = 2048, POOL_NOTES_MAX = 16 };

/* Where more is better: the median, what 99 % reach, the worst. */
enum { POOL_P50, POOL_P99, POOL_MAX, POOL_QUANTILES };

typedef struct pool_row {
  const bench_system *system;
  const bench_series *series;
  uint32_t workers;
  uint64_t samples; /* of all rounds */
  uint32_t round_count;
  double rounds[POOL_QUANTILES][POOL_ROUNDS_MAX]; /* in order when all were taken */
  double result[POOL_QUANTILES];                  /* of each the median of the rounds */
} pool_row;

typedef struct pool_work {
  bench_work common;
  const bench_suite *suite;
  const char *peers;           /* folder of the peers' libraries; null = beside the program */
  const char *systems_wanted;  /* keys with commas between; null = all */
  const char *measures_wanted; /* the same */
  const char *workers;         /* a number or two; null = as many as processors */
  uint32_t workers_first, workers_last;
  bool sweep; /* over all numbers of workers from first to last */
  bench_systems systems;
  uint32_t row_count, note_count;
  pool_row rows[POOL_ROWS_MAX];    /* enough for a sweep of every system */
  char notes[POOL_NOTES_MAX][256]; /* what went wrong */
} pool_work;

/* Whether a system or a measure is to be measured. */
bool pool_wants_system(const pool_work *work, const char *key);
bool pool_wants_measure(const pool_work *work, const bench_measure *measure);

/* The next number of workers of a sweep: each one up to 8, then in steps of about a quarter, the last one always. */
uint32_t pool_next_workers(uint32_t workers, uint32_t last);

/* The first row of these, or null; without a system, without a series and with 0 workers any will do. */
const pool_row *pool_find(const pool_work *work, const bench_system *system, const bench_series *series,
                          uint32_t workers);

/* The best row of what else takes part in the contest, with the same series and workers; null when there is none. */
const pool_row *pool_best_other(const pool_work *work, const pool_row *own);

/* How much better a row is than another: 2 = twice as good. Not a number for figures around nothing. */
double pool_against(const pool_row *own, const pool_row *other);

/* A reference is compared only in the measures for which it is a reference; the other systems are in the contest. */
bool pool_is_reference(const bench_system *system);

/* The tables, what each system's convention is, and which peers are absent; and the document. */
void pool_print(const void *user);
void pool_write(const void *user, json_writer *writer);

#endif
