/* stress_columns.h - reports of `muster stress` side by side: each is a column, whether it was measured now or read
 * from what --json wrote, here or on another machine. Without base/json.h, for the source that includes jansson.h. */
#ifndef TOOLS_STRESS_COLUMNS_H
#define TOOLS_STRESS_COLUMNS_H

#include "stress.h"

enum { STRESS_COMPARED_MAX = 8, STRESS_VERSION = 1, STRESS_COLUMN_TEXT = 128 };

/* What a report says of an axis. */
typedef struct stress_cell {
  bool measured;
  uint32_t limit;                 /* 0: not even the first step holds */
  bool most;                      /* nothing gave way up to the most that was asked for */
  char cause[STRESS_COLUMN_TEXT]; /* else this did */
  /* In the last step that holds. */
  double updates_per_frame, overhead_per_update_ns, serial_share, budget_used_share, bytes;
} stress_cell;

typedef struct stress_column {
  char name[STRESS_COLUMN_TEXT], version[STRESS_COLUMN_TEXT], processor[STRESS_COLUMN_TEXT];
  uint32_t processors;
  double budget_ns, frame_ns, cost_ns, planner_cost_ns, frames;
  uint32_t baseline[STRESS_KNOBS];
  bool crowd;
  double others_share; /* the most that other processes took of the processors in a step */
  stress_cell axes[STRESS_AXES];
} stress_column;

/* Reads a report. False after a complaint. */
bool stress_column_read(const char *path, stress_column *column);

/* Prints them. */
void stress_columns_print(const stress_column *columns, uint32_t count);

#endif
