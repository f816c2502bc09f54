/* bench_sweep_report.h - the results of `muster bench sweep` for people, for machines and as a figure. */
#ifndef TOOLS_BENCH_SWEEP_REPORT_H
#define TOOLS_BENCH_SWEEP_REPORT_H

#include "base/json.h"
#include "bench_sweep_run.h"

typedef struct sweep_report {
  sweep_setup setup;
  sweep_result results[SWEEP_LOADS];
} sweep_report;

/* From one load to the next the interval of the important may grow by that part, or by a frame; and where the animals
 * themselves came to cost more meanwhile, which pressure tells, by that. */
extern const double sweep_growth_most;

/* By how much it does from the load before to this one; 0 at the first. */
double sweep_growth(const sweep_report *report, sweep_rule rule, uint32_t load);

/* Whether it may. */
bool sweep_holds(const sweep_report *report, sweep_rule rule, uint32_t load);

/* Loads at which it may not. */
uint32_t sweep_cliffs(const sweep_report *report, sweep_rule rule);

void sweep_print(const sweep_report *report);
void sweep_write_json(const sweep_report *report, json_writer *writer);

/* Draws the intervals into a folder. False when that failed, with a complaint. */
bool sweep_plot(const sweep_report *report, const char *folder);

#endif
