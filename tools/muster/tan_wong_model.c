/* Tan & Wong's rule and scheduler on arrays, without Muster: what the paper's figures 2 and 3 come to as they are
 * printed and as they must be meant, and what other rules would give. */
#include "tan_wong.h"

#include <math.h>

/* -------------------------------------------------------------------------------------------------- elastic periods */

struct fit {
  double compressed[TAN_WONG_ANIMATS]; /* U_i */
  bool longest[TAN_WONG_ANIMATS];
};

static double elasticity_of(tan_wong_rule rule, const tan_wong_task *task) {
  if (task->elasticity <= 0) return 0;
  if (rule == TAN_WONG_ALIKE) return 1;
  if (rule == TAN_WONG_RATE) return task->elasticity * task->cost_ms;
  if (rule == TAN_WONG_FACTOR) return task->cost_ms / task->nominal_ms;
  return task->elasticity;
}

/* One round of figure 2: true when no further task came to the longest period. */
static bool compress(tan_wong_rule rule, const tan_wong_task *tasks, uint32_t count, double desired, struct fit *fit) {
  double fixed = 0, nominal = 0, variable = 0, elasticity = 0;
  for (uint32_t i = 0; i < count; i++) {
    double full = tasks[i].cost_ms / tasks[i].nominal_ms;
    nominal += full;
    fixed += fit->longest[i] ? fit->compressed[i] : 0;
    variable += fit->longest[i] ? 0 : full;
    elasticity += fit->longest[i] ? 0 : elasticity_of(rule, &tasks[i]);
  }
  if (elasticity <= 0) return true;
  if (rule == TAN_WONG_PRINTED) variable = nominal - fixed;
  double lambda = (variable + fixed - desired) / elasticity;
  bool complete = true;
  for (uint32_t i = 0; i < count; i++) {
    const tan_wong_task *task = &tasks[i];
    if (fit->longest[i]) continue;
    fit->compressed[i] = task->cost_ms / task->nominal_ms - lambda * elasticity_of(rule, task);
    if (fit->compressed[i] > task->cost_ms / task->longest_ms) continue;
    fit->compressed[i] = task->cost_ms / task->longest_ms;
    fit->longest[i] = true;
    complete = false;
  }
  return complete;
}

static void fit_elastic(tan_wong_rule rule, tan_wong_task *tasks, uint32_t count, double desired) {
  struct fit fit = {0};
  while (!compress(rule, tasks, count, desired, &fit)) continue;
  for (uint32_t i = 0; i < count; i++) tasks[i].period_ms = tasks[i].cost_ms / fit.compressed[i];
}

/* By halves: the sum falls as the scale grows. */
static void fit_square_root(tan_wong_task *tasks, uint32_t count, double desired) {
  double low = 0, high = 1e6;
  for (int round = 0; round < 100; round++) {
    double scale = 0.5 * (low + high), sum = 0;
    for (uint32_t i = 0; i < count; i++) {
      tan_wong_task *task = &tasks[i];
      double wanted_ms = scale * sqrt(task->cost_ms * task->elasticity);
      task->period_ms =
          task->elasticity > 0 ? fmin(fmax(wanted_ms, task->nominal_ms), task->longest_ms) : task->nominal_ms;
      sum += task->cost_ms / task->period_ms;
    }
    if (sum > desired)
      low = scale;
    else
      high = scale;
  }
}

void tan_wong_fit(tan_wong_rule rule, tan_wong_task *tasks, uint32_t count, double desired) {
  double nominal = 0, least = 0;
  for (uint32_t i = 0; i < count; i++) {
    nominal += tasks[i].cost_ms / tasks[i].nominal_ms;
    least += tasks[i].cost_ms / tasks[i].longest_ms;
  }
  bool fits = desired >= nominal || rule == TAN_WONG_NONE;
  if (!fits && desired > least) {
    if (rule == TAN_WONG_SQUARE_ROOT)
      fit_square_root(tasks, count, desired);
    else
      fit_elastic(rule, tasks, count, desired);
    return;
  }
  for (uint32_t i = 0; i < count; i++) tasks[i].period_ms = fits ? tasks[i].nominal_ms : tasks[i].longest_ms;
}

/* ----------------------------------------------------------------------------------------------------- the scheduler
 */

/* An animat as figure 3 keeps it. */
typedef struct model_animat {
  double last_ms;      /* T_last: when its last update was due */
  double ran_ms;       /* when it ran */
  uint32_t delays;     /* M */
  double deviation_ms; /* sum of elapsed - T_io, of so many updates */
  uint32_t updates;
} model_animat;

struct model {
  double now_ms, c_ms; /* of this frame */
  tan_wong_task tasks[TAN_WONG_ANIMATS];
  model_animat animats[TAN_WONG_ANIMATS];
};

/* Most delays first, then the one that ran longest ago. */
static bool comes_first(const model_animat *left, const model_animat *right) {
  return left->delays != right->delays ? left->delays > right->delays : left->ran_ms < right->ran_ms;
}

/* The next one that is due; null when none is. */
static model_animat *next_due(struct model *model) {
  model_animat *first = NULL;
  for (uint32_t i = 0; i < TAN_WONG_ANIMATS; i++) {
    model_animat *animat = &model->animats[i];
    bool due = model->now_ms >= animat->last_ms + model->tasks[i].period_ms;
    if (due && (!first || comes_first(animat, first))) first = animat;
  }
  return first;
}

/* T_last := T_next, T_next += T_i; whole periods that were missed are skipped. */
static void run_animat(struct model *model, model_animat *animat) {
  const tan_wong_task *task = &model->tasks[animat - model->animats];
  model->c_ms += task->cost_ms;
  animat->deviation_ms += model->now_ms - animat->ran_ms - task->nominal_ms;
  animat->updates++;
  animat->ran_ms = model->now_ms;
  animat->delays = 0;
  animat->last_ms += floor((model->now_ms - animat->last_ms) / task->period_ms) * task->period_ms;
}

static void run_model_frame(struct model *model, double budget_ms) {
  model_animat *animat;
  model->c_ms = 0;
  while (model->c_ms < budget_ms && (animat = next_due(model))) run_animat(model, animat);
  for (uint32_t i = 0; i < TAN_WONG_ANIMATS; i++)
    model->animats[i].delays += model->now_ms >= model->animats[i].last_ms + model->tasks[i].period_ms;
}

/* Animats begin spread over their period. */
static void begin_model(struct model *model, const tan_wong_plan *plan) {
  for (uint32_t i = 0; i < TAN_WONG_ANIMATS; i++) {
    const tan_wong_species *species = &plan->species[i % TAN_WONG_SPECIES];
    double nominal_ms = (double)species->period_ns * 1e-6;
    double begun_ms = -nominal_ms * fmod(i * 0.6180339887498949, 1.0);
    model->tasks[i] = (tan_wong_task){.cost_ms = (double)species->cost_ns * 1e-6,
                                      .nominal_ms = nominal_ms,
                                      .longest_ms = (double)species->period_max_ns * 1e-6,
                                      .elasticity = (double)species->elasticity};
    model->animats[i] = (model_animat){.last_ms = begun_ms, .ran_ms = begun_ms};
  }
}

static void forget_intervals(struct model *model) {
  for (uint32_t i = 0; i < TAN_WONG_ANIMATS; i++) {
    model->animats[i].deviation_ms = 0;
    model->animats[i].updates = 0;
  }
}

tan_wong_row tan_wong_model(tan_wong_rule rule, const tan_wong_plan *plan) {
  struct model model = {0};
  double budget_ms = (double)plan->budget_ns * 1e-6, rest_ms = (double)plan->rest_ns * 1e-6, frame_ms = rest_ms;
  double c_ms = 0, frames_ms = 0, assigned_ms = 0, deviation_ms = 0, updates = 0,
         counted = plan->frames - plan->warm_up;
  begin_model(&model, plan);
  for (uint32_t i = 0; i < plan->frames; i++) {
    if (i == plan->warm_up) forget_intervals(&model);
    tan_wong_fit(rule, model.tasks, TAN_WONG_ANIMATS, budget_ms / frame_ms);
    run_model_frame(&model, budget_ms);
    frame_ms = model.c_ms + rest_ms;
    model.now_ms += frame_ms;
    if (i < plan->warm_up) continue;
    c_ms += model.c_ms;
    frames_ms += frame_ms;
    for (uint32_t k = 0; k < TAN_WONG_ANIMATS; k++)
      assigned_ms += (model.tasks[k].period_ms - model.tasks[k].nominal_ms) / TAN_WONG_ANIMATS;
  }
  for (uint32_t i = 0; i < TAN_WONG_ANIMATS; i++) {
    deviation_ms += model.animats[i].deviation_ms;
    updates += model.animats[i].updates;
  }
  return (tan_wong_row){.budget_ms = budget_ms,
                        .c_total_ms = c_ms / counted,
                        .u_total = c_ms / frames_ms,
                        .d_assigned_ms = assigned_ms / counted,
                        .d_interval_ms = deviation_ms / updates,
                        .fps = 1000 * counted / frames_ms};
}
