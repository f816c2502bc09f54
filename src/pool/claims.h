/* pool/claims.h - what workers have claimed of a lane and not started yet, for others to take out. */
#ifndef POOL_CLAIMS_H
#define POOL_CLAIMS_H

#include "pool/pool.h"

/* Takes a job of `lanes` (bits), with `only` not null one of that group, out of somebody's claim; looks at seat `from`
 * first. False when there is none. Any thread. */
bool claims_take(struct muster_pool *pool, uint32_t from, uint32_t lanes, const group *only, job *job);

/* Whether a job of `lanes` (bits) waits in somebody's claim; clears the queue's bits of `lanes` when none does. About a
 * nanosecond when they are clear. Any thread. */
bool claims_settle(struct muster_pool *pool, uint32_t lanes);

#endif
