/* run/taking.h - stage 7: what a worker runs next. First agents that were woken while the frame runs, then what other
 * workers left, then the claims of the batch in their order; of each only what is worth starting in the time left. */
#ifndef RUN_TAKING_H
#define RUN_TAKING_H

#include "run/runner.h"

/* A claim of what is next; false when there is nothing that this call may run, or no time for it. `clock_ns` is now;
 * not used under the virtual clock. Any worker. */
bool taking_next(worker_state *state, runner *runner, bool early_only, uint64_t clock_ns, batch_claim *claim);

#endif
