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

/* ---------------------------------------------------------------------------------------------- animats that differ */

/* With equal animats all rules give the same periods, and no animat comes to the longest period before the others do,
 * which is where figure 2 of the paper has its slip. */
enum { TWENTY_MS_ROW = 1 };

static const double slip_spread = 0.3;

/* Species that differ in cost alone: by so much of the mean, evenly from species to species. */
static void spread(double share, tan_wong_species species[TAN_WONG_SPECIES]) {
  for (int i = 0; i < TAN_WONG_SPECIES; i++) {
    double factor = 1 + share * (2.0 * i / (TAN_WONG_SPECIES - 1) - 1);
    species[i] = tan_wong_ordinary;
    species[i].cost_ns = (uint64_t)((double)tan_wong_ordinary.cost_ns * factor);
  }
}

/* How the row of 20 ms depends on what is not published. */
static void vary_spread(tan_wong_plan plan, tan_wong_slip *slip) {
  static const double spreads[TAN_WONG_SPREADS] = {0, 0.1, 0.2, 0.3, 0.4, 0.5};
  tan_wong_species species[TAN_WONG_SPECIES];
  plan.species = species;
  for (uint32_t i = 0; i < TAN_WONG_SPREADS; i++) {
    spread(spreads[i], species);
    slip->spreads[i] = spreads[i];
    slip->printed_ms[i] = tan_wong_model(TAN_WONG_PRINTED, &plan).c_total_ms;
    slip->corrected_ms[i] = tan_wong_model(TAN_WONG_CORRECTED, &plan).c_total_ms;
  }
}

static bool find_slip(tan_wong_results *results) {
  tan_wong_slip *slip = &results->slip;
  tan_wong_species species[TAN_WONG_SPECIES];
  slip->spread = slip_spread;
  spread(slip_spread, species);
  for (int i = 0; i < TAN_WONG_ROWS; i++) {
    tan_wong_plan plan = results->plans[i];
    plan.species = species;
    if (!tan_wong_run(&plan, results->series, &slip->muster[i])) return false;
    slip->printed[i] = tan_wong_model(TAN_WONG_PRINTED, &plan);
    slip->corrected[i] = tan_wong_model(TAN_WONG_CORRECTED, &plan);
  }
  vary_spread(results->plans[TWENTY_MS_ROW], slip);
  return true;
}

/* The second comes to its longest period; the third and the fourth give way at different rates for the same cost. */
static const tan_wong_species unequal[TAN_WONG_SPECIES] = {
    {.cost_ns = 200000, .period_ns = 25000000, .period_max_ns = 100000000, .elasticity = 1.0f},
    {.cost_ns = 300000, .period_ns = 33333333, .period_max_ns = 100000000, .elasticity = 2.0f},
    {.cost_ns = 500000, .period_ns = 50000000, .period_max_ns = 300000000, .elasticity = 0.5f},
    {.cost_ns = 500000, .period_ns = 66666667, .period_max_ns = 300000000, .elasticity = 1.0f},
};

/* Fitted to the utilisation that the frames took: T_d / T_f, and a little more, since the update that crosses T_d is
 * started. */
static bool find_unequal(tan_wong_results *results) {
  tan_wong_unequal *it = &results->unequal;
  tan_wong_task tasks[TAN_WONG_ANIMATS];
  tan_wong_plan plan = {
      .species = unequal, .budget_ns = 15000000, .rest_ns = 20000000, .warm_up = 200, .frames = TAN_WONG_FRAMES_MAX};
  it->species = unequal;
  if (!tan_wong_run(&plan, results->series, &it->row)) return false;
  tan_wong_begin(unequal, tasks);
  for (int rule = 0; rule < TAN_WONG_RULES; rule++) {
    tan_wong_fit((tan_wong_rule)rule, tasks, it->row.c_total_ms / it->row.frame_ms);
    for (int i = 0; i < TAN_WONG_SPECIES; i++) it->wanted_ms[rule][i] = tasks[i].period_ms;
  }
  return true;
}

bool tan_wong_measure(void *all) {
  for (uint32_t i = 0; i < TAN_WONG_ROWS; i++)
    if (!measure_row(all, i)) return false;
  return find_slip(all) && find_unequal(all) && measure_disturbance(all);
}
