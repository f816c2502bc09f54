#include "bench_report.h"

#include <muster/jobs.h>

#include <math.h>
#include <string.h>

static void write_systems(const bench_results *results, json_writer *writer) {
  json_begin_array(writer, "systems");
  for (uint32_t i = 0; i < results->systems->present_count; i++) {
    const bench_system *system = results->systems->present[i];
    json_begin_object(writer, NULL);
    json_string(writer, "system", system->key);
    json_string(writer, "name", system->name);
    json_string(writer, "convention", system->convention);
    json_end_object(writer);
  }
  json_end_array(writer);
}

static void write_absent(const bench_results *results, json_writer *writer) {
  json_begin_array(writer, "absent");
  for (uint32_t i = 0; i < results->systems->absent_count; i++) {
    const bench_absence *absence = &results->systems->absent[i];
    json_begin_object(writer, NULL);
    json_string(writer, "system", absence->key);
    json_string(writer, "name", absence->name);
    json_string(writer, "reason", absence->reason);
    json_string(writer, "packages", absence->packages);
    json_end_object(writer);
  }
  json_end_array(writer);
}

/* What is best of the others, and how much better than it Muster is. */
static void write_contest(const bench_rows *rows, const bench_row *own, json_writer *writer) {
  const bench_row *other = bench_rows_best_other(rows, own);
  json_number(writer, "against_best", other ? bench_rows_against(own, other) : NAN);
  if (other) json_string(writer, "best_other", other->system->key);
}

static void write_row(const bench_rows *rows, const bench_row *row, json_writer *writer) {
  json_begin_object(writer, NULL);
  json_string(writer, "system", row->system->key);
  json_string(writer, "measure", row->series->key);
  json_string(writer, "unit", row->series->unit);
  json_number(writer, "p50", row->result.p50);
  json_number(writer, "p99", row->result.p99);
  json_number(writer, "max", row->result.max);
  json_uint(writer, "n", row->samples);
  json_uint(writer, "workers", row->workers);
  json_bool(writer, "more_is_better", row->series->more_is_better);
  json_number(writer, "p50_lowest_round", row->p50_lowest);
  json_number(writer, "p50_highest_round", row->p50_highest);
  if (strcmp(row->system->key, "muster") == 0) write_contest(rows, row, writer);
  json_end_object(writer);
}

void bench_write_json(const bench_results *results, json_writer *writer) {
  const bench_options *options = results->options;
  json_begin_object(writer, NULL);
  json_string(writer, "bench", options->suite->name);
  json_uint(writer, "workers_first", options->workers_first);
  json_uint(writer, "workers_last", options->workers_last);
  json_uint(writer, "processors", muster_available_processors());
  json_uint(writer, "rounds", options->rounds);
  json_bool(writer, "quick", options->quick);
  json_number(writer, "others_cpu_share", results->others_share);
  json_number(writer, "stolen_cpu_share", results->stolen_share);
  json_begin_array(writer, "rows");
  for (uint32_t i = 0; i < results->rows.count; i++) write_row(&results->rows, &results->rows.rows[i], writer);
  json_end_array(writer);
  write_systems(results, writer);
  write_absent(results, writer);
  json_begin_array(writer, "failures");
  for (uint32_t i = 0; i < results->rows.note_count; i++) json_string(writer, NULL, results->rows.notes[i]);
  json_end_array(writer);
  json_end_object(writer);
}
