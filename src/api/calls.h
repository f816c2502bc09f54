/* calls.h - what the calls share: checks of their arguments, and what they do once these are checked. */
#ifndef CALLS_H
#define CALLS_H

#include "agents/nearby.h"
#include "run/intake_queues.h"
#include "world/world.h"

#include <muster/bulk.h>

/* Whether a time may be asked for. Any thread. In agents_api.c. */
muster_result agents_check_time(uint64_t at_ns);

/* The error of a position that space_accepts() does not accept. Any thread. In agents_api.c. */
muster_result agents_refuse_position(muster_position position);

/* Queues a command about an agent, which must exist, for the function of this name. Any thread. In agents_api.c. */
muster_result agents_send(muster_world *world, muster_agent agent, const char *call, struct command command);

/* Whether an agent may be in the company of another one. Any thread. In agents_api.c. */
muster_result agents_check_company(const struct muster_world *world, muster_agent agent, muster_agent other);

/* Whether a type is registered. Any thread. In agents_api.c. */
muster_result agents_check_type(const struct muster_world *world, muster_type type);

/* Checks periods and makes the command that sets them; for an agent it yet has to be said which. Any thread. In
 * agents_api.c. */
muster_result agents_ask_periods(uint64_t period_ns, uint64_t period_max_ns, struct command *command);
muster_result agents_ask_type_periods(const struct muster_world *world, muster_type type, uint64_t period_ns,
                                      uint64_t period_max_ns, struct command *command);

/* Sends a command from an update: at the next intake, in the order of entries. In update_api.c. */
muster_result update_send(muster_update *update, const struct command *command);

/* What a query for neighbours tells of one that it found. */
static inline muster_neighbour calls_describe(const struct muster_world *world, const struct neighbour *found) {
  const agent_row *row = world_row(world, found->index);
  return (muster_neighbour){.agent = world_id(world, found->index),
                            .type = {row->type + 1u},
                            .distance_m = __builtin_sqrtf(found->distance_squared),
                            .position = world_position(world, found->index),
                            .published = type_published(world_type(world, row->type), row->state_slot, row->front)};
}

/* What the calls for arrays do once they are checked. In bulk_api.c. */
uint32_t bulk_move_agents(struct muster_world *world, const muster_agent *agents, const muster_position *positions,
                          uint32_t count);
uint32_t bulk_move_observers(struct muster_world *world, const muster_observer *observers,
                             const muster_position *positions, uint32_t count);
uint32_t bulk_set_factor(struct muster_world *world, muster_factor factor, const muster_agent *agents,
                         const float *values, uint32_t count);

#endif
