#define HERD_ONE
#include "scenarios/herd_flock_lanes.h"

static const float long_step_s = 2.0f;

const herd_flock_rules herd_flock_paper = {.mass_kg = 50.0f,
                                           .neighbourhood_m = 20.0f,
                                           .alignment = {0.4f, 20.0f},
                                           .cohesion = {0.2f, 50.0f},
                                           .separation = {0.5f, 2.0f},
                                           .wander = {0.3f, 20.0f},
                                           .wander_radius_m = 3.0f,
                                           .wander_distance_m = 3.0f,
                                           .force_max_n = 500.0f,
                                           .speed_max_mps = 20.0f};

/* ------------------------------------------------------------------------------------------------ numbers
 * (herd_lanes.h)
 */

uint32_t herd_mix(uint32_t value) {
  herd_mix_lanes(&value);
  return value;
}

float herd_lower_share(uint32_t random) {
  float share;
  herd_lower_share_lanes(&random, &share);
  return share;
}

float herd_upper_share(uint32_t random) {
  return herd_lower_share(random >> 16);
}

void herd_direction(float share, float *x, float *y) {
  herd_direction_lanes(&share, x, y);
}

/* ----------------------------------------------------------------------------------------------- one body at a time */

void herd_flock_sense_scalar(const herd_flock_rules *rules, const herd_flock_bodies *bodies, float x, float y,
                             herd_flock_sense *sense) {
  herd_flock_look(rules, bodies, &x, &y, sense);
}

void herd_flock_step_scalar(const herd_flock_step *step, const herd_flock_bodies *bodies, const herd_flock_next *next) {
  herd_flock_step_all(step, bodies, next);
}

void herd_flock_steer(const herd_flock_step *step, const herd_flock_sense *sense, uint32_t number,
                      herd_flock_body *body) {
  herd_flock_move(step, sense, number, body);
}

void herd_flock_live(const herd_flock_step *step, const herd_flock_bodies *bodies, uint32_t number, float elapsed_s,
                     herd_flock_body *body) {
  if (elapsed_s <= 0.0f) return;
  herd_flock_step part = *step;
  float gone_x = 0.0f, gone_y = 0.0f; /* how far the others have moved from their places in the arrays */
  uint32_t steps = (uint32_t)ceilf(elapsed_s / long_step_s);
  part.step_s = elapsed_s / (float)steps;
  for (uint32_t i = 0; i < steps; i++) {
    herd_flock_sense sense;
    herd_flock_sense_vector(step->rules, bodies, body->x - gone_x, body->y - gone_y, &sense);
    part.centre_x = step->centre_x + gone_x;
    part.centre_y = step->centre_y + gone_y;
    herd_flock_move(&part, &sense, number, body);
    gone_x += sense.mean_velocity_x * part.step_s;
    gone_y += sense.mean_velocity_y * part.step_s;
    part.random = herd_mix(step->random + (i + 1) * 0xc2b2ae35u);
  }
}
