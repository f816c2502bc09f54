/* pool/requests.h - what the calls of muster/jobs.h check alike. */
#ifndef POOL_REQUESTS_H
#define POOL_REQUESTS_H

#include "pool/pool.h"

/* Checks a submit: the pool is there and not stopped, the priority known, and the rest `complete`. */
muster_result request_check(const struct muster_pool *pool, uint32_t priority, bool complete);

/* Checks a job's group: null, or prepared for this pool. */
muster_result request_check_group(const struct muster_pool *pool, const group *group);

/* The error of a lane that has no room. */
muster_result request_full(const struct muster_pool *pool, uint32_t lane);

#endif
