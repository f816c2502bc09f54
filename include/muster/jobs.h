/* muster/jobs.h - the worker pool on its own.
 *
 * A pool is a set of workers that several worlds share. The thread that calls into a pool (by running a frame)
 * counts as one of its workers for as long as the call lasts, so a pool of W workers starts W - 1 threads.
 * Workers that find nothing to do spin for at most 50 microseconds and then sleep at no cost.
 */
#ifndef MUSTER_JOBS_H
#define MUSTER_JOBS_H

#include <muster/common.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_WORKERS_MAX 256u

typedef struct muster_pool muster_pool;

/* How the pool treats processor affinity. The affinity of the host's own threads is never touched. */
typedef enum muster_affinity {
  MUSTER_AFFINITY_APART = 0, /* worker threads are kept off the processor that the caller is on, so that a woken
                                worker does not wait behind its waker */
  MUSTER_AFFINITY_NONE       /* the operating system decides */
} muster_affinity;

typedef struct muster_pool_def {
  uint32_t size;
  uint32_t workers;         /* callers included; 0 (default) = one per processor this process may use;
                               at most MUSTER_WORKERS_MAX */
  muster_affinity affinity; /* default MUSTER_AFFINITY_APART */
  void (*on_worker_start)(uint32_t worker, void *user); /* on the new thread, before its first work; default null.
                                                           worker is 1..workers-1: dense and stable */
  void (*on_worker_stop)(uint32_t worker, void *user);  /* on the thread, after its last work; default null */
  void *hook_user;                                      /* passed to both hooks */
  muster_allocator allocator;                           /* default: the operating system */
  muster_log_sink log;                                  /* default: warnings and errors to standard error */
} muster_pool_def;

static inline muster_pool_def muster_default_pool_def(void) {
  muster_pool_def def = {0};
  def.size = (uint32_t)sizeof def;
  return def;
}

/* Creates a pool and starts its threads. Returns null with a message when a field is out of range
 * (MUSTER_E_ARGUMENT), memory is refused or a thread cannot be started; nothing is left behind then. The caller
 * owns the pool and must destroy every world that uses it first. Any thread. */
MUSTER_API muster_pool *muster_pool_create(const muster_pool_def *def);

/* Stops and joins the threads and frees the pool; null is a no-op. No frame may be running on it. Any thread but a
 * worker of the pool. */
MUSTER_API void muster_pool_destroy(muster_pool *pool);

/* The number of workers, the caller included. Any thread. */
MUSTER_API uint32_t muster_pool_workers(const muster_pool *pool);

/* How many processors this process may use: its affinity mask, cut by the control group's CPU quota. At least 1. */
MUSTER_API uint32_t muster_available_processors(void);

#ifdef __cplusplus
}
#endif

#endif
