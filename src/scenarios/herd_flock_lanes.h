/* scenarios/herd_flock_lanes.h - the steps of flocking, for as many bodies at a time as there are lanes
 * (herd_lanes.h). */
#ifndef SCENARIOS_HERD_FLOCK_LANES_H
#define SCENARIOS_HERD_FLOCK_LANES_H

#include "scenarios/herd_flock.h"

static const float herd_flock_step_s = 0.5f; /* a longer step stands for several of this length */

#ifdef HERD_ONE

typedef herd_flock_body lane_bodies;
typedef herd_flock_sense lane_sense;

#else

/* As herd_flock_body and herd_flock_sense. */
typedef struct lane_bodies {
  herd_floats x, y, velocity_x, velocity_y;
} lane_bodies;

typedef struct lane_sense {
  herd_floats weight, middle_x, middle_y, mean_velocity_x, mean_velocity_y, apart_x, apart_y;
} lane_sense;

#endif

/* ----------------------------------------------------------------------------------------------------------- senses */

/* Adds another body, whose place is relative to the sensing one, if it is near. A body in exactly the same place is no
 * neighbour: there is no direction to it. */
HERD_INLINE void herd_flock_notice(const herd_flock_rules *rules, const lane_bodies *other, const herd_floats *members,
                                   lane_sense *sense) {
  herd_floats square = other->x * other->x + other->y * other->y, weight = {0}, apart = {0};
  herd_ints near = (square < rules->neighbourhood_m * rules->neighbourhood_m) & (square > 0.0f);
  if (!herd_possible(&near)) return;
  herd_floats nearness = 1.0f / square;
  herd_where(&near, members, &weight);
  herd_where(&near, &nearness, &apart);
  sense->weight += weight;
  sense->middle_x += weight * other->x;
  sense->middle_y += weight * other->y;
  sense->mean_velocity_x += weight * other->velocity_x;
  sense->mean_velocity_y += weight * other->velocity_y;
  sense->apart_x -= apart * other->x;
  sense->apart_y -= apart * other->y;
}

/* What a body in each lane senses of all others. */
HERD_INLINE void herd_flock_look(const herd_flock_rules *rules, const herd_flock_bodies *bodies,
                                 const herd_floats *own_x, const herd_floats *own_y, lane_sense *sense) {
  herd_floats none = {0}, divisor = none + 1.0f;
  *sense = (lane_sense){0};
  for (uint32_t i = 0; i < bodies->count; i++) {
    lane_bodies other = {bodies->x[i] - *own_x, bodies->y[i] - *own_y, none + bodies->velocity_x[i],
                         none + bodies->velocity_y[i]};
    herd_floats members = none + (bodies->members ? (float)bodies->members[i] : 1.0f);
    herd_flock_notice(rules, &other, &members, sense);
  }
  herd_ints accompanied = sense->weight > 0.0f;
  herd_where(&accompanied, &sense->weight, &divisor);
  sense->middle_x /= divisor;
  sense->middle_y /= divisor;
  sense->mean_velocity_x /= divisor;
  sense->mean_velocity_y /= divisor;
}

/* --------------------------------------------------------------------------------------------------------- steering */

/* How often each force counts in a step, and the sum of the random points of wandering. */
typedef struct lane_draws {
  herd_ints aligned, pulled, parted, wandered;
  herd_floats x, y;
} lane_draws;

/* The next random numbers: how often two forces count. */
HERD_INLINE void herd_flock_draw_two(herd_words *random, const herd_force *one, herd_ints *times,
                                     const herd_force *other, herd_ints *other_times) {
  herd_floats lower, upper;
  *random += 0x85ebca6bu;
  herd_mix_lanes(random);
  herd_lower_share_lanes(random, &lower);
  herd_upper_share_lanes(random, &upper);
  herd_ints counts = lower < one->share, other_counts = upper < other->share;
  herd_count(&counts, times);
  herd_count(&other_counts, other_times);
}

/* Of the bodies from number `first` on. */
HERD_INLINE void herd_flock_draw(const herd_flock_step *step, uint32_t first, uint32_t times, lane_draws *all) {
  const herd_flock_rules *rules = step->rules;
  herd_words random = (herd_numbers + first) * 0x9e3779b9u + (step->random - 0x85ebca6bu);
  *all = (lane_draws){0};
  for (uint32_t i = 0; i < times; i++) {
    herd_floats share, x, y;
    herd_ints before = all->wandered;
    herd_flock_draw_two(&random, &rules->alignment, &all->aligned, &rules->cohesion, &all->pulled);
    herd_flock_draw_two(&random, &rules->separation, &all->parted, &rules->wander, &all->wandered);
    random += 0x85ebca6bu;
    herd_mix_lanes(&random);
    herd_ints wanders = all->wandered > before;
    if (!herd_possible(&wanders)) continue;
    herd_lower_share_lanes(&random, &share);
    herd_direction_lanes(&share, &x, &y);
    x += all->x;
    y += all->y;
    herd_where(&wanders, &x, &all->x);
    herd_where(&wanders, &y, &all->y);
  }
}

/* Shortens vectors to that length at most. */
HERD_INLINE void herd_flock_shorten(float most, herd_floats *x, herd_floats *y) {
  herd_floats length = *x * *x + *y * *y, part = (herd_floats){0} + 1.0f;
  herd_ints beyond = length > most * most;
  if (!herd_possible(&beyond)) return;
  herd_root(&length);
  length = most / length;
  herd_where(&beyond, &length, &part);
  *x *= part;
  *y *= part;
}

/* Adds the force of cohesion, of that strength: towards the neighbours' centroid, or the herd's. */
HERD_INLINE void herd_flock_pull(const herd_flock_step *step, const lane_sense *sense, const herd_floats *strength_n,
                                 const lane_bodies *own, lane_bodies *force) {
  herd_floats x = step->centre_x - own->x, y = step->centre_y - own->y;
  herd_ints pulls = *strength_n != 0.0f, accompanied = sense->weight > 0.0f;
  if (!herd_possible(&pulls)) return;
  herd_where(&accompanied, &sense->middle_x, &x);
  herd_where(&accompanied, &sense->middle_y, &y);
  herd_floats part = x * x + y * y + herd_flock_least;
  herd_root(&part);
  part = *strength_n / part;
  force->x += x * part;
  force->y += y * part;
}

/* Adds the force of wandering, of that strength. */
HERD_INLINE void herd_flock_wander(const herd_flock_rules *rules, const lane_draws *drawn, float strength_n,
                                   const lane_bodies *own, lane_bodies *force) {
  herd_ints wanders = drawn->wandered > 0;
  if (!herd_possible(&wanders)) return;
  herd_floats ahead = own->velocity_x * own->velocity_x + own->velocity_y * own->velocity_y + herd_flock_least;
  herd_root(&ahead);
  ahead = rules->wander_distance_m / ahead;
  ahead *= HERD_CONVERT(drawn->wandered, herd_floats);
  force->x += strength_n * (own->velocity_x * ahead + drawn->x * rules->wander_radius_m);
  force->y += strength_n * (own->velocity_y * ahead + drawn->y * rules->wander_radius_m);
}

HERD_INLINE void herd_flock_add_forces(const herd_flock_step *step, const lane_sense *sense, uint32_t first,
                                       const lane_bodies *own, lane_bodies *force) {
  const herd_flock_rules *rules = step->rules;
  uint32_t times = step->step_s > herd_flock_step_s ? (uint32_t)ceilf(step->step_s / herd_flock_step_s) : 1;
  float each = 1.0f / (float)times;
  lane_draws drawn;
  herd_flock_draw(step, first, times, &drawn);
  herd_ints alone = sense->weight == 0.0f;
  herd_floats never = {0}, always = never + rules->cohesion.weight_n * each * (float)times;
  herd_floats alignment_n = rules->alignment.weight_n * each * HERD_CONVERT(drawn.aligned, herd_floats);
  herd_floats separation_n = rules->separation.weight_n * each * HERD_CONVERT(drawn.parted, herd_floats);
  herd_floats cohesion_n = rules->cohesion.weight_n * each * HERD_CONVERT(drawn.pulled, herd_floats);
  herd_where(&alone, &never, &alignment_n);
  herd_where(&alone, &always, &cohesion_n);
  force->x = alignment_n * (sense->mean_velocity_x - own->velocity_x) + separation_n * sense->apart_x;
  force->y = alignment_n * (sense->mean_velocity_y - own->velocity_y) + separation_n * sense->apart_y;
  herd_flock_pull(step, sense, &cohesion_n, own, force);
  herd_flock_wander(rules, &drawn, rules->wander.weight_n * each, own, force);
  /* A body under the greatest force is elsewhere after 500 ms, so that force counts for 500 ms only, however long the
   * step. */
  herd_flock_shorten(rules->force_max_n * each, &force->x, &force->y);
}

/* One step, with what the bodies from number `first` on sensed: moves them as far as the ground allows. */
HERD_INLINE void herd_flock_move(const herd_flock_step *step, const lane_sense *sense, uint32_t first,
                                 lane_bodies *own) {
  const herd_flock_rules *rules = step->rules;
  float gain = step->step_s / rules->mass_kg, kept = 1.0f / (1.0f + rules->drag_per_s * step->step_s);
  lane_bodies force;
  herd_flock_add_forces(step, sense, first, own, &force);
  herd_floats velocity_x = (own->velocity_x + force.x * gain) * kept;
  herd_floats velocity_y = (own->velocity_y + force.y * gain) * kept;
  herd_flock_shorten(rules->speed_max_mps, &velocity_x, &velocity_y);
  herd_floats way_x = 0.5f * (own->velocity_x + velocity_x), way_y = 0.5f * (own->velocity_y + velocity_y);
  herd_ground_lanes lanes = {step->origin_x + own->x, step->origin_y + own->y, (herd_floats){0} + step->step_s, way_x,
                             way_y};
  if (step->ground) herd_ground_hold_lanes(step->ground, &lanes);
  herd_ints held = (lanes.velocity_x != way_x) | (lanes.velocity_y != way_y);
  herd_where(&held, &lanes.velocity_x, &velocity_x);
  herd_where(&held, &lanes.velocity_y, &velocity_y);
  own->x += lanes.velocity_x * step->step_s;
  own->y += lanes.velocity_y * step->step_s;
  own->velocity_x = velocity_x;
  own->velocity_y = velocity_y;
}

/* herd_flock_step_scalar() and herd_flock_step_vector(). */
HERD_INLINE void herd_flock_step_all(const herd_flock_step *step, const herd_flock_bodies *bodies,
                                     const herd_flock_next *next) {
  for (uint32_t i = 0; i < bodies->count; i += HERD_WIDTH) {
    lane_bodies own = {*herd_lanes(bodies->x + i), *herd_lanes(bodies->y + i), *herd_lanes(bodies->velocity_x + i),
                       *herd_lanes(bodies->velocity_y + i)};
    lane_sense sense;
    herd_flock_look(step->rules, bodies, &own.x, &own.y, &sense);
    herd_flock_move(step, &sense, i, &own);
    *herd_lanes_to(next->x + i) = own.x;
    *herd_lanes_to(next->y + i) = own.y;
    *herd_lanes_to(next->velocity_x + i) = own.velocity_x;
    *herd_lanes_to(next->velocity_y + i) = own.velocity_y;
  }
  for (uint32_t i = bodies->count; i % HERD_LANES; i++) {
    next->x[i] = next->y[i] = herd_flock_nowhere_m;
    next->velocity_x[i] = next->velocity_y[i] = 0.0f;
  }
}

#endif
