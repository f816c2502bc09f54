/* run/taking.h - stage 7: what a worker runs next, and whether it leaves what it runs for something more urgent. Jobs
 * more urgent than updates come first, then agents woken while the frame runs, then rests that other workers left, then
 * the claims of the batch in order; and when nothing else is left, claims that may overrun the end; of each only what
 * is worth starting in the time left. */
#ifndef RUN_TAKING_H
#define RUN_TAKING_H

#include "pool/worker.h"
#include "run/runner.h"
#include "run/wakes.h"

/* Takes the next claim; false when there is nothing that this call may run, or no time for it. `clock_ns` is the time
 * now; not used under the virtual clock. Any worker. */
bool taking_next(worker_state *state, struct runner *runner, bool early_only, uint64_t clock_ns, batch_claim *claim);

static inline struct worker_slot *worker_slot_of(const worker_state *state) {
  return &state->context.runner->pool->slots[state->context.public.worker];
}

/* Whether something more urgent than the updates of the batch waits. About a nanosecond when nothing does. */
static inline bool is_called_away(const worker_state *state) {
  const struct runner *runner = state->context.runner;
  if (state->on_strand) return false; /* the rest of its claim would have to go before the next on its strand */
  if (queue_may_have(&runner->pool->queue, URGENT_LANES) && worker_is_wanted(worker_slot_of(state), URGENT_LANES))
    return true;
  return state->takes_woken && wakes_wait(runner->wakes);
}

#endif
