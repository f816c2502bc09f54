/* bench_quality_report.h - the results of `muster bench quality` for people, for machines and as a figure. */
#ifndef TOOLS_BENCH_QUALITY_REPORT_H
#define TOOLS_BENCH_QUALITY_REPORT_H

#include "base/json.h"
#include "quality.h"

typedef struct quality_report {
  quality_setup setup;
  uint32_t count;
  quality_case cases[QUALITY_CASES];
} quality_report;

/* The target of the rule that has a judge's weights: within this factor of the optimum, or of the wish's figure where
 * that is above the optimum; and no other rule fresher by more than this factor. */
extern const double quality_target_ratio, quality_target_lead;

/* Whether it is reached in a case, and in all of them, by all judges. */
bool quality_reaches(const quality_case *result, uint32_t judge);
bool quality_reaches_always(const quality_report *report);

void quality_print(const quality_report *report);
void quality_write_json(const quality_report *report, json_writer *writer);

/* Draws the ratios into a folder. False when that failed, with a complaint. */
bool quality_plot(const quality_report *report, const char *folder);

#endif
