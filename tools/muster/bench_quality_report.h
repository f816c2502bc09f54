/* bench_quality_report.h - the results of `muster bench quality` for people, for machines and as a figure. */
#ifndef TOOLS_BENCH_QUALITY_REPORT_H
#define TOOLS_BENCH_QUALITY_REPORT_H

#include "base/json.h"
#include "quality.h"

typedef struct quality_report {
  quality_setup setup;
  quality_case cases[QUALITY_CASES];
} quality_report;

/* The target: within 1.15 x the optimum and fresher than round robin and the distance rule. */
extern const double quality_target_ratio;

/* Whether a rule of Muster's reaches the target in a case, and in all of them. */
bool quality_reaches(const quality_case *result, quality_rule rule);
bool quality_reaches_always(const quality_report *report, quality_rule rule);

void quality_print(const quality_report *report);
void quality_write_json(const quality_report *report, json_writer *writer);

/* Draws the ratios into a folder. False when that failed, with a complaint. */
bool quality_plot(const quality_report *report, const char *folder);

#endif
