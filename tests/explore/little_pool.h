/* little_pool.h - a pool whose threads are fibres of a case. */
#ifndef EXPLORE_LITTLE_POOL_H
#define EXPLORE_LITTLE_POOL_H

#include "pool/worker.h"

#include "explorer.h"

/* Makes a pool with lanes of four jobs. In prepare. */
struct muster_pool *little_pool(uint32_t workers, uint32_t external);

/* Makes a case's state, whose first member is such a pool. In prepare. */
void *little_pool_state(size_t bytes, uint32_t workers, uint32_t external);

/* The check of a case with such a state: the same as little_pool_check_empty. */
void little_pool_state_check(void);

/* A worker's life, without spinning before each sleep: what spinning finds, the last look finds too. Until the pool
 * stops. */
void little_worker(struct muster_pool *pool, uint32_t index, uint32_t claim_most);

/* That for every fibre but the first; false for the first, which has other things to do. */
bool little_works(struct muster_pool *pool, uint32_t fibre, uint32_t claim_most);

/* A worker's life as it is, with spinning. */
void little_spinning_worker(struct muster_pool *pool, uint32_t index);

/* Waits until nothing moves, then stops the pool; returns how many jobs were dropped. As a thread without a worker
 * slot. */
uint64_t little_pool_stop_quiet(struct muster_pool *pool);

/* Fails when a lane holds a job, a set of sleepers an index, or a worker slot a claim. When all fibres have ended. */
void little_pool_check_empty(struct muster_pool *pool);

/* A job that counts how often it ran in the byte at its argument, and fails the second time. */
void little_job(void *argument, uint32_t worker);

#endif
