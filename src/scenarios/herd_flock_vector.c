/* Flocking, eight at a time: a body against eight neighbours, and eight bodies against their herd. */
#include "scenarios/herd_flock.h"

/* Eight bodies and what they sense. */
typedef struct lane_bodies {
  herd_floats x, y, velocity_x, velocity_y;
} lane_bodies;

typedef struct lane_sense {
  herd_floats weight, middle_x, middle_y, mean_velocity_x, mean_velocity_y, apart_x, apart_y;
} lane_sense;

static float sum(const herd_floats *lanes) {
  const herd_floats part = *lanes;
  return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

/* Adds a neighbour (of each lane) at that distance. */
HERD_INLINE void notice(float most, const herd_floats *members, const herd_floats *x, const herd_floats *y,
                        const herd_floats *velocity_x, const herd_floats *velocity_y, lane_sense *sense) {
  herd_floats square = *x * *x + *y * *y, zero = {0};
  herd_ints near = (square < most) & (square > zero);
  herd_floats weight = (herd_floats)((herd_ints)*members & near);
  herd_floats apart = (herd_floats)((herd_ints)(1.0f / square) & near);
  sense->weight += weight;
  sense->middle_x += weight * *x;
  sense->middle_y += weight * *y;
  sense->mean_velocity_x += weight * *velocity_x;
  sense->mean_velocity_y += weight * *velocity_y;
  sense->apart_x -= apart * *x;
  sense->apart_y -= apart * *y;
}

HERD_CLONES void herd_flock_sense_vector(const herd_flock_rules *rules, const herd_flock_bodies *bodies, float own_x,
                                         float own_y, herd_flock_sense *sense) {
  float most = rules->neighbourhood_m * rules->neighbourhood_m;
  lane_sense sums = {0};
  herd_floats members = (herd_floats){0} + 1.0f;
  for (uint32_t i = 0; i < bodies->count; i += HERD_LANES) {
    herd_floats x = *herd_lanes(bodies->x + i) - own_x, y = *herd_lanes(bodies->y + i) - own_y;
    if (bodies->members)
      members = __builtin_convertvector(*(const herd_halves *)(const void *)(bodies->members + i), herd_floats);
    notice(most, &members, &x, &y, herd_lanes(bodies->velocity_x + i), herd_lanes(bodies->velocity_y + i), &sums);
  }
  *sense =
      (herd_flock_sense){.weight = sum(&sums.weight), .apart_x = sum(&sums.apart_x), .apart_y = sum(&sums.apart_y)};
  if (sense->weight == 0.0f) return;
  sense->middle_x = sum(&sums.middle_x) / sense->weight;
  sense->middle_y = sum(&sums.middle_y) / sense->weight;
  sense->mean_velocity_x = sum(&sums.mean_velocity_x) / sense->weight;
  sense->mean_velocity_y = sum(&sums.mean_velocity_y) / sense->weight;
}

/* ------------------------------------------------------------------------------------------------ eight of a herd
 */

HERD_INLINE void shorten(float most, herd_floats *x, herd_floats *y) {
  herd_floats length = *x * *x + *y * *y, one = (herd_floats){0} + 1.0f;
  herd_ints fits = length <= most * most;
  herd_root(&length);
  herd_floats part = most / length;
  herd_where(&fits, &one, &part);
  *x *= part;
  *y *= part;
}

HERD_INLINE void look_around(float most, const herd_flock_bodies *bodies, const lane_bodies *own, lane_sense *sense) {
  herd_floats one = (herd_floats){0} + 1.0f, none = {0};
  *sense = (lane_sense){0};
  for (uint32_t i = 0; i < bodies->count; i++) {
    herd_floats x = bodies->x[i] - own->x, y = bodies->y[i] - own->y;
    herd_floats velocity_x = none + bodies->velocity_x[i], velocity_y = none + bodies->velocity_y[i];
    notice(most, &one, &x, &y, &velocity_x, &velocity_y, sense);
  }
  herd_floats divisor = sense->weight;
  herd_ints alone = divisor == 0.0f;
  herd_where(&alone, &one, &divisor);
  sense->middle_x /= divisor;
  sense->middle_y /= divisor;
  sense->mean_velocity_x /= divisor;
  sense->mean_velocity_y /= divisor;
}

/* Adds a force where it counts. */
HERD_INLINE void add(const herd_ints *counts, const herd_floats *x, const herd_floats *y, lane_bodies *forces) {
  forces->x += (herd_floats)((herd_ints)*x & *counts);
  forces->y += (herd_floats)((herd_ints)*y & *counts);
}

HERD_INLINE void add_cohesion(const herd_flock_step *step, const lane_sense *sense, const lane_bodies *own,
                              const herd_ints *counts, lane_bodies *forces) {
  herd_floats x = step->centre_x - own->x, y = step->centre_y - own->y;
  herd_ints accompanied = sense->weight > 0.0f;
  herd_where(&accompanied, &sense->middle_x, &x);
  herd_where(&accompanied, &sense->middle_y, &y);
  herd_floats part = x * x + y * y + herd_flock_least;
  herd_root(&part);
  part = step->rules->cohesion.weight_n / part;
  x *= part;
  y *= part;
  add(counts, &x, &y, forces);
}

HERD_INLINE void add_wander(const herd_flock_rules *rules, const herd_floats *share, const lane_bodies *own,
                            const herd_ints *counts, lane_bodies *forces) {
  herd_floats x, y, ahead = own->velocity_x * own->velocity_x + own->velocity_y * own->velocity_y + herd_flock_least;
  herd_root(&ahead);
  ahead = rules->wander_distance_m / ahead;
  herd_direction_lanes(share, &x, &y);
  x = rules->wander.weight_n * (own->velocity_x * ahead + x * rules->wander_radius_m);
  y = rules->wander.weight_n * (own->velocity_y * ahead + y * rules->wander_radius_m);
  add(counts, &x, &y, forces);
}

HERD_INLINE void add_forces(const herd_flock_step *step, const lane_sense *sense, uint32_t first,
                            const lane_bodies *own, lane_bodies *forces) {
  const herd_flock_rules *rules = step->rules;
  herd_words random = (herd_words){0, 1, 2, 3, 4, 5, 6, 7} + first;
  herd_floats lower, upper, x, y;
  random = random * 0x9e3779b9u + step->random;
  herd_mix_lanes(&random);
  herd_lower_share_lanes(&random, &lower);
  herd_upper_share_lanes(&random, &upper);
  herd_ints counts = (lower < rules->alignment.share) & (sense->weight > 0.0f);
  x = rules->alignment.weight_n * (sense->mean_velocity_x - own->velocity_x);
  y = rules->alignment.weight_n * (sense->mean_velocity_y - own->velocity_y);
  add(&counts, &x, &y, forces);
  counts = (upper < rules->cohesion.share) | (sense->weight == 0.0f);
  add_cohesion(step, sense, own, &counts, forces);
  random += 0x85ebca6bu;
  herd_mix_lanes(&random);
  herd_lower_share_lanes(&random, &lower);
  herd_upper_share_lanes(&random, &upper);
  counts = lower < rules->separation.share;
  x = rules->separation.weight_n * sense->apart_x;
  y = rules->separation.weight_n * sense->apart_y;
  add(&counts, &x, &y, forces);
  counts = upper < rules->wander.share;
  random += 0x85ebca6bu;
  herd_mix_lanes(&random);
  herd_lower_share_lanes(&random, &lower);
  add_wander(rules, &lower, own, &counts, forces);
  shorten(rules->force_max_n, &forces->x, &forces->y);
}

/* Moves the bodies, as far as the ground allows. */
HERD_INLINE void move(const herd_flock_step *step, const lane_bodies *forces, lane_bodies *own) {
  float gain = step->step_s / step->rules->mass_kg, kept = 1.0f / (1.0f + step->rules->drag_per_s * step->step_s);
  herd_floats velocity_x = (own->velocity_x + forces->x * gain) * kept;
  herd_floats velocity_y = (own->velocity_y + forces->y * gain) * kept;
  shorten(step->rules->speed_max_mps, &velocity_x, &velocity_y);
  herd_floats way_x = 0.5f * (own->velocity_x + velocity_x), way_y = 0.5f * (own->velocity_y + velocity_y);
  if (step->ground) {
    herd_ground_lanes lanes = {.x = step->origin_x + own->x,
                               .y = step->origin_y + own->y,
                               .step_s = (herd_floats){0} + step->step_s,
                               .velocity_x = way_x,
                               .velocity_y = way_y};
    herd_ground_hold_lanes(step->ground, &lanes);
    herd_ints held = (lanes.velocity_x != way_x) | (lanes.velocity_y != way_y);
    way_x = lanes.velocity_x;
    way_y = lanes.velocity_y;
    herd_where(&held, &way_x, &velocity_x);
    herd_where(&held, &way_y, &velocity_y);
  }
  own->x += way_x * step->step_s;
  own->y += way_y * step->step_s;
  own->velocity_x = velocity_x;
  own->velocity_y = velocity_y;
}

HERD_CLONES void herd_flock_step_vector(const herd_flock_step *step, const herd_flock_bodies *bodies,
                                        const herd_flock_next *next) {
  float most = step->rules->neighbourhood_m * step->rules->neighbourhood_m;
  for (uint32_t i = 0; i < bodies->count; i += HERD_LANES) {
    lane_bodies own = {*herd_lanes(bodies->x + i), *herd_lanes(bodies->y + i), *herd_lanes(bodies->velocity_x + i),
                       *herd_lanes(bodies->velocity_y + i)};
    lane_bodies forces = {0};
    lane_sense sense;
    look_around(most, bodies, &own, &sense);
    add_forces(step, &sense, i, &own, &forces);
    move(step, &forces, &own);
    *herd_lanes_to(next->x + i) = own.x;
    *herd_lanes_to(next->y + i) = own.y;
    *herd_lanes_to(next->velocity_x + i) = own.velocity_x;
    *herd_lanes_to(next->velocity_y + i) = own.velocity_y;
  }
  herd_flock_clear_rest(bodies->count, next);
}
