/* bench_report.h - the results of a bench for people and for machines. */
#ifndef TOOLS_BENCH_REPORT_H
#define TOOLS_BENCH_REPORT_H

#include "bench_rows.h"

#include "base/json.h"

typedef struct bench_results {
  const bench_options *options;
  const bench_systems *systems;
  bench_rows rows;
  double others_share, stolen_share; /* of all processors, taken meanwhile by other processes and by the host */
} bench_results;

/* Prints the tables, what each system's convention is, and which peers are absent. */
void bench_print(const bench_results *results);

/* Writes the document. */
void bench_write_json(const bench_results *results, json_writer *writer);

#endif
