/* guard.h - what may be asked of a world. Every public call first asks here whether it was given a world, and whether
 * it may be made now; `what` is how the message begins. A command that a record or a snapshot brings back is checked
 * here as well, since no call has checked it. */
#ifndef GUARD_H
#define GUARD_H

#include "base/error.h"
#include "world/world.h"

struct command;

/* Sets the error by which the checks below refuse a call; never MUSTER_OK. */
__attribute__((cold)) muster_result guard_refuse(const struct muster_world *world, const char *what);

/* For calls that any thread may make at any time, inside callbacks, too. */
static inline muster_result guard_any(const struct muster_world *world, const char *what) {
  if (__builtin_expect(world != NULL, true)) return MUSTER_OK;
  guard_refuse(world, what);
  return MUSTER_E_ARGUMENT;
}

/* MUSTER_OK unless the calling thread is inside a callback of this world's that was given an update. */
muster_result guard_outside(const struct muster_world *world, const char *call);

/* For calls of any thread that ask for something at the next intake; `call` is the function's name. Not inside a
 * callback that is given an update: the next intake takes requests in the order in which they came, which would depend
 * on threads there. What updates ask for comes by muster_update_...(), and is put in order. */
static inline muster_result guard_host(const struct muster_world *world, const char *call) {
  bool free = world && occupancy_get(&world->occupancy) == OCCUPIED_NOT;
  return __builtin_expect(free, true) ? MUSTER_OK : world ? guard_outside(world, call) : guard_refuse(world, call);
}

/* The same. False when the request is not to be queued; `result` is then what the call returns: MUSTER_OK in a replay,
 * since the record has what was asked for. */
bool guard_asks(const struct muster_world *world, const char *call, muster_result *result);

/* The same for a request about an agent, which must exist, and its handle; not checked in a replay, where its id is
 * made up. */
bool guard_asks_agent(const struct muster_world *world, muster_agent id, const char *call, muster_agent *agent,
                      muster_result *result);

/* The error of an agent that does not exist any more, by its id. */
muster_result guard_gone(muster_agent id);

/* Queues a command for the next intake; an error when there is no room for it. Any thread. */
muster_result guard_queue(struct muster_world *world, const struct command *command);

/* For calls of the thread of the frames between two frames: a call that changes something, or begins a frame. */
static inline muster_result guard_between(const struct muster_world *world, const char *what) {
  bool free = world && occupancy_get(&world->occupancy) == OCCUPIED_NOT;
  return __builtin_expect(free, true) ? MUSTER_OK : guard_refuse(world, what);
}

/* The same for a call that brings the whole world into order, as saving does: on another thread it is refused at any
 * moment, since nobody knows when the next frame begins. Once the thread of the frames has ended, any other may call.
 */
muster_result guard_between_here(const struct muster_world *world, const char *what);

/* As guard_between(), for a call that only reads. It may also be made inside the callbacks of a call between two
 * frames, and while the host runs a plan. */
static inline muster_result guard_read(const struct muster_world *world, const char *what) {
  enum occupation by = world ? occupancy_get(&world->occupancy) : OCCUPIED_NOT;
  return by == OCCUPIED_BY_CALL || by == OCCUPIED_BY_PLAN ? MUSTER_OK : guard_between(world, what);
}

/* For calls that begin a frame; `here` is an address in the calling thread's stack. Ends the process when the last
 * frame was left by longjmp(): a world with a frame that did not end cannot begin another. */
muster_result guard_frame(struct muster_world *world, const char *here, const char *what);

/* From here on a call between two frames runs callbacks: no call that changes the world may be made until
 * guard_release(), which is given the value that this returned. */
enum occupation guard_hold(const struct muster_world *world);
void guard_release(const struct muster_world *world, enum occupation before);

/* Ends the process when the world cannot be destroyed now. */
void guard_destroy(struct muster_world *world);

/* Whether a command can have been given in this world. Frame's thread. */
bool command_is_possible(const struct muster_world *world, const struct command *command);

#endif
