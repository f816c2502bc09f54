/* scenarios/osborne.h - the herds of Osborne & Dickinson's experiments: what the world and the plain loop share. */
#ifndef SCENARIOS_OSBORNE_H
#define SCENARIOS_OSBORNE_H

#include "scenarios/herd_flock.h"
#include "scenarios/scenarios.h"

/* A random number of a herd: 0 <= share < 1. */
double osborne_share(const osborne_def *def, uint32_t herd, uint32_t number);

/* Where a herd begins, and how. One after another they fill a field of a thousand, then the next one, so that what is
 * together in memory is together on the ground. */
muster_position osborne_herd_place(const osborne_def *def, uint32_t herd);
void osborne_herd_velocity(const osborne_def *def, uint32_t herd, float *x, float *y);

enum { OSBORNE_SHARES = 4 /* of osborne_share() that these two have used */ };

/* A square with a fence and nothing in it. */
static inline herd_ground osborne_ground(const osborne_def *def) {
  return (herd_ground){.half_m = (float)def->side_m / 2, .cell_m = (float)def->side_m, .columns = 1};
}

#endif
