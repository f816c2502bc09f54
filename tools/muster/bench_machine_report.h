/* bench_machine_report.h - what `muster bench machine` was asked for, and what it tells. */
#ifndef TOOLS_BENCH_MACHINE_REPORT_H
#define TOOLS_BENCH_MACHINE_REPORT_H

#include "base/json.h"
#include "machine.h"

typedef struct bench_machine_options {
  const char *json;
  uint32_t workers;
  uint64_t budget_ns, frames;
  uint64_t rate, period_ns; /* of frames, per 1000 seconds; of one frame */
} bench_machine_options;

typedef struct bench_machine_results {
  const bench_machine_options *options;
  machine_report report;
  bool real_time; /* at a priority before all usual programs */
  double others_share, stolen_share;
} bench_machine_results;

/* The tables, and in a sentence what they mean for a promise. */
void bench_machine_print(const bench_machine_results *results);

void bench_machine_write_json(const bench_machine_results *results, json_writer *writer);

#endif
