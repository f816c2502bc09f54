#include "scenarios/herd_flock.h"

static const float step_most_s = 0.5f, long_step_s = 2.0f;

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

/* The random numbers of a body in a step: two shares each. */
static uint32_t first_random(const herd_flock_step *step, uint32_t number) {
  return herd_mix(step->random + number * 0x9e3779b9u);
}
static uint32_t next_random(uint32_t random) {
  return herd_mix(random + 0x85ebca6bu);
}

/* ------------------------------------------------------------------------------------------------- one body at a time
 */

static void herd_flock_shorten(float *x, float *y, float most) {
  float square = *x * *x + *y * *y;
  if (square <= most * most) return;
  float part = most / sqrtf(square);
  *x *= part;
  *y *= part;
}

/* How often each force counts in a step, and the mean of the random points of wandering. */
typedef struct draws {
  uint32_t aligned, pulled, parted, wandered;
  float x, y;
} draws;

static draws draw(const herd_flock_step *step, uint32_t number, uint32_t times) {
  const herd_flock_rules *rules = step->rules;
  draws all = {0};
  uint32_t random = first_random(step, number);
  for (uint32_t i = 0; i < times; i++) {
    uint32_t two = next_random(random), three = next_random(two);
    all.aligned += herd_lower_share(random) < rules->alignment.share;
    all.pulled += herd_upper_share(random) < rules->cohesion.share;
    all.parted += herd_lower_share(two) < rules->separation.share;
    if (herd_upper_share(two) < rules->wander.share) {
      float x, y;
      herd_direction(herd_lower_share(three), &x, &y);
      all.x += x;
      all.y += y;
      all.wandered++;
    }
    random = next_random(three);
  }
  return all;
}

/* The vector towards the point to which cohesion pulls, at that length. */
static void pull(const herd_flock_step *step, const herd_flock_sense *sense, float length, const herd_flock_body *body,
                 float *force_x, float *force_y) {
  bool alone = sense->weight == 0.0f;
  float x = alone ? step->centre_x - body->x : sense->middle_x, y = alone ? step->centre_y - body->y : sense->middle_y;
  float part = length / sqrtf(x * x + y * y + herd_flock_least);
  *force_x += x * part;
  *force_y += y * part;
}

static void wander(const herd_flock_rules *rules, const draws *drawn, float part, const herd_flock_body *body,
                   float *force_x, float *force_y) {
  float speed_x = body->velocity_x, speed_y = body->velocity_y;
  float ahead = rules->wander_distance_m / sqrtf(speed_x * speed_x + speed_y * speed_y + herd_flock_least);
  ahead *= (float)drawn->wandered;
  *force_x += rules->wander.weight_n * part * (speed_x * ahead + drawn->x * rules->wander_radius_m);
  *force_y += rules->wander.weight_n * part * (speed_y * ahead + drawn->y * rules->wander_radius_m);
}

static void add_forces(const herd_flock_step *step, const herd_flock_sense *sense, uint32_t number,
                       const herd_flock_body *body, float *force_x, float *force_y) {
  const herd_flock_rules *rules = step->rules;
  uint32_t times = step->step_s > step_most_s ? (uint32_t)ceilf(step->step_s / step_most_s) : 1;
  draws drawn = draw(step, number, times);
  float part = 1.0f / (float)times;
  if (sense->weight == 0.0f) {
    drawn.aligned = 0;
    drawn.pulled = times;
  }
  float alignment_n = rules->alignment.weight_n * part * (float)drawn.aligned;
  float separation_n = rules->separation.weight_n * part * (float)drawn.parted;
  *force_x += alignment_n * (sense->mean_velocity_x - body->velocity_x) + separation_n * sense->apart_x;
  *force_y += alignment_n * (sense->mean_velocity_y - body->velocity_y) + separation_n * sense->apart_y;
  if (drawn.pulled) pull(step, sense, rules->cohesion.weight_n * part * (float)drawn.pulled, body, force_x, force_y);
  if (drawn.wandered) wander(rules, &drawn, part, body, force_x, force_y);
  /* A body under the greatest force is elsewhere after 500 ms, so that force counts for 500 ms only, however long the
   * step. */
  herd_flock_shorten(force_x, force_y, rules->force_max_n * part);
}

void herd_flock_steer(const herd_flock_step *step, const herd_flock_sense *sense, uint32_t number,
                      herd_flock_body *body) {
  const herd_flock_rules *rules = step->rules;
  float force_x = 0.0f, force_y = 0.0f, step_s = step->step_s;
  add_forces(step, sense, number, body, &force_x, &force_y);
  float gain = step_s / rules->mass_kg, kept = 1.0f / (1.0f + rules->drag_per_s * step_s);
  float velocity_x = (body->velocity_x + force_x * gain) * kept,
        velocity_y = (body->velocity_y + force_y * gain) * kept;
  herd_flock_shorten(&velocity_x, &velocity_y, rules->speed_max_mps);
  float way_x = 0.5f * (body->velocity_x + velocity_x), way_y = 0.5f * (body->velocity_y + velocity_y);
  if (step->ground &&
      herd_ground_hold(step->ground, step->origin_x + body->x, step->origin_y + body->y, step_s, &way_x, &way_y)) {
    velocity_x = way_x;
    velocity_y = way_y;
  }
  *body = (herd_flock_body){body->x + way_x * step_s, body->y + way_y * step_s, velocity_x, velocity_y};
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
    herd_flock_steer(&part, &sense, number, body);
    gone_x += sense.mean_velocity_x * part.step_s;
    gone_y += sense.mean_velocity_y * part.step_s;
    part.random = herd_mix(step->random + (i + 1) * 0xc2b2ae35u);
  }
}

/* Turns sums into means. */
static void conclude(herd_flock_sense *sense) {
  if (sense->weight == 0.0f) return;
  sense->middle_x /= sense->weight;
  sense->middle_y /= sense->weight;
  sense->mean_velocity_x /= sense->weight;
  sense->mean_velocity_y /= sense->weight;
}

/* A body in exactly the same place is no neighbour: there is no direction to it. */
void herd_flock_sense_scalar(const herd_flock_rules *rules, const herd_flock_bodies *bodies, float own_x, float own_y,
                             herd_flock_sense *sense) {
  float most = rules->neighbourhood_m * rules->neighbourhood_m;
  *sense = (herd_flock_sense){0};
  for (uint32_t i = 0; i < bodies->count; i++) {
    float x = bodies->x[i] - own_x, y = bodies->y[i] - own_y, square = x * x + y * y;
    if (square >= most || square == 0.0f) continue;
    float weight = bodies->members ? (float)bodies->members[i] : 1.0f;
    sense->weight += weight;
    sense->middle_x += weight * x;
    sense->middle_y += weight * y;
    sense->mean_velocity_x += weight * bodies->velocity_x[i];
    sense->mean_velocity_y += weight * bodies->velocity_y[i];
    sense->apart_x -= x / square;
    sense->apart_y -= y / square;
  }
  conclude(sense);
}

void herd_flock_step_scalar(const herd_flock_step *step, const herd_flock_bodies *bodies, const herd_flock_next *next) {
  for (uint32_t i = 0; i < bodies->count; i++) {
    herd_flock_sense sense;
    herd_flock_body body = {bodies->x[i], bodies->y[i], bodies->velocity_x[i], bodies->velocity_y[i]};
    herd_flock_sense_scalar(step->rules, bodies, body.x, body.y, &sense);
    herd_flock_steer(step, &sense, i, &body);
    next->x[i] = body.x;
    next->y[i] = body.y;
    next->velocity_x[i] = body.velocity_x;
    next->velocity_y[i] = body.velocity_y;
  }
  herd_flock_clear_rest(bodies->count, next);
}
