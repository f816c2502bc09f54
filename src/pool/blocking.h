/* pool/blocking.h - threads for jobs that block: outside the workers, started when they are needed, asleep otherwise.
 */
#ifndef POOL_BLOCKING_H
#define POOL_BLOCKING_H

#include "pool/pool.h"

/* Makes sure that there is a thread at all that will come to a job pushed from now on; tells whether it `started` one,
 * so that the job needs no other. MUSTER_E_STATE when none are
 * allowed, MUSTER_E_SYSTEM when the first cannot be started. Any thread. */
muster_result blocking_provide(struct muster_pool *pool, bool *started);

/* After a push: wakes a thread, or starts one `more` when none sleeps and that is allowed. Any thread. */
void blocking_call(struct muster_pool *pool, bool more);

/* A blocking thread's life: until the pool stops. */
void blocking_run(seat *seat);

#endif
