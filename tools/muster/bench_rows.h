/* bench_rows.h - the results of a bench: one row for each system, series and number of workers. */
#ifndef TOOLS_BENCH_ROWS_H
#define TOOLS_BENCH_ROWS_H

#include "bench_options.h"

enum { BENCH_ROWS_MAX = 1024, BENCH_NOTES_MAX = 16 };

typedef struct bench_quantiles {
  double p50, p99, max; /* where more is better: the median, what 99 % reach, the worst */
} bench_quantiles;

typedef struct bench_row {
  const bench_system *system;
  const bench_series *series;
  uint32_t workers;
  uint64_t samples; /* of all rounds */
  uint32_t round_count;
  bench_quantiles rounds[BENCH_ROUNDS_MAX];
  bench_quantiles result;         /* of each the median of the rounds */
  double p50_lowest, p50_highest; /* of the rounds */
} bench_row;

typedef struct bench_rows {
  bench_row *rows;
  uint32_t count;
  char notes[BENCH_NOTES_MAX][256]; /* what went wrong */
  uint32_t note_count;
} bench_rows;

/* Adds one round's samples and sorts them. False when there is no room for another row. */
bool bench_rows_add(bench_rows *rows, const bench_system *system, const bench_series *series, uint32_t workers,
                    bench_samples *samples);

/* Notes something once. */
void bench_rows_note(bench_rows *rows, const char *text);

/* Takes the medians of the rounds. */
void bench_rows_finish(bench_rows *rows);

/* The row, or null. */
const bench_row *bench_rows_find(const bench_rows *rows, const bench_system *system, const bench_series *series,
                                 uint32_t workers);

/* The best row of what else takes part in the contest, with the same series and workers; null when there is none. */
const bench_row *bench_rows_best_other(const bench_rows *rows, const bench_row *own);

/* How much better a row is than another: 2 = twice as good. Not a number for figures around nothing. */
double bench_rows_against(const bench_row *own, const bench_row *other);

/* A reference is compared only in the measures for which it is a reference; the other systems are in the contest. */
bool bench_rows_is_reference(const bench_system *system);

#endif
