/* plan/closing.h - how much of a budget is kept free at its end, for what no prediction covers: closing the crew, the
 * report, and what the machine takes away at that moment (interrupts, a hypervisor).
 *
 * A frame with more work than time ends just before its deadline, so there whatever comes between makes it late: above
 * all the machine, whose share differs by orders of magnitude, and between minutes; and claims that take longer than
 * was expected. So it is learnt: a frame that was late moves the time up, frames in time move it slowly down, and it
 * stands still where one frame in CLOSING_LATE_ONE_IN is late. A frame that was later than all that may be kept free
 * could not have been saved by it, and says nothing. Nor does one that had no more work.
 *
 * Pure: no clock, no threads. */
#ifndef PLAN_CLOSING_H
#define PLAN_CLOSING_H

#include <stdint.h>

enum { CLOSING_LATE_ONE_IN = 256, CLOSING_LATE_NS = 20000 /* later than so much is late */ };

/* 8 us and 1 percent of the budget (at most 50 us), and what was learnt: 5 percent of it at most. Never more than an
 * eighth of a budget. */
uint64_t closing_time_ns(double learnt_ns, uint64_t budget_ns);

/* What is learnt of a frame with more work than time that ended so long after its deadline; returns what is known now.
 */
double closing_learn(double learnt_ns, uint64_t budget_ns, uint64_t late_ns);

#endif
