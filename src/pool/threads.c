#include "pool/threads.h"

#include "base/error.h"
#include "pool/leaving.h"
#include "pool/worker.h"

#include <sched.h>
#include <stdio.h>

static void *worker_main(void *argument) {
  MUST_RETURN(leaving_job);
  struct seat *seat = argument;
  const muster_pool_def *def = &seat->pool->def;
  struct pool_entry entered;
  pool_enter_for_life(&entered, seat);
  if (def->on_worker_start) def->on_worker_start(seat->index, def->hook_user);
  worker_run(seat);
  if (def->on_worker_stop) def->on_worker_stop(seat->index, def->hook_user);
  pool_leave(&entered);
  return NULL;
}

/* The thread that starts another may be a worker bound to one processor: the new thread is given all processors. */
static bool threads_create_thread(struct muster_pool *pool, uint32_t index, void *(*run)(void *)) {
  pthread_attr_t attributes;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (uint32_t i = 0; i < pool->processor_count; i++) CPU_SET(pool->processors[i], &set);
  if (pthread_attr_init(&attributes)) return false;
  if (pool->processor_count) pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
  int refused = pthread_create(&pool->threads[index], &attributes, run, &pool->seats[index]);
  pthread_attr_destroy(&attributes);
  return !refused;
}

bool threads_start_one(struct muster_pool *pool, uint32_t index, void *(*run)(void *), const char *suffix) {
  char name[32];
  if (!threads_create_thread(pool, index, run)) return false;
  snprintf(name, sizeof name, "%.10s%s%u", pool->name, suffix, index % 1000);
  pthread_setname_np(pool->threads[index], name);
  return true;
}

bool threads_start(struct muster_pool *pool) {
  for (uint32_t i = 1; i < pool->workers; i++) {
    if (threads_start_one(pool, i, worker_main, "-")) {
      pool->threads_started = i;
      continue;
    }
    error_set(MUSTER_E_SYSTEM, "the operating system refused to start worker %u of %u", i, pool->workers - 1);
    return false;
  }
  return true;
}

void threads_join(struct muster_pool *pool) {
  uint32_t first = pool_first_blocking(pool), blocking = load_ordered_u32(&pool->blocking_started);
  for (uint32_t i = 1; i <= pool->threads_started; i++) pthread_join(pool->threads[i], NULL);
  for (uint32_t i = 0; i < blocking; i++) pthread_join(pool->threads[first + i], NULL);
}
