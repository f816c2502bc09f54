#include "run/callback.h"

#include "base/error.h"
#include "base/fatal.h"
#include "run/overrun_check.h"
#include "run/watchdog.h"

#include <muster/flight.h>

#include <stdio.h>

static _Thread_local const update_context *running; /* of the innermost callbacks of this thread; null: none */

const update_context *callback_begin(update_context *context) {
  const update_context *outer = running;
  running = context;
  context->entered = pool_place_now();
  return outer;
}

void callback_end(const update_context *outer) {
  running = outer;
}

bool callback_runs(const struct muster_world *world) {
  const update_context *context = running;
  if (!context || context->public.world != world || load_relaxed_u64(&context->inside) != thread_self()) return false;
  pool_place now = pool_place_now();
  return now.entry == context->entered.entry && now.job == context->entered.job;
}

void callback_actions(worker_state *state, uint32_t first, uint32_t end) {
  const struct runner *runner = state->context.runner;
  const muster_atom *atoms = state->context.type->atoms;
  bool finished = false;
  uint64_t begin_ns = runner_clock(runner);
  for (uint32_t atom = first; atom < end && !finished; atom++) {
    watch_enter(state->heartbeat);
    muster_atom_result answer = callback_atom(state, atoms, atom, MUSTER_FLIGHT_ACTION);
    finished = answer == MUSTER_ATOM_FINISH;
    if ((unsigned)answer > MUSTER_ATOM_FINISH) state->results_refused++;
    uint64_t end_ns = runner->virtual ? atoms[atom].model_ns : clock_now(&runner->clock);
    uint64_t atom_ns = end_ns - begin_ns;
    end_ns = overrun_check_atom(state, runner, atom, &atom_ns, end_ns);
    if (!runner->virtual) begin_ns = end_ns;
  }
}

void callback_call(update_context *context, muster_flight_doing doing, void (*callback)(muster_update *)) {
  uint32_t place = context->place;
  uint64_t inside = load_relaxed_u64(&context->inside);
  context->place = callback_place(doing, 0);
  callback_enter(context);
  callback(&context->public);
  store_relaxed_u64(&context->inside, inside);
  context->place = place;
}

muster_result callback_refuse(const muster_update *update, const char *what) {
  if (!update) return error_missing(what, "update");
  return error_set(MUSTER_E_STATE,
                   "%s: this update is not under way on this thread: it is valid until its atom returns, and for the "
                   "thread that runs it",
                   what);
}

void callback_describe(char text[CALLBACK_TEXT_BYTES]) {
  static const char *const names[MUSTER_FLIGHT_DOINGS] = {"a callback", "atom",       "action atom", "catch_up",
                                                          "on_spawned", "on_removed", "a callback"};
  const update_context *context = running;
  if (!context || load_relaxed_u64(&context->inside) != thread_self()) {
    snprintf(text, CALLBACK_TEXT_BYTES, "a callback");
    return;
  }
  muster_flight_doing doing = (muster_flight_doing)(context->place >> 24);
  const muster_update *update = &context->public;
  char atom[16] = "";
  if (doing == MUSTER_FLIGHT_ATOM || doing == MUSTER_FLIGHT_ACTION)
    snprintf(atom, sizeof atom, " %u", context->place & 0xffffffu);
  snprintf(text, CALLBACK_TEXT_BYTES, "%s%s of agent %u (generation %u) of type '%s'", names[doing], atom,
           muster_agent_index(update->agent), muster_agent_generation(update->agent), context->type->name);
}

LEAVING_ROUTINE _Unwind_Reason_Code leaving_update(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                                   struct _Unwind_Exception *exception,
                                                   struct _Unwind_Context *context) {
  char text[CALLBACK_TEXT_BYTES], words[LEAVING_BYTES];
  (void)version;
  (void)exception;
  (void)context;
  callback_describe(text);
  fatal("%s was left by %s: it must return, since its frame waits for it", text, leaving_name(actions, class, words));
}
