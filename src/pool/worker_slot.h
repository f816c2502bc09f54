/* pool/worker_slot.h - a place at the pool: what a thread needs to work for it. Workers keep theirs; other
 * threads take one for as long as they work along.
 *
 *     index 0                  the first external thread
 *     1 .. W-1                 worker threads
 *     W .. W+G-2               further external threads
 */
#ifndef POOL_WORKER_SLOT_H
#define POOL_WORKER_SLOT_H

#include "pool/group.h"
#include "pool/park.h"

/* The jobs that run on a worker slot, innermost first. */
typedef struct running_job {
  const struct group *group;
  struct running_job *outer;
} running_job;

/* Sums; written by the worker slot's holder only. */
typedef struct worker_slot_statistics {
  shared_u64 jobs, helped, stolen, claims, sleeps, wakes, idle_looks;
} worker_slot_statistics;

struct worker_slot {
  _Alignas(64) struct parking parking;
  /* What its holder has claimed in a lane and may not have started yet, for others to take out: see claim_pack. */
  _Alignas(64) shared_u64 claim;
  /* The group that its holder sleeps for: an address that is only compared, since the group may go;
   * WORKER_SLOT_AWAITS_ANY when jobs of other groups may help it. Written before the worker slot enters the set of
   * waiting worker slots. */
  shared_u64 awaits;
  _Alignas(64) struct muster_pool *pool;
  uint32_t index;
  shared_u32 processor; /* the processor that its affinity names; UINT32_MAX = any */
  running_job *running; /* null: none */
  uint64_t job_ns;      /* what jobs took of late, on average */
  uint64_t spin_ns;     /* how long to look for work before sleeping */
  uint32_t waits;       /* nested waits for groups */
  uint32_t fruitless;   /* how often it looked at a lane that had its bit set and was empty */
  bool woken;           /* it slept since it last had work */
  worker_slot_statistics statistics;
};

#define WORKER_SLOT_AWAITS_ANY 1u

enum { CLAIM_COUNT_BITS = 8, CLAIM_LANE_BITS = 8 };

/* {first:48 | lane:8 | count:8}; 0 = nothing. */
static inline uint64_t claim_pack(uint32_t lane, uint64_t first, uint32_t count) {
  return first << (CLAIM_COUNT_BITS + CLAIM_LANE_BITS) | (uint64_t)lane << CLAIM_COUNT_BITS | count;
}

static inline void worker_slot_add(shared_u64 *sum, uint64_t more) {
  store_relaxed_u64(sum, load_relaxed_u64(sum) + more);
}

#endif
