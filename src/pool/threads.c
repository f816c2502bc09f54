#include "pool/threads.h"

#include "base/error.h"
#include "base/forked.h"
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
  for (uint32_t i = 0; i < load_relaxed_u32(&pool->processor_count); i++) CPU_SET(pool->processors[i], &set);
  if (pthread_attr_init(&attributes)) return false;
  if (load_relaxed_u32(&pool->processor_count)) pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
  int refused = pthread_create(&pool->threads[index], &attributes, worker_main, &pool->slots[index]);
  pthread_attr_destroy(&attributes);
  return !refused;
}

bool threads_start(struct muster_pool *pool, uint32_t workers) {
  if (!load_relaxed_u32(&pool->existing)) store_relaxed_u32(&pool->existing, 1);
  for (uint32_t i = pool->threads_started + 1; i < workers; i++) {
    if (!threads_create_thread(pool, i)) {
      error_set(MUSTER_E_SYSTEM, "the operating system refused to start worker %u of %u", i, workers - 1);
      return false;
    }
    pool->threads_started = i;
    store_relaxed_u32(&pool->existing, i + 1);
  }
  return true;
}

/* ------------------------------------------------------------------------------------- processors that come and go */

/* They come and go by what people do. */
static const uint64_t between_looks_ns = 1000000000;

static void follow_processors(struct muster_pool *pool) {
  uint32_t workers = 0, before = threads_useful(pool);
  if (pool_is_stopping(pool) || !processors_look(pool, &workers)) return;
  if (!threads_start(pool, workers)) workers = threads_count(pool);
  store_relaxed_u32(&pool->useful, workers);
  if (workers != before)
    log_write(&pool->def.log, MUSTER_LOG_INFO, "pool '%s': frames have %u workers, as there are processors, %u before",
              pool->name, workers, before);
}

uint32_t threads_useful(const struct muster_pool *pool) {
  return load_relaxed_u32(&pool->useful);
}

uint32_t threads_for_frame(struct muster_pool *pool) {
  if (!pool->follows || forked_since(pool->process)) return threads_useful(pool);
  uint64_t now_ns = clock_now(&pool->clock);
  uint32_t idle = 0;
  if (now_ns - load_relaxed_u64(&pool->looked_ns) < between_looks_ns) return threads_useful(pool);
  /* Ordered: what is known of processors and threads belongs to the thread that holds `placing`. */
  if (!compare_exchange_ordered_u32(&pool->placing, &idle, 1)) return threads_useful(pool);
  store_relaxed_u64(&pool->looked_ns, now_ns);
  follow_processors(pool);
  store_ordered_u32(&pool->placing, 0);
  return threads_useful(pool);
}

/* ----------------------------------------------------------------------------------------------------------- the end
 */

void threads_start_no_more(struct muster_pool *pool) {
  uint32_t idle = 0;
  /* Ordered: who holds `placing` has seen that the pool stops, or has started its threads when it gives it back. */
  while (!compare_exchange_ordered_u32(&pool->placing, &idle, 1)) {
    threads_pause();
    idle = 0;
  }
  store_ordered_u32(&pool->placing, 0);
}

void threads_join(struct muster_pool *pool) {
  for (uint32_t i = 1; i <= pool->threads_started; i++) pthread_join(pool->threads[i], NULL);
}
