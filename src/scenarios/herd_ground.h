/* scenarios/herd_ground.h - the ground of the herd scenario: a square with a fence, and round obstacles to go around.
 *
 * Obstacles are not stored: the square is divided into cells, each with one circle at a place and of a size that follow
 * from the seed, wholly within its cell. So a moving body checks one circle. */
#ifndef SCENARIOS_HERD_GROUND_H
#define SCENARIOS_HERD_GROUND_H

#include "scenarios/herd_lanes.h"

typedef struct herd_ground {
  float half_m;     /* the square spans -half_m .. half_m in x and y */
  float cell_m;     /* edge of a cell */
  float radius_m;   /* of the largest obstacle; the smallest has half of it. 0 = there are none */
  uint32_t columns; /* of cells, and as many rows; places outside count as the outermost cells */
  uint32_t seed;
} herd_ground;

typedef struct herd_obstacle {
  float x, y, radius_m;
} herd_obstacle;

/* A square of that edge: cells of 250 m or less, obstacles of 10 to 20 m. */
herd_ground herd_ground_of(float side_m, uint32_t seed);

/* The obstacle of the cell that a place lies in. */
herd_obstacle herd_ground_obstacle(const herd_ground *ground, float x, float y);

/* Replaces the wanted velocity *velocity_x, *velocity_y of a body at x, y, for step_s, by a possible one: a body that
 * reaches the fence turns back, one that reaches an obstacle goes along it at the same speed, and one inside an
 * obstacle comes out at herd_ground_leave_mps. True when the velocity was changed. */
bool herd_ground_hold(const herd_ground *ground, float x, float y, float step_s, float *velocity_x, float *velocity_y);

static const float herd_ground_leave_mps = 2.0f;

/* ---------------------------------------------------------------------------------------------- the same in lanes */

/* No step_s may be 0 or less. */
typedef struct herd_ground_lanes {
  herd_floats x, y, step_s;
  herd_floats velocity_x, velocity_y;
} herd_ground_lanes;

HERD_INLINE void herd_ground_turn_back(float half_m, const herd_floats *place, const herd_floats *step_s,
                                       herd_floats *velocity) {
  herd_floats next = *place + *velocity * *step_s, inward = *velocity;
  herd_magnitude(&inward);
  herd_floats outward = -inward;
  herd_ints above = next > half_m, below = next < -half_m;
  herd_where(&above, &outward, velocity);
  herd_where(&below, &inward, velocity);
}

HERD_INLINE void herd_ground_column(const herd_ground *ground, const herd_floats *place, herd_words *column) {
  herd_floats cell = (*place + ground->half_m) * (1.0f / ground->cell_m);
  herd_floats last = (herd_floats){0} + (float)(ground->columns - 1), none = {0};
  herd_ints beyond = cell > last, before = cell < 0.0f;
  herd_where(&beyond, &last, &cell);
  herd_where(&before, &none, &cell);
  *column = (herd_words)HERD_CONVERT(cell, herd_ints);
}

/* Replaces places by the centres of the obstacles of their cells, and gives the radii of these. */
HERD_INLINE void herd_ground_obstacles(const herd_ground *ground, herd_floats *x, herd_floats *y,
                                       herd_floats *radius_m) {
  herd_words column, row;
  herd_ground_column(ground, x, &column);
  herd_ground_column(ground, y, &row);
  herd_words random = ground->seed + column * 0x9e3779b9u + row * 0x85ebca6bu;
  herd_mix_lanes(&random);
  herd_floats across = HERD_CONVERT((herd_ints)(random & 0x7ffu), herd_floats) * 0x1p-11f - 0.5f;
  herd_floats along = HERD_CONVERT((herd_ints)(random >> 11 & 0x7ffu), herd_floats) * 0x1p-11f - 0.5f;
  herd_floats size = HERD_CONVERT((herd_ints)(random >> 22), herd_floats) * 0x1p-10f;
  float room_m = ground->cell_m - 2.0f * ground->radius_m;
  *radius_m = (0.5f + 0.5f * size) * ground->radius_m;
  *x = (HERD_CONVERT((herd_ints)column, herd_floats) + 0.5f) * ground->cell_m - ground->half_m;
  *y = (HERD_CONVERT((herd_ints)row, herd_floats) + 0.5f) * ground->cell_m - ground->half_m;
  *x += across * room_m;
  *y += along * room_m;
}

/* Replaces the velocity towards an obstacle's centre by the possible one, and puts the rest of the speed along the
 * obstacle's edge. */
HERD_INLINE void herd_ground_go_around(const herd_ground *ground, herd_ground_lanes *lanes) {
  herd_floats step_x = lanes->velocity_x * lanes->step_s, step_y = lanes->velocity_y * lanes->step_s;
  herd_floats way_x = lanes->x + step_x, way_y = lanes->y + step_y, radius_m, zero = {0};
  herd_ground_obstacles(ground, &way_x, &way_y, &radius_m);
  way_x -= lanes->x;
  way_y -= lanes->y;
  herd_floats distance_m = way_x * way_x + way_y * way_y + 1e-12f;
  herd_ints near = distance_m <= 2.0f * (radius_m * radius_m + step_x * step_x + step_y * step_y);
  if (!herd_possible(&near)) return; /* (a + b)^2 <= 2 (a^2 + b^2): not even a step straight to it touches it */
  herd_root(&distance_m);
  way_x /= distance_m;
  way_y /= distance_m;
  herd_floats ahead = lanes->velocity_x * way_x + lanes->velocity_y * way_y;
  herd_floats aside = lanes->velocity_y * way_x - lanes->velocity_x * way_y;
  herd_floats possible = (distance_m - radius_m) / lanes->step_s, least = zero - herd_ground_leave_mps;
  herd_ints deep = possible < least;
  herd_where(&deep, &least, &possible);
  herd_ints touches = ahead > possible;
  herd_floats rest = ahead * ahead + aside * aside - possible * possible;
  herd_ints slow = rest < 0.0f, clockwise = aside < 0.0f;
  herd_where(&slow, &zero, &rest);
  herd_root(&rest);
  herd_floats other = -rest;
  herd_where(&clockwise, &other, &rest);
  herd_floats velocity_x = possible * way_x - rest * way_y, velocity_y = possible * way_y + rest * way_x;
  herd_where(&touches, &velocity_x, &lanes->velocity_x);
  herd_where(&touches, &velocity_y, &lanes->velocity_y);
}

/* As herd_ground_hold(). */
HERD_INLINE void herd_ground_hold_lanes(const herd_ground *ground, herd_ground_lanes *lanes) {
  if (ground->radius_m > 0.0f) herd_ground_go_around(ground, lanes);
  herd_ground_turn_back(ground->half_m, &lanes->x, &lanes->step_s, &lanes->velocity_x);
  herd_ground_turn_back(ground->half_m, &lanes->y, &lanes->step_s, &lanes->velocity_y);
}

#endif
