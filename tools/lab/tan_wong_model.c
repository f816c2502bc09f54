/* Tan & Wong's rule and scheduler on arrays, without Muster: what the paper's figures 2 and 3 come to as they are
 * printed and as they must be meant, and what other rules would give. */
#include "tan_wong.h"

#include <math.h>

/* -------------------------------------------------------------------------------------------------- elastic periods */

static double elasticity_of(tan_wong_rule rule, const tan_wong_task *task) {
  if (task->elasticity <= 0) return 0;
  if (rule == TAN_WONG_ALIKE) return 1;
  if (rule == TAN_WONG_RATE) return task->elasticity * task->cost_ms;
  if (rule == TAN_WONG_FACTOR) return task->cost_ms / task->nominal_ms;
  return task->elasticity;
}

/* One round of figure 2: true when no further task came to the longest period. */
static bool compress(tan_wong_rule rule, tan_wong_task tasks[TAN_WONG_ANIMATS], double desired) {
  double fixed = 0, nominal = 0, variable = 0, elasticity = 0;
  for (uint32_t i = 0; i < TAN_WONG_ANIMATS; i++) {
    double full = tasks[i].cost_ms / tasks[i].nominal_ms;
    nominal += full;
    fixed += tasks[i].at_longest ? tasks[i].compressed : 0;
    variable += tasks[i].at_longest ? 0 : full;
    elasticity += tasks[i].at_longest ? 0 : elasticity_of(rule, &tasks[i]);
  }
  if (elasticity <= 0) return true;
  if (rule == TAN_WONG_PRINTED) variable = nominal - fixed;
  double lambda = (variable + fixed - desired) / elasticity;
  bool complete = true;
  for (tan_wong_task *task = tasks; task < tasks + TAN_WONG_ANIMATS; task++) {
    if (task->at_longest) continue;
    double least = task->cost_ms / task->longest_ms;
    task->compressed = task->cost_ms / task->nominal_ms - lambda * elasticity_of(rule, task);
    if (task->compressed > least) continue;
    task->compressed = least;
    task->at_longest = true;
    complete = false;
  }
  return complete;
}

static void fit_elastic(tan_wong_rule rule, tan_wong_task tasks[TAN_WONG_ANIMATS], double desired) {
  for (uint32_t i = 0; i < TAN_WONG_ANIMATS; i++) tasks[i].at_longest = false;
  while (!compress(rule, tasks, desired)) continue;
  for (uint32_t i = 0; i < TAN_WONG_ANIMATS; i++) tasks[i].period_ms = tasks[i].cost_ms / tasks[i].compressed;
}

/* By halves: the sum falls as the scale grows. */
static void fit_square_root(tan_wong_task tasks[TAN_WONG_ANIMATS], double desired) {
  double low = 0, high = 1e6;
  for (int round = 0; round < 100; round++) {
    double scale = 0.5 * (low + high), sum = 0;
    for (tan_wong_task *task = tasks; task < tasks + TAN_WONG_ANIMATS; task++) {
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

void tan_wong_fit(tan_wong_rule rule, tan_wong_task tasks[TAN_WONG_ANIMATS], double desired) {
  double nominal = 0, least = 0;
  for (uint32_t i = 0; i < TAN_WONG_ANIMATS; i++) {
    nominal += tasks[i].cost_ms / tasks[i].nominal_ms;
    least += tasks[i].cost_ms / tasks[i].longest_ms;
  }
  bool fits = desired >= nominal || rule == TAN_WONG_NONE;
  for (uint32_t i = 0; i < TAN_WONG_ANIMATS; i++) tasks[i].period_ms = fits ? tasks[i].nominal_ms : tasks[i].longest_ms;
  if (fits || desired <= least) return;
  if (rule == TAN_WONG_SQUARE_ROOT)
    fit_square_root(tasks, desired);
  else
    fit_elastic(rule, tasks, desired);
}

/* ---------------------------------------------------------------------------------------------------- the scheduler */

struct model {
  double now_ms, c_ms;          /* of this frame */
  double deviation_ms, updates; /* sum of elapsed - T_io, of so many updates */
  tan_wong_task tasks[TAN_WONG_ANIMATS];
};

static bool is_due(const struct model *model, const tan_wong_task *task) {
  return model->now_ms >= task->last_ms + task->period_ms;
}

/* Most delays first, then the one that ran longest ago. */
static bool comes_first(const tan_wong_task *left, const tan_wong_task *right) {
  return left->delays != right->delays ? left->delays > right->delays : left->ran_ms < right->ran_ms;
}

/* The next one that is due; null when none is. */
static tan_wong_task *next_due(struct model *model) {
  tan_wong_task *first = NULL;
  for (tan_wong_task *task = model->tasks; task < model->tasks + TAN_WONG_ANIMATS; task++)
    if (is_due(model, task) && (!first || comes_first(task, first))) first = task;
  return first;
}

/* T_last := T_next, T_next += T_i; whole periods that were missed are skipped. */
static void run_animat(struct model *model, tan_wong_task *task) {
  model->c_ms += task->cost_ms;
  model->deviation_ms += model->now_ms - task->ran_ms - task->nominal_ms;
  model->updates++;
  task->ran_ms = model->now_ms;
  task->delays = 0;
  task->last_ms += floor((model->now_ms - task->last_ms) / task->period_ms) * task->period_ms;
}

static void run_model_frame(struct model *model, double budget_ms) {
  tan_wong_task *task;
  model->c_ms = 0;
  while (model->c_ms < budget_ms && (task = next_due(model))) run_animat(model, task);
  for (uint32_t i = 0; i < TAN_WONG_ANIMATS; i++) model->tasks[i].delays += is_due(model, &model->tasks[i]);
}

/* Animats begin spread over their period. */
void tan_wong_begin(const tan_wong_species species[TAN_WONG_SPECIES], tan_wong_task tasks[TAN_WONG_ANIMATS]) {
  for (uint32_t i = 0; i < TAN_WONG_ANIMATS; i++) {
    const tan_wong_species *own = &species[i % TAN_WONG_SPECIES];
    tasks[i] = (tan_wong_task){.cost_ms = tan_wong_ms(own->cost_ns),
                               .nominal_ms = tan_wong_ms(own->period_ns),
                               .longest_ms = tan_wong_ms(own->period_max_ns),
                               .elasticity = (double)own->elasticity};
    tasks[i].last_ms = tasks[i].ran_ms = -tasks[i].nominal_ms * fmod(i * 0.6180339887498949, 1.0);
  }
}

tan_wong_row tan_wong_model(tan_wong_rule rule, const tan_wong_plan *plan) {
  struct model model = {0};
  tan_wong_frame frames[TAN_WONG_FRAMES_MAX];
  double budget_ms = tan_wong_ms(plan->budget_ns), rest_ms = tan_wong_ms(plan->rest_ns), frame_ms = rest_ms;
  tan_wong_begin(plan->species, model.tasks);
  for (uint32_t i = 0; i < plan->frames; i++) {
    if (i == plan->warm_up) model.deviation_ms = model.updates = 0;
    tan_wong_fit(rule, model.tasks, budget_ms / frame_ms);
    run_model_frame(&model, budget_ms);
    frame_ms = model.c_ms + rest_ms;
    model.now_ms += frame_ms;
    frames[i] = (tan_wong_frame){.c_ms = model.c_ms, .frame_ms = frame_ms};
    for (const tan_wong_task *task = model.tasks; task < model.tasks + TAN_WONG_ANIMATS; task++)
      frames[i].assigned_ms += (task->period_ms - task->nominal_ms) / TAN_WONG_ANIMATS;
  }
  tan_wong_row row = tan_wong_sum_up(frames, plan->warm_up, plan->frames);
  row.budget_ms = budget_ms;
  row.d_interval_ms = model.deviation_ms / model.updates;
  return row;
}
