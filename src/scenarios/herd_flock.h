/* scenarios/herd_flock.h - Reynolds' flocking with the parameters of Osborne & Dickinson, in two forms: one body at a
 * time in plain C, and eight at a time.
 *
 * In every step a body is steered by four forces, each of which counts with a probability: alignment with its
 * neighbours, cohesion towards their middle, separation from those close by, and wander to a random point of a circle
 * in front of it. The sum is cut to force_max_n; then s = v t + (F/m) t^2 / 2 and v = v + (F/m) t, cut to
 * speed_max_mps. A body may stand for several members: it steers as one, and its neighbours count it as often as it has
 * members.
 *
 * A step is 500 ms. One longer step may stand for several, up to 2 s together: then each force counts as often as it
 * would on the average, and is the mean of those times. So a body that is updated seldom costs less to update, and
 * moves the same on the average. */
#ifndef SCENARIOS_HERD_FLOCK_H
#define SCENARIOS_HERD_FLOCK_H

#include "scenarios/herd_ground.h"

/* A force: the probability with which it counts in a step, and its weight in newtons. */
typedef struct herd_force {
  float share, weight_n;
} herd_force;

typedef struct herd_flock_rules {
  float mass_kg;
  float neighbourhood_m;
  herd_force alignment; /* times the difference to the mean velocity of neighbours, m/s */
  herd_force cohesion;  /* towards the neighbours' centroid; without any always, towards the herd's */
  herd_force
      separation;    /* times the sum of (away from it / its distance) over neighbours, each direction of length 1 */
  herd_force wander; /* times the way to the random point, m */
  float wander_radius_m, wander_distance_m; /* of that circle, and to its centre */
  float force_max_n, speed_max_mps;
  float drag_per_s; /* the share of its speed that a body loses per second; 0 in the paper */
} herd_flock_rules;

/* The paper's numbers. */
extern const herd_flock_rules herd_flock_paper;

/* The inputs of a step. */
typedef struct herd_flock_step {
  const herd_flock_rules *rules;
  const herd_ground *ground; /* null = open ground */
  float origin_x, origin_y;  /* where the origin of the bodies lies on the ground */
  float centre_x, centre_y;  /* centroid of the herd, relative to the origin as the bodies are */
  uint32_t random;           /* for this herd and step: each body's own follow from it and the body's number */
  float step_s;              /* 0 < step_s <= 2; eight at a time 0.5 */
} herd_flock_step;

/* Bodies in arrays that begin at multiples of 32 bytes and have room for a multiple of eight; there, beyond `count`,
 * places are outside every neighbourhood (herd_flock_nowhere_m) and velocities are 0. */
typedef struct herd_flock_bodies {
  uint32_t count;
  const float *x, *y; /* relative to the origin, metres */
  const float *velocity_x, *velocity_y;
  const uint16_t *members; /* null = one each */
} herd_flock_bodies;

static const float herd_flock_nowhere_m = 1e18f;
static const float herd_flock_least = 1e-6f; /* added to squares of lengths that are divided by */

/* Where the next places and velocities are written: separate arrays of the same size. */
typedef struct herd_flock_next {
  float *x, *y, *velocity_x, *velocity_y;
} herd_flock_next;

/* One step of all bodies of a herd, each standing for one member. The two forms differ by rounding. Entries beyond
 * `count` stay as herd_flock_bodies requires. Any thread. O(count^2). */
void herd_flock_step_scalar(const herd_flock_step *step, const herd_flock_bodies *bodies, const herd_flock_next *next);
void herd_flock_step_vector(const herd_flock_step *step, const herd_flock_bodies *bodies, const herd_flock_next *next);

/* What a body senses of its neighbours: sums, and means computed from them. */
typedef struct herd_flock_sense {
  float weight;                           /* members in the neighbourhood; 0 = there is none */
  float middle_x, middle_y;               /* their centroid, relative to the body */
  float mean_velocity_x, mean_velocity_y; /* of the neighbours */
  float apart_x, apart_y;                 /* the sum for the force of separation */
} herd_flock_sense;

/* Senses the neighbours of a place; a body in exactly that place is taken for the sensing body itself. The two forms
 * differ by rounding. Any thread. O(count). */
void herd_flock_sense_scalar(const herd_flock_rules *rules, const herd_flock_bodies *bodies, float x, float y,
                             herd_flock_sense *sense);
void herd_flock_sense_vector(const herd_flock_rules *rules, const herd_flock_bodies *bodies, float x, float y,
                             herd_flock_sense *sense);

/* A moving body. */
typedef struct herd_flock_body {
  float x, y, velocity_x, velocity_y;
} herd_flock_body;

/* One step of one body, with what it sensed; `number` tells it from others of its herd. */
void herd_flock_steer(const herd_flock_step *step, const herd_flock_sense *sense, uint32_t number,
                      herd_flock_body *body);

/* A body among others for any time, in equal steps of 2 s at most; step->step_s is not looked at. The other bodies are
 * assumed to go on with the mean velocity of the near ones. */
void herd_flock_live(const herd_flock_step *step, const herd_flock_bodies *bodies, uint32_t number, float elapsed_s,
                     herd_flock_body *body);

#endif
