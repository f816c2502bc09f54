#include "pool/threads.h"

#include "base/error.h"
#include "pool/blocking.h"
#include "pool/leaving.h"
#include "pool/visit.h"
#include "pool/worker.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Two callers on different processors would move workers to and fro: not more often than this. */
static const uint64_t between_moves_ns = 20000000;

/* ------------------------------------------------------------------------------------------------- processors */

/* The processors that the process may use, at most `capacity` of them; 0 when they are more than a set can name. */
static uint32_t list_processors(uint32_t *out, uint32_t capacity) {
  cpu_set_t set;
  uint32_t count = 0;
  if (sched_getaffinity(0, sizeof set, &set)) return 0;
  for (uint32_t i = 0; i < CPU_SETSIZE && count < capacity; i++)
    if (CPU_ISSET(i, &set)) {
      if (out) out[count] = i;
      count++;
    }
  return count;
}

/* The control group's quota in whole processors, rounded up; UINT32_MAX when there is none. */
static uint32_t processors_of_quota(void) {
  FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
  char quota[32] = "";
  unsigned long period = 0;
  int fields = file ? fscanf(file, "%31s %lu", quota, &period) : 0;
  if (file) fclose(file);
  if (fields != 2 || period == 0 || !strcmp(quota, "max")) return UINT32_MAX;
  unsigned long microseconds = strtoul(quota, NULL, 10);
  return microseconds ? (uint32_t)((microseconds + period - 1) / period) : UINT32_MAX;
}

uint32_t muster_available_processors(void) {
  uint32_t processors = list_processors(NULL, UINT32_MAX), quota = processors_of_quota();
  if (!processors) processors = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
  if (quota < processors) processors = quota;
  return processors ? processors : 1;
}

bool threads_survey(struct muster_pool *pool) {
  uint32_t processors = list_processors(NULL, UINT32_MAX);
  pool->processors = arena_reserve(&pool->arena, processors ? processors : 1, sizeof *pool->processors);
  if (!pool->processors) return false;
  pool->processor_count = list_processors(pool->processors, processors);
  pool->caller_processor = UINT32_MAX;
  return true;
}

/* ----------------------------------------------------------------------------------------------------- affinity */

static bool place_worker(const struct muster_pool *pool, seat *seat, uint32_t processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  if (pthread_setaffinity_np(pool->threads[seat->index], sizeof set, &set)) return false;
  store_relaxed_u32(&seat->processor, processor);
  return true;
}

/* Spreads the workers over all processors but the caller's, the first time; afterwards only a worker that is on the
 * caller's processor changes places with the caller. */
static void place_workers(struct muster_pool *pool, uint32_t processor) {
  uint32_t next = 0;
  for (uint32_t i = 1; i < pool->workers; i++) {
    seat *seat = &pool->seats[i];
    if (pool->caller_processor != UINT32_MAX) {
      if (load_relaxed_u32(&seat->processor) == processor) place_worker(pool, seat, pool->caller_processor);
      continue;
    }
    if (pool->processors[next] == processor) next++;
    place_worker(pool, seat, pool->processors[next++]);
  }
  pool->caller_processor = processor;
}

static bool is_own_processor(const struct muster_pool *pool, uint32_t processor) {
  for (uint32_t i = 0; i < pool->processor_count; i++)
    if (pool->processors[i] == processor) return true;
  return false;
}

static bool keeps_apart(const struct muster_pool *pool) {
  return pool->def.affinity == MUSTER_AFFINITY_APART && pool->workers > 1 && pool->workers <= pool->processor_count;
}

static void make_room(struct muster_pool *pool, uint32_t processor) {
  uint32_t idle = 0;
  if (!is_own_processor(pool, processor)) return;
  /* Ordered: caller_processor and placed_ns belong to whoever holds `placing`. */
  if (!compare_exchange_ordered_u32(&pool->placing, &idle, 1)) return;
  uint64_t now_ns = clock_now(&pool->clock);
  if (processor != pool->caller_processor &&
      (pool->caller_processor == UINT32_MAX || now_ns - pool->placed_ns > between_moves_ns)) {
    place_workers(pool, processor);
    pool->placed_ns = now_ns;
  }
  store_ordered_u32(&pool->placing, 0);
}

void threads_keep_apart(struct muster_pool *pool, uint32_t index) {
  if (!keeps_apart(pool) || index == 0 || index >= pool->workers) return;
  int processor = sched_getcpu();
  if (processor >= 0 && load_relaxed_u32(&pool->seats[index].processor) == (uint32_t)processor)
    make_room(pool, (uint32_t)processor);
}

void threads_keep_all_apart(struct muster_pool *pool) {
  if (!keeps_apart(pool)) return;
  int processor = sched_getcpu();
  if (processor < 0) return;
  bool crowded = pool->caller_processor == UINT32_MAX;
  for (uint32_t i = 1; i < pool->workers && !crowded; i++)
    crowded = load_relaxed_u32(&pool->seats[i].processor) == (uint32_t)processor;
  if (crowded) make_room(pool, (uint32_t)processor);
}

/* ------------------------------------------------------------------------------------------------------ threads */

static void *worker_main(void *argument) {
  MUST_RETURN(leaving_job);
  seat *seat = argument;
  const muster_pool_def *def = &seat->pool->def;
  visit visit;
  visit_settle(&visit, seat);
  if (def->on_worker_start) def->on_worker_start(seat->index, def->hook_user);
  worker_run(seat);
  if (def->on_worker_stop) def->on_worker_stop(seat->index, def->hook_user);
  visit_end(&visit);
  return NULL;
}

static void *blocking_main(void *argument) {
  seat *seat = argument;
  visit visit;
  visit_settle(&visit, seat);
  blocking_run(seat);
  visit_end(&visit);
  return NULL;
}

/* A thread may be started from a worker that is bound to a processor: it gets all of them. */
static bool create_thread(struct muster_pool *pool, uint32_t index, void *(*run)(void *)) {
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

static bool start(struct muster_pool *pool, uint32_t index, void *(*run)(void *), const char *suffix) {
  char name[32];
  if (!create_thread(pool, index, run)) return false;
  snprintf(name, sizeof name, "%.10s%s%u", pool->name, suffix, index % 1000);
  pthread_setname_np(pool->threads[index], name);
  return true;
}

bool threads_start(struct muster_pool *pool) {
  for (uint32_t i = 1; i < pool->workers; i++) {
    if (start(pool, i, worker_main, "-")) {
      pool->threads_started = i;
      continue;
    }
    error_set(MUSTER_E_SYSTEM, "the operating system refused to start worker %u of %u", i, pool->workers - 1);
    return false;
  }
  return true;
}

bool threads_start_blocking(struct muster_pool *pool, uint32_t number) {
  return start(pool, pool_first_blocking(pool) + number, blocking_main, "-b");
}

void threads_join(struct muster_pool *pool) {
  uint32_t first = pool_first_blocking(pool), blocking = load_ordered_u32(&pool->blocking_started);
  for (uint32_t i = 1; i <= pool->threads_started; i++) pthread_join(pool->threads[i], NULL);
  for (uint32_t i = 0; i < blocking; i++) pthread_join(pool->threads[first + i], NULL);
}

void threads_yield(void) {
  sched_yield();
}

void threads_pause(void) {
  nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}
