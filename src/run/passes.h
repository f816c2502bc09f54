/* run/passes.h - stage 7 for types with sets: a worker walks the pass of an update by its clock, or by the steps that
 * the ranking planned under the virtual clock. Which set is next, and how long it may run, is agents/passes.h.
 *
 * Between two atoms of a set that may be cut, and between two sets, the pass yields to what is more urgent. It goes
 * on where it was, within the frame; when no worker goes on with it, the commit cuts it. */
#ifndef RUN_PASSES_H
#define RUN_PASSES_H

#include "run/runner.h"

/* Runs the pass of the entry in the worker's context, or the rest of it. With `timed` the clock is read after each
 * atom: *clock_ns is when it begins, and when it ended. Without, only atoms that return MUSTER_ATOM_MORE are cut. */
enum interruption passes_run(worker_state *state, const struct runner *runner, uint32_t entry_index, uint64_t *clock_ns,
                             bool timed);

/* Runs the action sets that the pass of the agent in the worker's context left, at the commit. */
void passes_act(worker_state *state, const struct runner *runner);

/* What the model says that these action sets cost. */
uint64_t passes_act_cost(const agent_type *type, const agent_row *row);

/* Answers muster_update_should_yield(). */
bool passes_should_yield(update_context *context);

#endif
