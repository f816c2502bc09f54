/* plan/controller.h - keeps the plan right: what a frame may plan with, from what the frames before it showed.
 *
 * The fit plans periods for the time that workers have. Four things make the plan wrong, and each is met where it
 * shows:
 *
 *   less (or more) of what is believed fits into that       `share`, an integral: moves towards what did fit, a
 *     time: costs, late wake-ups, other programs              little each frame
 *   what the fit released does not fit, and waits           a part of the backlog is made room for: proportional
 *   so little waits that workers run dry before the         that much more is released, proportional; and the
 *     frame ends                                              share rises while periods are stretched
 *   a frame took longer than its budget                     `debt`: the next frames have so much less
 *
 * The integral learns nothing when nothing waited (there was no more work for the time: it would wind up) and then goes
 * back to 1, so that a time of little use is forgotten. It moves by at most SLEW a frame; when the error was large and
 * of one sign for several frames in a row it is not noise, and the share jumps half of the way.
 *
 * A fifth cause has its own remedy: what no prediction covers at the end of a frame, such as closing the team, the
 * report, and what the machine takes away at that moment (interrupts, a hypervisor). A frame with more work than time
 * ends just before its deadline, so anything that comes in between makes it late: above all the machine, whose part
 * differs by orders of magnitude, and from minute to minute; and claims that take longer than was expected. So a part
 * of the budget is kept free at its end, and how much is learnt: a late frame moves it up, frames in time move it
 * slowly down, and it stands still where one frame in RESERVE_LATE_ONE_IN is late. A frame that was later than the most
 * that may be kept free could not have been saved by it, and teaches nothing. Nor does a frame that had no more work.
 *
 * Pure: no clock, no threads. */
#ifndef PLAN_CONTROLLER_H
#define PLAN_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

struct controller {
  double share;        /* part of the offered time that updates can be planned for; 1/64 .. 1.25 */
  double backlog_ns;   /* predicted cost of the agents that the last frame left waiting */
  double stood_ns;     /* the part of it that has been there for long */
  int32_t one_sided;   /* frames in a row with a large error: above zero when more was used than thought */
  uint64_t debt_ns;    /* past overruns that no frame has made up for */
  double debt_budgets; /* the most debt, in budgets */
};

/* What one frame showed. */
typedef struct controller_sample {
  double offered_ns;   /* the time that updates could have had, of all workers */
  double used_ns;      /* what the updates that ran in it were believed to take */
  double backlog_ns;   /* predicted cost of the agents that were left waiting */
  double lacks_ns;     /* while periods are stretched: what is missing of a queue that keeps workers busy; else 0 */
  uint64_t overrun_ns; /* past the frame's own end */
  uint64_t budget_ns;  /* given by the host */
  bool waited;         /* there was more to do */
} controller_sample;

/* Begins with predictions taken to be right and without debt; the debt is limited to `debt_budgets` budgets. */
void controller_create(struct controller *controller, double debt_budgets);

/* What the queue after a frame should be, so that no worker of the next one runs dry, however few its releases are:
 * half of what a frame can run. */
double controller_standing(double offered_ns);

/* The same where releases come to the share of a frame, because updates may take longer than is believed: when they do
 * not, the rest of what a frame can run comes from the queue. */
double controller_queue(const struct controller *controller, double offered_ns);

/* What the fit may plan with, of `offered_ns`, when `lacks_ns` is missing of the queue that keeps workers busy: more by
 * up to half of what is offered, until that queue is there. */
double controller_plan(const struct controller *controller, double offered_ns, double lacks_ns);

/* Takes the part of a budget that goes to the debt, which falls by as much; returns that part. */
uint64_t controller_repay(struct controller *controller, uint64_t budget_ns);

/* The plan was too careful: raises the share by a factor, as far as it goes. */
void controller_raise(struct controller *controller, double factor);

/* Learns from a frame. */
void controller_learn(struct controller *controller, const controller_sample *sample);

enum { RESERVE_LATE_ONE_IN = 256, RESERVE_LATE_NS = 20000 /* a frame that ends later than this is late */ };

/* What is kept free at the end of a budget: 8 us and 1 percent of it (at most 50 us), plus what was learnt, 2 percent
 * of the budget at most. Never more than an eighth of a budget. */
uint64_t frame_reserve_ns(double learnt_ns, uint64_t budget_ns);

/* Learns from a frame with more work than time that ended `late_ns` after its deadline; returns what is learnt now. */
double frame_reserve_learn(double learnt_ns, uint64_t budget_ns, uint64_t late_ns);

#endif
