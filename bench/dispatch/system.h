/* system.h - a job system under test, as the bench sees it: the same few functions for Muster and for every peer.
 *
 * A peer is a shared library that exports bench_peer(); this header is all that it shares with the program, so it is C
 * and C++ and knows nothing of Muster. Every pool lives in a process of its own, so systems may read the environment,
 * leave threads behind or die. */
#ifndef BENCH_SYSTEM_H
#define BENCH_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*bench_job)(void *argument, uint32_t worker);
typedef void (*bench_range)(void *argument, uint64_t begin, uint64_t end, uint32_t worker);

typedef struct bench_wishes {
  uint32_t workers;  /* threads that execute jobs, the caller included where it works along */
  uint32_t jobs_max; /* that are submitted between two waits */
  bool levels;       /* jobs get levels. The caller may then sleep in `wait` instead of working along, if that serves
                        levels better; still `workers` threads execute jobs */
} bench_wishes;

typedef struct bench_system bench_system;

struct bench_system {
  uint32_t size;          /* of this struct, from a library: one of another build is refused */
  const char *key;        /* short; heads the column, named by --only */
  const char *name;       /* with version */
  const char *convention; /* one line: is the caller counted, what spins, which configuration */
  const char *only[2];    /* the measures that it takes part in; null = all that it can do */

  /* Null when the pool cannot be created. */
  void *(*create)(const bench_wishes *wishes);
  void (*destroy)(void *pool);

  /* Calls `body` on the calling thread where `submit` and `wait` may be called (a parallel region, an arena). */
  void (*inside)(void *pool, bench_job body, void *argument);
  void (*submit)(void *pool, bench_job run, void *argument);
  void (*wait)(void *pool); /* waits for all submitted jobs */

  /* Over 0..count-1 in pieces of `grain` or more indices; outside of `inside`. Null = not offered. */
  void (*parallel_for)(void *pool, uint64_t count, uint64_t grain, bench_range run, void *argument);

  /* With levels: 0 is the most urgent, levels - 1 the least. `submit_at` may be called by any thread and inside jobs.
   * Null and 0 = not offered. */
  uint32_t levels;
  void (*submit_at)(void *pool, uint32_t level, bench_job run, void *argument);
  void (*submit_range_at)(void *pool, uint32_t level, uint64_t count, uint64_t grain, bench_range run, void *argument);

  /* Sums since `create`: jobs that ended, and claims of one or more jobs from a shared queue. Null = not counted. */
  void (*count)(void *pool, uint64_t *jobs, uint64_t *claims);

  /* A peer as it is fastest at a game server's frames: threads bound to processors, waiting awake where possible. It is
   * the same but for these; its name, too, unless that is null. */
  void *(*create_best)(const bench_wishes *wishes);
  const char *best_name, *best_convention;
};

typedef const bench_system *(*bench_peer_function)(void);

/* The one symbol of a peer's library. */
__attribute__((visibility("default"))) const bench_system *bench_peer(void);

#ifdef __cplusplus
}
#endif

#endif
