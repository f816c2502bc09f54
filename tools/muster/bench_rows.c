/* The rows of the worker pool and of others: medians of rounds, and the contest. */
#include "bench_pool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static double median(double *values, uint32_t count) {
  qsort(values, count, sizeof *values, by_value);
  return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* The smallest sample that is not exceeded by `percent` of them. */
static double quantile(const double *sorted, uint32_t count, uint32_t percent) {
  uint32_t rank = (uint32_t)(((uint64_t)count * percent + 99) / 100);
  return sorted[rank > 0 ? rank - 1 : 0];
}

static pool_quantiles quantiles_of(bench_samples *samples, bool more_is_better) {
  double *values = samples->values;
  uint32_t count = samples->count;
  double p50 = median(values, count); /* sorts */
  if (!more_is_better) return (pool_quantiles){p50, quantile(values, count, 99), values[count - 1]};
  uint32_t low = (uint32_t)((uint64_t)count / 100);
  return (pool_quantiles){p50, values[low], values[0]};
}

const pool_row *pool_find(const pool_work *work, const bench_system *system, const bench_series *series,
                          uint32_t workers) {
  for (uint32_t i = 0; i < work->row_count; i++) {
    const pool_row *row = &work->rows[i];
    if (row->system == system && row->series == series && row->workers == workers) return row;
  }
  return NULL;
}

bool pool_add(pool_work *work, const bench_system *system, const bench_series *series, uint32_t workers,
              bench_samples *samples) {
  if (samples->count == 0) return true;
  pool_row *row = (pool_row *)pool_find(work, system, series, workers);
  if (!row && work->row_count == POOL_ROWS_MAX) return false;
  if (!row) {
    row = &work->rows[work->row_count++];
    *row = (pool_row){.system = system, .series = series, .workers = workers};
  }
  row->samples += samples->count;
  row->rounds[row->round_count++] = quantiles_of(samples, series->more_is_better);
  return true;
}

void pool_note(pool_work *work, const char *text) {
  for (uint32_t i = 0; i < work->note_count; i++)
    if (strcmp(work->notes[i], text) == 0) return;
  if (work->note_count < POOL_NOTES_MAX) snprintf(work->notes[work->note_count++], sizeof work->notes[0], "%s", text);
}

static void finish_row(pool_row *row) {
  double p50[POOL_ROUNDS_MAX], p99[POOL_ROUNDS_MAX], max[POOL_ROUNDS_MAX];
  for (uint32_t i = 0; i < row->round_count; i++) {
    p50[i] = row->rounds[i].p50;
    p99[i] = row->rounds[i].p99;
    max[i] = row->rounds[i].max;
  }
  row->result.p50 = median(p50, row->round_count); /* sorts */
  row->result.p99 = median(p99, row->round_count);
  row->result.max = median(max, row->round_count);
  row->p50_lowest = p50[0];
  row->p50_highest = p50[row->round_count - 1];
}

void pool_finish(pool_work *work) {
  for (uint32_t i = 0; i < work->row_count; i++) finish_row(&work->rows[i]);
}

/* ---------------------------------------------------------------------------------------------------------- contest */

bool pool_is_reference(const bench_system *system) {
  return system->only != NULL;
}

const pool_row *pool_best_other(const pool_work *work, const pool_row *own) {
  const pool_row *best = NULL;
  for (uint32_t i = 0; i < work->row_count; i++) {
    const pool_row *row = &work->rows[i];
    if (row->series != own->series || row->workers != own->workers || row->system == own->system) continue;
    if (pool_is_reference(row->system)) continue;
    double p50 = row->result.p50;
    if (!best || (row->series->more_is_better ? p50 > best->result.p50 : p50 < best->result.p50)) best = row;
  }
  return best;
}

/* Whether a value counts as zero, such as the CPU time of a process that sleeps. */
static bool is_nothing(const bench_series *series, double value) {
  return fabs(value) < (strcmp(series->unit, "percent") == 0 ? 0.1 : 0.01);
}

double pool_against(const pool_row *own, const pool_row *other) {
  double ours = own->result.p50, theirs = other->result.p50;
  if (is_nothing(own->series, ours) && is_nothing(own->series, theirs)) return 1;
  if (ours <= 0 || theirs <= 0) return NAN;
  return own->series->more_is_better ? ours / theirs : theirs / ours;
}
