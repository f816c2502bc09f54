/* OpenMP's own part of the peer: explicit tasks inside a parallel region, and parallel loops over pieces, dealt out
 * dynamically. Loaded by openmp.c in the process that measures, once the environment is what the run-time library shall
 * read as it starts. */
#include "system.h"

#include <omp.h>
#include <stddef.h>
#include <stdlib.h>

struct adaptor {
  int workers;
};

static void *create(const bench_wishes *wishes) {
  struct adaptor *adaptor = malloc(sizeof *adaptor);
  if (!adaptor) return NULL;
  adaptor->workers = (int)wishes->workers;
  omp_set_dynamic(0);
  return adaptor;
}

static void destroy(void *pool) {
  free(pool);
}

/* The other threads wait at the end of the region, where they run submitted tasks. */
static void inside(void *pool, bench_job body, void *argument) {
  const struct adaptor *adaptor = pool;
#pragma omp parallel num_threads(adaptor->workers)
#pragma omp master
  body(argument, 0);
}

static void submit(void *pool, bench_job run, void *argument) {
  (void)pool;
#pragma omp task firstprivate(run, argument)
  run(argument, 0);
}

static void wait_for_all(void *pool) {
  (void)pool;
#pragma omp taskwait
}

/* Pieces are at least `grain` long, and where that allows, long enough that dealing them out does not count. */
static void parallel_for(void *pool, uint64_t count, uint64_t grain, bench_range run, void *argument) {
  enum { PIECES_PER_WORKER = 1024 };
  const struct adaptor *adaptor = pool;
  uint64_t piece = count / ((uint64_t)adaptor->workers * PIECES_PER_WORKER);
  if (piece < grain) piece = grain;
  uint64_t pieces = (count + piece - 1) / piece;
#pragma omp parallel for num_threads(adaptor->workers) schedule(dynamic)
  for (uint64_t i = 0; i < pieces; i++) run(argument, i * piece, i + 1 < pieces ? (i + 1) * piece : count, 0);
}

/* The one symbol of this library: the functions alone. */
__attribute__((visibility("default"))) const bench_system openmp_functions = {
    .create = create,
    .destroy = destroy,
    .inside = inside,
    .submit = submit,
    .wait = wait_for_all,
    .parallel_for = parallel_for,
};
