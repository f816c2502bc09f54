/* exec/pool.h - the workers behind muster_pool: threads, sleeping and waking, and crews.
 *
 * A crew is one piece of work that a caller opens to all workers: they enter, run the same function beside the caller,
 * and leave. Several crews (of several worlds) can be open at once. Its gate is one word:
 *
 *     { session:31 | open:1 | inside:32 }
 *
 *                  caller: take                caller: open (release)
 *     free (0) ----------------> claimed -------------------------------> open <--> worker enters (acquire): inside + 1
 *        ^                                                                  |       worker leaves (release): inside - 1
 *        |  caller: inside = 0 seen (acquire)             caller: close     |
 *        +---------------------------------------------- closing <---------+
 *
 * A worker that left does not enter the same session again. Entering reads what opening published; the caller, seeing
 * nobody inside, reads what every worker wrote. A late worker finds the gate closed and goes back to sleep.
 */
#ifndef EXEC_POOL_H
#define EXEC_POOL_H

#include "base/arena.h"
#include "base/clock.h"
#include "exec/atomics.h"
#include "exec/park.h"

#include <muster/jobs.h>

#include <pthread.h>
#include <sched.h>

enum { CREWS_MAX = 16, SPIN_NS = 50000, CACHE_LINE = 64 };

/* What every worker of a crew runs; worker 0 is the caller. Returns when there is nothing left for this worker. */
typedef void (*crew_work)(void *argument, uint32_t worker);

typedef struct crew_orders {
  crew_work work;
  void *argument;
  uint64_t patience_ns;                 /* the caller spins for the last worker until the clock reads this (at most
                                           SPIN_NS), then sleeps */
  void (*before_sleep)(void *argument); /* told on the caller when it does; may be null */
} crew_orders;

typedef struct crew {
  _Alignas(CACHE_LINE) shared_u64 gate;
  crew_orders orders;
  _Alignas(CACHE_LINE) parking left; /* the caller waits here for the last to leave */
} crew;

typedef struct pool_worker {
  _Alignas(CACHE_LINE) parking parking;
  struct muster_pool *pool;
  pthread_t thread;
  uint32_t index;
  uint32_t processor;           /* that its affinity names; UINT32_MAX = any */
  uint64_t sessions[CREWS_MAX]; /* last session entered, by crew */
} pool_worker;

struct muster_pool {
  arena arena;
  muster_pool_def def;
  clock_source clock;
  uint32_t workers;     /* the caller included */
  pool_worker *threads; /* [1 .. workers - 1] */
  crew crews[CREWS_MAX];
  shared_u32 stopping;
  shared_u32 placing;       /* one caller at a time keeps workers apart */
  uint32_t processor_count; /* that the process may use */
  uint32_t *processors;
  uint32_t caller_processor; /* kept free of workers; UINT32_MAX = not yet */
};

/* Wakes the workers ahead of a crew that opens within SPIN_NS: they wait for it spinning. */
void pool_wake(struct muster_pool *pool);

/* Opens a crew to the workers and wakes them; the caller goes on. Null when there are no other workers or no crew is
 * free. Any thread that is not inside a crew of this pool. */
crew *pool_open(struct muster_pool *pool, const crew_orders *orders);

/* Lets nobody in any more. The caller that opened it. */
void pool_close(crew *crew);

/* Waits until all who entered have left, and frees the crew. After pool_close. */
void pool_wait(struct muster_pool *pool, crew *crew);

/* Opens a crew, works on the calling thread too, closes it and waits. When no crew can be opened the caller works
 * alone. */
void pool_run(struct muster_pool *pool, const crew_orders *orders);

/* Before a frame: moves a worker that sits on the caller's processor elsewhere (MUSTER_AFFINITY_APART). Cheap when
 * nothing moved. */
void pool_keep_apart(struct muster_pool *pool);

#endif
