/* scenarios/population_roles.h - what each family of behaviour brings: its agent type, the first state of an agent, and
 * what it counts. The families are population_routine.c, population_steering.c, population_sensing.c and
 * population_paths.c.
 *
 * All of them follow the rules of reproducible updates: an atom reads its own state, elapsed_ns, the update's random
 * numbers and what others published, and nothing else; everything that happens in time is integrated over elapsed_ns.
 */
#ifndef SCENARIOS_POPULATION_ROLES_H
#define SCENARIOS_POPULATION_ROLES_H

#include "scenarios/population_cast.h"

/* What a row of the file says of the agent that is about to be spawned. */
typedef struct population_start {
  muster_position home;
  float speed_mps; /* 0 = none given */
  bool patrols;
  uint64_t random; /* of this row and the module's seed */
} population_start;

/* What every agent of the population lets others see. */
typedef struct population_public {
  float strength;               /* 0..1, the same for all of a kind */
  float velocity_x, velocity_y; /* metres per second */
  uint32_t activity;            /* what it does now; the numbers are its family's */
} population_public;

/* Sums over agents. */
typedef struct population_tally {
  double patrolled_m;  /* walked on patrol */
  double wandered_m;   /* walked otherwise */
  uint64_t activities; /* changes of activity of routines */
  uint64_t choices;    /* changes of activity of sensing agents */
  uint64_t paths_found, paths_missed;
  uint64_t nodes_expanded;
} population_tally;

typedef struct population_role {
  muster_type_def (*define)(void);                           /* published_bytes are those of population_public */
  void (*begin)(void *state, const population_start *start); /* fills state_bytes, which are zero */
  void (*tally)(const void *state, population_tally *tally); /* adds one agent's state to the sums */
} population_role;

extern const population_role population_routine, population_steering, population_sensing, population_paths;

/* A definition that all families share: the library's defaults, the published state, the periods. */
static inline muster_type_def population_define(const char *name, uint32_t state_bytes, uint64_t period_ns,
                                                uint64_t period_max_ns) {
  muster_type_def def = muster_default_type_def();
  def.name = name;
  def.state_bytes = state_bytes;
  def.published_bytes = (uint32_t)sizeof(population_public);
  def.period_ns = period_ns;
  def.period_max_ns = period_max_ns;
  return def;
}

#endif
