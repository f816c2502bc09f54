/* visit.c - how a thread gets a seat; see pool.h. */
#include "pool/threads.h"

static _Thread_local visit *visits; /* the latest */

uint64_t visit_thread(void) {
  return (uint64_t)(uintptr_t)&visits;
}

seat *visit_seat(const struct muster_pool *pool) {
  for (const visit *visit = visits; visit; visit = visit->outer)
    if (visit->pool == pool) return visit->seat;
  return NULL;
}

/* The lowest free guest seat, so that a caller that is alone has index 0; null when all are taken. The last one is kept
 * for the main thread: others may wait for what only that can do. */
static seat *take_guest_seat(struct muster_pool *pool) {
  uint64_t mine = pool_all_guests(pool);
  if (load_relaxed_u64(&pool->main_thread) != visit_thread()) mine >>= 1;
  uint64_t free_guests = load_ordered_u64(&pool->free_guests);
  while (free_guests & mine) {
    uint64_t bit = free_guests & mine & -(free_guests & mine);
    /* Ordered: pairs with the return of the seat, whose fields belong to its holder. */
    if (compare_exchange_ordered_u64(&pool->free_guests, &free_guests, free_guests & ~bit))
      return &pool->seats[pool_guest_index(pool, (uint32_t)__builtin_ctzll(bit))];
  }
  return NULL;
}

static void return_guest_seat(struct muster_pool *pool, const seat *seat) {
  uint32_t guest = seat->index == 0 ? 0 : seat->index - pool->workers + 1;
  fetch_or_ordered_u64(&pool->free_guests, 1ull << guest);
}

static seat *sit_down(visit *visit, struct muster_pool *pool, seat *seat, bool guest) {
  *visit = (struct visit){pool, seat, visits, guest};
  visits = visit;
  return seat;
}

seat *visit_try(visit *visit, struct muster_pool *pool) {
  seat *own = visit_seat(pool), *seat = own ? own : take_guest_seat(pool);
  return seat ? sit_down(visit, pool, seat, !own) : NULL;
}

seat *visit_begin_unless(visit *visit, struct muster_pool *pool, const group *group) {
  for (;;) {
    if (group && group_is_complete(group)) return NULL;
    seat *seat = visit_try(visit, pool);
    if (seat) return seat;
    threads_pause();
  }
}

seat *visit_begin(visit *visit, struct muster_pool *pool) {
  return visit_begin_unless(visit, pool, NULL);
}

void visit_settle(visit *visit, seat *seat) {
  sit_down(visit, seat->pool, seat, false);
}

void visit_end(visit *visit) {
  visits = visit->outer;
  if (visit->guest) return_guest_seat(visit->pool, visit->seat);
}

uint32_t visit_index(const seat *seat) {
  return seat->index;
}
