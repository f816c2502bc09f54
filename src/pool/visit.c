/* visit.c - how a thread gets a seat; see pool.h. */
#include "pool/threads.h"

static _Thread_local struct visit *visits; /* the thread's visits, the latest first */

uint64_t visit_thread(void) {
  return (uint64_t)(uintptr_t)&visits;
}

struct seat *visit_seat(const struct muster_pool *pool) {
  for (const struct visit *visit = visits; visit; visit = visit->outer)
    if (visit->pool == pool) return visit->seat;
  return NULL;
}

/* The lowest free guest seat, so that a caller that is alone has index 0; null when all are taken. The last one is kept
 * for the main thread: other threads may wait for jobs that only it can run. */
static struct seat *take_guest_seat(struct muster_pool *pool) {
  uint64_t mine = pool_all_guests(pool);
  if (load_relaxed_u64(&pool->main_thread) != visit_thread()) mine >>= 1;
  uint64_t free_guests = load_ordered_u64(&pool->free_guests);
  while (free_guests & mine) {
    uint64_t bit = free_guests & mine & -(free_guests & mine);
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

static struct seat *sit_down(struct visit *visit, struct muster_pool *pool, struct seat *seat, bool guest) {
  *visit = (struct visit){pool, seat, visits, guest};
  visits = visit;
  return seat;
}

struct seat *visit_try(struct visit *visit, struct muster_pool *pool) {
  struct seat *own = visit_seat(pool), *seat = own ? own : take_guest_seat(pool);
  return seat ? sit_down(visit, pool, seat, !own) : NULL;
}

struct seat *visit_begin_unless(struct visit *visit, struct muster_pool *pool, const struct group *group) {
  for (;;) {
    if (group && group_is_complete(group)) return NULL;
    struct seat *seat = visit_try(visit, pool);
    if (seat) return seat;
    threads_pause();
  }
}

struct seat *visit_begin(struct visit *visit, struct muster_pool *pool) {
  return visit_begin_unless(visit, pool, NULL);
}

void visit_settle(struct visit *visit, struct seat *seat) {
  sit_down(visit, seat->pool, seat, false);
}

void visit_end(struct visit *visit) {
  visits = visit->outer;
  if (visit->guest) return_guest_seat(visit->pool, visit->seat);
}

uint32_t visit_index(const struct seat *seat) {
  return seat->index;
}
