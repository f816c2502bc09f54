/* tan_wong.h - the experiments of Tan & Wong, run and summed up.
 *
 * 100 animats under elastic periods and the paper's order. The experiments are a closed loop, as a game is: the frame
 * takes as long as the AI and the rest of the game need, and simulation time advances by just that. */
#ifndef TOOLS_TAN_WONG_H
#define TOOLS_TAN_WONG_H

#include "repro.h"

#include <muster/muster.h>

enum { TAN_WONG_ROWS = 3, TAN_WONG_ANIMATS = 100 };

/* One frame, for the figure. */
typedef struct tan_wong_frame {
  double c_ms;        /* C_total: what the updates of the frame took */
  double frame_ms;    /* T_f: how long the frame took, the rest of the game included */
  double u_fitted;    /* sum of C_i / T_i */
  double assigned_ms; /* mean of T_i - T_io */
  double overhead_ms;
} tan_wong_frame;

/* A stretch of frames, summed up.
 *
 * U_total is what the AI really took: C_total / T_f. The paper's own figures show that it means this and not the sum of
 * the fitted C_i / T_i: that would be T_d / T_f = 0.654 in the row of 20 ms, where 16.745 / 30.59 = 0.547 is what
 * stands there. It is taken over the whole stretch, so that long frames count for as long as they are. */
typedef struct tan_wong_phase {
  double c_total_ms, u_total, u_fitted, frame_ms, fps, d_assigned_ms, overhead_ms;
  double c_largest_ms; /* of any frame */
} tan_wong_phase;

/* A row of Table 2. */
typedef struct tan_wong_row {
  double budget_ms;
  double c_total_ms, u_total;
  double d_assigned_ms; /* mean of T_i - T_io as fitted */
  double d_interval_ms; /* mean of the time from one update to the next, less T_io: delays included */
  double fps, overhead_ms;
} tan_wong_row;

/* What an animat is, as its scenario reports it. */
typedef struct tan_wong_animat {
  double cost_ms, cost_max_ms, period_ms, period_max_ms;
} tan_wong_animat;

/* One run. */
typedef struct tan_wong_plan {
  uint64_t budget_ns; /* T_d */
  uint64_t rest_ns;   /* of the frame: rendering and the like */
  uint64_t extra_ns;  /* more of that in frames from .. to - 1 */
  uint32_t extra_from, extra_to;
  uint32_t warm_up, frames; /* run, and of these not counted for d_interval */
  bool wall;                /* on the wall clock, with real work */
} tan_wong_plan;

typedef struct tan_wong_results {
  tan_wong_animat animat;
  tan_wong_row rows[TAN_WONG_ROWS];
  tan_wong_phase phases[TAN_WONG_ROWS]; /* of the rows */
  tan_wong_plan disturbance;            /* Figure 5 */
  tan_wong_frame *series;               /* its frames */
  tan_wong_phase before, during, after;
} tan_wong_results;

/* Table 2 as published. Its D_period stands as d_interval_ms: 47.93 exceeds T_imax - T_io, so delays are in it. */
extern const tan_wong_row tan_wong_published[TAN_WONG_ROWS];

/* Runs `plan->frames` frames into `frames`. `interval_ms` and `animat` may be null. False after a complaint. */
bool tan_wong_run(const tan_wong_plan *plan, tan_wong_frame *frames, double *interval_ms, tan_wong_animat *animat);

/* Sums up frames from .. to - 1. */
tan_wong_phase tan_wong_sum_up(const tan_wong_frame *frames, uint32_t from, uint32_t to);

/* Adds what the reproduction must show. */
void tan_wong_check(const tan_wong_results *results, repro_checks *checks);

/* Prints ours beside the paper's. */
void tan_wong_print(const tan_wong_results *results);

/* Draws both figures into a folder. */
bool tan_wong_plot(const tan_wong_results *results, const char *folder);

#endif
