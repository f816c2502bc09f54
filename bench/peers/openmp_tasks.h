/* openmp_tasks.h - what openmp.c finds in the library that is linked with OpenMP. */
#ifndef BENCH_OPENMP_TASKS_H
#define BENCH_OPENMP_TASKS_H

#include "system.h"

/* As in bench_system. */
typedef struct openmp_tasks {
  void *(*create)(const bench_wishes *wishes);
  void (*destroy)(void *pool);
  void (*inside)(void *pool, bench_job body, void *argument);
  void (*submit)(void *pool, bench_job run, void *argument);
  void (*wait)(void *pool);
  void (*parallel_for)(void *pool, uint64_t count, uint64_t grain, bench_range run, void *argument);
} openmp_tasks;

/* The one symbol of that library. */
__attribute__((visibility("default"))) extern const openmp_tasks openmp_functions;

#endif
