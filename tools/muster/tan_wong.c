/* `muster repro tan-wong`: Table 2 and Figure 5. */
#include "tan_wong.h"

#include "complaint.h"

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
  if (!tan_wong_run(&plan, frames, NULL, NULL)) return false;
  *overhead_ms = tan_wong_sum_up(frames, WALL_WARM_UP, WALL_FRAMES).overhead_ms;
  return true;
}

static bool measure_row(tan_wong_results *results, uint32_t number, tan_wong_frame *frames) {
  tan_wong_row *row = &results->rows[number];
  tan_wong_phase *phase = &results->phases[number];
  tan_wong_plan plan = {.budget_ns = (uint64_t)(tan_wong_published[number].budget_ms * 1e6),
                        .rest_ns = rest_ns[number],
                        .warm_up = ROW_WARM_UP,
                        .frames = ROW_FRAMES};
  if (!tan_wong_run(&plan, frames, &row->d_interval_ms, &results->animat)) return false;
  *phase = tan_wong_sum_up(frames, plan.warm_up, plan.frames);
  row->budget_ms = tan_wong_published[number].budget_ms;
  row->c_total_ms = phase->c_total_ms;
  row->u_total = phase->u_total;
  row->d_assigned_ms = phase->d_assigned_ms;
  row->fps = phase->fps;
  return measure_overhead(plan, frames, &row->overhead_ms);
}

/* T_d = 30 ms; the rest of the game takes 20 ms more in frames 200 to 400. */
static bool measure_disturbance(tan_wong_results *results) {
  results->disturbance = (tan_wong_plan){.budget_ns = 30000000,
                                         .rest_ns = rest_ns[2],
                                         .extra_ns = 20000000,
                                         .extra_from = LOAD_FROM,
                                         .extra_to = LOAD_TO,
                                         .frames = FIGURE_FRAMES};
  if (!tan_wong_run(&results->disturbance, results->series, NULL, NULL)) return false;
  results->before = tan_wong_sum_up(results->series, SETTLED_FROM, LOAD_FROM);
  results->during = tan_wong_sum_up(results->series, LOAD_FROM, LOAD_TO);
  results->after = tan_wong_sum_up(results->series, LOAD_TO, FIGURE_FRAMES);
  return true;
}

static void write_row(json_writer *writer, const tan_wong_row *row, bool published) {
  json_begin_object(writer, NULL);
  json_number(writer, "budget_ms", row->budget_ms);
  json_number(writer, "c_total_ms", row->c_total_ms);
  json_number(writer, "u_total", row->u_total);
  if (published)
    json_number(writer, "d_period_ms", row->d_interval_ms);
  else
    json_number(writer, "d_assigned_ms", row->d_assigned_ms);
  if (!published) json_number(writer, "d_interval_ms", row->d_interval_ms);
  json_number(writer, "fps", row->fps);
  json_number(writer, "overhead_ms", row->overhead_ms);
  json_end_object(writer);
}

static void write_rows(json_writer *writer, const char *name, const tan_wong_row *rows, bool published) {
  json_begin_array(writer, name);
  for (uint32_t i = 0; i < TAN_WONG_ROWS; i++) write_row(writer, &rows[i], published);
  json_end_array(writer);
}

static void write_phase(json_writer *writer, const char *name, const tan_wong_phase *phase) {
  json_begin_object(writer, name);
  json_number(writer, "c_total_ms", phase->c_total_ms);
  json_number(writer, "u_total", phase->u_total);
  json_number(writer, "frame_ms", phase->frame_ms);
  json_end_object(writer);
}

static void write_results(json_writer *writer, const tan_wong_results *results) {
  json_string(writer, "paper", repro_tan_wong.name);
  write_rows(writer, "rows", results->rows, false);
  write_rows(writer, "published", tan_wong_published, true);
  json_begin_object(writer, "disturbance");
  write_phase(writer, "before", &results->before);
  write_phase(writer, "during", &results->during);
  write_phase(writer, "after", &results->after);
  json_end_object(writer);
}

static bool measure(tan_wong_results *results) {
  for (uint32_t i = 0; i < TAN_WONG_ROWS; i++)
    if (!measure_row(results, i, results->series)) return false;
  return measure_disturbance(results);
}

static bool reproduce(json_writer *writer, const char *plots, bool quiet, repro_checks *checks) {
  tan_wong_results results = {.series = calloc(ROW_FRAMES, sizeof *results.series)};
  if (!results.series) {
    complain_failure("out of memory");
    return false;
  }
  bool done = measure(&results);
  if (done) {
    tan_wong_check(&results, checks);
    write_results(writer, &results);
    if (!quiet) tan_wong_print(&results);
    done = !plots || tan_wong_plot(&results, plots);
  }
  free(results.series);
  return done;
}

const repro_paper repro_tan_wong = {"tan-wong", "Tan & Wong: elastic periods (Table 2, Figure 5)", reproduce, NULL,
                                    NULL};
