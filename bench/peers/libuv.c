/* libuv's thread pool as a peer of `muster bench`: uv_queue_work from the thread of the loop. It has neither ranges nor
 * levels. */
#include "pin.h"
#include "system.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

struct request {
  uv_work_t work; /* first: found again by its address */
  bench_job run;
  void *argument;
};

struct adaptor {
  uv_loop_t loop;
  uint32_t next;
  struct request *requests;
};

static void *create(const bench_wishes *wishes) {
  char size[16];
  struct adaptor *adaptor = calloc(1, sizeof *adaptor);
  if (!adaptor) return NULL;
  snprintf(size, sizeof size, "%u", wishes->workers);
  setenv("UV_THREADPOOL_SIZE", size, 1); /* read when the first work is queued */
  adaptor->requests = calloc(wishes->jobs_max, sizeof *adaptor->requests);
  if (!adaptor->requests || uv_loop_init(&adaptor->loop) != 0) return NULL;
  return adaptor;
}

static void destroy(void *pool) {
  struct adaptor *adaptor = pool;
  uv_loop_close(&adaptor->loop);
  free(adaptor->requests);
  free(adaptor);
}

static void run_request(uv_work_t *work) {
  const struct request *request = (struct request *)work;
  request->run(request->argument, 0);
}

static void submit(void *pool, bench_job run, void *argument) {
  struct adaptor *adaptor = pool;
  struct request *request = &adaptor->requests[adaptor->next++];
  request->run = run;
  request->argument = argument;
  if (uv_queue_work(&adaptor->loop, &request->work, run_request, NULL) != 0) abort();
}

static void wait_asleep(void *pool) {
  struct adaptor *adaptor = pool;
  uv_run(&adaptor->loop, UV_RUN_DEFAULT);
  adaptor->next = 0;
}

static void *create_best(const bench_wishes *wishes) {
  return pin_pool(create(wishes), wishes->workers, submit, wait_asleep);
}

const bench_system *bench_peer(void) {
  static char name[64];
  static const bench_system system = {
      .size = sizeof system,
      .key = "libuv",
      .name = name,
      .convention = "caller not counted: it submits, then runs the loop; UV_THREADPOOL_SIZE = workers, never spins; no "
                    "ranges, no levels",
      .create = create,
      .destroy = destroy,
      .inside = pin_inside,
      .submit = submit,
      .wait = wait_asleep,
      .create_best = create_best,
      .best_convention = "the same, each thread bound to a processor; kept awake, they would take the caller's",
  };
  snprintf(name, sizeof name, "libuv %s uv_queue_work", uv_version_string());
  return &system;
}
