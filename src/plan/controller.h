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
 * (one spike is the debt's affair). It moves by at most SLEW a frame; when the error was large and of one sign for
 * several frames in a row it is no noise, and the share jumps half of the way.
 *
 * A fifth has its own remedy: what no prediction covers at the end of a frame, such as closing the crew, the report,
 * and what the machine takes away at that moment (interrupts, a hypervisor). A frame with more work than time ends just
 * before its deadline, so there whatever comes between makes it late: above all the machine, whose share differs by
 * orders of magnitude, and between minutes; and claims that take longer than was expected. So much of the budget is
 * kept free at its end, and how much is learnt: a frame that was late moves it up, frames in time move it slowly down,
 * and it stands still where one frame in RESERVE_LATE_ONE_IN is late. A frame that was later than all that may be kept
 * free could not have been saved by it, and says nothing. Nor does one that had no more work.
 *
 * Pure: no clock, no threads. */
#ifndef PLAN_CONTROLLER_H
#define PLAN_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

struct controller {
  double share;        /* of the offered time that updates use while work waits; 0.25 .. 1.25 */
  double backlog_ns;   /* predicted cost of those that the last frame left waiting */
  double stood_ns;     /* of it, what has been there for long */
  int32_t one_sided;   /* frames in a row with a large error: above zero when more was used than thought */
  uint64_t debt_ns;    /* past overruns that no frame has made up for */
  double debt_budgets; /* at most so many budgets of debt */
};

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
void controller_create(struct controller *controller, double debt_budgets);

/* What the queue after a frame should be, so that no worker of the next one runs dry, however few its releases are:
 * half of what a frame can run. */
double controller_standing(double offered_ns);

/* What the fit may plan with, of `offered_ns`, when so much lacks of the queue that keeps workers busy: up to half more
 * than is offered, until that queue stands. */
double controller_plan(const struct controller *controller, double offered_ns, double lacks_ns);

/* What of a budget goes to the debt; the debt is so much less afterwards. */
uint64_t controller_repay(struct controller *controller, uint64_t budget_ns);

/* Learns from a frame. */
void controller_learn(struct controller *controller, const controller_sample *sample);

enum { RESERVE_LATE_ONE_IN = 256, RESERVE_LATE_NS = 20000 /* later than so much is late */ };

/* What is kept free at the end of a budget: 8 us and 1 percent of it (at most 50 us), and what was learnt, 5 percent of
 * it at most. Never more than an eighth of a budget. */
uint64_t frame_reserve_ns(double learnt_ns, uint64_t budget_ns);

/* What is learnt of a frame with more work than time that ended so long after its deadline; returns what is known now.
 */
double frame_reserve_learn(double learnt_ns, uint64_t budget_ns, uint64_t late_ns);

#endif
