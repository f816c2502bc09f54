/* run/callback.h - how the callbacks of agent types are called: notes for which agent and on which thread a callback
 * runs, so that an update that is used at the wrong moment is refused, and a callback that is left is named. */
#ifndef RUN_CALLBACK_H
#define RUN_CALLBACK_H

#include "pool/leaving.h"
#include "run/flight.h"
#include "run/occupancy.h"
#include "run/runner.h"

#include <muster/flight.h>

enum { CALLBACK_TEXT_BYTES = 128 };

/* {muster_flight_doing:8 | atom:24} */
static inline uint32_t callback_place(muster_flight_doing doing, uint32_t atom) {
  return (uint32_t)doing << 24 | atom;
}

/* From here to callback_leave() the calling thread calls atoms with this context, and no other code of the host. Atoms
 * of one agent share an update, so use of it after an atom returned is not noticed while another one runs. */
static inline void callback_enter(update_context *context) {
  store_relaxed_u64(&context->inside, thread_self());
}
static inline void callback_leave(update_context *context) {
  store_relaxed_u64(&context->inside, 0);
}

/* Calls an atom of the agent that is in the worker's context. Between callback_enter() and callback_leave(). */
static inline muster_atom_result callback_atom(worker_state *state, const muster_atom *atoms, uint32_t atom,
                                               muster_flight_doing doing) {
  update_context *context = &state->context;
  flight_enter(state->flight, doing, context->public.type.index, atom);
  context->place = callback_place(doing, atom);
  return atoms[atom].run(&context->public);
}

/* Calls the action atoms [first, end) of the agent that is in the worker's context, up to the first one that finishes,
 * and looks at how long each takes. Between callback_enter() and callback_leave(). */
void callback_actions(worker_state *state, uint32_t first, uint32_t end);

/* Calls another callback that takes the update. It may be called from inside a callback of the same worker. */
void callback_call(update_context *context, muster_flight_doing doing, void (*callback)(muster_update *));

/* Sets and returns the error of callback_check(); never MUSTER_OK. */
__attribute__((cold)) muster_result callback_refuse(const muster_update *update, const char *what);

/* MUSTER_OK when the calling thread is inside the callback that was given this update; else an error. */
static inline muster_result callback_check(const muster_update *update, const char *what) {
  const update_context *context = (const update_context *)(const void *)update;
  if (__builtin_expect(update && load_relaxed_u64(&context->inside) == thread_self(), true)) return MUSTER_OK;
  muster_result refusal = callback_refuse(update, what);
  if (refusal == MUSTER_OK) __builtin_unreachable();
  return refusal;
}

/* The calling thread runs callbacks with this context until callback_end(), which takes what this returned. */
const update_context *callback_begin(update_context *context);
void callback_end(const update_context *outer);

/* Whether the calling thread is in a callback that was given an update of this world: in its own code, not in a job or
 * a piece of a range that it waits for, since other threads might run these as well. */
bool callback_runs(const struct muster_world *world);

/* Writes which callback the calling thread is in, such as "atom 1 of agent 7 (generation 1) of type 'guard'". */
void callback_describe(char text[CALLBACK_TEXT_BYTES]);

/* The personality routine for calls that run frames, or a worker's part of one. */
_Unwind_Reason_Code leaving_update(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                   struct _Unwind_Exception *exception, struct _Unwind_Context *context);

#endif
