/* run/urgency.h - whether something more urgent came while a worker runs updates. */
#ifndef RUN_URGENCY_H
#define RUN_URGENCY_H

#include "pool/worker.h"
#include "run/runner.h"

static inline seat *seat_of(const worker_state *state) {
  return &state->context.runner->pool->seats[state->context.public.worker];
}

/* Whether something more urgent than the updates of the batch waits. About a nanosecond when nothing does. */
static inline bool is_called_away(const worker_state *state) {
  const runner *runner = state->context.runner;
  if (queue_may_have(&runner->pool->queue, URGENT_LANES) && worker_is_wanted(seat_of(state), URGENT_LANES)) return true;
  return state->takes_woken && wakes_wait(runner->wakes);
}

#endif
