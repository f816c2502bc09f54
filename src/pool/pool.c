/* pool.c - creating, stopping and destroying a pool; which worlds and pools exist. */
#include "pool/inside.h"

#include "base/error.h"
#include "base/fatal.h"
#include "base/forked.h"
#include "base/sized.h"
#include "pool/threads.h"
#include "pool/worker.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------ which worlds and pools exist */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct living *first;

/* The link that points to an entry; the last link when none does. */
static struct living **find(const struct living *entry) {
  struct living **link = &first;
  while (*link && *link != entry) link = &(*link)->next;
  return link;
}

void living_add(struct living *entry) {
  pthread_mutex_lock(&lock);
  entry->next = first;
  first = entry;
  pthread_mutex_unlock(&lock);
}

bool living_take(struct living *entry) {
  pthread_mutex_lock(&lock);
  struct living **link = find(entry);
  bool found = *link != NULL;
  if (found) *link = entry->next;
  pthread_mutex_unlock(&lock);
  return found;
}

bool living_has(const struct living *entry) {
  pthread_mutex_lock(&lock);
  bool found = *find(entry) != NULL;
  pthread_mutex_unlock(&lock);
  return found;
}

bool pool_exists(const struct muster_pool *pool) {
  return living_has(&pool->living);
}

void pool_add_world(struct muster_pool *pool) {
  fetch_add_relaxed_u32(&pool->worlds, 1);
}

void pool_drop_world(struct muster_pool *pool) {
  fetch_sub_relaxed_u32(&pool->worlds, 1);
}

const clock_source *pool_clock(const struct muster_pool *pool) {
  return &pool->clock;
}

/* -------------------------------------------------------------------------------------------------------- creating */

static muster_result check(const muster_pool_def *def) {
  if (def->workers > MUSTER_WORKERS_MAX || (unsigned)def->affinity > MUSTER_AFFINITY_NONE)
    return error_set(MUSTER_E_ARGUMENT, "pool: workers %u must be 0..%u and affinity %d known", def->workers,
                     MUSTER_WORKERS_MAX, (int)def->affinity);
  if (def->jobs_max < 64 || def->jobs_max > 1u << 24)
    return error_set(MUSTER_E_ARGUMENT, "pool: jobs_max %u must be 64..16777216", def->jobs_max);
  if (def->external_max < 1 || def->external_max > MUSTER_EXTERNAL_MAX)
    return error_set(MUSTER_E_ARGUMENT, "pool: external_max %u must be 1..%u", def->external_max, MUSTER_EXTERNAL_MAX);
  return MUSTER_OK;
}

static void create_worker_slots(struct muster_pool *pool) {
  pool->slot_count = pool_external_index(pool, pool->def.external_max);
  ARENA_ARRAY(&pool->arena, pool->slots, pool->slot_count);
  ARENA_ARRAY(&pool->arena, pool->threads, pool->slot_count);
  if (pool->arena.failed) return;
  for (uint32_t i = 0; i < pool->slot_count; i++)
    pool->slots[i] = (struct worker_slot){
        .pool = pool, .index = i, .processor = {UINT32_MAX}, .job_ns = JOB_CLAIM_NS, .spin_ns = SPIN_NS};
  store_ordered_u64(&pool->free_external, pool_all_external(pool));
}

static bool pool_prepare(struct muster_pool *pool, const muster_pool_def *def) {
  pool->def = *def;
  snprintf(pool->name, sizeof pool->name, "%s", def->name ? def->name : "muster");
  pool->def.name = pool->name;
  pool->workers = threads_most(def->workers);
  pool->follows = !def->workers && pool->workers > 1;
  pool->def.jobs_max = round_up_to_power_of_two(def->jobs_max);
  create_worker_slots(pool);
  queue_create(&pool->queue, pool->def.jobs_max, &pool->arena);
  pool->clock = clock_calibrate();
  if (pool->arena.failed || !threads_survey(pool)) return false;
  pool->process = getpid();
  pool->prepared = true;
  return true;
}

muster_pool *muster_pool_create(const muster_pool_def *given) {
  muster_pool_def def = muster_pool_def_default();
  if (sized_read(SIZED(pool_def), given, &def) || check(&def)) return NULL;
  struct arena arena;
  if (arena_create(&arena, &def.allocator)) return NULL;
  struct muster_pool *pool = arena_reserve(&arena, 1, sizeof *pool);
  if (!pool) {
    arena_destroy(&arena);
    return NULL;
  }
  pool->arena = arena;
  living_add(&pool->living);
  uint32_t workers = def.workers ? def.workers : muster_available_processors();
  if (workers > MUSTER_WORKERS_MAX) workers = MUSTER_WORKERS_MAX;
  if (!pool_prepare(pool, &def) || !threads_start(pool, workers)) {
    muster_pool_destroy(pool);
    return NULL;
  }
  store_relaxed_u32(&pool->useful, workers);
  threads_keep_all_apart(pool);
  if (workers > load_relaxed_u32(&pool->processor_count))
    log_write(&def.log, MUSTER_LOG_INFO, "pool: %u workers share %u processors", workers,
              load_relaxed_u32(&pool->processor_count));
  return pool;
}

/* ---------------------------------------------------------------------------------------- stopping and destroying */

static void drop_all(struct muster_pool *pool) {
  for (uint32_t i = 0; i < MUSTER_URGENCIES; i++) worker_drop(pool, i);
}

uint64_t muster_pool_stop(muster_pool *pool) {
  if (!pool) return 0;
  if (pool_own_slot(pool)) {
    error_set(MUSTER_E_STATE, "pool stop: inside a job, a piece of a range or an update, which would wait for itself");
    return 0;
  }
  uint32_t working = 0;
  if (!compare_exchange_ordered_u32(&pool->stopping, &working, 1)) return 0;
  if (forked_since(pool->process)) return 0; /* nobody is here to be woken, joined or waited for */
  threads_start_no_more(pool);
  /* Ordered: a thread about to sleep looks at `stopping` after it drew the ticket that this wake makes stale. */
  for (uint32_t i = 0; i < pool->slot_count; i++) park_wake(&pool->slots[i].parking);
  /* Before the join: a job that runs may wait for one that has not started. */
  drop_all(pool);
  threads_join(pool);
  while (load_ordered_u64(&pool->free_external) != pool_all_external(pool)) threads_pause();
  drop_all(pool);
  return load_relaxed_u64(&pool->dropped);
}

/* No error would be safe here: a host that destroys a pool goes on as if it were gone. */
static void check_destroy(struct muster_pool *pool) {
  if (!living_take(&pool->living))
    fatal("muster_pool_destroy: %p is no pool: it was destroyed already, or is being destroyed", (const void *)pool);
  if (pool_own_slot(pool))
    fatal("muster_pool_destroy: inside a job, a piece of a range or an update that pool '%s' runs: it must return "
          "first",
          pool->name);
  uint32_t worlds = load_relaxed_u32(&pool->worlds);
  if (worlds) fatal("muster_pool_destroy: %u worlds use pool '%s': destroy them first", worlds, pool->name);
}

void muster_pool_destroy(muster_pool *pool) {
  if (!pool) return;
  check_destroy(pool);
  if (pool->prepared) muster_pool_stop(pool);
  struct arena arena = pool->arena;
  arena_destroy(&arena);
}
