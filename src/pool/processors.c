/* processors.c - which processors the workers sit on, and how a thread gives its processor up for a while. */
#include "base/cgroups.h"
#include "pool/threads.h"

#include <sched.h>
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

uint32_t muster_available_processors(void) {
  uint32_t processors = list_processors(NULL, UINT32_MAX), quota = cgroups_processors("");
  if (!processors) processors = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
  if (quota < processors) processors = quota;
  return processors ? processors : 1;
}

bool threads_survey(struct muster_pool *pool) {
  uint32_t processors = list_processors(NULL, UINT32_MAX);
  ARENA_ARRAY(&pool->arena, pool->processors, processors ? processors : 1);
  if (!pool->processors) return false;
  pool->processor_count = list_processors(pool->processors, processors);
  pool->caller_processor = UINT32_MAX;
  return true;
}

/* ----------------------------------------------------------------------------------------------------- affinity */

static bool place_worker(const struct muster_pool *pool, struct worker_slot *slot, uint32_t processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  if (pthread_setaffinity_np(pool->threads[slot->index], sizeof set, &set)) return false;
  store_relaxed_u32(&slot->processor, processor);
  return true;
}

/* Spreads the workers over all processors but the caller's, the first time; afterwards only a worker that is on the
 * caller's processor changes places with the caller. */
static void place_workers(struct muster_pool *pool, uint32_t processor) {
  uint32_t next = 0;
  for (uint32_t i = 1; i < pool->workers; i++) {
    struct worker_slot *slot = &pool->slots[i];
    if (pool->caller_processor != UINT32_MAX) {
      if (load_relaxed_u32(&slot->processor) == processor) place_worker(pool, slot, pool->caller_processor);
      continue;
    }
    if (pool->processors[next] == processor) next++;
    place_worker(pool, slot, pool->processors[next++]);
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

static void processors_make_room(struct muster_pool *pool, uint32_t processor) {
  uint32_t idle = 0;
  if (!is_own_processor(pool, processor)) return;
  /* Ordered: caller_processor and placed_ns belong to the thread that holds `placing`. */
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
  if (processor >= 0 && load_relaxed_u32(&pool->slots[index].processor) == (uint32_t)processor)
    processors_make_room(pool, (uint32_t)processor);
}

void threads_keep_all_apart(struct muster_pool *pool) {
  if (!keeps_apart(pool)) return;
  int processor = sched_getcpu();
  if (processor < 0) return;
  bool crowded = pool->caller_processor == UINT32_MAX;
  for (uint32_t i = 1; i < pool->workers && !crowded; i++)
    crowded = load_relaxed_u32(&pool->slots[i].processor) == (uint32_t)processor;
  if (crowded) processors_make_room(pool, (uint32_t)processor);
}

/* ------------------------------------------------------------------------------------------------------- giving up */

void threads_pause(void) {
  nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}
