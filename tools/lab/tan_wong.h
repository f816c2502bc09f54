/* tan_wong.h - the experiments of Tan & Wong, run and summed up.
 *
 * 100 animats under elastic periods and the paper's order. The experiments are a closed loop, as a game is: the frame
 * takes as long as the AI and the rest of the game need, and simulation time advances by just that. */
#ifndef TOOLS_TAN_WONG_H
#define TOOLS_TAN_WONG_H

#include "repro.h"
#include "scenarios/scenarios.h"

enum { TAN_WONG_ROWS = 3, TAN_WONG_ANIMATS = 100, TAN_WONG_FRAMES_MAX = 1200 };

/* One frame, for the figure. */
typedef struct tan_wong_frame {
  double c_ms;        /* C_total: what the updates of the frame took */
  double frame_ms;    /* T_f: how long the frame took, the rest of the game included */
  double u_fitted;    /* sum of C_i / T_i */
  double assigned_ms; /* mean of T_i - T_io */
  double overhead_ms;
} tan_wong_frame;

/* A stretch of frames, summed up: a row of Table 2, or a part of Figure 5.
 *
 * U_total is what the AI really took: C_total / T_f. The paper's own figures show that it means this and not the sum of
 * the fitted C_i / T_i: that would be T_d / T_f = 0.654 in the row of 20 ms, where 16.745 / 30.59 = 0.547 is what
 * stands there. It is taken over the whole stretch, so that long frames count for as long as they are. */
typedef struct tan_wong_row {
  double c_total_ms, u_total, u_fitted, frame_ms, fps;
  double c_largest_ms;  /* of any frame */
  double d_assigned_ms; /* mean of T_i - T_io as fitted */
  double overhead_ms;   /* NaN when it was not measured */
  /* Of a whole run. */
  double budget_ms;
  double rest_ms;                       /* of a frame: an input, taken from the published rows */
  double d_interval_ms;                 /* mean time from one update to the next, less T_io: delays included */
  double longest_wait_ms;               /* from release to start */
  double assigned_ms[TAN_WONG_SPECIES]; /* T_i as fitted, the mean of all frames after the warm-up */
  double interval_ms[TAN_WONG_SPECIES]; /* from one update to the next */
} tan_wong_row;

/* One run. */
typedef struct tan_wong_plan {
  const tan_wong_species *species; /* TAN_WONG_SPECIES of them; null = all alike, as in the paper */
  uint64_t budget_ns;              /* T_d */
  uint64_t rest_ns;                /* of the frame: rendering and the like */
  uint64_t extra_ns;               /* more of that in frames from .. to - 1 */
  uint32_t extra_from, extra_to;
  uint32_t warm_up, frames; /* run, and of these not counted */
  bool wall;                /* on the wall clock, with real work */
} tan_wong_plan;

static inline double tan_wong_ms(uint64_t ns) {
  return (double)ns * 1e-6;
}

/* ------------------------------------------------------------------------------------------ the rule without Muster */

/* How periods give way: figure 2 of the paper as it must be meant, as it is printed, and rules that it is not. */
typedef enum tan_wong_rule {
  TAN_WONG_CORRECTED = 0, /* U_i = U_io - lambda E_i; tasks at the longest period take no part in the rest */
  TAN_WONG_PRINTED,       /* with Uvo = Uo - Uf, where Uf is what these take now and not what they took at first: what
                             they have saved is saved a second time by the others. (The other slips of the figure, by
                             which it would not run at all, are put right: T_i = C_i / U_i, within its bounds) */
  TAN_WONG_ALIKE,         /* E_i left out */
  TAN_WONG_RATE,          /* E_i C_i in place of E_i */
  TAN_WONG_FACTOR,        /* one factor for all periods */
  TAN_WONG_SQUARE_ROOT,   /* T_i proportional to sqrt(C_i E_i) */
  TAN_WONG_NONE,          /* no compression */
  TAN_WONG_RULES
} tan_wong_rule;

/* An animat without Muster. */
typedef struct tan_wong_task {
  double cost_ms, nominal_ms, longest_ms, elasticity;
  double period_ms;  /* that a rule gives it */
  double compressed; /* U_i, while the rule is applied; */
  bool at_longest;   /* and whether that is of its longest period */
  double last_ms;    /* T_last of figure 3: when its last update was due */
  double ran_ms;     /* when it ran */
  uint32_t delays;   /* M */
} tan_wong_task;

/* Makes all animats, of species in turn. */
void tan_wong_begin(const tan_wong_species species[TAN_WONG_SPECIES], tan_wong_task tasks[TAN_WONG_ANIMATS]);

/* Fits the periods to a utilisation, U_d. */
void tan_wong_fit(tan_wong_rule rule, tan_wong_task tasks[TAN_WONG_ANIMATS], double desired);

/* The paper's whole scheduler on arrays, frame by frame, with the costs of the plan's species: figure 2 by the rule,
 * figure 3 with its updates of T_last, T_next and M. */
tan_wong_row tan_wong_model(tan_wong_rule rule, const tan_wong_plan *plan);

/* --------------------------------------------------------------------------------------------------------- results */

enum { TAN_WONG_SPREADS = 6 };

/* Row by row, with species of different costs: the paper's figure 2 as printed and as corrected, and Muster. */
typedef struct tan_wong_slip {
  double spread; /* 0.3: costs from 0.7 to 1.3 of the mean */
  tan_wong_row printed[TAN_WONG_ROWS], corrected[TAN_WONG_ROWS], muster[TAN_WONG_ROWS];
  double spreads[TAN_WONG_SPREADS]; /* of costs, and the C_total of the row of 20 ms that they give */
  double printed_ms[TAN_WONG_SPREADS], corrected_ms[TAN_WONG_SPREADS];
} tan_wong_slip;

/* Species that differ in everything: their periods by each rule, and by Muster. */
typedef struct tan_wong_unequal {
  const tan_wong_species *species;
  double wanted_ms[TAN_WONG_RULES][TAN_WONG_SPECIES];
  tan_wong_row row;
} tan_wong_unequal;

enum { TAN_WONG_BEFORE = 0, TAN_WONG_DURING, TAN_WONG_AFTER, TAN_WONG_PHASES };

typedef struct tan_wong_results {
  repro_results base; /* quick: without the overhead, which is the wall clock's */
  tan_wong_plan plans[TAN_WONG_ROWS];
  tan_wong_row rows[TAN_WONG_ROWS];
  tan_wong_slip slip;
  tan_wong_unequal unequal;
  tan_wong_plan disturbance;                  /* Figure 5 */
  tan_wong_frame series[TAN_WONG_FRAMES_MAX]; /* its frames; before it, those of any run */
  tan_wong_row phases[TAN_WONG_PHASES];
} tan_wong_results;

/* Table 2 as published. Its D_period stands as d_interval_ms: 47.93 exceeds T_imax - T_io, so delays are in it. */
extern const tan_wong_row tan_wong_published[TAN_WONG_ROWS];

/* Runs `plan->frames` frames into `frames` and sums them up. False with the reason in muster_last_error(), as all that
 * follow. */
bool tan_wong_run(const tan_wong_plan *plan, tan_wong_frame *frames, tan_wong_row *row);

/* Sums up frames from .. to - 1. */
tan_wong_row tan_wong_sum_up(const tan_wong_frame *frames, uint32_t from, uint32_t to);

/* Of the paper's row. */
bool tan_wong_measure(void *all);
void tan_wong_check(const void *all);

#endif
