/* scenarios/busy_work.h - updates that take as long as they are told to: a chain of dependent multiplications, and how
 * many of them this machine does in a nanosecond. */
#ifndef SCENARIOS_BUSY_WORK_H
#define SCENARIOS_BUSY_WORK_H

#include <muster/muster.h>

/* Runs that many turns of the chain. Only the time that it takes matters: the result depends on the machine and is
 * stored nowhere, so that the same seed gives the same world on all machines. Any thread. */
void busy_work_spend(uint64_t turns);

/* Measures how many turns this machine does in a nanosecond, in a world of its own. This takes some milliseconds.
 * `scenario` begins the message of a failure. Not inside a frame. */
muster_result busy_work_calibrate(const char *scenario, double *turns_per_ns);

#endif
