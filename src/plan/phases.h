/* plan/phases.h - spreads the costly updates of agents that were spawned together. Sets that are active in every n-th
 * update make updates differ in cost, and such agents have the costly ones together.
 *
 * So a new agent shifts the phase of all its sets by d updates, 0 <= d <= D (activation_delay): to where the fullest
 * update is the least full, of those of its type that fall into the same time. The load of a type repeats after the
 * least common multiple of the periods, so a ring of that many updates tells it. It is right as long as agents run at
 * their periods; an agent that misses some updates, or is stretched, drifts away from where it was planned, as if it
 * had chosen at random. (Wright & Marshall's dynamic activation delay, inside the agent.) */
#ifndef PLAN_PHASES_H
#define PLAN_PHASES_H

#include "agents/sets.h"

enum { PHASE_CYCLE_MAX = 512 }; /* types with a longer cycle are not planned */

struct type_phases {
  uint32_t cycle;   /* updates after which all sets are where they were; 0 = not planned */
  int64_t *cost_ns; /* of each update of an agent that was not shifted */
  int64_t *load_ns; /* load of all agents of the type, by time in updates modulo the cycle */
};

typedef struct phase_table {
  uint32_t delay_max;
  struct type_phases *types;
  uint16_t *places; /* by agent: 1 + the shifted time of its first update; 0 = it is not planned */
} phase_table;

/* Reserves the table; nothing with delay_max 0. */
void phases_create(phase_table *table, uint32_t delay_max, uint32_t types_max, uint32_t agents_max,
                   struct arena *arena);

/* Learns what the updates of a type cost, by the atoms' model_ns. Between frames. */
void phases_register(phase_table *table, uint32_t type, const set_table *sets, const muster_atom *atoms,
                     struct arena *arena);

/* A set's period has changed: agents of the type are not planned any more. */
void phases_give_up(phase_table *table, uint32_t type);

/* Books a new agent whose first update falls into `time`, counted in updates of its type. Returns the number with which
 * its updates are to begin. O(D x cycle). */
uint32_t phases_join(phase_table *table, uint32_t type, uint32_t agent, uint32_t time);

/* Takes an agent that is gone out of the load. */
void phases_leave(phase_table *table, uint32_t type, uint32_t agent);

#endif
