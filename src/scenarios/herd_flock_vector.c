/* Flocking, eight at a time: a body against eight neighbours, and eight bodies against their herd. */
#include "scenarios/herd_flock_lanes.h"

static float sum(const herd_floats *lanes) {
  const herd_floats part = *lanes;
  return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

HERD_CLONES void herd_flock_sense_vector(const herd_flock_rules *rules, const herd_flock_bodies *bodies, float own_x,
                                         float own_y, herd_flock_sense *sense) {
  lane_sense sums = {0};
  herd_floats members = (herd_floats){0} + 1.0f;
  for (uint32_t i = 0; i < bodies->count; i += HERD_LANES) {
    lane_bodies others = {*herd_lanes(bodies->x + i) - own_x, *herd_lanes(bodies->y + i) - own_y,
                          *herd_lanes(bodies->velocity_x + i), *herd_lanes(bodies->velocity_y + i)};
    if (bodies->members)
      members = __builtin_convertvector(*(const herd_halves *)(const void *)(bodies->members + i), herd_floats);
    herd_flock_notice(rules, &others, &members, &sums);
  }
  *sense =
      (herd_flock_sense){.weight = sum(&sums.weight), .apart_x = sum(&sums.apart_x), .apart_y = sum(&sums.apart_y)};
  if (sense->weight == 0.0f) return;
  sense->middle_x = sum(&sums.middle_x) / sense->weight;
  sense->middle_y = sum(&sums.middle_y) / sense->weight;
  sense->mean_velocity_x = sum(&sums.mean_velocity_x) / sense->weight;
  sense->mean_velocity_y = sum(&sums.mean_velocity_y) / sense->weight;
}

HERD_CLONES void herd_flock_step_vector(const herd_flock_step *step, const herd_flock_bodies *bodies,
                                        const herd_flock_next *next) {
  herd_flock_step_all(step, bodies, next);
}
