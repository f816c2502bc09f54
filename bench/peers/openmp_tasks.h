/* openmp_tasks.h - what openmp.c finds in the library that is linked with OpenMP. */
#ifndef BENCH_OPENMP_TASKS_H
#define BENCH_OPENMP_TASKS_H

#include "system.h"

/* The one symbol of that library: the functions alone. */
__attribute__((visibility("default"))) extern const bench_system openmp_functions;

#endif
