/* agents/spawn.h - the birth of an agent: checking a definition, and writing a pending agent in place. */
#ifndef AGENTS_SPAWN_H
#define AGENTS_SPAWN_H

#include "agents/space.h"
#include "agents/types.h"

/* Completes a definition by the defaults of fields that an older caller does not know, and checks it. `types` is how
 * many types are registered. On an error the message says which field is wrong. */
muster_result spawn_check(const muster_agent_def *given, uint32_t types, muster_agent_def *def);

/* Writes row, place, cold, state and published state of a pending agent from a checked definition. The index and the
 * slot belong to the calling thread. */
void spawn_write(agent_store *store, const type_table *types, const struct space *space, uint32_t index, uint32_t slot,
                 const muster_agent_def *def);

/* Parts of it: a row without its generation; own and published state, which the definition may leave out. */
void spawn_write_row(agent_row *row, const agent_row *written);
void spawn_write_state(const agent_type *type, uint32_t slot, const muster_agent_def *def);

#endif
