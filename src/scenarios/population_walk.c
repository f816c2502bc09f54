#include "scenarios/population_roles.h"

#include <math.h>

static const float full_turn = 6.2831853f;

void population_circuit_begin(population_circuit *circuit, const population_start *start) {
  if (!start->patrols) return;
  circuit->speed_mps = start->speed_mps;
  circuit->radius_m = 4.0f + 12.0f * muster_random_share(scaffold_random(start->random));
  circuit->angle = full_turn * muster_random_share(scaffold_random(start->random + 1));
  circuit->centre_x = start->home.x - (double)(circuit->radius_m * cosf(circuit->angle));
  circuit->centre_y = start->home.y - (double)(circuit->radius_m * sinf(circuit->angle));
}

muster_position population_circuit_place(const population_circuit *circuit, double height) {
  return (muster_position){circuit->centre_x + (double)(circuit->radius_m * cosf(circuit->angle)),
                           circuit->centre_y + (double)(circuit->radius_m * sinf(circuit->angle)), height};
}

muster_position population_circuit_walk(population_circuit *circuit, muster_position from, double seconds) {
  const double drawn_away_m = 0.01;
  double speed_mps = (double)circuit->speed_mps;
  muster_position place = population_circuit_place(circuit, from.z);
  double gap_m = hypot(place.x - from.x, place.y - from.y);
  circuit->walked_m += speed_mps * seconds;
  if (gap_m > drawn_away_m) {
    if (gap_m >= speed_mps * seconds) return population_approach(from, place, speed_mps * seconds);
    seconds -= gap_m / speed_mps;
  }
  circuit->angle = fmodf(circuit->angle + (float)(speed_mps * seconds) / circuit->radius_m, full_turn);
  return population_circuit_place(circuit, from.z);
}

muster_position population_approach(muster_position from, muster_position to, double distance_m) {
  double x = to.x - from.x, y = to.y - from.y, gap_m = sqrt(x * x + y * y);
  if (gap_m <= distance_m) return (muster_position){to.x, to.y, from.z};
  double share = distance_m / gap_m;
  return (muster_position){from.x + x * share, from.y + y * share, from.z};
}
