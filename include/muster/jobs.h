/* muster/jobs.h - the worker pool on its own: jobs by urgency, for everything that a game server parallelises.
 *
 * A pool of W workers is W - 1 threads and the calling thread: a thread that waits for a group, runs a parallel-for or
 * a frame works as one of the workers for as long as the call lasts. So a pool of one worker has no threads and runs
 * jobs only inside such calls. Workers that find nothing to do look for at most 50 microseconds and then sleep at no
 * cost.
 *
 * A job is a function and an argument, runs once, on one worker, from its beginning to its end. Urgencies are 0 (most
 * urgent) to 7; among jobs of one urgency the order is first in, first out. The updates of agents stand at
 * MUSTER_URGENCY_FRAME: workers leave them between two atoms for anything more urgent. What a group's jobs wrote is
 * visible to every thread that saw the group complete, and what the submitter wrote is visible to the job.
 *
 * Worker indices are dense and stable: every callback gets one below muster_pool_indices(), no two callbacks that run
 * at the same time on different threads get the same, and a thread keeps its own through nested calls. So they may
 * index scratch memory, which a job must not use any more when it waits.
 *
 * Jobs, pieces of ranges and hooks must return. One that is left by a C++ exception that it did not catch, by
 * pthread_exit() or by a cancellation ends the process with a line that says so; one that is left by longjmp() has not
 * ended, and a thread that waits for it waits for ever.
 */
#ifndef MUSTER_JOBS_H
#define MUSTER_JOBS_H

#include <muster/common.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_WORKERS_MAX  256u
#define MUSTER_EXTERNAL_MAX 63u

typedef struct muster_pool muster_pool;

/* All of 0..7 are usable; these have names. */
enum {
  MUSTER_URGENCY_URGENT = 0,
  MUSTER_URGENCY_HIGH = 2,
  MUSTER_URGENCY_FRAME = 3, /* the updates of agents */
  MUSTER_URGENCY_NORMAL = 4,
  MUSTER_URGENCY_LOW = 6,
  MUSTER_URGENCIES = 8
};

/* How the pool treats processor affinity. The affinity of the host's own threads is never touched. Where an operator
 * (taskset -a) or a control group has given the workers other processors, the pool places them no more. */
typedef enum muster_affinity {
  MUSTER_AFFINITY_APART = 0, /* worker threads are kept off the processor that the caller is on, so that a woken
                                worker does not wait behind its waker */
  MUSTER_AFFINITY_NONE       /* the operating system decides */
} muster_affinity;

typedef struct muster_pool_def {
  uint32_t size;
  uint32_t workers;         /* one caller included; 0 (default) = one per processor this process may use, now and
                               later: see muster_pool_workers(); at most MUSTER_WORKERS_MAX */
  muster_affinity affinity; /* default MUSTER_AFFINITY_APART */
  void (*on_worker_start)(uint32_t worker, void *user); /* on the new thread, before its first work; default null.
                                                           worker is 1..workers-1: dense and stable */
  void (*on_worker_stop)(uint32_t worker, void *user);  /* on the thread, after its last work; default null */
  void *hook_user;                                      /* passed to all hooks */
  muster_allocator allocator;                           /* default: the operating system */
  muster_log_sink log;                                  /* default: warnings and errors to standard error */
  void (*on_worker_sleep)(uint32_t worker, void *user); /* on a worker thread, before it sleeps; default null */
  void (*on_worker_wake)(uint32_t worker, void *user);  /* on the thread, after it slept; default null */
  const char *name;  /* of the threads, followed by -1, -2, ...; at most 10 bytes are used; copied; default "muster" */
  uint32_t jobs_max; /* jobs that can wait at each urgency, rounded up to a power of two; 64..2^24; default 131072.
                        Memory is committed as it is used: 32 bytes each */
  uint32_t external_max; /* how many threads that the pool does not own work in it at the same time; further ones wait
                            for one of them to leave. Should be at least the number of threads that may wait at once
                            (workers of other pools included) for jobs that wait for each other;
                            1..MUSTER_EXTERNAL_MAX; default 8 */
} muster_pool_def;

MUSTER_DEFAULTS(muster_pool_def);

/* Creates a pool and starts its threads. Returns null with a message when a field is out of range
 * (MUSTER_E_ARGUMENT), memory is refused or a thread cannot be started; nothing is left behind then. The caller
 * owns the pool and must destroy every world that uses it first. Any thread. */
MUSTER_API muster_pool *muster_pool_create(const muster_pool_def *def);

/* Ends the pool's work: refuses every submit from here on (MUSTER_E_STATE), drops the jobs that have not started
 * and completes their groups, joins the threads, and waits until every other thread has left.
 * Returns how many jobs were dropped; 0 when called again, or for null. A parallel-for or a frame that runs meanwhile
 * is finished by its caller alone. Any thread, but not inside a job, a piece of a range or an update that the pool runs
 * (nothing happens then, and 0 is returned with a message). */
MUSTER_API uint64_t muster_pool_stop(muster_pool *pool);

/* Stops the pool, if it was not, and frees it; null is a no-op. Its worlds must have been destroyed, and no thread may
 * be inside one of its calls. Any thread but a worker of the pool. Ends the process with a line that says why when the
 * pool was destroyed already, when it has worlds, and inside a job, a piece of a range or an update that it runs.
 *
 * fork() without exec: the child has the pool's memory, but none of its threads. It may read a world that no frame was
 * running in, destroy its worlds and then the pool, and submit and wait for jobs, which the waiting thread runs itself;
 * where it would wait for a thread that only the parent has, the child ends with a line that says so. Journals stay the
 * parent's (muster_journal_end() is MUSTER_E_STATE). */
MUSTER_API void muster_pool_destroy(muster_pool *pool);

/* The number of workers, the caller included; 0 with a message for null. Where muster_pool_def.workers was 0 it may
 * grow: before a frame, once a second, the pool looks whether the calling thread may use other processors than before,
 * as by taskset -a, a control group's cpuset or a processor that was put online. For those that have come it starts
 * threads, up to the processors of the machine that were online when it was created. When processors go, threads stay,
 * and frames use no more workers than there are processors (muster_world_workers()). Any thread. */
MUSTER_API uint32_t muster_pool_workers(const muster_pool *pool);

/* Every worker index that a callback of this pool gets is below this: workers, then further external threads. A
 * caller that is alone has index 0. Any thread. */
MUSTER_API uint32_t muster_pool_indices(const muster_pool *pool);

/* The index of the calling thread while it works for the pool; UINT32_MAX otherwise. Any thread. */
MUSTER_API uint32_t muster_pool_current_index(const muster_pool *pool);

/* How many processors this process may use: its affinity mask, cut by the tightest CPU quota of its control groups
 * (version 1 and 2, its own and all above it). At least 1. Any thread. */
MUSTER_API uint32_t muster_available_processors(void);

/* ------------------------------------------------------------------------------------------------------ groups */

/* Counts jobs that were submitted and have not ended, so that a thread can wait for them. Memory of the caller (a local
 * variable will do), which must stay until the group is complete and no call that takes it is under way; then it may be
 * freed or used again. A group that was never used is complete. */
typedef struct muster_group {
  uint64_t opaque[8] __attribute__((aligned(64)));
} muster_group;

/* Prepares a group for a pool. The group must not be in use. Any thread. */
MUSTER_API void muster_group_init(muster_group *group, muster_pool *pool);

/* Whether no job of the group waits or runs. A thread that gets true sees what the jobs wrote. Any thread. */
MUSTER_API bool muster_group_is_complete(const muster_group *group);

/* Waits until the group is complete, and runs jobs meanwhile: of the group only, wherever they are queued, so that it
 * never picks up something unrelated and long. Sleeps when there are none. MUSTER_E_STATE when the calling thread is
 * inside a job of this group (it would wait for itself); other cycles of jobs that wait for each other are the caller's
 * to avoid. Finding a job costs a look at each one that waits at the urgencies of the group. Any thread, also inside
 * jobs. */
MUSTER_API muster_result muster_group_wait(muster_group *group);

/* The same, but it also runs any job of urgency 0..least_urgent. MUSTER_E_ARGUMENT when that is no urgency.
 * Any thread. */
MUSTER_API muster_result muster_group_wait_helping(muster_group *group, uint32_t least_urgent);

/* Waits asleep, without running jobs: for jobs that spin on each other (a gang) and must not be nested in one thread.
 * MUSTER_E_STATE also when no other thread could ever run them: in a pool of one worker. Any thread. */
MUSTER_API muster_result muster_group_wait_asleep(muster_group *group);

/* -------------------------------------------------------------------------------------------------------- jobs */

typedef void (*muster_job_function)(void *argument, uint32_t worker);

/* Submits a job. `group` may be null: the job then has no group to wait for. Never runs anything itself. MUSTER_E_FULL
 * when jobs_max wait at that urgency, counting the places of jobs that were taken out of turn behind the oldest that
 * waits: nothing was changed, do something else first (a wait for a group makes room); MUSTER_E_ARGUMENT when pool or
 * function is null or the urgency is not 0..7; MUSTER_E_STATE after muster_pool_stop. A few tens of nanoseconds; wakes
 * a worker when one sleeps. Any thread, also inside jobs. */
MUSTER_API muster_result muster_job_submit(muster_pool *pool, uint32_t urgency, muster_job_function run, void *argument,
                                           muster_group *group);

/* ------------------------------------------------------------------------------------------------------ ranges */

/* Called with begin < end, for every index once, in pieces. */
typedef void (*muster_range_function)(void *argument, uint64_t begin, uint64_t end, uint32_t worker);

/* Runs a function over 0..count-1 on the calling thread and all workers, and returns when it is done. Pieces have
 * `grain` indices (0 counts as 1) or more (the last one of all may have fewer), as many as are expected to take 8 us;
 * between pieces workers look for more urgent jobs. count 0 is a no-op. The urgency is that of the other workers'
 * help: the caller begins at once. Needs no room in a queue: when there is none, the caller does it all. May be nested,
 * and issued by several threads at once. MUSTER_E_ARGUMENT when pool or function is null or the urgency is not 0..7;
 * MUSTER_E_STATE after muster_pool_stop. Any thread. */
MUSTER_API muster_result muster_parallel_for(muster_pool *pool, uint32_t urgency, uint64_t count, uint64_t grain,
                                             muster_range_function run, void *argument);

/* Memory of the caller for one submitted range; must stay until its group is complete. */
typedef struct muster_range {
  uint64_t opaque[16] __attribute__((aligned(64)));
} muster_range;

/* Submits a function over 0..count-1, in pieces as in muster_parallel_for; returns at once. `group` may not be null.
 * count 0 is a no-op. Errors as of muster_job_submit: with MUSTER_E_FULL no piece was or will be run. Any thread. */
MUSTER_API muster_result muster_range_submit(muster_range *range, muster_pool *pool, uint32_t urgency, uint64_t count,
                                             uint64_t grain, muster_range_function run, void *argument,
                                             muster_group *group);

/* -------------------------------------------------------------------------------------------------- statistics */

/* Sums since the pool was created. */
typedef struct muster_pool_statistics {
  uint32_t size;
  uint64_t jobs;        /* jobs that ended, ranges and frames' calls for help included */
  uint64_t jobs_helped; /* jobs that ran inside a wait */
  uint64_t jobs_stolen; /* jobs taken from those that another worker had claimed */
  uint64_t claims;      /* of one or more jobs at once from a queue */
  uint64_t sleeps;      /* times that the worker went to sleep */
  uint64_t wakes;       /* workers that it woke */
  uint64_t idle_looks;  /* for work, without finding any */
} muster_pool_statistics;

MUSTER_DEFAULTS(muster_pool_statistics);

/* Reads the sums of one worker index, or of all with UINT32_MAX; they may be a moment old. MUSTER_E_ARGUMENT when there
 * is no such index. Any thread. */
MUSTER_API muster_result muster_pool_statistics_read(const muster_pool *pool, uint32_t worker,
                                                     muster_pool_statistics *statistics);

#ifdef __cplusplus
}
#endif

#endif
