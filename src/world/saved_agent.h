/* saved_agent.h - one agent outside of any world: what snapshots and records keep of it, and how it gets into a world.
 * Its state, sets and messages stand beside it. Frame's thread. */
#ifndef WORLD_SAVED_AGENT_H
#define WORLD_SAVED_AGENT_H

#include "plan/classes.h"
#include "world/world.h"

typedef struct saved_agent {
  uint32_t index;
  uint16_t parts, zero; /* bitmap of the columns below that belong to the agent; the others are as good as zero */
  agent_row row;        /* without its generation and its places in lists */
  agent_place place;
  agent_alarm alarm;
  agent_ratings ratings;
  uint16_t own_importance, inherited_importance, phase;
  uint8_t shed;
  agent_begun begun;
  activation_reservation reservation;
} saved_agent;

/* Some of the columns. Agents that are not active have only those before SAVED_SHED. */
enum { SAVED_RATINGS = 1, SAVED_SHED = 4, SAVED_BEGUN = 6, SAVED_RESERVATION, SAVED_COLUMNS };

typedef struct saved_column {
  uint32_t offset, bytes; /* in a saved agent */
} saved_column;

/* In the order in which they stand in a saved agent. */
extern const saved_column saved_columns[SAVED_COLUMNS];

/* Describes an agent, with its user pointer as it is. */
void saved_agent_describe(const struct muster_world *world, uint32_t index, saved_agent *saved);

/* Whether an agent of a type can be at a place; whether its elasticity is one, and its cost factor. */
bool saved_agent_is_placed(const struct muster_world *world, const agent_place *place, uint32_t type);
static inline bool saved_agent_is_elastic(const saved_agent *saved) {
  return (saved->row.elasticity_step < ELASTICITY_STEPS || saved->row.elasticity_step == ELASTICITY_DERIVED) &&
         factor_is_possible(saved->row.cost_factor);
}

/* Writes a described agent to its index, with these columns (a bitmap) and a new slot for its state. The generation of
 * the index stays. False when the type has no free slot. */
bool saved_agent_take(struct muster_world *world, const saved_agent *saved, uint32_t columns, void *user);

#endif
