#include "bench_report.h"
#include "noise.h"

#include <muster/jobs.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL_BYTES = 32, TITLE_COLUMNS = 41, UNIT_COLUMNS = 14, COLUMN = 11 };

static const char *figure(char out[CELL_BYTES], double value) {
  double size = fabs(value);
  int decimals = size < 0.9995 ? 3 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  if (value == 0) decimals = 0;
  snprintf(out, CELL_BYTES, "%.*f", decimals, value);
  return out;
}

static uint32_t workers_of(const bench_results *results) {
  return results->options->workers_first;
}

static const bench_row *row_of(const bench_results *results, const bench_system *system, const bench_series *series) {
  return bench_rows_find(&results->rows, system, series, workers_of(results));
}

static bool is_muster(const bench_system *system) {
  return strcmp(system->key, "muster") == 0;
}

static bool has_rows(const bench_results *results, const bench_system *system) {
  for (uint32_t i = 0; i < results->rows.count; i++)
    if (results->rows.rows[i].system == system) return true;
  return false;
}

/* Systems in the contest, also those that cannot take a measure: they have a dash in every row. */
static bool is_shown(const bench_results *results, const bench_system *system) {
  if (bench_rows_is_reference(system) || results->options->sweep) return has_rows(results, system);
  return bench_options_want_system(results->options, system);
}

static bool has_reference(const bench_results *results, const bench_series *series) {
  for (uint32_t i = 0; i < results->rows.count; i++)
    if (results->rows.rows[i].series == series && bench_rows_is_reference(results->rows.rows[i].system)) return true;
  return false;
}

/* A table's columns. */
struct columns {
  const bench_system *systems[BENCH_SYSTEMS_MAX];
  uint32_t count;
};

/* Muster always is the first. */
static struct columns choose_columns(const bench_results *results, bool references) {
  struct columns columns = {.count = 0};
  for (uint32_t i = 0; i < results->systems->present_count; i++) {
    const bench_system *system = results->systems->present[i];
    bool first = is_muster(system);
    if (first || bench_rows_is_reference(system) == references)
      if (is_shown(results, system)) columns.systems[columns.count++] = system;
  }
  return columns;
}

/* --------------------------------------------------------------------------------------------------------- verdicts */

/* Muster's p50 against the best other's. Figures around nothing have no ratio. */
static void print_verdict(const bench_results *results, const bench_series *series, const struct columns *columns) {
  const bench_row *own = columns->count ? row_of(results, columns->systems[0], series) : NULL;
  const bench_row *other = own && is_muster(own->system) ? bench_rows_best_other(&results->rows, own) : NULL;
  if (!other) return;
  double ratio = bench_rows_against(own, other);
  const char *key = other->system->key;
  if (fabs(ratio - 1) < 0.02)
    printf("   like %s", key);
  else if (isnan(ratio))
    printf("   %s than %s", (own->result.p50 > other->result.p50) == series->more_is_better ? "better" : "worse", key);
  else
    printf("   %.2f x %s than %s", ratio > 1 ? ratio : 1 / ratio, ratio > 1 ? "better" : "worse", key);
}

/* ----------------------------------------------------------------------------------------------------------- tables */

static void print_head(const char *title, const struct columns *columns, bool verdicts) {
  printf("\n%-*s", TITLE_COLUMNS + UNIT_COLUMNS, title);
  for (uint32_t i = 0; i < columns->count; i++) printf(" %*s", COLUMN, columns->systems[i]->key);
  puts(verdicts && columns->count > 1 ? "   muster is" : "");
}

/* `choose` picks what of the quantiles is shown. */
static void print_cells(const bench_results *results, const bench_series *series, const struct columns *columns,
                        double (*choose)(const bench_quantiles *)) {
  char text[CELL_BYTES];
  for (uint32_t i = 0; i < columns->count; i++) {
    const bench_row *row = row_of(results, columns->systems[i], series);
    printf(" %*s", COLUMN, row ? figure(text, choose(&row->result)) : "-");
  }
}

static double choose_p50(const bench_quantiles *quantiles) {
  return quantiles->p50;
}

static double choose_p99(const bench_quantiles *quantiles) {
  return quantiles->p99;
}

static bool has_row(const bench_results *results, const bench_series *series, const struct columns *columns) {
  for (uint32_t i = 0; i < columns->count; i++)
    if (row_of(results, columns->systems[i], series)) return true;
  return false;
}

static void print_series(const bench_results *results, const bench_series *series, const struct columns *columns,
                         bool verdicts) {
  printf("%-*s%-*s", TITLE_COLUMNS, series->title, UNIT_COLUMNS, series->unit);
  print_cells(results, series, columns, choose_p50);
  if (verdicts) print_verdict(results, series, columns);
  printf("\n%*s", TITLE_COLUMNS + UNIT_COLUMNS, series->more_is_better ? "99 % reach" : "p99");
  print_cells(results, series, columns, choose_p99);
  puts("");
}

static void print_table(const bench_results *results, bool references, const char *title) {
  struct columns columns = choose_columns(results, references);
  if (columns.count == 0 || (references && columns.count < 2)) return;
  print_head(title, &columns, !references);
  for (const bench_measure *const *measure = results->options->suite->measures; *measure; measure++)
    for (uint32_t i = 0; i < (*measure)->series_count; i++) {
      const bench_series *series = &(*measure)->series[i];
      if (references && !has_reference(results, series)) continue;
      if (has_row(results, series, &columns)) print_series(results, series, &columns, !references);
    }
}

/* ------------------------------------------------------------------------------------------------------------ sweep */

static void print_sweep_head(const bench_results *results) {
  const bench_options *options = results->options;
  for (int line = 0; line < 2; line++) {
    printf("%s", line == 0 ? "\nworkers" : "       ");
    for (const bench_measure *const *measure = options->suite->measures; *measure; measure++)
      for (uint32_t i = 0; bench_options_want_measure(options, *measure) && i < (*measure)->series_count; i++)
        printf(" %20s", line == 0 ? (*measure)->series[i].key : (*measure)->series[i].unit);
    puts("");
  }
}

static void print_sweep_row(const bench_results *results, const bench_system *system, uint32_t workers) {
  const bench_options *options = results->options;
  char text[CELL_BYTES];
  printf("%7u", workers);
  for (const bench_measure *const *measure = options->suite->measures; *measure; measure++)
    for (uint32_t i = 0; bench_options_want_measure(options, *measure) && i < (*measure)->series_count; i++) {
      const bench_row *row = bench_rows_find(&results->rows, system, &(*measure)->series[i], workers);
      printf(" %20s", row ? figure(text, row->result.p50) : "-");
    }
  puts("");
}

static void print_sweep(const bench_results *results) {
  const bench_options *options = results->options;
  for (uint32_t i = 0; i < results->systems->present_count; i++) {
    const bench_system *system = results->systems->present[i];
    if (!has_rows(results, system)) continue;
    printf("\n%s, p50:\n", system->name);
    print_sweep_head(results);
    for (uint32_t workers = options->workers_first; workers <= options->workers_last;
         workers = bench_options_next_workers(options, workers))
      print_sweep_row(results, system, workers);
  }
}

/* ----------------------------------------------------------------------------------------------------------- report */

static void print_systems(const bench_results *results) {
  puts("");
  for (uint32_t i = 0; i < results->systems->present_count; i++) {
    const bench_system *system = results->systems->present[i];
    if (is_shown(results, system)) printf("%-11s  %s: %s\n", system->key, system->name, system->convention);
  }
  for (uint32_t i = 0; i < results->systems->absent_count; i++) {
    const bench_absence *absence = &results->systems->absent[i];
    if (results->options->sweep && !results->options->systems) continue;
    printf("%-11s  absent (%s): %s. Run tools/setup --peers (packages: %s), configure and build anew\n", absence->key,
           absence->name, absence->reason, absence->packages);
  }
  for (uint32_t i = 0; i < results->rows.note_count; i++) printf("failed: %s\n", results->rows.notes[i]);
}

void bench_print(const bench_results *results) {
  const bench_options *options = results->options;
  uint32_t processors = muster_available_processors();
  const char *quick = options->quick ? ", quick: figures mean little" : "";
  printf("muster bench %s: ", options->suite->name);
  if (options->sweep) printf("%u to ", options->workers_first);
  printf("%u workers on %u processor%s, medians of %u interleaved round%s%s\n", options->workers_last, processors,
         processors == 1 ? "" : "s", options->rounds, options->rounds == 1 ? "" : "s", quick);
  noise_print(results->others_share, results->stolen_share);
  if (options->sweep) {
    print_sweep(results);
  } else {
    print_table(results, false, "p50, and p99 below");
    print_table(results, true, "with and without, and what the machine allows");
  }
  print_systems(results);
}
