/* Animats that differ. With equal animats all rules give the same periods, and no animat comes to the longest period
 * before the others do, which is where figure 2 of the paper has its slip. */
#include "tan_wong.h"

enum { TWENTY_MS_ROW = 1 };

static const double slip_spread = 0.3;

void tan_wong_spread(double share, tan_wong_species species[TAN_WONG_SPECIES]) {
  for (int i = 0; i < TAN_WONG_SPECIES; i++) {
    double factor = 1 + share * (2.0 * i / (TAN_WONG_SPECIES - 1) - 1);
    species[i] = (tan_wong_species){
        .cost_ns = (uint64_t)(373000 * factor), .period_ns = 33333333, .period_max_ns = 80000000, .elasticity = 1.0f};
  }
}

/* How the row of 20 ms depends on what is not published. */
static void vary_spread(tan_wong_plan plan, tan_wong_slip *slip) {
  static const double spreads[TAN_WONG_SPREADS] = {0, 0.1, 0.2, 0.3, 0.4, 0.5};
  tan_wong_species species[TAN_WONG_SPECIES];
  plan.species = species;
  for (uint32_t i = 0; i < TAN_WONG_SPREADS; i++) {
    tan_wong_spread(spreads[i], species);
    slip->spreads[i] = spreads[i];
    slip->printed_ms[i] = tan_wong_model(TAN_WONG_PRINTED, &plan).c_total_ms;
    slip->corrected_ms[i] = tan_wong_model(TAN_WONG_CORRECTED, &plan).c_total_ms;
  }
}

bool tan_wong_find_slip(const tan_wong_plan plans[TAN_WONG_ROWS], tan_wong_frame *frames, tan_wong_slip *slip) {
  tan_wong_species species[TAN_WONG_SPECIES];
  slip->spread = slip_spread;
  tan_wong_spread(slip_spread, species);
  for (int i = 0; i < TAN_WONG_ROWS; i++) {
    tan_wong_plan plan = plans[i];
    tan_wong_outcome outcome;
    plan.species = species;
    if (!tan_wong_run(&plan, frames, &outcome)) return false;
    tan_wong_phase phase = tan_wong_sum_up(frames, plan.warm_up, plan.frames);
    slip->muster[i] = tan_wong_row_of(&plan, &phase, &outcome);
    slip->printed[i] = tan_wong_model(TAN_WONG_PRINTED, &plan);
    slip->corrected[i] = tan_wong_model(TAN_WONG_CORRECTED, &plan);
  }
  vary_spread(plans[TWENTY_MS_ROW], slip);
  return true;
}

/* The second comes to its longest period; the third and the fourth give way at different rates for the same cost. */
static const tan_wong_species unequal[TAN_WONG_SPECIES] = {
    {.cost_ns = 200000, .period_ns = 25000000, .period_max_ns = 100000000, .elasticity = 1.0f},
    {.cost_ns = 300000, .period_ns = 33333333, .period_max_ns = 100000000, .elasticity = 2.0f},
    {.cost_ns = 500000, .period_ns = 50000000, .period_max_ns = 300000000, .elasticity = 0.5f},
    {.cost_ns = 500000, .period_ns = 66666667, .period_max_ns = 300000000, .elasticity = 1.0f},
};

/* To the utilisation that the frames took: T_d / T_f, and a little more, since the update that crosses T_d is started.
 */
static void fit_all(tan_wong_unequal *it) {
  double taken = it->c_total_ms / it->frame_ms;
  for (int rule = 0; rule < TAN_WONG_RULES; rule++) {
    tan_wong_task tasks[TAN_WONG_ANIMATS];
    for (int i = 0; i < TAN_WONG_ANIMATS; i++) {
      const tan_wong_species *species = &it->species[i % TAN_WONG_SPECIES];
      tasks[i] = (tan_wong_task){.cost_ms = (double)species->cost_ns * 1e-6,
                                 .nominal_ms = (double)species->period_ns * 1e-6,
                                 .longest_ms = (double)species->period_max_ns * 1e-6,
                                 .elasticity = (double)species->elasticity};
    }
    tan_wong_fit((tan_wong_rule)rule, tasks, TAN_WONG_ANIMATS, taken);
    for (int i = 0; i < TAN_WONG_SPECIES; i++) it->wanted_ms[rule][i] = tasks[i].period_ms;
  }
}

bool tan_wong_find_unequal(tan_wong_frame *frames, tan_wong_unequal *it) {
  tan_wong_plan plan = {
      .species = it->species, .budget_ns = 15000000, .rest_ns = 20000000, .warm_up = 200, .frames = 1200};
  for (int i = 0; i < TAN_WONG_SPECIES; i++) it->species[i] = unequal[i];
  if (!tan_wong_run(&plan, frames, &it->outcome)) return false;
  it->budget_ms = (double)plan.budget_ns * 1e-6;
  tan_wong_phase phase = tan_wong_sum_up(frames, plan.warm_up, plan.frames);
  it->frame_ms = phase.frame_ms;
  it->c_total_ms = phase.c_total_ms;
  fit_all(it);
  return true;
}
