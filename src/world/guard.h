/* guard.h - what may be asked of a world. Every public call asks here first whether the world is given, and whether the
 * call may be made now; `what` is how the message begins. Of a command that calls checked already, and that a record or
 * a snapshot brings back, whether it can have been given. */
#ifndef GUARD_H
#define GUARD_H

#include "base/error.h"
#include "world/world.h"

struct command;

/* The refusal of those below; never MUSTER_OK. */
__attribute__((cold)) muster_result guard_refuse(const struct muster_world *world, const char *what);

/* For calls of any thread at any time. */
static inline muster_result guard_any(const struct muster_world *world, const char *what) {
  if (__builtin_expect(world != NULL, true)) return MUSTER_OK;
  guard_refuse(world, what);
  return MUSTER_E_ARGUMENT;
}

/* For calls of any thread that ask for something at the next intake. False when it is not to be queued, with the call's
 * result: in a replay MUSTER_OK, since the record has what was asked for. */
bool guard_asks(const struct muster_world *world, const char *what, muster_result *result);

/* The same for what is asked of an agent, which must exist; in a replay it has a made-up id. */
bool guard_asks_agent(const struct muster_world *world, muster_agent agent, const char *what, muster_result *result);

/* For calls of the thread of the frames between two frames: a call that changes something, or begins a frame. */
static inline muster_result guard_between(const struct muster_world *world, const char *what) {
  bool free = world && occupancy_get(&world->occupancy) == OCCUPIED_NOT;
  return __builtin_expect(free, true) ? MUSTER_OK : guard_refuse(world, what);
}

/* The same for one that only reads, which is also sound inside the callbacks of such a call, and while the host runs a
 * plan. */
static inline muster_result guard_read(const struct muster_world *world, const char *what) {
  enum occupation by = world ? occupancy_get(&world->occupancy) : OCCUPIED_NOT;
  return by == OCCUPIED_BY_CALL || by == OCCUPIED_BY_PLAN ? MUSTER_OK : guard_between(world, what);
}

/* For calls that begin a frame, from `here` in the calling thread's stack. Ends the process when the last frame was
 * left: a world whose frame did not end cannot have another. */
muster_result guard_frame(struct muster_world *world, const char *here, const char *what);

/* A call between two frames calls back from here on: none that changes the world may be made until guard_release(),
 * which is given what this returned. */
enum occupation guard_hold(const struct muster_world *world);
void guard_release(const struct muster_world *world, enum occupation before);

/* Ends the process when the world cannot be destroyed now. */
void guard_destroy(struct muster_world *world);

/* Whether a command can have been given in this world. Frame's thread. */
bool command_is_possible(const struct muster_world *world, const struct command *command);

#endif
