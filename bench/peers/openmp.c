/* OpenMP as a peer of `muster bench`. Its run-time library reads the environment once, as it is loaded. This front is
 * not linked with it: openmp_tasks.c is, and is loaded in the process that measures, after the environment of the
 * measured system was set. By default the environment is the user's: OMP_WAIT_POLICY and the like are not touched.
 * Levels are left out: libgomp lets at most 64 jobs per thread wait and runs every further one inside its submit. */
#include "system.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const bench_system *tasks;

/* The path of the other library, beside this one. */
static const bench_system *load(void) {
  char path[PATH_MAX];
  Dl_info own;
  if (dladdr((const void *)&tasks, &own) == 0) return NULL;
  const char *slash = strrchr(own.dli_fname, '/');
  int length = slash ? (int)(slash - own.dli_fname) : 0;
  snprintf(path, sizeof path, "%.*s/peer_openmp_tasks.so", length, own.dli_fname);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fprintf(stderr, "muster bench: %s\n", dlerror());
  return library ? dlsym(library, "openmp_functions") : NULL;
}

static void *create(const bench_wishes *wishes) {
  tasks = load();
  return tasks ? tasks->create(wishes) : NULL;
}

static void *create_best(const bench_wishes *wishes) {
  setenv("OMP_WAIT_POLICY", "active", 1);
  setenv("OMP_PROC_BIND", "true", 1);
  setenv("OMP_PLACES", "threads", 1);
  return create(wishes);
}

static void destroy(void *pool) {
  tasks->destroy(pool);
}

static void inside(void *pool, bench_job body, void *argument) {
  tasks->inside(pool, body, argument);
}

static void submit(void *pool, bench_job run, void *argument) {
  tasks->submit(pool, run, argument);
}

static void wait_for_all(void *pool) {
  tasks->wait(pool);
}

static void parallel_for(void *pool, uint64_t count, uint64_t grain, bench_range run, void *argument) {
  tasks->parallel_for(pool, count, grain, run, argument);
}

#ifdef __clang__
#define NAME "LLVM's OpenMP (libomp)"
#else
#define NAME "GNU OpenMP (libgomp) " __VERSION__
#endif

const bench_system *bench_peer(void) {
  static const bench_system system = {
      .size = sizeof system,
      .key = "openmp",
      .name = NAME,
      .convention = "caller counted, works along; waits as OMP_WAIT_POLICY says (default: spins, then sleeps). Behind "
                    "64 jobs per thread a submit runs the job itself, so no backlog and no levels",
      .create = create,
      .destroy = destroy,
      .inside = inside,
      .submit = submit,
      .wait = wait_for_all,
      .parallel_for = parallel_for,
      .create_best = create_best,
      .best_name = NAME ", bound and awake",
      .best_convention = "the same with OMP_WAIT_POLICY=active, OMP_PROC_BIND=true, OMP_PLACES=threads: never sleeps",
  };
  return &system;
}
