/* exec/woken.h - stage 7: agents that were woken while the frame runs, taken by a worker that has time for them. */
#ifndef EXEC_WOKEN_H
#define EXEC_WOKEN_H

#include "exec/runner.h"

/* A claim of the next agent that was woken; false when there is none that can be run now. */
bool woken_take(worker_state *state, runner *runner, batch_claim *claim);

#endif
