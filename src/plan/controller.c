#include "plan/controller.h"

#include <math.h>

static const double least_share = 1.0 / 64.0, most_share = 1.25;
/* How far the share moves in a frame: this part of the error, and at most this much. */
static const double gain = 1.0 / 16.0, slew = 0.02;
/* An error of this size in so many frames in a row is not noise. */
static const double large_error = 0.2;
enum { LARGE_ERRORS = 3 };
/* Half of what a frame can run may wait, so that no worker runs dry when the next frames release few agents. */
static const double standing = 0.5;
/* Room is made for a part of the backlog beyond that, hardly noticed, so that periods do not swing with each change of
 * costs. */
static const double room_part = 0.125, room_gentle = 0.02, room_most = 0.5;
/* What is missing from the queue is released at once, half of a frame at most; and for a missing frame the share rises
 * by this much. */
static const double fill_most = 0.5, fill_rise = 1.0 / 64.0;
/* Agents that were spawned together fall due together and wait for each other, for frames, although the plan is right.
 * A backlog that never goes is another matter: `stood_ns` rises towards it by this many frames in a frame. */
static const double stood_rise = 0.004;
/* The part of a budget that goes to the debt at most: periods stretch a little for some frames, not much for one. */
static const double repaid_most = 1.0 / 3.0;

void controller_create(struct controller *controller, double debt_budgets) {
  *controller = (struct controller){.share = 1.0, .debt_budgets = debt_budgets};
}

double controller_standing(double offered_ns) {
  return fmax(offered_ns, 0.0) * standing;
}

double controller_queue(const struct controller *controller, double offered_ns) {
  return fmax(controller_standing(offered_ns), fmax(offered_ns, 0.0) * (1.0 - controller->share));
}

double controller_plan(const struct controller *controller, double offered_ns, double lacks_ns) {
  double plan_ns = fmax(offered_ns, 0.0) * controller->share;
  double waits_ns = fmax(controller->backlog_ns - controller_standing(plan_ns), 0.0);
  double stood_ns = fmax(controller->stood_ns - controller_standing(plan_ns), 0.0);
  double room_ns = fmin(waits_ns * room_part, plan_ns * room_gentle) + stood_ns * room_part;
  return plan_ns - fmin(room_ns, plan_ns * room_most) + fmin(lacks_ns, fmax(offered_ns, 0.0) * fill_most);
}

uint64_t controller_repay(struct controller *controller, uint64_t budget_ns) {
  uint64_t most_ns = (uint64_t)((double)budget_ns * repaid_most);
  uint64_t repaid_ns = controller->debt_ns < most_ns ? controller->debt_ns : most_ns;
  controller->debt_ns -= repaid_ns;
  return repaid_ns;
}

static void owe(struct controller *controller, const controller_sample *sample) {
  double most_ns = controller->debt_budgets * (double)sample->budget_ns;
  double debt_ns = fmin((double)controller->debt_ns + (double)sample->overrun_ns, most_ns);
  controller->debt_ns = (uint64_t)debt_ns;
}

/* How far the share moves for an error. */
static double controller_step_for(struct controller *controller, double error) {
  if (fabs(error) < large_error) {
    controller->one_sided = 0;
  } else if (error > 0) {
    controller->one_sided = controller->one_sided > 0 ? controller->one_sided + 1 : 1;
  } else {
    controller->one_sided = controller->one_sided < 0 ? controller->one_sided - 1 : -1;
  }
  if (controller->one_sided < LARGE_ERRORS && controller->one_sided > -LARGE_ERRORS)
    return fmin(fmax(error * gain, -slew), slew);
  controller->one_sided = 0; /* and count anew before the next jump */
  return error * 0.5;
}

void controller_raise(struct controller *controller, double factor) {
  controller->share = fmin(controller->share * fmax(factor, 1.0), most_share);
}

void controller_learn(struct controller *controller, const controller_sample *sample) {
  owe(controller, sample);
  controller->backlog_ns = sample->backlog_ns;
  controller->stood_ns = fmin(sample->backlog_ns, controller->stood_ns + fmax(sample->offered_ns, 0.0) * stood_rise);
  if (sample->lacks_ns > 0.0 && sample->offered_ns > 0.0) {
    bool spike = sample->overrun_ns > sample->budget_ns / 2;
    double rise = spike ? 0.0 : fmin(sample->lacks_ns / sample->offered_ns * fill_rise, slew);
    controller->share = fmin(controller->share + rise, most_share);
    return;
  }
  if (!sample->waited && controller->share < 1.0) controller->share += fmin((1.0 - controller->share) * gain, slew);
  if (!sample->waited || sample->offered_ns <= 0) return;
  double used = fmin(fmax(sample->used_ns / sample->offered_ns, least_share), most_share);
  controller->share += controller_step_for(controller, used - controller->share);
}

/* ---------------------------------------------------------------------------------------------- the end of a budget */

static const double reserve_least_ns = 8000.0, reserve_part = 0.01, reserve_unlearnt_most_ns = 50000.0;
static const double learnt_most = 0.02, reserve_most = 0.125;
/* How far a late frame moves the reserve, as a part of the budget. */
static const double step_share = 0.005;

static double unlearnt_ns(uint64_t budget_ns) {
  return fmin(reserve_least_ns + (double)budget_ns * reserve_part, reserve_unlearnt_most_ns);
}

uint64_t frame_reserve_ns(double learnt_ns, uint64_t budget_ns) {
  double learnt_most_ns = (double)budget_ns * learnt_most; /* it may have been learnt under another budget */
  return (uint64_t)fmin(unlearnt_ns(budget_ns) + fmin(learnt_ns, learnt_most_ns), (double)budget_ns * reserve_most);
}

double frame_reserve_learn(double learnt_ns, uint64_t budget_ns, uint64_t late_ns) {
  double step_ns = (double)budget_ns * step_share, most_ns = (double)budget_ns * learnt_most;
  learnt_ns = fmin(learnt_ns, most_ns); /* it may have been learnt under a larger budget */
  if (late_ns <= RESERVE_LATE_NS) return fmax(learnt_ns - step_ns / (RESERVE_LATE_ONE_IN - 1), 0.0);
  if (learnt_ns + (double)late_ns > most_ns + RESERVE_LATE_NS) return learnt_ns;
  return fmin(learnt_ns + step_ns, most_ns);
}
