/* An index has one holder at a time, and an id never means another holder. */
#include "pool/crowds.h"
#include "pool/identity.h"

static struct arena arena;
static struct identity identity;

static void end(void) {
  arena_destroy(&arena);
}

TestSuite(identity, .fini = end);

static void begin(uint32_t maximum) {
  end();
  arena = begin_arena();
  identity = (struct identity){0};
  identity_create(&identity, maximum, &arena);
  cr_assert_not(arena.failed);
}

Test(identity, hands_out_every_index_once_and_then_none) {
  static const uint32_t maxima[] = {1, 2, 3, 4, 100, 128};
  for (uint32_t m = 0; m < COUNT_OF(maxima); m++) {
    begin(maxima[m]);
    bool held[128] = {false};
    for (uint32_t i = 0; i < maxima[m]; i++) {
      cr_assert_eq(identity_available(&identity), maxima[m] - i);
      uint32_t index = identity_take(&identity);
      cr_assert(index < maxima[m] && !held[index]);
      held[index] = true;
    }
    cr_assert_eq(identity_high(&identity), maxima[m]);
    cr_assert_eq(identity_available(&identity), 0);
    for (uint32_t i = 0; i < 3; i++) cr_assert_eq(identity_take(&identity), IDENTITY_NONE);
  }
}

Test(identity, takes_what_was_given_back_first_before_what_was_given_back_later) {
  begin(8);
  static const uint32_t order[8] = {3, 7, 0, 5, 1, 6, 2, 4};
  for (uint32_t i = 0; i < 8; i++) identity_take(&identity);
  for (uint32_t round = 0; round < 20; round++) {
    for (uint32_t i = 0; i < 8; i++) identity_give_back(&identity, order[i]);
    for (uint32_t i = 0; i < 8; i++) cr_assert_eq(identity_take(&identity), order[i]);
    cr_assert_eq(identity_take(&identity), IDENTITY_NONE);
  }
}

Test(identity, prefers_what_was_given_back_to_what_was_never_used) {
  begin(10);
  cr_assert_eq(identity_take(&identity), 0);
  cr_assert_eq(identity_take(&identity), 1);
  identity_give_back(&identity, 0);
  cr_assert_eq(identity_take(&identity), 0);
  cr_assert_eq(identity_take(&identity), 2);
  cr_assert_eq(identity_high(&identity), 3);
}

Test(identity, follows_a_record_that_says_who_takes_which_index) {
  enum { MAXIMUM = 100 };
  uint64_t held[(MAXIMUM + 63) / 64] = {0};
  begin(MAXIMUM);
  identity.held = held;
  cr_assert_eq(identity_take(&identity), IDENTITY_NONE);
  cr_assert(identity_claim(&identity, 70));
  cr_assert_eq(identity_high(&identity), 71);
  cr_assert(identity_claim(&identity, 6));
  cr_assert(identity_claim(&identity, MAXIMUM - 1));
  cr_assert_not(identity_claim(&identity, 70), "it is held");
  cr_assert_not(identity_claim(&identity, MAXIMUM));
  cr_assert_not(identity_claim(&identity, (uint64_t)1 << 32), "not the same as 0");
  identity_give_back(&identity, 70);
  cr_assert_not(identity_claim(&identity, 6), "it is held still");
  cr_assert_eq(identity_take(&identity), IDENTITY_NONE, "what was given back is for the record, too");
  cr_assert(identity_claim(&identity, 70));
  cr_assert_eq(identity_high(&identity), MAXIMUM);
}

Test(identity, is_live_from_open_to_close_and_its_generation_is_odd_meanwhile) {
  begin(4);
  uint32_t index = identity_take(&identity);
  cr_assert_eq(identity_generation(&identity, index) % 2, 0);
  uint32_t generation = identity_open(&identity, index);
  cr_assert_eq(generation % 2, 1);
  cr_assert_eq(identity_generation(&identity, index), generation);
  cr_assert(identity_is_live(&identity, index, generation));
  identity_close(&identity, index);
  cr_assert_not(identity_is_live(&identity, index, generation));
  cr_assert_eq(identity_generation(&identity, index) % 2, 0);
}

Test(identity, knows_nobody_under_null_even_foreign_or_future_generations) {
  begin(4);
  uint32_t index = identity_take(&identity), generation = identity_open(&identity, index);
  cr_assert_not(identity_is_live(&identity, index, 0));
  cr_assert_not(identity_is_live(&identity, index, generation + 1));
  cr_assert_not(identity_is_live(&identity, index, generation + 2));
  cr_assert_not(identity_is_live(&identity, index + 1, generation));
  cr_assert_not(identity_is_live(&identity, 4, generation));
  cr_assert_not(identity_is_live(&identity, UINT32_MAX, generation));
  identity_close(&identity, index);
  cr_assert_not(identity_is_live(&identity, index, generation + 1), "an even generation is nobody");
}

Test(identity, an_id_stays_stale_however_often_its_index_is_used_again) {
  begin(1);
  uint32_t generations[1000];
  for (uint32_t i = 0; i < 1000; i++) {
    uint32_t index = identity_take(&identity);
    cr_assert_eq(index, 0);
    generations[i] = identity_open(&identity, index);
    for (uint32_t k = 0; k < i; k++) cr_assert_not(identity_is_live(&identity, 0, generations[k]));
    cr_assert(identity_is_live(&identity, 0, generations[i]));
    identity_close(&identity, index);
    identity_give_back(&identity, index);
  }
}

Test(identity, agrees_with_a_plain_list_over_a_random_life) {
  enum { MAXIMUM = 37 };
  begin(MAXIMUM);
  uint32_t generations[MAXIMUM] = {0}, held = 0;
  for (uint32_t step = 0; step < 50000; step++) {
    uint32_t index = (uint32_t)(random_at(1, step, 0, 0) % MAXIMUM);
    if (generations[index]) {
      identity_close(&identity, index);
      cr_assert_not(identity_is_live(&identity, index, generations[index]));
      generations[index] = 0;
      identity_give_back(&identity, index);
      held--;
    } else {
      index = identity_take(&identity);
      cr_assert(index < MAXIMUM && generations[index] == 0, "index %u has a holder", index);
      generations[index] = identity_open(&identity, index);
      held++;
    }
    cr_assert_eq(identity_available(&identity), MAXIMUM - held);
    for (uint32_t i = 0; step % 50 == 0 && i < MAXIMUM; i++)
      cr_assert_eq(identity_is_live(&identity, i, generations[i]), generations[i] != 0);
  }
}

/* ------------------------------------------------------------------------------------------- many threads at once */

enum { THREADS = 8, ROUNDS = 20000, MAXIMUM_MAX = 64 };

struct crowd {
  struct ring *leaving; /* to the frame's thread */
  pthread_barrier_t start;
  shared_u32 holders[MAXIMUM_MAX];
  shared_u64 double_holders, not_live, takers_left;
};

/* An index of which this thread is the only holder; IDENTITY_NONE: others are to go first. */
static uint32_t take_one(struct crowd *crowd) {
  uint32_t index = identity_take(&identity);
  if (index == IDENTITY_NONE)
    sched_yield();
  else if (exchange_acquire_u32(&crowd->holders[index], 1))
    fetch_add_relaxed_u64(&crowd->double_holders, 1);
  return index;
}

static void *take_and_give_back(void *argument) {
  struct crowd *crowd = argument;
  pthread_barrier_wait(&crowd->start);
  for (uint32_t i = 0; i < ROUNDS; i++) {
    uint32_t index = take_one(crowd);
    if (index == IDENTITY_NONE) continue;
    if (i % 16 == 0) sched_yield();
    store_release_u32(&crowd->holders[index], 0);
    identity_give_back(&identity, index);
  }
  return NULL;
}

struct leaver {
  uint32_t index, generation;
};

static void *take_open_and_leave(void *argument) {
  struct crowd *crowd = argument;
  pthread_barrier_wait(&crowd->start);
  for (uint32_t i = 0; i < ROUNDS; i++) {
    uint32_t index = take_one(crowd);
    if (index == IDENTITY_NONE) continue;
    struct leaver leaver = {index, identity_open(&identity, index)};
    if (!identity_is_live(&identity, index, leaver.generation)) fetch_add_relaxed_u64(&crowd->not_live, 1);
    AWAIT(ring_push(crowd->leaving, &leaver));
  }
  fetch_sub_release_u64(&crowd->takers_left, 1);
  return NULL;
}

static void *close_and_give_back(void *argument) {
  struct crowd *crowd = argument;
  struct leaver leaver;
  pthread_barrier_wait(&crowd->start);
  for (;;) {
    bool over = load_acquire_u64(&crowd->takers_left) == 0;
    while (ring_pop(crowd->leaving, &leaver)) {
      if (!identity_is_live(&identity, leaver.index, leaver.generation)) fetch_add_relaxed_u64(&crowd->not_live, 1);
      identity_close(&identity, leaver.index);
      store_release_u32(&crowd->holders[leaver.index], 0);
      identity_give_back(&identity, leaver.index);
    }
    if (over) return NULL;
    sched_yield();
  }
}

/* When all indices are free again, each can be taken exactly once more. */
static void check_all_there(void) {
  bool taken[MAXIMUM_MAX] = {false};
  for (uint32_t i = 0; i < identity.maximum; i++) {
    uint32_t index = identity_take(&identity);
    cr_assert(index < identity.maximum && !taken[index], "%u of %u indices are lost", identity.maximum - i,
              identity.maximum);
    taken[index] = true;
  }
  cr_assert_eq(identity_take(&identity), IDENTITY_NONE);
}

static void run_crowd(uint32_t maximum, void *(*work)(void *), bool framed) {
  begin(maximum);
  SCOPED(free_memory) struct crowd *crowd = calloc(1, sizeof *crowd);
  pthread_t threads[THREADS];
  struct ring leaving = {0};
  ring_create(&leaving, 16, sizeof(struct leaver), &arena);
  crowd->leaving = &leaving;
  store_release_u64(&crowd->takers_left, THREADS - 1);
  pthread_barrier_init(&crowd->start, NULL, THREADS);
  threads[0] = start_thread(framed ? close_and_give_back : work, crowd);
  start_threads(threads + 1, THREADS - 1, work, crowd, 0);
  join_threads(threads, THREADS);
  cr_assert_eq(load_relaxed_u64(&crowd->double_holders), 0, "an index had two holders");
  cr_assert_eq(load_relaxed_u64(&crowd->not_live), 0, "an open id was not live");
  check_all_there();
  pthread_barrier_destroy(&crowd->start);
}

Test(identity, never_has_two_holders_of_an_index_and_loses_none_when_many_threads_take_and_give_back) {
  run_crowd(MAXIMUM_MAX, take_and_give_back, false);
  run_crowd(5, take_and_give_back, false);
}

Test(identity, loses_none_when_there_are_fewer_indices_than_threads) {
  run_crowd(4, take_and_give_back, false);
  run_crowd(2, take_and_give_back, false);
  run_crowd(1, take_and_give_back, false);
}

Test(identity, stays_right_when_many_threads_take_and_the_frames_thread_closes) {
  run_crowd(MAXIMUM_MAX, take_open_and_leave, true);
  run_crowd(4, take_open_and_leave, true);
}
