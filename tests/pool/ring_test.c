/* The bounded queue against a plain one, and with many producers and consumers at once. */
#include "pool/crowds.h"
#include "pool/ring.h"

#include <sys/mman.h>

struct fixture {
  struct arena arena;
  struct ring ring;
};

static struct fixture create(uint32_t capacity, uint32_t value_bytes) {
  struct fixture fixture = {.arena = begin_arena()};
  ring_create(&fixture.ring, capacity, value_bytes, &fixture.arena);
  cr_assert_not(fixture.arena.failed);
  return fixture;
}

/* A frame that gives an index back may be the first to use a slot: a huge page would take it milliseconds. */
Test(ring, a_large_one_comes_into_memory_little_by_little) {
  enum { CAPACITY = 1 << 20, BYTES = CAPACITY * 16, PAGE = 4096 };
  static unsigned char pages[BYTES / PAGE];
  SCOPED(end_fixture) struct fixture fixture = create(CAPACITY, 4);
  uint32_t value = 1, resident = 0;
  cr_assert(ring_push(&fixture.ring, &value));
  cr_assert_eq(mincore(fixture.ring.slots, BYTES, pages), 0);
  for (uint32_t i = 0; i < BYTES / PAGE; i++) resident += pages[i] & 1;
  cr_assert_geq(resident, 1);
  cr_assert_leq(resident, 64);
}

Test(ring, starts_empty) {
  SCOPED(end_fixture) struct fixture fixture = create(8, 4);
  uint32_t value = 77;
  cr_assert_not(ring_pop(&fixture.ring, &value));
  cr_assert_eq(value, 77);
  cr_assert_eq(ring_count(&fixture.ring), 0);
}

Test(ring, zeroed_memory_is_an_empty_queue) {
  _Alignas(64) unsigned char memory[64 * 16] = {0};
  struct ring ring = {.mask = 63, .value_bytes = 4, .slot_bytes = 16, .slots = memory};
  uint32_t value = 0;
  cr_assert_not(ring_pop(&ring, &value));
  for (uint32_t i = 0; i < 64; i++) cr_assert(ring_push(&ring, &i));
  cr_assert_not(ring_push(&ring, &value));
  for (uint32_t i = 0; i < 64; i++) cr_assert(ring_pop(&ring, &value) && value == i);
}

Test(ring, holds_at_least_its_capacity_and_refuses_what_is_more_than_full) {
  static const uint32_t capacities[] = {1, 2, 3, 4, 5, 7, 8, 9, 100, 1000};
  for (uint32_t c = 0; c < COUNT_OF(capacities); c++) {
    SCOPED(end_fixture) struct fixture fixture = create(capacities[c], 4);
    for (uint32_t round = 0; round < 5; round++) {
      uint32_t pushed = 0, value;
      while (pushed <= 2 * capacities[c] && ring_push(&fixture.ring, &pushed)) pushed++;
      cr_assert(pushed >= capacities[c] && pushed <= 2 * capacities[c], "a queue of %u took %u", capacities[c], pushed);
      cr_assert_eq(ring_count(&fixture.ring), pushed);
      for (uint32_t i = 0; i < pushed; i++) cr_assert(ring_pop(&fixture.ring, &value) && value == i);
      cr_assert_not(ring_pop(&fixture.ring, &value));
      cr_assert_eq(ring_count(&fixture.ring), 0);
    }
  }
}

Test(ring, is_first_in_first_out_over_many_rounds) {
  static const uint32_t capacities[] = {2, 4, 16, 256};
  for (uint32_t c = 0; c < COUNT_OF(capacities); c++) {
    SCOPED(end_fixture) struct fixture fixture = create(capacities[c], 4);
    uint32_t in = 0, out = 0, value;
    for (uint32_t step = 0; step < 100000; step++) {
      if (random_at(capacities[c], step / 300, 0, step) % 8 < (step / 300 % 2 ? 5 : 3)) {
        bool pushed = ring_push(&fixture.ring, &in);
        cr_assert_eq(pushed, in - out < capacities[c]);
        in += pushed;
      } else {
        bool popped = ring_pop(&fixture.ring, &value);
        cr_assert_eq(popped, in != out);
        if (popped) cr_assert_eq(value, out);
        out += popped;
      }
      cr_assert_eq(ring_count(&fixture.ring), in - out);
    }
    cr_assert_gt(in, 2 * capacities[c], "it never went round");
  }
}

Test(ring, carries_values_of_any_size_whole) {
  for (uint32_t bytes = 1; bytes <= 80; bytes++) {
    SCOPED(end_fixture) struct fixture fixture = create(4, bytes);
    unsigned char in[96], out[96];
    for (uint32_t i = 0; i < 20; i++) {
      memset(in, (int)(i + 1), sizeof in);
      memset(out, 0xee, sizeof out);
      cr_assert(ring_push(&fixture.ring, in));
      in[0] = 99;
      cr_assert(ring_push(&fixture.ring, in));
      cr_assert(ring_pop(&fixture.ring, out));
      for (uint32_t k = 0; k < bytes; k++) cr_assert_eq(out[k], i + 1);
      cr_assert_eq(out[bytes], 0xee);
      cr_assert(ring_pop(&fixture.ring, out));
      cr_assert_eq(out[0], 99);
    }
  }
}

Test(ring, tells_when_memory_is_refused) {
  SCOPED(arena_destroy) struct arena arena = begin_arena();
  struct ring ring = {0};
  arena.block_count = ARENA_BLOCKS_MAX;
  ring_create(&ring, 8, 4, &arena);
  cr_assert(arena.failed);
  arena.block_count = 0;
}

/* ------------------------------------------------------------------------------------------- many threads at once */

enum { THREADS = 4, VALUES = 20000, VALUE_WORDS = 3 };

/* Three words that belong together, so that a torn value is seen. */
struct message {
  uint32_t producer, number, check;
};

struct crowd {
  struct ring *ring;
  uint32_t consumers;
  pthread_barrier_t start;
  shared_u64 taken;
  uint32_t counts[THREADS][VALUES]; /* [producer][number]; of one consumer's thread, added up at its end */
  pthread_mutex_t adding;
  uint32_t torn, out_of_order;
};

struct member {
  struct crowd *crowd;
  uint32_t index;
};

static void *produce(void *argument) {
  struct member *member = argument;
  pthread_barrier_wait(&member->crowd->start);
  for (uint32_t i = 0; i < VALUES; i++) {
    struct message message = {member->index, i, member->index * 31 + i * 17};
    AWAIT(ring_push(member->crowd->ring, &message));
  }
  return NULL;
}

static void *consume(void *argument) {
  struct crowd *crowd = ((struct member *)argument)->crowd;
  uint32_t(*counts)[VALUES] = calloc(THREADS, sizeof *counts);
  uint32_t next[THREADS] = {0}, torn = 0, out_of_order = 0;
  pthread_barrier_wait(&crowd->start);
  while (load_relaxed_u64(&crowd->taken) < (uint64_t)THREADS * VALUES) {
    struct message message;
    if (!ring_pop(crowd->ring, &message)) {
      sched_yield();
      continue;
    }
    fetch_add_relaxed_u64(&crowd->taken, 1);
    if (message.producer >= THREADS || message.number >= VALUES ||
        message.check != message.producer * 31 + message.number * 17) {
      torn++;
      continue;
    }
    out_of_order += message.number < next[message.producer];
    next[message.producer] = message.number + 1;
    counts[message.producer][message.number]++;
  }
  pthread_mutex_lock(&crowd->adding);
  for (uint32_t i = 0; i < THREADS * VALUES; i++)
    crowd->counts[i / VALUES][i % VALUES] += counts[i / VALUES][i % VALUES];
  crowd->torn += torn;
  crowd->out_of_order += out_of_order;
  pthread_mutex_unlock(&crowd->adding);
  free(counts);
  return NULL;
}

static void run_crowd(uint32_t capacity, uint32_t consumers) {
  SCOPED(end_fixture) struct fixture fixture = create(capacity, sizeof(struct message));
  SCOPED(free_memory) struct crowd *crowd = calloc(1, sizeof *crowd);
  pthread_t threads[2 * THREADS];
  struct member members[2 * THREADS];
  crowd->ring = &fixture.ring;
  crowd->consumers = consumers;
  pthread_barrier_init(&crowd->start, NULL, THREADS + consumers);
  pthread_mutex_init(&crowd->adding, NULL);
  for (uint32_t i = 0; i < THREADS + consumers; i++) members[i] = (struct member){crowd, i};
  start_threads(threads, THREADS, produce, members, sizeof *members);
  start_threads(threads + THREADS, consumers, consume, members + THREADS, sizeof *members);
  join_threads(threads, THREADS + consumers);
  uint32_t value[VALUE_WORDS];
  cr_assert_not(ring_pop(&fixture.ring, value));
  cr_assert_eq(crowd->torn, 0);
  cr_assert_eq(crowd->out_of_order, 0, "a consumer saw values of one producer out of order");
  for (uint32_t i = 0; i < THREADS * VALUES; i++)
    cr_assert_eq(crowd->counts[i / VALUES][i % VALUES], 1, "value %u of producer %u came %u times", i % VALUES,
                 i / VALUES, crowd->counts[i / VALUES][i % VALUES]);
  pthread_barrier_destroy(&crowd->start);
  pthread_mutex_destroy(&crowd->adding);
}

Test(ring, four_producers_and_four_consumers_hand_over_every_value_once_and_in_each_producers_order) {
  run_crowd(64, THREADS);
}

Test(ring, also_when_it_has_fewer_slots_than_there_are_threads) {
  run_crowd(2, THREADS);
}

Test(ring, a_single_consumer_sees_each_producers_values_in_order) {
  run_crowd(1024, 1);
}
