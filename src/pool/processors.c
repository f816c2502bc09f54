/* processors.c - which processors the workers sit on, and how a thread gives its processor up for a while. */
#include "base/cgroups.h"
#include "base/error.h"
#include "base/forked.h"
#include "pool/threads.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
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

static uint32_t count_online(void) {
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (uint32_t)online : 1;
}

/* So many of them as the quotas of the control groups allow; at least 1. */
static uint32_t within_quota(uint32_t processors) {
  uint32_t quota = cgroups_processors("");
  if (quota < processors) processors = quota;
  return processors ? processors : 1;
}

uint32_t muster_available_processors(void) {
  uint32_t processors = list_processors(NULL, UINT32_MAX);
  return within_quota(processors ? processors : count_online());
}

uint32_t threads_most(uint32_t asked) {
  uint32_t online = count_online(), available = muster_available_processors();
  uint32_t most = asked ? asked : online > available ? online : available;
  return most < MUSTER_WORKERS_MAX ? most : MUSTER_WORKERS_MAX;
}

bool threads_survey(struct muster_pool *pool) {
  uint32_t processors = list_processors(NULL, UINT32_MAX), online = count_online();
  pool->processor_room = processors > online ? processors : online;
  ARENA_ARRAY(&pool->arena, pool->processors, pool->processor_room);
  if (!pool->processors) return false;
  store_relaxed_u32(&pool->processor_count, list_processors(pool->processors, pool->processor_room));
  pool->caller_processor = UINT32_MAX;
  if (sched_getaffinity(0, sizeof pool->seen, &pool->seen)) pool->follows = false;
  store_relaxed_u64(&pool->looked_ns, clock_now(&pool->clock));
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
  for (uint32_t i = 1; i < threads_count(pool); i++) {
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
  for (uint32_t i = 0; i < load_relaxed_u32(&pool->processor_count); i++)
    if (pool->processors[i] == processor) return true;
  return false;
}

static bool keeps_apart(const struct muster_pool *pool) {
  return pool->def.affinity == MUSTER_AFFINITY_APART && threads_count(pool) > 1 &&
         threads_count(pool) <= load_relaxed_u32(&pool->processor_count) && !load_relaxed_u32(&pool->placed_by_others);
}

/* Whether all threads of the process have no more processors than the caller, and some that are no workers are among
 * them: as `taskset -a` leaves them. A worker may have had this processor for its own anyway. Where only the caller has
 * so few, its host has placed it. */
static bool are_confined(const struct muster_pool *pool) {
  cpu_set_t callers;
  bool lacks = false, confined = true;
  uint32_t alike = 0;
  if (sched_getaffinity(0, sizeof callers, &callers)) return false;
  for (uint32_t k = 0; k < load_relaxed_u32(&pool->processor_count); k++)
    lacks |= !CPU_ISSET(pool->processors[k], &callers);
  DIR *threads = lacks ? opendir("/proc/self/task") : NULL;
  if (!threads) return false;
  for (const struct dirent *entry; confined && (entry = readdir(threads)) != NULL;) {
    cpu_set_t set, both;
    pid_t thread = atoi(entry->d_name);
    if (thread <= 0 || thread == gettid() || sched_getaffinity(thread, sizeof set, &set)) continue;
    CPU_OR(&both, &set, &callers);
    confined = CPU_EQUAL(&both, &callers);
    alike += CPU_EQUAL(&set, &callers);
  }
  closedir(threads);
  return confined && alike >= threads_count(pool); /* the workers but the caller, and one thread at least */
}

/* Whether somebody else, an operator or the kernel for a control group, has given a worker other processors than it was
 * given here. Then these hold: a processor that was taken away is never taken back. */
static bool was_placed_by_others(const struct muster_pool *pool) {
  for (uint32_t i = 1; i < threads_count(pool); i++) {
    uint32_t processor = load_relaxed_u32(&pool->slots[i].processor);
    cpu_set_t own, now;
    CPU_ZERO(&own);
    for (uint32_t k = 0; k < load_relaxed_u32(&pool->processor_count); k++)
      if (processor == UINT32_MAX || processor == pool->processors[k]) CPU_SET(pool->processors[k], &own);
    if (pthread_getaffinity_np(pool->threads[i], sizeof now, &now) || !CPU_EQUAL(&own, &now)) return true;
  }
  return are_confined(pool);
}

static void processors_make_room(struct muster_pool *pool, uint32_t processor) {
  uint32_t idle = 0;
  if (forked_since(pool->process)) return; /* the threads are the parent's */
  /* Ordered: caller_processor and placed_ns belong to the thread that holds `placing`. */
  if (!compare_exchange_ordered_u32(&pool->placing, &idle, 1)) return;
  uint64_t now_ns = clock_now(&pool->clock);
  if (is_own_processor(pool, processor) && processor != pool->caller_processor &&
      (pool->caller_processor == UINT32_MAX || now_ns - pool->placed_ns > between_moves_ns)) {
    if (was_placed_by_others(pool)) {
      store_relaxed_u32(&pool->placed_by_others, 1);
      log_write(&pool->def.log, MUSTER_LOG_INFO, "pool '%s': others have placed its threads: they stay there",
                pool->name);
    } else {
      place_workers(pool, processor);
    }
    pool->placed_ns = now_ns;
  }
  store_ordered_u32(&pool->placing, 0);
}

void threads_keep_apart(struct muster_pool *pool, uint32_t index) {
  if (!keeps_apart(pool) || index == 0 || index >= threads_count(pool)) return;
  int processor = sched_getcpu();
  if (processor >= 0 && load_relaxed_u32(&pool->slots[index].processor) == (uint32_t)processor)
    processors_make_room(pool, (uint32_t)processor);
}

void threads_keep_all_apart(struct muster_pool *pool) {
  if (!keeps_apart(pool)) return;
  int processor = sched_getcpu();
  if (processor < 0) return;
  bool crowded = pool->caller_processor == UINT32_MAX;
  for (uint32_t i = 1; i < threads_count(pool) && !crowded; i++)
    crowded = load_relaxed_u32(&pool->slots[i].processor) == (uint32_t)processor;
  if (crowded) processors_make_room(pool, (uint32_t)processor);
}

/* ------------------------------------------------------------------------------------- processors that come and go */

/* All processors that some thread of the process may run on. Those of one thread are no evidence: a host binds threads,
 * and the pool binds workers. */
static bool find_processors(cpu_set_t *all) {
  CPU_ZERO(all);
  DIR *threads = opendir("/proc/self/task");
  if (!threads) return false;
  for (const struct dirent *entry; (entry = readdir(threads)) != NULL;) {
    cpu_set_t set;
    pid_t thread = atoi(entry->d_name);
    if (thread > 0 && !sched_getaffinity(thread, sizeof set, &set)) CPU_OR(all, all, &set);
  }
  closedir(threads);
  return CPU_COUNT(all) > 0;
}

/* Some have come: these are the pool's now, and not those that have gone meanwhile. Workers whose places are those that
 * the pool gave them may run anywhere, until they are placed anew. */
static void take_in_processors(struct muster_pool *pool, const cpu_set_t *all) {
  uint32_t count = 0;
  if (was_placed_by_others(pool)) store_relaxed_u32(&pool->placed_by_others, 1);
  for (uint32_t i = 0; i < CPU_SETSIZE && count < pool->processor_room; i++)
    if (CPU_ISSET(i, all)) pool->processors[count++] = i;
  store_relaxed_u32(&pool->processor_count, count);
  if (load_relaxed_u32(&pool->placed_by_others)) return;
  for (uint32_t i = 1; i < threads_count(pool); i++) {
    pthread_setaffinity_np(pool->threads[i], sizeof *all, all);
    store_relaxed_u32(&pool->slots[i].processor, UINT32_MAX);
  }
  pool->caller_processor = UINT32_MAX;
}

static bool has_come(const struct muster_pool *pool, const cpu_set_t *all) {
  uint32_t known = 0;
  for (uint32_t k = 0; k < load_relaxed_u32(&pool->processor_count); k++)
    known += CPU_ISSET(pool->processors[k], all) != 0;
  return (uint32_t)CPU_COUNT(all) > known;
}

bool processors_look(struct muster_pool *pool, uint32_t *workers) {
  cpu_set_t seen, all;
  if (sched_getaffinity(0, sizeof seen, &seen) || CPU_EQUAL(&seen, &pool->seen) || !find_processors(&all)) return false;
  pool->seen = seen;
  *workers = within_quota((uint32_t)CPU_COUNT(&all));
  if (*workers > pool->workers) *workers = pool->workers;
  if (has_come(pool, &all)) take_in_processors(pool, &all);
  return true;
}

/* ------------------------------------------------------------------------------------------------------- giving up */

void threads_pause(void) {
  nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}
