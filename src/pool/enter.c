/* enter.c - how a thread gets a seat; see pool.h. */
#include "pool/threads.h"

static _Thread_local struct pool_entry *entered_latest; /* the thread's visits, the latest first */

struct seat *pool_own_seat(const struct muster_pool *pool) {
  for (const struct pool_entry *entered = entered_latest; entered; entered = entered->outer)
    if (entered->pool == pool) return entered->seat;
  return NULL;
}

/* The lowest free guest seat, so that a caller that is alone has index 0; null when all are taken. */
static struct seat *take_guest_seat(struct muster_pool *pool) {
  uint64_t free_guests = load_ordered_u64(&pool->free_guests);
  while (free_guests) {
    uint64_t bit = free_guests & -free_guests;
    /* Ordered: pairs with the return of the seat; the seat's fields belong to its holder. */
    if (compare_exchange_ordered_u64(&pool->free_guests, &free_guests, free_guests & ~bit))
      return &pool->seats[pool_guest_index(pool, (uint32_t)__builtin_ctzll(bit))];
  }
  return NULL;
}

static void return_guest_seat(struct muster_pool *pool, const struct seat *seat) {
  uint32_t guest = seat->index == 0 ? 0 : seat->index - pool->workers + 1;
  fetch_or_ordered_u64(&pool->free_guests, 1ull << guest);
}

static struct seat *enter_at(struct pool_entry *entered, struct muster_pool *pool, struct seat *seat, bool guest) {
  *entered = (struct pool_entry){pool, seat, entered_latest, guest};
  entered_latest = entered;
  return seat;
}

struct seat *pool_try_enter(struct pool_entry *entered, struct muster_pool *pool) {
  struct seat *own = pool_own_seat(pool), *seat = own ? own : take_guest_seat(pool);
  return seat ? enter_at(entered, pool, seat, !own) : NULL;
}

struct seat *pool_enter_unless(struct pool_entry *entered, struct muster_pool *pool, const struct group *group) {
  for (;;) {
    if (group && group_is_complete(group)) return NULL;
    struct seat *seat = pool_try_enter(entered, pool);
    if (seat) return seat;
    threads_pause();
  }
}

struct seat *pool_enter(struct pool_entry *entered, struct muster_pool *pool) {
  return pool_enter_unless(entered, pool, NULL);
}

void pool_enter_for_life(struct pool_entry *entered, struct seat *seat) {
  enter_at(entered, seat->pool, seat, false);
}

void pool_leave(struct pool_entry *entered) {
  entered_latest = entered->outer;
  if (entered->guest) return_guest_seat(entered->pool, entered->seat);
}

uint32_t pool_index_of(const struct seat *seat) {
  return seat->index;
}
