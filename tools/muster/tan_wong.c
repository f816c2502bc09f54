/* `muster repro tan-wong`: Table 2 and Figure 5. */
#include "tan_wong.h"

#include "complaint.h"

#include <math.h>
#include <stdlib.h>

enum { ROW_WARM_UP = 200, ROW_FRAMES = 1200, WALL_WARM_UP = 20, WALL_FRAMES = 60 };
enum { LOAD_FROM = 200, LOAD_TO = 400, FIGURE_FRAMES = 600, SETTLED_FROM = 100 };

const tan_wong_row tan_wong_published[TAN_WONG_ROWS] = {
    {.budget_ms = 10,
     .c_total_ms = 10.07,
     .u_total = 0.4618,
     .d_interval_ms = 47.9289,
     .fps = 44.64,
     .overhead_ms = 0.1194},
    {.budget_ms = 20,
     .c_total_ms = 16.745,
     .u_total = 0.5507,
     .d_interval_ms = 36.9175,
     .fps = 32.69,
     .overhead_ms = 0.2139},
    {.budget_ms = 30,
     .c_total_ms = 28.155,
     .u_total = 0.7514,
     .d_interval_ms = 16.2765,
     .fps = 26.73,
     .overhead_ms = 0.1616},
};

/* What was left of the published frame time when C_total is taken away. */
static const uint64_t rest_ns[TAN_WONG_ROWS] = {12200000, 13600000, 9100000};

/* The overhead can only be measured on the wall clock, with animats that really work. */
static bool measure_overhead(tan_wong_plan plan, tan_wong_frame *frames, double *overhead_ms) {
  plan.wall = true;
  plan.warm_up = WALL_WARM_UP;
  plan.frames = WALL_FRAMES;
  if (!tan_wong_run(&plan, frames, NULL)) return false;
  *overhead_ms = tan_wong_sum_up(frames, WALL_WARM_UP, WALL_FRAMES).overhead_ms;
  return true;
}

static tan_wong_plan plan_of_row(uint32_t number) {
  return (tan_wong_plan){.budget_ns = (uint64_t)(tan_wong_published[number].budget_ms * 1e6),
                         .rest_ns = rest_ns[number],
                         .warm_up = ROW_WARM_UP,
                         .frames = ROW_FRAMES};
}

static bool measure_row(tan_wong_results *results, uint32_t number, tan_wong_frame *frames) {
  tan_wong_row *row = &results->rows[number];
  tan_wong_phase *phase = &results->phases[number];
  tan_wong_plan plan = plan_of_row(number);
  tan_wong_outcome outcome;
  if (!tan_wong_run(&plan, frames, &outcome)) return false;
  *phase = tan_wong_sum_up(frames, plan.warm_up, plan.frames);
  *row = tan_wong_row_of(&plan, phase, &outcome);
  results->animat = outcome.animat;
  results->longest_wait_ms[number] = outcome.longest_wait_ms;
  results->rest_ms[number] = (double)plan.rest_ns * 1e-6;
  row->overhead_ms = (double)NAN;
  return results->quick || measure_overhead(plan, frames, &row->overhead_ms);
}

static bool measure_slip(tan_wong_results *results) {
  tan_wong_plan plans[TAN_WONG_ROWS];
  for (uint32_t i = 0; i < TAN_WONG_ROWS; i++) plans[i] = plan_of_row(i);
  return tan_wong_find_slip(plans, results->series, &results->slip);
}

/* T_d = 30 ms; the rest of the game takes 20 ms more in frames 200 to 400. */
static bool measure_disturbance(tan_wong_results *results) {
  results->disturbance = (tan_wong_plan){.budget_ns = 30000000,
                                         .rest_ns = rest_ns[2],
                                         .extra_ns = 20000000,
                                         .extra_from = LOAD_FROM,
                                         .extra_to = LOAD_TO,
                                         .frames = FIGURE_FRAMES};
  if (!tan_wong_run(&results->disturbance, results->series, NULL)) return false;
  results->before = tan_wong_sum_up(results->series, SETTLED_FROM, LOAD_FROM);
  results->during = tan_wong_sum_up(results->series, LOAD_FROM, LOAD_TO);
  results->after = tan_wong_sum_up(results->series, LOAD_TO, FIGURE_FRAMES);
  return true;
}

static bool measure(tan_wong_results *results) {
  for (uint32_t i = 0; i < TAN_WONG_ROWS; i++)
    if (!measure_row(results, i, results->series)) return false;
  return measure_slip(results) && tan_wong_find_unequal(results->series, &results->unequal) &&
         measure_disturbance(results);
}

static bool reproduce(json_writer *writer, const char *plots, bool quick, bool quiet) {
  tan_wong_results results = {.quick = quick, .series = calloc(ROW_FRAMES, sizeof *results.series)};
  if (!results.series) {
    complain_failure("out of memory");
    return false;
  }
  bool done = measure(&results);
  if (done) {
    tan_wong_check(&results);
    json_string(writer, "paper", repro_tan_wong.name);
    tan_wong_write(writer, &results);
    if (!quiet) {
      tan_wong_print(&results);
      tan_wong_print_rules(&results);
    }
    done = !plots || tan_wong_plot(&results, plots);
  }
  free(results.series);
  return done;
}

const repro_paper repro_tan_wong = {"tan-wong", "Tan & Wong: elastic periods (Table 2, Figure 5)", reproduce, NULL};
