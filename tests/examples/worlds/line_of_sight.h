/* worlds/line_of_sight.h - lines of sight over rough ground: used by the agents of several scenarios. */
#ifndef WORLDS_LINE_OF_SIGHT_H
#define WORLDS_LINE_OF_SIGHT_H

#include "scenarios/scaffold.h"

#include <muster/muster.h>

#include <math.h>

/* The height of the ground: 0..1, rough over some 8 m. */
static inline float line_of_sight_height(uint64_t seed, double x, double y) {
  uint64_t column = (uint64_t)(int64_t)floor(x * 0.125), row = (uint64_t)(int64_t)floor(y * 0.125);
  return (float)scaffold_random_share(seed ^ (column << 32 ^ row));
}

/* Whether the ground leaves the line from here to there clear: it is checked at that many steps. */
static inline bool line_of_sight_is_clear(uint64_t seed, muster_position from, muster_position to, uint32_t steps) {
  float covered = 0.0f;
  for (uint32_t i = 1; i <= steps; i++) {
    double part = (double)i / steps, x = from.x + part * (to.x - from.x), y = from.y + part * (to.y - from.y);
    covered += fmaxf(line_of_sight_height(seed, x, y) - 0.5f, 0.0f);
  }
  return covered < 0.15f * (float)steps;
}

#endif
