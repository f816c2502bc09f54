/* The rows of the worker pool and of others as tables and as a document. */
#include "bench_pool.h"

#include "text.h"

#include <muster/jobs.h>

#include <math.h>
#include <string.h>

enum { TITLE_COLUMNS = 41, UNIT_COLUMNS = 14, COLUMN = 11 };

static const char *figure(double value) {
  double size = fabs(value);
  return text_of("%.*f", value == 0 || size >= 99.95 ? 0 : size < 0.9995 ? 3 : size < 9.995 ? 2 : 1, value);
}

static const pool_row *row_of(const pool_work *work, const bench_system *system, const bench_series *series) {
  return pool_find(work, system, series, work->workers_first);
}

static bool is_muster(const bench_system *system) {
  return strcmp(system->key, "muster") == 0;
}

/* Systems in the contest, also those that cannot take a measure: they have a dash in every row. */
static bool is_shown(const pool_work *work, const bench_system *system) {
  if (pool_is_reference(system) || work->sweep) return pool_find(work, system, NULL, 0) != NULL;
  return pool_wants_system(work, system->key);
}

/* A table's columns. */
struct columns {
  const bench_system *systems[BENCH_SYSTEMS_MAX];
  uint32_t count;
};

/* Muster always is the first. */
static struct columns choose_columns(const pool_work *work, bool references) {
  struct columns columns = {.count = 0};
  for (uint32_t i = 0; i < work->systems.present_count; i++) {
    const bench_system *system = work->systems.present[i];
    bool first = is_muster(system);
    if (first || pool_is_reference(system) == references)
      if (is_shown(work, system)) columns.systems[columns.count++] = system;
  }
  return columns;
}

/* --------------------------------------------------------------------------------------------------------- verdicts */

/* Muster's p50 against the best other's. Figures around nothing have no ratio. */
static void print_verdict(const pool_work *work, const bench_series *series, const struct columns *columns) {
  const pool_row *own = columns->count ? row_of(work, columns->systems[0], series) : NULL;
  const pool_row *other = own && is_muster(own->system) ? pool_best_other(work, own) : NULL;
  if (!other) return;
  double ratio = pool_against(own, other);
  const char *key = other->system->key;
  if (fabs(ratio - 1) < 0.02)
    printf("   like %s", key);
  else if (isnan(ratio))
    printf("   %s than %s",
           (own->result[POOL_P50] > other->result[POOL_P50]) == series->more_is_better ? "better" : "worse", key);
  else
    printf("   %.2f x %s than %s", ratio > 1 ? ratio : 1 / ratio, ratio > 1 ? "better" : "worse", key);
}

/* ----------------------------------------------------------------------------------------------------------- tables */

static void print_head(const char *title, const struct columns *columns, bool verdicts) {
  printf("\n%-*s", TITLE_COLUMNS + UNIT_COLUMNS, title);
  for (uint32_t i = 0; i < columns->count; i++) printf(" %*s", COLUMN, columns->systems[i]->key);
  puts(verdicts && columns->count > 1 ? "   muster is" : "");
}

static void print_cells(const pool_work *work, const bench_series *series, const struct columns *columns,
                        int quantile) {
  for (uint32_t i = 0; i < columns->count; i++) {
    const pool_row *row = row_of(work, columns->systems[i], series);
    printf(" %*s", COLUMN, row ? figure(row->result[quantile]) : "-");
  }
}

/* In a table of references Muster alone is not enough for a row. */
static bool has_row(const pool_work *work, const bench_series *series, const struct columns *columns, bool references) {
  for (uint32_t i = 0; i < columns->count; i++)
    if (!(references && is_muster(columns->systems[i])) && row_of(work, columns->systems[i], series)) return true;
  return false;
}

static void print_series(const pool_work *work, const bench_series *series, const struct columns *columns,
                         bool verdicts) {
  printf("%-*s%-*s", TITLE_COLUMNS, series->title, UNIT_COLUMNS, series->unit);
  print_cells(work, series, columns, POOL_P50);
  if (verdicts) print_verdict(work, series, columns);
  printf("\n%*s", TITLE_COLUMNS + UNIT_COLUMNS, series->more_is_better ? "99 % reach" : "p99");
  print_cells(work, series, columns, POOL_P99);
  puts("");
}

static void print_table(const pool_work *work, bool references, const char *title) {
  struct columns columns = choose_columns(work, references);
  if (columns.count == 0 || (references && columns.count < 2)) return;
  print_head(title, &columns, !references);
  for (const bench_measure *measure = work->suite->measures; measure->take; measure++)
    for (const bench_series *series = measure->series; series->key; series++)
      if (has_row(work, series, &columns, references)) print_series(work, series, &columns, !references);
}

/* ------------------------------------------------------------------------------------------------------------ sweep */

enum { SWEEP_KEYS, SWEEP_UNITS, SWEEP_FIGURES };

/* A cell for each series that is wanted. */
static void print_sweep_line(const pool_work *work, const bench_system *system, uint32_t workers, int what) {
  for (const bench_measure *measure = work->suite->measures; measure->take; measure++)
    for (const bench_series *series = measure->series; pool_wants_measure(work, measure) && series->key; series++) {
      const pool_row *row = pool_find(work, system, series, workers);
      const char *const cells[] = {series->key, series->unit, row ? figure(row->result[POOL_P50]) : "-"};
      printf(" %20s", cells[what]);
    }
  puts("");
}

static void print_sweep(const pool_work *work) {
  for (uint32_t i = 0; i < work->systems.present_count; i++) {
    const bench_system *system = work->systems.present[i];
    if (!pool_find(work, system, NULL, 0)) continue;
    printf("\n%s, p50:\n\nworkers", system->name);
    print_sweep_line(work, system, 0, SWEEP_KEYS);
    printf("       ");
    print_sweep_line(work, system, 0, SWEEP_UNITS);
    for (uint32_t workers = work->workers_first; workers <= work->workers_last;
         workers = pool_next_workers(workers, work->workers_last)) {
      printf("%7u", workers);
      print_sweep_line(work, system, workers, SWEEP_FIGURES);
    }
  }
}

/* ----------------------------------------------------------------------------------------------------------- report */

static void print_systems(const pool_work *work) {
  puts("");
  for (uint32_t i = 0; i < work->systems.present_count; i++) {
    const bench_system *system = work->systems.present[i];
    if (is_shown(work, system)) printf("%-11s  %s: %s\n", system->key, system->name, system->convention);
  }
  for (uint32_t i = 0; i < work->systems.absent_count; i++) {
    const bench_absence *absence = &work->systems.absent[i];
    if (work->sweep && !work->systems_wanted) continue;
    printf("%-11s  absent (%s): %s. Run tools/setup --peers (packages: %s), configure and build anew\n", absence->key,
           absence->name, absence->reason, absence->packages);
  }
  for (uint32_t i = 0; i < work->note_count; i++) printf("failed: %s\n", work->notes[i]);
}

void pool_print(const void *user) {
  const pool_work *work = user;
  uint32_t processors = muster_available_processors(), rounds = work->common.rounds;
  printf("muster bench %s: ", work->suite->name);
  if (work->sweep) printf("%u to ", work->workers_first);
  printf("%u workers on %u processor%s, medians of %u interleaved round%s%s\n", work->workers_last, processors,
         processors == 1 ? "" : "s", rounds, rounds == 1 ? "" : "s",
         work->common.quick ? ", quick: figures mean little" : "");
  if (work->sweep) {
    print_sweep(work);
  } else {
    print_table(work, false, "p50, and p99 below");
    print_table(work, true, "with and without, and what the machine allows");
  }
  print_systems(work);
}

/* --------------------------------------------------------------------------------------------------------- document */

static void write_row(const pool_work *work, const pool_row *row, json_writer *writer) {
  json_print(writer,
             "{ system=%s measure=%s unit=%s p50=%g p99=%g max=%g n=%lu workers=%u more_is_better=%d "
             "p50_lowest_round=%g p50_highest_round=%g",
             row->system->key, row->series->key, row->series->unit, row->result[POOL_P50], row->result[POOL_P99],
             row->result[POOL_MAX], row->samples, row->workers, row->series->more_is_better, row->rounds[POOL_P50][0],
             row->rounds[POOL_P50][row->round_count - 1]);
  if (is_muster(row->system)) {
    const pool_row *other = pool_best_other(work, row);
    json_number(writer, "against_best", other ? pool_against(row, other) : (double)NAN);
    if (other) json_string(writer, "best_other", other->system->key);
  }
  json_end_object(writer);
}

void pool_write(const void *user, json_writer *writer) {
  const pool_work *work = user;
  json_print(writer, "bench=%s workers_first=%u workers_last=%u processors=%u rounds=%u quick=%d rows[",
             work->suite->name, work->workers_first, work->workers_last, muster_available_processors(),
             work->common.rounds, work->common.quick);
  for (uint32_t i = 0; i < work->row_count; i++) write_row(work, &work->rows[i], writer);
  json_print(writer, "] systems[");
  for (uint32_t i = 0; i < work->systems.present_count; i++) {
    const bench_system *system = work->systems.present[i];
    json_print(writer, "{ system=%s name=%s convention=%s }", system->key, system->name, system->convention);
  }
  json_print(writer, "] absent[");
  for (uint32_t i = 0; i < work->systems.absent_count; i++) {
    const bench_absence *absence = &work->systems.absent[i];
    json_print(writer, "{ system=%s name=%s reason=%s packages=%s }", absence->key, absence->name, absence->reason,
               absence->packages);
  }
  json_print(writer, "] failures[");
  for (uint32_t i = 0; i < work->note_count; i++) json_string(writer, NULL, work->notes[i]);
  json_end_array(writer);
}
