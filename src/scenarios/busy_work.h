/* scenarios/busy_work.h - updates that take as long as they are told to: a chain of dependent multiplications, and how
 * many of them this machine does in a nanosecond. */
#ifndef SCENARIOS_BUSY_WORK_H
#define SCENARIOS_BUSY_WORK_H

#include <muster/muster.h>

/* Does so many turns of the chain. How long it takes is all that matters: what it comes to depends on the machine and
 * is kept nowhere, so that the same seed gives the same world on all of them. Any thread. */
void busy_work_spend(uint64_t turns);

/* Measures how many turns take a nanosecond here, in a world of its own; takes some milliseconds. `scenario` begins the
 * message of a failure. Not inside a frame. */
muster_result busy_work_calibrate(const char *scenario, double *turns_per_ns);

#endif
