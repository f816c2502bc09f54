/* scenarios/population_roles.h - what each family of behaviour brings: its agent type, and the state of an agent; and
 * how agents walk (population_walk.c). The families are population_routine.c, population_steering.c,
 * population_sensing.c and population_paths.c.
 *
 * All of them follow the rules of reproducible updates: an atom reads its own state, elapsed_ns, the update's random
 * numbers and what others published, and nothing else; everything that happens in time is integrated over elapsed_ns.
 */
#ifndef SCENARIOS_POPULATION_ROLES_H
#define SCENARIOS_POPULATION_ROLES_H

#include "scenarios/population_cast.h"
#include "scenarios/population_search.h"
#include "scenarios/scaffold.h"

#define POPULATION_WALKING_MPS 1.4f

/* What a row of the file says of the agent that is about to be spawned. */
typedef struct population_start {
  muster_position home;
  float speed_mps; /* walking speed when none is given */
  bool patrols;
  uint64_t random; /* of this row and the module's seed */
} population_start;

/* What every agent of the population lets others see. */
typedef struct population_public {
  float strength;               /* 0..1, the same for all of a kind */
  float velocity_x, velocity_y; /* metres per second */
  uint32_t activity;            /* what it does now; the numbers are its family's */
} population_public;

typedef struct population_role {
  const char *name;
  const muster_atom *atoms;
  uint32_t atom_count, state_bytes;
  uint64_t period_ns, period_max_ns;
  uint64_t (*model_cost_ns)(const muster_cost_query *query, void *user); /* null = what the atoms say */
  void (*begin)(void *state, const population_start *start);             /* fills it; zero but for the circuit */
} population_role;

extern const population_role population_routine, population_steering, population_sensing, population_paths;
extern const population_role *const population_roles[POPULATION_FAMILIES];

/* ---------------------------------------------------------------------------------------------------------- walking */

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

/* ----------------------------------------------------------------------------------------------------------- states */

/* The private states of the families; all begin with the circuit. */
enum { POPULATION_NEEDS = 4 };

typedef struct population_routine_state {
  population_circuit circuit;
  uint64_t left_ns;              /* until the next change of activity */
  float needs[POPULATION_NEEDS]; /* 0 = none, 1 = as urgent as it gets */
  uint32_t activities;
  uint32_t activity;
} population_routine_state;

typedef struct population_vector {
  float x, y;
} population_vector;

typedef struct population_steering_state {
  population_circuit circuit;
  double home_x, home_y;
  double wandered_m;
  population_vector velocity; /* metres per second */
  population_vector aside;    /* of a patrol: how far from its circuit it gives way, metres */
  float heading;              /* where a stroller would like to go, radians */
  float speed_mps;
} population_steering_state;

/* The results of the last look around. Places are seen from the agent, in metres. */
typedef struct population_appraisal {
  float threat, company;     /* 0 = none; from 1 on as strong as it gets */
  population_vector friend;  /* the best company */
  population_vector shelter; /* the place around with least threat */
  population_vector pasture; /* the best place around to forage */
} population_appraisal;

typedef struct population_sensing_state {
  population_circuit circuit;
  double home_x, home_y;
  double wandered_m;
  population_appraisal seen;
  float hunger, fatigue, loneliness; /* 0 = none, 1 = urgent */
  float fear;                        /* remembers threats for some seconds */
  float speed_mps;
  uint32_t activity;
  uint32_t choices;
} population_sensing_state;

typedef struct population_paths_state {
  population_circuit circuit; /* places on it, a quarter turn apart, are the goals of a patrol */
  muster_position home, goal; /* heights unused */
  double wandered_m;
  double spare_s; /* time left over when a goal was reached; the next way is walked with it */
  uint64_t nodes_expanded;
  uint32_t paths_found, paths_missed;
  float speed_mps;
  bool has_goal;
  population_search search; /* SEARCH_NONE between updates */
} population_paths_state;

#endif
