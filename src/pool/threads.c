#include "pool/threads.h"

#include "base/error.h"
#include "pool/leaving.h"
#include "pool/worker.h"

#include <sched.h>
#include <stdio.h>

/* The thread itself does it: the name of another one is a file, which a confined process may not write. */
static void name_thread(const struct worker_slot *slot) {
  char name[32];
  snprintf(name, sizeof name, "%.10s-%u", slot->pool->name, slot->index % 1000);
  pthread_setname_np(pthread_self(), name);
}

static void *worker_main(void *argument) {
  MUST_RETURN(leaving_job);
  struct worker_slot *slot = argument;
  name_thread(slot);
  const muster_pool_def *def = &slot->pool->def;
  struct pool_entry entered;
  pool_enter_for_life(&entered, slot);
  if (def->on_worker_start) def->on_worker_start(slot->index, def->hook_user);
  worker_run(slot);
  if (def->on_worker_stop) def->on_worker_stop(slot->index, def->hook_user);
  pool_leave(&entered);
  return NULL;
}

/* The thread that starts another may be a worker bound to one processor: the new thread is given all processors. */
static bool threads_create_thread(struct muster_pool *pool, uint32_t index) {
  pthread_attr_t attributes;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (uint32_t i = 0; i < pool->processor_count; i++) CPU_SET(pool->processors[i], &set);
  if (pthread_attr_init(&attributes)) return false;
  if (pool->processor_count) pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
  int refused = pthread_create(&pool->threads[index], &attributes, worker_main, &pool->slots[index]);
  pthread_attr_destroy(&attributes);
  return !refused;
}

bool threads_start(struct muster_pool *pool) {
  for (uint32_t i = 1; i < pool->workers; i++) {
    if (!threads_create_thread(pool, i)) {
      error_set(MUSTER_E_SYSTEM, "the operating system refused to start worker %u of %u", i, pool->workers - 1);
      return false;
    }
    pool->threads_started = i;
  }
  return true;
}

void threads_join(struct muster_pool *pool) {
  for (uint32_t i = 1; i <= pool->threads_started; i++) pthread_join(pool->threads[i], NULL);
}
