/* scenarios/population_walk.h - going round a circuit, and going straight to a place. */
#ifndef SCENARIOS_POPULATION_WALK_H
#define SCENARIOS_POPULATION_WALK_H

#include "scenarios/population_roles.h"

#define POPULATION_WALKING_MPS 1.4f

static inline double population_seconds(uint64_t duration_ns) {
  return (double)duration_ns * 1e-9;
}

/* The patrol of one agent: a circle that leads through the place where it was spawned. */
typedef struct population_circuit {
  double centre_x, centre_y;
  double walked_m;
  float radius_m;
  float speed_mps; /* 0 = it does not patrol */
  float angle;     /* how far round it is, in radians */
} population_circuit;

/* Lays out the circuit of an agent that patrols, 4 to 16 m in radius, walked at the speed that the file gives or else
 * at walking speed; the circuit of any other agent has speed 0. */
void population_circuit_begin(population_circuit *circuit, const population_start *start);

/* Where on the circuit the agent should be now; z is the height given. */
muster_position population_circuit_place(const population_circuit *circuit, double height);

/* Where an agent that stood at `from` is after patrolling for some seconds: an agent that was drawn away first walks
 * back to where it left the circuit. */
muster_position population_circuit_walk(population_circuit *circuit, muster_position from, double seconds);

/* The place at most distance_m from `from` towards `to`, on the ground plane and at the height of `from`. */
muster_position population_approach(muster_position from, muster_position to, double distance_m);

#endif
