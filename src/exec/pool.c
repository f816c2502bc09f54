#include "exec/pool.h"

#include "base/assert.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t gate_open = 1ull << 32;
static const uint64_t gate_inside = 0xffffffffu;

static uint64_t gate_session(uint64_t gate) {
  return gate >> 33;
}

/* Enters an open crew that this worker has not been in, works, leaves. False when there was none. */
static bool serve_crews(pool_worker *worker) {
  struct muster_pool *pool = worker->pool;
  for (uint32_t i = 0; i < CREWS_MAX; i++) {
    crew *crew = &pool->crews[i];
    uint64_t gate = load_relaxed_u64(&crew->gate);
    while ((gate & gate_open) && gate_session(gate) != worker->sessions[i]) {
      /* Acquire: pairs with the release that opened the gate; work, argument and all they point to are visible. */
      if (!compare_exchange_acquire_u64(&crew->gate, &gate, gate + 1)) continue;
      worker->sessions[i] = gate_session(gate);
      crew->orders.work(crew->orders.argument, worker->index);
      /* Release: pairs with the caller's acquire when it sees nobody inside. */
      uint64_t before = fetch_sub_release_u64(&crew->gate, 1);
      if ((before & gate_inside) == 1 && !(before & gate_open)) park_wake(&crew->left);
      return true;
    }
  }
  return false;
}

/* Looks again for SPIN_NS. True when there is something to look at. */
static bool spin_for_work(const pool_worker *worker, uint32_t ticket) {
  const clock_source *clock = &worker->pool->clock;
  uint64_t end = clock_now(clock) + SPIN_NS;
  do {
    for (int i = 0; i < 32; i++) {
      if (park_is_stale(&worker->parking, ticket)) return true;
      pause_processor();
    }
  } while (clock_now(clock) < end);
  return false;
}

static void *worker_main(void *argument) {
  pool_worker *worker = argument;
  const muster_pool_def *def = &worker->pool->def;
  if (def->on_worker_start) def->on_worker_start(worker->index, def->hook_user);
  for (;;) {
    uint32_t ticket = park_ticket(&worker->parking);
    if (load_acquire_u32(&worker->pool->stopping)) break;
    if (serve_crews(worker) || spin_for_work(worker, ticket)) continue;
    park_wait(&worker->parking, ticket);
  }
  if (def->on_worker_stop) def->on_worker_stop(worker->index, def->hook_user);
  return NULL;
}

void pool_wake(struct muster_pool *pool) {
  for (uint32_t i = 1; i < pool->workers; i++) park_wake(&pool->threads[i].parking);
}

static crew *take_crew(struct muster_pool *pool) {
  for (uint32_t i = 0; i < CREWS_MAX; i++) {
    uint64_t gate = load_relaxed_u64(&pool->crews[i].gate);
    /* Free = not open, nobody inside, an even session. Claiming makes it odd. Acquire: pairs with the release that
     * freed it. */
    while (!(gate & gate_open) && !(gate & gate_inside) && !(gate_session(gate) & 1))
      if (compare_exchange_acquire_u64(&pool->crews[i].gate, &gate, gate + (1ull << 33))) return &pool->crews[i];
  }
  return NULL;
}

static void wait_until_empty(struct muster_pool *pool, crew *crew) {
  const crew_orders *orders = &crew->orders;
  uint64_t end_ns = clock_now(&pool->clock) + SPIN_NS;
  if (orders->patience_ns < end_ns) end_ns = orders->patience_ns;
  for (;;) {
    uint32_t ticket = park_ticket(&crew->left);
    /* Acquire: pairs with the release of each worker that left. */
    while (load_acquire_u64(&crew->gate) & gate_inside) {
      if (clock_now(&pool->clock) >= end_ns) break;
      pause_processor();
    }
    if (!(load_acquire_u64(&crew->gate) & gate_inside)) return;
    if (orders->before_sleep) orders->before_sleep(orders->argument);
    park_wait(&crew->left, ticket);
  }
}

crew *pool_open(struct muster_pool *pool, const crew_orders *orders) {
  crew *crew = pool->workers > 1 ? take_crew(pool) : NULL;
  if (!crew) return NULL;
  crew->orders = *orders;
  uint64_t session = gate_session(load_relaxed_u64(&crew->gate));
  store_release_u64(&crew->gate, session << 33 | gate_open);
  pool_wake(pool);
  return crew;
}

void pool_close(crew *crew) {
  fetch_and_acquire_u64(&crew->gate, ~gate_open);
}

void pool_wait(struct muster_pool *pool, crew *crew) {
  wait_until_empty(pool, crew);
  /* The next, even session marks the crew free. Release: pairs with the acquire in take_crew. */
  uint64_t session = gate_session(load_relaxed_u64(&crew->gate));
  store_release_u64(&crew->gate, (session + 1) << 33);
}

void pool_run(struct muster_pool *pool, const crew_orders *orders) {
  crew *crew = pool_open(pool, orders);
  orders->work(orders->argument, 0);
  if (!crew) return;
  pool_close(crew);
  pool_wait(pool, crew);
}

static bool place_worker(pool_worker *worker, uint32_t processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  if (pthread_setaffinity_np(worker->thread, sizeof set, &set)) return false;
  worker->processor = processor;
  return true;
}

/* Spreads the workers over all processors but the caller's, the first time; afterwards only a worker that is on the
 * caller's processor changes places with the caller. */
static void place_workers(struct muster_pool *pool, uint32_t processor) {
  uint32_t next = 0;
  for (uint32_t i = 1; i < pool->workers; i++) {
    pool_worker *worker = &pool->threads[i];
    if (pool->caller_processor != UINT32_MAX) {
      if (worker->processor == processor) place_worker(worker, pool->caller_processor);
      continue;
    }
    if (pool->processors[next] == processor) next++;
    place_worker(worker, pool->processors[next++]);
  }
  pool->caller_processor = processor;
}

static bool is_own_processor(const struct muster_pool *pool, uint32_t processor) {
  for (uint32_t i = 0; i < pool->processor_count; i++)
    if (pool->processors[i] == processor) return true;
  return false;
}

void pool_keep_apart(struct muster_pool *pool) {
  if (pool->def.affinity != MUSTER_AFFINITY_APART || pool->workers < 2 || pool->workers > pool->processor_count) return;
  int processor = sched_getcpu();
  if (processor < 0 || !is_own_processor(pool, (uint32_t)processor)) return;
  uint32_t idle = 0;
  /* Acquire and release: caller_processor and the workers' processors belong to whoever holds `placing`. */
  if (exchange_acquire_u32(&pool->placing, 1) != idle) return;
  if ((uint32_t)processor != pool->caller_processor) place_workers(pool, (uint32_t)processor);
  store_release_u32(&pool->placing, 0);
}

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

static bool start_threads(struct muster_pool *pool) {
  for (uint32_t i = 1; i < pool->workers; i++) {
    pool_worker *worker = &pool->threads[i];
    char name[16];
    *worker = (pool_worker){.pool = pool, .index = i, .processor = UINT32_MAX};
    if (pthread_create(&worker->thread, NULL, worker_main, worker)) {
      error_set(MUSTER_E_SYSTEM, "the operating system refused to start worker %u of %u", i, pool->workers - 1);
      pool->workers = i;
      return false;
    }
    snprintf(name, sizeof name, "muster-%u", i % 1000);
    pthread_setname_np(worker->thread, name);
  }
  return true;
}

static bool prepare(struct muster_pool *pool, const muster_pool_def *def) {
  uint32_t processors = list_processors(NULL, UINT32_MAX);
  pool->def = *def;
  pool->workers = def->workers ? def->workers : muster_available_processors();
  if (pool->workers > MUSTER_WORKERS_MAX) pool->workers = MUSTER_WORKERS_MAX;
  pool->caller_processor = UINT32_MAX;
  pool->threads = arena_reserve(&pool->arena, pool->workers, sizeof *pool->threads);
  pool->processors = arena_reserve(&pool->arena, processors ? processors : 1, sizeof *pool->processors);
  if (pool->arena.failed) {
    pool->workers = 1; /* no thread to join */
    return false;
  }
  pool->processor_count = list_processors(pool->processors, processors);
  pool->clock = clock_calibrate();
  return true;
}

muster_pool *muster_pool_create(const muster_pool_def *given) {
  if (!given || given->size == 0) {
    error_set(MUSTER_E_NOT_INITIALISED, "the pool definition was not set by muster_default_pool_def()");
    return NULL;
  }
  muster_pool_def def = muster_default_pool_def();
  memcpy(&def, given, given->size < sizeof def ? given->size : sizeof def);
  if (def.workers > MUSTER_WORKERS_MAX || (unsigned)def.affinity > MUSTER_AFFINITY_NONE) {
    error_set(MUSTER_E_ARGUMENT, "pool: workers %u must be 0..%u and affinity %d known", def.workers,
              MUSTER_WORKERS_MAX, (int)def.affinity);
    return NULL;
  }
  arena arena;
  if (arena_create(&arena, &def.allocator)) return NULL;
  struct muster_pool *pool = arena_reserve(&arena, 1, sizeof *pool);
  if (!pool) {
    arena_destroy(&arena);
    return NULL;
  }
  pool->arena = arena;
  if (!prepare(pool, &def) || !start_threads(pool)) {
    muster_pool_destroy(pool);
    return NULL;
  }
  if (pool->workers > pool->processor_count)
    log_write(&def.log, MUSTER_LOG_INFO, "pool: %u workers share %u processors", pool->workers, pool->processor_count);
  return pool;
}

void muster_pool_destroy(muster_pool *pool) {
  if (!pool) return;
  /* Release: pairs with the acquire in worker_main; the wake makes a sleeper look. */
  store_release_u32(&pool->stopping, 1);
  if (pool->threads) {
    pool_wake(pool);
    for (uint32_t i = 1; i < pool->workers; i++) pthread_join(pool->threads[i].thread, NULL);
  }
  arena arena = pool->arena;
  arena_destroy(&arena);
}

uint32_t muster_pool_workers(const muster_pool *pool) {
  return pool->workers;
}
