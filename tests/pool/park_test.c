/* Sleeping and waking. A lost wake shows as a test that never ends. */
#include "pool/crowds.h"
#include "pool/park.h"

Test(park, a_wait_with_an_outdated_ticket_returns_at_once) {
  struct parking parking = {0};
  for (uint32_t i = 0; i < 1000; i++) {
    uint32_t ticket = park_ticket(&parking);
    cr_assert_not(park_is_stale(&parking, ticket));
    for (uint32_t wakes = 0; wakes <= i % 3; wakes++) park_wake(&parking);
    cr_assert(park_is_stale(&parking, ticket));
    park_wait(&parking, ticket);
  }
}

Test(park, every_wake_makes_another_ticket) {
  struct parking parking = {0};
  uint32_t last = park_ticket(&parking);
  for (uint32_t i = 0; i < 1000; i++) {
    park_wake(&parking);
    cr_assert_neq(park_ticket(&parking), last);
    last = park_ticket(&parking);
  }
}

enum { ROUNDS = 100000 };

/* Two threads that pass a number to and fro. The number itself is plain: the wake carries it. */
struct side {
  _Alignas(64) struct parking parking;
  shared_u32 arrived;
  uint64_t letter;
};

struct table {
  struct side ping, pong;
  uint64_t wrong;
};

static void send(struct side *to, uint32_t round, uint64_t letter) {
  to->letter = letter;
  store_release_u32(&to->arrived, round);
  park_wake(&to->parking);
}

static uint64_t receive(struct side *own, uint32_t round) {
  for (;;) {
    uint32_t ticket = park_ticket(&own->parking);
    if (load_acquire_u32(&own->arrived) == round) return own->letter;
    park_wait(&own->parking, ticket);
  }
}

/* Long enough, now and then, for the other side to fall asleep, and short enough to catch it falling. */
static void dawdle(uint32_t side, uint32_t round) {
  for (uint64_t pauses = random_at(1, side, 0, round) % 200; pauses > 0; pauses--) pause_processor();
}

static void *answer(void *argument) {
  struct table *table = argument;
  for (uint32_t round = 1; round <= ROUNDS; round++) {
    uint64_t letter = receive(&table->pong, round);
    dawdle(1, round);
    send(&table->ping, round, letter * 3 + 1);
  }
  return NULL;
}

Test(park, loses_no_wake_in_100000_ping_pongs) {
  static struct table table;
  pthread_t thread = start_thread(answer, &table);
  for (uint32_t round = 1; round <= ROUNDS; round++) {
    dawdle(0, round);
    send(&table.pong, round, round);
    table.wrong += receive(&table.ping, round) != (uint64_t)round * 3 + 1;
  }
  pthread_join(thread, NULL);
  cr_assert_eq(table.wrong, 0);
}

enum { WAKERS = 4, WAKES = 20000 };

struct bell {
  _Alignas(64) struct parking parking;
  _Alignas(64) shared_u64 rung;
};

static void *ring_the_bell(void *argument) {
  struct bell *bell = argument;
  for (uint32_t i = 0; i < WAKES; i++) {
    fetch_add_relaxed_u64(&bell->rung, 1);
    park_wake(&bell->parking);
  }
  return NULL;
}

Test(park, a_waiter_hears_the_last_of_many_wakers) {
  static struct bell bell;
  pthread_t threads[WAKERS];
  start_threads(threads, WAKERS, ring_the_bell, &bell, 0);
  for (;;) {
    uint32_t ticket = park_ticket(&bell.parking);
    if (load_relaxed_u64(&bell.rung) == (uint64_t)WAKERS * WAKES) break;
    park_wait(&bell.parking, ticket);
  }
  join_threads(threads, WAKERS);
  cr_assert_eq(load_relaxed_u64(&bell.rung), (uint64_t)WAKERS * WAKES);
}
