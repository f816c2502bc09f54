/* scenarios/osborne.h - the herds of Osborne & Dickinson's experiments: what the world and the plain loop share. */
#ifndef SCENARIOS_OSBORNE_H
#define SCENARIOS_OSBORNE_H

#include "scenarios/herd_flock.h"
#include "scenarios/scenarios.h"

/* A random number of a herd: 0 <= share < 1. */
double osborne_share(const osborne_def *def, uint32_t herd, uint32_t number);

/* The place and motion with which a herd begins. Herds fill one field of a thousand after another, so that herds next
 * to each other in memory are near each other on the ground. */
muster_position osborne_herd_place(const osborne_def *def, uint32_t herd);
void osborne_herd_velocity(const osborne_def *def, uint32_t herd, float *x, float *y);

enum { OSBORNE_SHARES = 4 /* how many osborne_share() numbers these two functions use */ };

/* A square with a fence and nothing in it. */
static inline herd_ground osborne_ground(const osborne_def *def) {
  return (herd_ground){.half_m = (float)def->side_m / 2, .cell_m = (float)def->side_m, .columns = 1};
}

#endif
