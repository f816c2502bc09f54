/* `muster repro tan-wong`: Table 2 and Figure 5. */
#include "tan_wong.h"

enum { ROW_WARM_UP = 200, WALL_WARM_UP = 20, WALL_FRAMES = 60 };
enum { LOAD_FROM = 200, LOAD_TO = 400, FIGURE_FRAMES = 600, SETTLED_FROM = 100 };

/* The rest is what was left of the published frame time when C_total is taken away. */
const tan_wong_row tan_wong_published[TAN_WONG_ROWS] = {
    {.budget_ms = 10,
     .rest_ms = 12.2,
     .c_total_ms = 10.07,
     .u_total = 0.4618,
     .d_interval_ms = 47.9289,
     .fps = 44.64,
     .overhead_ms = 0.1194},
    {.budget_ms = 20,
     .rest_ms = 13.6,
     .c_total_ms = 16.745,
     .u_total = 0.5507,
     .d_interval_ms = 36.9175,
     .fps = 32.69,
     .overhead_ms = 0.2139},
    {.budget_ms = 30,
     .rest_ms = 9.1,
     .c_total_ms = 28.155,
     .u_total = 0.7514,
     .d_interval_ms = 16.2765,
     .fps = 26.73,
     .overhead_ms = 0.1616},
};

/* The overhead can only be measured on the wall clock, with animats that really work. */
static bool measure_row(tan_wong_results *results, uint32_t number) {
  tan_wong_row *row = &results->rows[number], wall;
  tan_wong_plan plan = {.budget_ns = (uint64_t)(tan_wong_published[number].budget_ms * 1e6),
                        .rest_ns = (uint64_t)(tan_wong_published[number].rest_ms * 1e6),
                        .warm_up = ROW_WARM_UP,
                        .frames = TAN_WONG_FRAMES_MAX};
  results->plans[number] = plan;
  if (!tan_wong_run(&plan, results->series, row)) return false;
  if (results->base.quick) return true;
  plan.wall = true;
  plan.warm_up = WALL_WARM_UP;
  plan.frames = WALL_FRAMES;
  if (!tan_wong_run(&plan, results->series, &wall)) return false;
  row->overhead_ms = wall.overhead_ms;
  return true;
}

/* T_d = 30 ms; the rest of the game takes 20 ms more in frames 200 to 400. */
static bool measure_disturbance(tan_wong_results *results) {
  static const uint32_t ends[TAN_WONG_PHASES + 1] = {SETTLED_FROM, LOAD_FROM, LOAD_TO, FIGURE_FRAMES};
  tan_wong_plan *plan = &results->disturbance;
  tan_wong_row whole;
  *plan = results->plans[TAN_WONG_ROWS - 1];
  plan->extra_ns = 20000000;
  plan->extra_from = LOAD_FROM;
  plan->extra_to = LOAD_TO;
  plan->warm_up = 0;
  plan->frames = FIGURE_FRAMES;
  if (!tan_wong_run(plan, results->series, &whole)) return false;
  for (int i = 0; i < TAN_WONG_PHASES; i++) results->phases[i] = tan_wong_sum_up(results->series, ends[i], ends[i + 1]);
  return true;
}

static bool measure(void *all) {
  for (uint32_t i = 0; i < TAN_WONG_ROWS; i++)
    if (!measure_row(all, i)) return false;
  return tan_wong_find_slip(all) && tan_wong_find_unequal(all) && measure_disturbance(all);
}

const repro_paper repro_tan_wong = {.name = "tan-wong",
                                    .summary = "Tan & Wong: elastic periods (Table 2, Figure 5)",
                                    .bytes = sizeof(tan_wong_results),
                                    .measure = measure,
                                    .check = tan_wong_check,
                                    .write = tan_wong_write,
                                    .print = tan_wong_print,
                                    .figures = {{"tan-wong-table2", 1200, 760, tan_wong_plot_table},
                                                {"tan-wong-figure5", 1200, 640, tan_wong_plot_disturbance}}};
