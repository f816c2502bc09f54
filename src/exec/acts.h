/* exec/acts.h - stage 8: action atoms. */
#ifndef EXEC_ACTS_H
#define EXEC_ACTS_H

#include "exec/runner.h"

/* Runs the action atoms of an agent, from its first action atom to its last. At the commit; `state` is of the worker
 * that runs it. */
void acts_run_one(worker_state *state, uint32_t index, batch_result *result);

#endif
