/* service/supervise/deal.h - deals the processors of the machine to the worlds, each of which has a process of its own:
 * two worlds do not share one while another idles.
 *
 * A world that names a number gets so many processors, as far as there are; the others divide what is left evenly,
 * at least one each. Each takes the processors that the fewest worlds have so far, the lowest first. O(worlds x
 * processors). Pure: the same machine and settings deal the same, so that supervisor and worlds agree without words. */
#ifndef SERVICE_SUPERVISE_DEAL_H
#define SERVICE_SUPERVISE_DEAL_H

#include "service/settings.h"

#include <sched.h>

typedef struct deal {
  uint32_t workers[WORLDS_MAX];     /* threads of each world: as many as it named, or as its share */
  cpu_set_t processors[WORLDS_MAX]; /* that they may use */
} deal;

/* `machine` are the processors that there are, of which only `most` may be busy at a time (a quota of the control
 * group). At least one of each. */
void deal_processors(const struct settings *settings, const cpu_set_t *machine, uint32_t most, deal *dealt);

/* The part of its time that the most promised processor has promised: the sum of budget x rate of the worlds that use
 * it. More than 0.9 cannot be held when all worlds use their budgets. */
double deal_most_promised(const struct settings *settings, const deal *dealt, uint32_t *processor);

#endif
