/* run/woken.h - stage 7: agents that were woken while the frame runs, taken by a worker that has time for them. */
#ifndef RUN_WOKEN_H
#define RUN_WOKEN_H

#include "run/runner.h"

/* A claim of the next agent that was woken; false when there is none that can be run now. */
bool woken_take(worker_state *state, runner *runner, batch_claim *claim);

#endif
