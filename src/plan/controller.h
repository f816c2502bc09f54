/* plan/controller.h - keeps the plan honest: what a frame may plan with, from what the frames before it showed.
 *
 * The fit plans periods for the time that workers have. Four things make the plan wrong, and each is met where it
 * shows:
 *
 *   updates use less (or more) of that time than was        `share`, an integral: moves towards what was used, a
 *     thought: late wake-ups, other programs                  little each frame
 *   what the fit released does not fit, and waits           a part of the backlog is made room for: proportional
 *   so little waits that workers run dry before the         that much more is released, proportional; and the
 *     frame ends                                              share rises while periods are stretched
 *   a frame took longer than its budget                     `debt`: the next frames have so much less
 *
 * The integral learns nothing when nothing waited (there was nothing more to use: it would wind up) and goes back to 1
 * then, so that a time of little use is forgotten; and it stands still in a frame that took much longer than its budget
 * (one spike is the debt's affair). It moves by at most SLEW a frame; when the error
 * was large and of one sign for several frames in a row it is no noise, and the share jumps half of the way.
 *
 * Pure: no clock, no threads. */
#ifndef PLAN_CONTROLLER_H
#define PLAN_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct controller {
  double share;        /* of the offered time that updates use while work waits; 0.25 .. 1.25 */
  double backlog_ns;   /* predicted cost of those that the last frame left waiting */
  double stood_ns;     /* of it, what has been there for long */
  int32_t one_sided;   /* frames in a row with a large error: above zero when more was used than thought */
  uint64_t debt_ns;    /* past overruns that no frame has made up for */
  double debt_budgets; /* at most so many budgets of debt */
} controller;

/* What one frame showed. */
typedef struct controller_sample {
  double offered_ns;   /* what updates could have had, all workers */
  double used_ns;      /* of it, inside updates */
  double backlog_ns;   /* predicted cost of those that were left waiting */
  double lacks_ns;     /* while periods are stretched: what lacks of a queue that keeps workers busy; else 0 */
  uint64_t overrun_ns; /* past the frame's own end */
  uint64_t budget_ns;  /* given by the host */
  bool waited;         /* there was more to do */
} controller_sample;

/* Begins with predictions that are right and no debt; takes back so many budgets of overrun at most. */
void controller_create(controller *controller, double debt_budgets);

/* What the queue after a frame should be, so that no worker of the next one runs dry, however few its releases are:
 * half of what a frame can run. */
double controller_standing(double offered_ns);

/* What the fit may plan with, of `offered_ns`, when so much lacks of the queue that keeps workers busy. */
double controller_plan(const controller *controller, double offered_ns, double lacks_ns);

/* What of a budget goes to the debt; the debt is so much less afterwards. */
uint64_t controller_repay(controller *controller, uint64_t budget_ns);

/* Learns from a frame. */
void controller_learn(controller *controller, const controller_sample *sample);

#endif
