/* world_record.h - what hosts and other threads do to a world that records: written down, or read instead (see
 * record/recorder.h). Agents that were spawned come before anything that may name them. Everything here is called on
 * the frame's thread. */
#ifndef WORLD_RECORD_H
#define WORLD_RECORD_H

#include "record/recorder.h"
#include "world/world.h"

/* Agents that were spawned until now, and types that were registered, are written down. */
void recorder_keep_newborns(struct muster_world *world);

/* Arrays that the host hands over between frames; `values` are positions, or the floats of a factor. */
void recorder_keep_moves(struct muster_world *world, const muster_agent *agents, const muster_position *values,
                         uint32_t count);
void recorder_keep_observer_moves(struct muster_world *world, const muster_observer *observers,
                                  const muster_position *values, uint32_t count);
void recorder_keep_factors(struct muster_world *world, muster_factor factor, const muster_agent *agents,
                           const float *values, uint32_t count);

/* Agents that hosts have spawned until now become known to the record; or come to be in the replay. So they do before
 * anything that other threads may have said about them. */
void recorder_exchange_newborns(struct muster_world *world);

static inline void recorder_newborns(struct muster_world *world) {
  if (__builtin_expect(world->recorder != NULL, 0)) recorder_exchange_newborns(world);
}

/* Commands that were popped, at most `most`; returns how many there are. */
uint32_t recorder_exchange_commands(struct muster_world *world, command *commands, uint32_t count, uint32_t most);

/* The next of a list of commands, of messages of the host, of tunings of the world: whether there is one, and which. */
bool recorder_exchange_command(struct muster_world *world, bool any, command *command);
bool recorder_exchange_message(struct muster_world *world, bool any, outgoing *message);
bool recorder_exchange_tuning(struct muster_world *world, bool any, muster_world_tuning *tuning);

/* Agents taken to become active. */
uint32_t recorder_exchange_activated(struct muster_world *world, uint32_t *agents, uint32_t count, uint32_t most);

/* An index for an agent: taken in the recorded run, IDENTITY_NONE when none was. `index` is what was found here. */
uint32_t recorder_exchange_id(struct muster_world *world, uint32_t index);

/* An index is taken, as the record says: false, and the replay has diverged, when somebody has it. */
bool recorder_take_index(struct muster_world *world, uint64_t index);

#endif
