/* lifecycle.h - what may happen to ONE agent: it is made, becomes active, is woken, moved and removed. Every stage,
 * every call between frames and every reader of a record or a snapshot changes an agent through these alone, since each
 * knows all the stores that the agent stands in. agents/store.h has the diagram of its states.
 *
 * Everything here is called on the frame's thread, but where it says otherwise. */
#ifndef LIFECYCLE_H
#define LIFECYCLE_H

#include "world/world.h"

struct command;

/* Makes an agent of a checked definition under a taken index; null when state slots ran out. It is pending until it
 * enters. Any thread that holds the index. */
muster_agent lifecycle_make(struct muster_world *world, uint32_t index, const muster_agent_def *def);

/* A pending agent becomes active, or an active one is gone, without its callbacks: what it stands for lives on in
 * others (when herds fold), or the caller calls them. `last_update_ns` is the time that it was brought to. */
void lifecycle_enter(struct muster_world *world, uint32_t index, uint64_t last_update_ns);
void lifecycle_leave(struct muster_world *world, uint32_t index);

/* Takes an active agent out of every store, after its on_removed. */
void lifecycle_remove(struct muster_world *world, uint32_t index);

/* Frees a pending agent whose id nobody has seen. */
void lifecycle_discard(struct muster_world *world, uint32_t index);

/* Takes an active agent out of whatever list it is in. */
void lifecycle_unschedule(struct muster_world *world, uint32_t index);

/* An active agent that is in no list becomes a member of its class again, without demotion or offences: it is pardoned,
 * or about to be removed. */
void lifecycle_forgive(struct muster_world *world, uint32_t index);

/* Something happened to an active or pending agent: it runs ahead of the ranked. With the command that says so, which
 * is kept for the next intake when an update of it is under way. */
void lifecycle_wake(struct muster_world *world, uint32_t index);
void lifecycle_apply_wake(struct muster_world *world, const struct command *command);

/* Queues a command for the next intake; counts it, and returns false, when there is no room. */
bool lifecycle_defer(struct muster_world *world, const struct command *command);

/* Moves an active agent, and notes it for the score when that must know. */
void lifecycle_move(struct muster_world *world, uint32_t index, space_spot spot);

/* Runs one of the two callbacks at the intake, on_spawned and on_removed, which may be null; what it moves or spawns
 * counts. */
void lifecycle_callback(struct muster_world *world, uint32_t index, muster_flight_doing doing,
                        void (*callback)(muster_update *));

#endif
