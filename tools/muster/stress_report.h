/* stress_report.h - what `muster stress` was asked for, and what it found. */
#ifndef TOOLS_STRESS_REPORT_H
#define TOOLS_STRESS_REPORT_H

#include "bench.h"
#include "stress.h"
#include "stress_columns.h"

enum { STRESS_STEPS_MAX = 32 };

typedef struct stress_step {
  stress_figures figures;
  stress_verdict verdict;
} stress_step;

/* An axis, step by step. */
typedef struct stress_climb {
  bool wanted;
  uint32_t count; /* of its steps, so far */
  stress_step steps[STRESS_STEPS_MAX];
  int32_t limit; /* the last step that holds; -1: none does */
  int32_t fell;  /* the step in which something gave way; -1: none did, up to the most that was asked for */
} stress_climb;

typedef struct stress_work {
  bench_work common;
  const char *axes; /* names of those that are wanted; null: all */
  stress_load baseline, most;
  uint64_t cost_ns, planner_cost_ns, budget_ns, rate; /* rate: frames per 1000 seconds */
  uint64_t frame_ns, frames, warm_up;
  uint32_t seconds, memory_mib, steps_most;
  bool again;                                    /* nothing is measured: reports are compared */
  const char *compared[STRESS_COMPARED_MAX + 1]; /* reports; ends with a null */
  stress_limits limits;
  stress_climb climbs[STRESS_AXES];
  stress_column columns[STRESS_COMPARED_MAX + 1]; /* this run first, unless nothing is measured; then the reports */
  uint32_t column_count;
  char wrong[1024]; /* what ended it, and in which step */
  int signal;       /* that ended it early; 0 = none */
} stress_work;

/* Climbs the wanted axes. Null, or what went wrong. */
const char *stress_measure(void *user);

/* What an axis came to, in a sentence, and what else its last step shows: of criteria that are not met, and of causes.
 * A text is good as those of text.h are. */
const char *stress_broken_text(uint32_t criterion, const stress_figures *figures, const stress_limits *limits);
const char *stress_cause_text(uint32_t cause, const stress_step *step, const stress_limits *limits);

/* The tables, the document, and a figure of what each axis keeps, as a bench has them. */
void stress_print(const void *user);
void stress_write(const void *user, json_writer *writer);
bool stress_plot(const void *user, const char *folder);

/* The most that other processes took of the processors in a step; or the host, of them. */
double stress_loudest(const stress_work *work, bool stolen);

/* This run as a column beside others. */
void stress_fill_column(const stress_work *work, stress_column *column);

#endif
