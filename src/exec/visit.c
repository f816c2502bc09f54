#include "exec/visit.h"

static _Thread_local visit *visits; /* the latest */

uint64_t visit_thread(void) {
  return (uint64_t)(uintptr_t)&visits;
}

seat *visit_seat(const struct muster_pool *pool) {
  for (const visit *visit = visits; visit; visit = visit->outer)
    if (visit->pool == pool) return visit->seat;
  return NULL;
}

/* The lowest free guest seat, so that a caller that is alone has index 0. */
static seat *take_guest_seat(struct muster_pool *pool) {
  for (;;) {
    uint32_t ticket = park_ticket(&pool->guests_left);
    uint64_t free_guests = load_ordered_u64(&pool->free_guests);
    while (free_guests) {
      uint32_t guest = (uint32_t)__builtin_ctzll(free_guests);
      /* Ordered: pairs with the return of the seat, whose fields belong to its holder. */
      if (compare_exchange_ordered_u64(&pool->free_guests, &free_guests, free_guests & (free_guests - 1)))
        return &pool->seats[pool_guest_index(pool, guest)];
    }
    park_wait(&pool->guests_left, ticket);
  }
}

static void return_guest_seat(struct muster_pool *pool, const seat *seat) {
  uint32_t guest = seat->index == 0 ? 0 : seat->index - pool->workers + 1;
  fetch_or_ordered_u64(&pool->free_guests, 1ull << guest);
  park_wake(&pool->guests_left);
}

static seat *sit_down(visit *visit, struct muster_pool *pool, seat *seat, bool guest) {
  *visit = (struct visit){pool, seat, visits, guest};
  visits = visit;
  return seat;
}

seat *visit_begin(visit *visit, struct muster_pool *pool) {
  seat *seat = visit_seat(pool);
  return seat ? sit_down(visit, pool, seat, false) : sit_down(visit, pool, take_guest_seat(pool), true);
}

void visit_settle(visit *visit, seat *seat) {
  sit_down(visit, seat->pool, seat, false);
}

void visit_end(visit *visit) {
  visits = visit->outer;
  if (visit->guest) return_guest_seat(visit->pool, visit->seat);
}
