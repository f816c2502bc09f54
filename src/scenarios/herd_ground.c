#include "scenarios/herd_ground.h"

herd_ground herd_ground_of(float side_m, uint32_t seed) {
  static const float cell_most_m = 250.0f, radius_m = 20.0f;
  uint32_t columns = (uint32_t)ceilf(side_m / cell_most_m);
  if (columns == 0) columns = 1;
  herd_ground ground = {.half_m = 0.5f * side_m, .cell_m = side_m / (float)columns, .columns = columns, .seed = seed};
  if (ground.cell_m > 4.0f * radius_m) ground.radius_m = radius_m;
  return ground;
}

static uint32_t column_of(const herd_ground *ground, float place) {
  float cell = (place + ground->half_m) * (1.0f / ground->cell_m), last = (float)(ground->columns - 1);
  if (cell > last) cell = last;
  if (cell < 0.0f) cell = 0.0f;
  return (uint32_t)cell;
}

herd_obstacle herd_ground_obstacle(const herd_ground *ground, float x, float y) {
  uint32_t column = column_of(ground, x), row = column_of(ground, y);
  uint32_t random = herd_mix(ground->seed + column * 0x9e3779b9u + row * 0x85ebca6bu);
  float across = (float)(random & 0x7ffu) * 0x1p-11f - 0.5f, along = (float)(random >> 11 & 0x7ffu) * 0x1p-11f - 0.5f;
  float size = (float)(random >> 22) * 0x1p-10f, room_m = ground->cell_m - 2.0f * ground->radius_m;
  return (herd_obstacle){((float)column + 0.5f) * ground->cell_m - ground->half_m + across * room_m,
                         ((float)row + 0.5f) * ground->cell_m - ground->half_m + along * room_m,
                         (0.5f + 0.5f * size) * ground->radius_m};
}

static bool go_around(const herd_ground *ground, float x, float y, float step_s, float *velocity_x, float *velocity_y) {
  herd_obstacle obstacle = herd_ground_obstacle(ground, x + *velocity_x * step_s, y + *velocity_y * step_s);
  float way_x = obstacle.x - x, way_y = obstacle.y - y;
  float square_m2 = way_x * way_x + way_y * way_y + 1e-12f;
  float reach_m = obstacle.radius_m + step_s * (fabsf(*velocity_x) + fabsf(*velocity_y));
  if (square_m2 > reach_m * reach_m) return false;
  float distance_m = sqrtf(square_m2);
  way_x /= distance_m;
  way_y /= distance_m;
  float ahead = *velocity_x * way_x + *velocity_y * way_y, aside = *velocity_y * way_x - *velocity_x * way_y;
  float possible = (distance_m - obstacle.radius_m) / step_s;
  if (possible < -herd_ground_leave_mps) possible = -herd_ground_leave_mps;
  if (ahead <= possible) return false;
  float square = ahead * ahead + aside * aside - possible * possible;
  float rest = square > 0.0f ? sqrtf(square) : 0.0f;
  if (aside < 0.0f) rest = -rest;
  *velocity_x = possible * way_x - rest * way_y;
  *velocity_y = possible * way_y + rest * way_x;
  return true;
}

static bool turn_back(float half_m, float place, float step_s, float *velocity) {
  float next = place + *velocity * step_s;
  if (next > half_m && *velocity > 0.0f)
    *velocity = -*velocity;
  else if (next < -half_m && *velocity < 0.0f)
    *velocity = -*velocity;
  else
    return false;
  return true;
}

bool herd_ground_hold(const herd_ground *ground, float x, float y, float step_s, float *velocity_x, float *velocity_y) {
  bool held = ground->radius_m > 0.0f && go_around(ground, x, y, step_s, velocity_x, velocity_y);
  held |= turn_back(ground->half_m, x, step_s, velocity_x);
  held |= turn_back(ground->half_m, y, step_s, velocity_y);
  return held;
}
