/* lifecycle.h - what may happen to ONE agent: it is made, becomes active, is woken, moved and removed. Every stage,
 * every call between frames and every reader of a record or a snapshot changes an agent through these alone, since each
 * knows all the stores that the agent stands in. agents/store.h has the diagram of its states.
 *
 * Everything here is called on the frame's thread unless a comment says otherwise. */
#ifndef LIFECYCLE_H
#define LIFECYCLE_H

#include "world/world.h"

#include <muster/flight.h>

struct command;

/* Makes an agent of a checked definition under a taken index; its id, or null when the state slots ran out. It is
 * pending until lifecycle_enter(). Any thread that holds the index. */
muster_agent lifecycle_make(struct muster_world *world, uint32_t index, const muster_agent_def *def);

/* Activates a pending agent, or frees an active one, without its callbacks: what it stands for lives on in other agents
 * (when herds fold), or the caller runs the callbacks. `last_update_ns` is the time that the agent was brought to. */
void lifecycle_enter(struct muster_world *world, uint32_t index, uint64_t last_update_ns);
void lifecycle_leave(struct muster_world *world, uint32_t index);

/* Activates an agent that was active elsewhere, with its state: it was due so far ahead of its class's clock, so long
 * ago. */
void lifecycle_resume(struct muster_world *world, uint32_t index, int64_t ahead_ns, uint64_t passed_ns);

/* Takes an active agent out of every store, after its on_removed. */
void lifecycle_remove(struct muster_world *world, uint32_t index);

/* An index is no agent's any more, and no ghost's: it is given back, and every id of it is stale. */
void lifecycle_close(struct muster_world *world, uint32_t index);

/* Frees a pending agent with an id that no caller has seen. */
void lifecycle_discard(struct muster_world *world, uint32_t index);

/* Takes an active agent out of the list that it is in, if any. */
void lifecycle_unschedule(struct muster_world *world, uint32_t index);

/* Takes the demotion and the overruns of an active agent out of the counts: it is reinstated, or about to be removed.
 * An agent in quarantine, which is in no list, becomes a member of its class again. */
void lifecycle_forget_overruns(struct muster_world *world, uint32_t index);

/* Something happened to an active or pending agent: it runs ahead of the ranked agents. lifecycle_apply_wake() is given
 * the wake as a command, which it keeps for the next intake when an update of the agent is under way. */
void lifecycle_wake(struct muster_world *world, uint32_t index);
void lifecycle_apply_wake(struct muster_world *world, const struct command *command);

/* Queues a command for the next intake. Without room it returns false, and counts the command as dropped unless it is a
 * wake that was kept elsewhere. */
bool lifecycle_defer(struct muster_world *world, const struct command *command);

/* Moves an active agent, and notes it for the score when the score must look at it. */
void lifecycle_move(struct muster_world *world, uint32_t index, space_spot spot);

/* Runs on_spawned or on_removed at the intake; a null callback does nothing. What the callback moves or spawns takes
 * effect. */
void lifecycle_callback(struct muster_world *world, uint32_t index, muster_flight_doing doing,
                        void (*callback)(muster_update *));

#endif
