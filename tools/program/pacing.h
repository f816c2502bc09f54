/* pacing.h - when frames happen: on the clock of the simulation, and on the wall. */
#ifndef TOOLS_PACING_H
#define TOOLS_PACING_H

#include <stdbool.h>
#include <stdint.h>

struct pacing {
  uint64_t rate;     /* frames per 1000 seconds */
  bool paced;        /* false: frames follow each other without a pause */
  uint64_t start_ns; /* CLOCK_MONOTONIC of frame 0 */
};

/* Frame 0 is now. */
struct pacing pacing_begin(uint64_t rate, bool paced);

/* The simulation time of frame `number`: exactly number / rate, rounded down, so that no error adds up. */
uint64_t pacing_sim_time(const struct pacing *pacing, uint64_t number);

/* Sleeps until frame `number` is due on the wall. After a delay of more than a frame there is no hurry to catch up: the
 * schedule moves on by the lost time. */
void pacing_wait(struct pacing *pacing, uint64_t number);

/* How long it is until then; 0 when frames follow each other without a pause. */
uint64_t pacing_spare_ns(const struct pacing *pacing, uint64_t number);

#endif
