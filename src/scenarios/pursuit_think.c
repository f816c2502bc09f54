/* How a pursuer thinks and moves: mathematics on its own state, the same for every caller. */
#include "scenarios/pursuit.h"

#include <math.h>

const float pursuit_speed_max_mps = 6.0f, pursuit_acceleration_mps2 = 4.0f, pursuit_turn_rps = 2.5f;
const float pursuit_sight_m = 12.0f, pursuit_touch_m = 1.0f;

static const float cruise_mps = 1.5f; /* no agent stands still: circles of followers would */
static const float standoff_m = 4.0f; /* the wanted distance to the target */
static const float full_turn = 6.2831853f, half_turn = 3.1415927f;
static const double area_each_m2 = 72.0;

static const float avoid_step_s = 0.125f; /* it looks two seconds ahead */

enum { AVOID_STEPS = 16, PLAN_LEADS = 8, PLAN_STEPS = 24 };

/* -------------------------------------------------------------------------------------------------------- the torus */

double pursuit_wrap(double side_m, double value) {
  double wrapped = value - floor(value / side_m) * side_m;
  return wrapped < side_m ? wrapped : 0.0;
}

double pursuit_way(double side_m, double from, double to) {
  double way = to - from;
  return way - side_m * floor(way / side_m + 0.5);
}

double pursuit_side_m(uint32_t agents) {
  return sqrt(area_each_m2 * (agents < 9 ? 9 : agents));
}

/* An agent's own random number of that index. */
static uint64_t random_of(uint64_t seed, uint32_t number, uint32_t which) {
  return muster_random_mix(scaffold_random(seed) + number * 16ull + which);
}

muster_position pursuit_first_place(uint64_t seed, uint32_t number, double side_m) {
  return (muster_position){side_m * scaffold_share(random_of(seed, number, 0)),
                           side_m * scaffold_share(random_of(seed, number, 1)), 0.0};
}

pursuit_face pursuit_first_face(uint64_t seed, uint32_t number) {
  return (pursuit_face){full_turn * (float)scaffold_share(random_of(seed, number, 2)), cruise_mps};
}

uint32_t pursuit_first_target(uint64_t seed, uint32_t number, uint32_t agents) {
  if (agents < 2) return number;
  return (uint32_t)((number + 1 + random_of(seed, number, 3) % (agents - 1)) % agents);
}

/* ----------------------------------------------------------------------------------------------------------- angles */

/* The same direction in -pi .. pi. */
static float turned(float angle) {
  return angle - full_turn * floorf(angle / full_turn + 0.5f);
}

static float clamp(float value, float low, float high) {
  return value < low ? low : value > high ? high : value;
}

/* ----------------------------------------------------------------------------------------------------------- senses */

void pursuit_notice(pursuit_body *self, double side_m, muster_position own, muster_position other,
                    const pursuit_face *face) {
  if (self->seen == PURSUIT_SIGHTS) return;
  pursuit_sight *sight = &self->sights[self->seen++];
  sight->x = (float)pursuit_way(side_m, own.x, other.x);
  sight->y = (float)pursuit_way(side_m, own.y, other.y);
  sight->velocity_x = cosf(face->heading) * face->speed_mps;
  sight->velocity_y = sinf(face->heading) * face->speed_mps;
  self->touches += sight->x * sight->x + sight->y * sight->y < pursuit_touch_m * pursuit_touch_m;
}

/* ----------------------------------------------------------------------------------------------------------- follow */

void pursuit_follow(pursuit_body *self, const pursuit_face *own) {
  float ahead = self->target_speed * self->lead_s - standoff_m;
  float x = self->target_x + cosf(self->target_heading) * ahead;
  float y = self->target_y + sinf(self->target_heading) * ahead;
  float distance_m = sqrtf(self->target_x * self->target_x + self->target_y * self->target_y);
  self->aim_heading = x * x + y * y > 0.01f ? atan2f(y, x) : own->heading;
  self->aim_speed = clamp(self->target_speed + 0.5f * (distance_m - standoff_m), cruise_mps, pursuit_speed_max_mps);
}

/* ------------------------------------------------------------------------------------------------------------ ahead */

/* A moving agent, as the simulation of the next seconds sees it. */
typedef struct motion {
  float x, y; /* from where it is now */
  float heading, speed;
} motion;

/* Moves for a short time towards a heading and a speed, within the limits. */
static void move_on(motion *it, float heading, float speed, float step_s) {
  float turn_most = pursuit_turn_rps * step_s, gain_most = pursuit_acceleration_mps2 * step_s;
  it->heading += clamp(turned(heading - it->heading), -turn_most, turn_most);
  it->speed += clamp(speed - it->speed, -gain_most, gain_most);
  it->x += cosf(it->heading) * it->speed * step_s;
  it->y += sinf(it->heading) * it->speed * step_s;
}

/* ------------------------------------------------------------------------------------------------------------ avoid */

/* The cost of being near its neighbours at that time and place. */
static float crowding(const pursuit_body *self, const motion *it, float time_s) {
  static const float room_m = 1.5f;
  float sum = 0;
  for (uint32_t i = 0; i < self->seen; i++) {
    const pursuit_sight *sight = &self->sights[i];
    float x = sight->x + sight->velocity_x * time_s - it->x;
    float y = sight->y + sight->velocity_y * time_s - it->y;
    float square = x * x + y * y;
    if (square < room_m * room_m) sum += (room_m * room_m - square) / (time_s + 0.2f);
  }
  return sum;
}

/* Simulates the next seconds of one manoeuvre. */
static void pursuit_think_weigh(pursuit_body *self, const pursuit_face *own, float turn, float speed) {
  motion it = {0, 0, own->heading, own->speed_mps};
  float cost = 2.0f * fabsf(turn) + fabsf(speed - self->aim_speed);
  for (uint32_t i = 1; i <= AVOID_STEPS; i++) {
    move_on(&it, self->aim_heading + turn, speed, avoid_step_s);
    cost += crowding(self, &it, avoid_step_s * (float)i);
  }
  if (cost >= self->best_cost) return;
  self->best_cost = cost;
  self->best_heading = turn;
  self->best_speed = speed - self->aim_speed;
}

/* The headings of the slices alternate, so that each slice looks to both sides. */
void pursuit_avoid(pursuit_body *self, const pursuit_face *own, uint32_t slice, bool coarse) {
  static const float widest = 1.2f; /* radians to each side */
  if (slice == 0) self->best_cost = INFINITY;
  for (uint32_t i = slice; i < PURSUIT_HEADINGS && !coarse; i += PURSUIT_AVOID_ATOMS) {
    float turn = widest * ((float)i / (float)(PURSUIT_HEADINGS / 2) - 1.0f);
    for (uint32_t j = 0; j < PURSUIT_SPEEDS; j++)
      pursuit_think_weigh(self, own, turn, pursuit_speed_max_mps * (float)j / (float)(PURSUIT_SPEEDS - 1));
  }
  if (coarse && slice == 0) pursuit_think_weigh(self, own, 0.0f, self->aim_speed);
  if (slice + 1 < PURSUIT_AVOID_ATOMS) return;
  self->dodge_heading = self->best_heading;
  self->dodge_speed = self->best_speed;
}

/* ------------------------------------------------------------------------------------------------------------- plan */

/* How far from the target the agent is after that time, when it heads as fast as it can for the target's future
 * place. */
static float miss_of(const pursuit_body *self, const pursuit_face *own, float lead_s) {
  float step_s = lead_s / PLAN_STEPS;
  float goal_x = self->target_x + cosf(self->target_heading) * self->target_speed * lead_s;
  float goal_y = self->target_y + sinf(self->target_heading) * self->target_speed * lead_s;
  motion it = {0, 0, own->heading, own->speed_mps};
  for (uint32_t i = 0; i < PLAN_STEPS; i++)
    move_on(&it, atan2f(goal_y - it.y, goal_x - it.x), pursuit_speed_max_mps, step_s);
  return sqrtf((goal_x - it.x) * (goal_x - it.x) + (goal_y - it.y) * (goal_y - it.y));
}

void pursuit_plan(pursuit_body *self, const pursuit_face *own, bool coarse) {
  float least_m = INFINITY;
  for (uint32_t i = 0; i < PLAN_LEADS; i += coarse ? PLAN_LEADS : 1) {
    float lead_s = 0.2f * (float)(i + 1), miss_m = miss_of(self, own, lead_s);
    if (miss_m >= least_m) continue;
    least_m = miss_m;
    self->lead_s = lead_s;
  }
}

/* ------------------------------------------------------------------------------------------------------------ steer */

muster_position pursuit_steer(pursuit_body *self, pursuit_face *face, muster_position place, double side_m,
                              float elapsed_s) {
  motion it = {0, 0, face->heading, face->speed_mps};
  float wanted = clamp(self->aim_speed + self->dodge_speed, 0.0f, pursuit_speed_max_mps);
  move_on(&it, self->aim_heading + self->dodge_heading, wanted, elapsed_s);
  face->heading = turned(it.heading - half_turn) + half_turn;
  face->speed_mps = it.speed;
  self->walked_m += (double)(it.speed * elapsed_s);
  place.x = pursuit_wrap(side_m, place.x + (double)it.x);
  place.y = pursuit_wrap(side_m, place.y + (double)it.y);
  return place;
}
