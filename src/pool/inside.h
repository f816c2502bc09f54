/* pool/inside.h - what a pool consists of: its queue, worker slots, and sets of sleepers. For the files of this folder;
 * other files see pool.h. */
#ifndef POOL_INSIDE_H
#define POOL_INSIDE_H

#include "pool/idle.h"
#include "pool/pool.h"
#include "pool/queue.h"
#include "pool/worker_slot.h"

#include <pthread.h>
#include <sched.h>

_Static_assert(IDLE_MAX == (int)POOL_SLOTS_MAX, "a set of sleepers has room for every slot");

/* How long a worker looks for work before it sleeps: at most; and at least, when looking was fruitless of late. */
enum { SPIN_NS = 16000, SPIN_LEAST_NS = 4000 };

struct muster_pool {
  struct arena arena;
  struct living living;
  shared_u32 worlds; /* that use it; counted when they are created and destroyed */
  muster_pool_def def;
  clock_source clock;
  uint32_t workers;    /* at most: worker threads, and one for the caller */
  uint32_t slot_count; /* all indices */
  struct worker_slot *slots;
  bool prepared; /* threads may have been started, */
  pid_t process; /* by this process */
  char name[12];
  pthread_t *threads; /* by worker slot: the workers */
  uint32_t threads_started;
  bool follows;        /* the processors of the process: as many workers as there are */
  shared_u32 existing; /* workers that were started, and one for the caller */
  shared_u32 useful;   /* of these, as many as there are processors for */
  struct queue queue;
  idle_set idle;    /* workers that take any job */
  idle_set waiting; /* worker slots that wait for a group */
  _Alignas(64) shared_u32 stopping;
  shared_u64 free_external;    /* bits */
  shared_u64 dropped;          /* jobs that were dropped because the pool stops */
  shared_u32 placing;          /* held by the caller that moves workers apart */
  shared_u32 placed_by_others; /* and no more by the pool */
  shared_u32 processor_count;  /* that the process may use; they belong to the thread that holds `placing` */
  uint32_t processor_room;
  uint32_t *processors;
  uint32_t caller_processor; /* kept free of workers; UINT32_MAX = not yet */
  uint64_t placed_ns;        /* when workers were last moved */
  shared_u64 looked_ns;      /* when the processors were last looked at, */
  cpu_set_t seen;            /* and which the thread that did had */
};

static inline uint32_t pool_external_index(const struct muster_pool *pool, uint32_t external) {
  return external ? pool->workers + external - 1 : 0;
}

/* The worker slots for external threads that are free when none is inside. */
static inline uint64_t pool_all_external(const struct muster_pool *pool) {
  return UINT64_MAX >> (64 - pool->def.external_max);
}

static inline bool pool_is_stopping(const struct muster_pool *pool) {
  return load_ordered_u32(&pool->stopping);
}

/* Checks that the calls of muster/jobs.h share (jobs.c): the pool is given and not stopped, the priority is known, and
 * the rest of the arguments is `complete`. */
muster_result request_check(const struct muster_pool *pool, uint32_t priority, bool complete);

/* Checks that a job's group is null, or prepared for this pool. */
muster_result request_check_group(const struct muster_pool *pool, const struct group *group);

/* The error of a lane that has no room. */
muster_result request_full(const struct muster_pool *pool, uint32_t lane);

#endif
