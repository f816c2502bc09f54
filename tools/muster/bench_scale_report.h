/* bench_scale_report.h - the results of `muster bench scale` for people and for machines. */
#ifndef TOOLS_BENCH_SCALE_REPORT_H
#define TOOLS_BENCH_SCALE_REPORT_H

#include "bench_scale_options.h"
#include "scale.h"

#include "base/json.h"

enum { BENCH_SCALE_NOTES_MAX = BENCH_SCALE_LIST_MAX, BENCH_SCALE_NOTE_BYTES = 256 };

typedef struct bench_scale_results {
  const bench_scale_options *options;
  scale_row *rows;
  uint32_t row_count;
  scale_spawning spawnings[BENCH_SCALE_LIST_MAX]; /* one for each number of workers */
  uint32_t spawning_count;
  char notes[BENCH_SCALE_NOTES_MAX][BENCH_SCALE_NOTE_BYTES]; /* what was left out, and why */
  uint32_t note_count;
  double others_share, stolen_share; /* of all processors, taken meanwhile by other processes and by the host */
} bench_scale_results;

/* Prints the tables. */
void bench_scale_print(const bench_scale_results *results);

/* Writes the document. */
void bench_scale_write_json(const bench_scale_results *results, json_writer *writer);

/* Draws the overhead against the number of agents into a folder. False after a complaint. */
bool bench_scale_plot(const bench_scale_results *results, const char *folder);

#endif
