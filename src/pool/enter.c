/* enter.c - how a thread gets a worker slot; see pool.h. */
#include "pool/threads.h"

static _Thread_local struct pool_entry *entered_latest; /* the thread's entries, the latest first */

struct worker_slot *pool_own_slot(const struct muster_pool *pool) {
  for (const struct pool_entry *entered = entered_latest; entered; entered = entered->outer)
    if (entered->pool == pool) return entered->slot;
  return NULL;
}

/* The lowest free worker slot for external threads, so that a caller that is alone has index 0; null when all are
 * taken. */
static struct worker_slot *take_external_slot(struct muster_pool *pool) {
  uint64_t free_external = load_ordered_u64(&pool->free_external);
  while (free_external) {
    uint64_t bit = free_external & -free_external;
    /* Ordered: pairs with the return of the slot, whose fields belong to its holder. */
    if (compare_exchange_ordered_u64(&pool->free_external, &free_external, free_external & ~bit))
      return &pool->slots[pool_external_index(pool, (uint32_t)__builtin_ctzll(bit))];
  }
  return NULL;
}

static void return_external_slot(struct muster_pool *pool, const struct worker_slot *slot) {
  uint32_t external = slot->index == 0 ? 0 : slot->index - pool->workers + 1;
  fetch_or_ordered_u64(&pool->free_external, 1ull << external);
}

static struct worker_slot *enter_at(struct pool_entry *entered, struct muster_pool *pool, struct worker_slot *slot,
                                    bool external) {
  *entered = (struct pool_entry){pool, slot, entered_latest, external};
  entered_latest = entered;
  return slot;
}

struct worker_slot *pool_try_enter(struct pool_entry *entered, struct muster_pool *pool) {
  struct worker_slot *own = pool_own_slot(pool), *slot = own ? own : take_external_slot(pool);
  return slot ? enter_at(entered, pool, slot, !own) : NULL;
}

struct worker_slot *pool_enter_unless(struct pool_entry *entered, struct muster_pool *pool, const struct group *group) {
  for (;;) {
    if (group && group_is_complete(group)) return NULL;
    struct worker_slot *slot = pool_try_enter(entered, pool);
    if (slot) return slot;
    threads_pause();
  }
}

struct worker_slot *pool_enter(struct pool_entry *entered, struct muster_pool *pool) {
  return pool_enter_unless(entered, pool, NULL);
}

void pool_enter_for_life(struct pool_entry *entered, struct worker_slot *slot) {
  enter_at(entered, slot->pool, slot, false);
}

void pool_leave(struct pool_entry *entered) {
  entered_latest = entered->outer;
  if (entered->external) return_external_slot(entered->pool, entered->slot);
}

pool_place pool_place_now(void) {
  return (pool_place){entered_latest, entered_latest ? entered_latest->slot->running : NULL};
}

uint32_t pool_index_of(const struct worker_slot *slot) {
  return slot->index;
}
