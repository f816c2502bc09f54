#define HERD_ONE
#include "scenarios/herd_ground.h"

herd_ground herd_ground_of(float side_m, uint32_t seed) {
  static const float cell_most_m = 250.0f, radius_m = 20.0f;
  uint32_t columns = (uint32_t)ceilf(side_m / cell_most_m);
  if (columns == 0) columns = 1;
  herd_ground ground = {.half_m = 0.5f * side_m, .cell_m = side_m / (float)columns, .columns = columns, .seed = seed};
  if (ground.cell_m > 4.0f * radius_m) ground.radius_m = radius_m;
  return ground;
}

herd_obstacle herd_ground_obstacle(const herd_ground *ground, float x, float y) {
  herd_obstacle obstacle = {x, y, 0.0f};
  herd_ground_obstacles(ground, &obstacle.x, &obstacle.y, &obstacle.radius_m);
  return obstacle;
}

bool herd_ground_hold(const herd_ground *ground, float x, float y, float step_s, float *velocity_x, float *velocity_y) {
  herd_ground_lanes one = {x, y, step_s, *velocity_x, *velocity_y};
  herd_ground_hold_lanes(ground, &one);
  bool held = one.velocity_x != *velocity_x || one.velocity_y != *velocity_y;
  *velocity_x = one.velocity_x;
  *velocity_y = one.velocity_y;
  return held;
}
