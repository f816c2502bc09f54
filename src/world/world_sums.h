/* world_sums.h - what frames add up to: the report, the statistics, and sums by worker. */
#ifndef WORLD_SUMS_H
#define WORLD_SUMS_H

#include "base/histogram.h"

#include <muster/report.h>

/* Updates of a band of importance since the statistics were cleared. */
typedef struct settled_band {
  uint64_t completed;
  struct histogram staleness;
} settled_band;

/* What the updates add up to that a worker completes. */
typedef struct settle_part {
  _Alignas(64) uint64_t completed;    /* in this frame */
  uint64_t interval_deviation_sum_ns; /* of signed values: sums of absurd times wrap */
  uint64_t steps_behind_max;
  uint64_t longest_wait_ns; /* in this frame, of agents that had waited in line */
  uint32_t forgotten;       /* how many agents left the line */
  settled_band bands[MUSTER_BANDS];
} settle_part;

/* What frame/units.c has seen since its last look, and has said. */
typedef struct units_watch {
  uint32_t frames, budgets_small;
  uint64_t moved_ns, step_most_ns; /* simulation time, and the most of it in one frame */
  uint64_t wall_ns;                /* when that look was; 0 = not known */
  uint32_t looks;                  /* for agents near observers */
  bool hardly_moves;               /* as of that look */
  bool time_told, budget_told;
} units_watch;

struct world_sums {
  muster_frame_report report;
  muster_statistics statistics; /* the quantiles are filled when it is read */
  uint32_t part_count;
  settle_part *parts; /* by worker: what completed updates add up to; the frame's thread alone adds to the first one */
  uint32_t batch_high;
  uint64_t admitted_ns; /* predicted cost of the last batch, */
  uint32_t admitted;    /* and of how many ranked entries */
  units_watch units;
  bool results_told;   /* the log has been told of answers of atoms that are none */
  uint64_t prepaid_ns; /* what calls between frames took: the next budget is less by it */
};

#endif
