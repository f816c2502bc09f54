/* Shares of some work: each taken once, by preference by whoever it belongs to. */
#include "pool/ticket.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>

Test(shares, nobody_finds_any_before_they_are_opened_nor_among_none) {
  struct shares partitions = {0};
  cr_assert_eq(shares_take(&partitions, 0), PARTITION_NONE);
  shares_open(&partitions, 0);
  for (uint32_t own = 0; own < SHARES_MAX; own++) cr_assert_eq(shares_take(&partitions, own), PARTITION_NONE);
}

Test(shares, one_taker_gets_its_own_first_and_then_every_other_once) {
  for (uint32_t count = 1; count < SHARES_MAX; count++)
    for (uint32_t own = 0; own < count; own++) {
      struct shares partitions = {0};
      uint32_t taken = 0, share;
      shares_open(&partitions, count);
      cr_assert_eq((share = shares_take(&partitions, own)), own);
      for (; share != PARTITION_NONE; share = shares_take(&partitions, own)) {
        cr_assert_lt(share, count);
        cr_assert_eq(taken >> share & 1u, 0, "share %u of %u was taken twice", share, count);
        taken |= 1u << share;
      }
      cr_assert_eq(taken, (1u << count) - 1u);
    }
}

Test(shares, who_has_none_of_its_own_takes_what_is_left) {
  struct shares partitions = {0};
  shares_open(&partitions, 3);
  uint32_t first = shares_take(&partitions, SHARES_MAX - 1);
  cr_assert_lt(first, 3);
  uint32_t second = shares_take(&partitions, first); /* it is somebody else's by now */
  cr_assert(second < 3 && second != first);
  cr_assert_eq(shares_take(&partitions, SHARES_MAX - 1), 3 - first - second);
  cr_assert_eq(shares_take(&partitions, SHARES_MAX - 1), PARTITION_NONE);
}

Test(shares, opened_anew_they_are_all_there_whatever_was_left_before) {
  struct shares partitions = {0};
  for (uint32_t taken = 0; taken <= 4; taken++) {
    shares_open(&partitions, 4);
    for (uint32_t i = 0; i < taken; i++) cr_assert_neq(shares_take(&partitions, i), PARTITION_NONE);
    shares_open(&partitions, 4);
    for (uint32_t i = 0; i < 4; i++) cr_assert_eq(shares_take(&partitions, i), i);
    cr_assert_eq(shares_take(&partitions, 0), PARTITION_NONE);
  }
}

/* ------------------------------------------------------------------------------------------- many threads at once */

enum { THREADS = 4, ROUNDS = 3000 };

struct crowd {
  struct shares partitions[ROUNDS];
  uint32_t count;
  pthread_barrier_t start;
  shared_u32 taken[ROUNDS][SHARES_MAX];
  shared_u32 next_number, beyond;
};

static void *take_all(void *argument) {
  struct crowd *crowd = argument;
  uint32_t own = fetch_add_relaxed_u32(&crowd->next_number, 1), share;
  pthread_barrier_wait(&crowd->start);
  for (uint32_t round = 0; round < ROUNDS; round++)
    while ((share = shares_take(&crowd->partitions[round], own)) != PARTITION_NONE) {
      if (share >= crowd->count) fetch_add_relaxed_u32(&crowd->beyond, 1);
      fetch_add_relaxed_u32(&crowd->taken[round][share % SHARES_MAX], 1);
    }
  return NULL;
}

Test(shares, four_threads_take_each_of_thousands_of_shares_once) {
  struct crowd *crowd = calloc(1, sizeof *crowd);
  pthread_t threads[THREADS];
  crowd->count = THREADS + 1;
  for (uint32_t round = 0; round < ROUNDS; round++) shares_open(&crowd->partitions[round], crowd->count);
  pthread_barrier_init(&crowd->start, NULL, THREADS);
  for (uint32_t i = 0; i < THREADS; i++) cr_assert_eq(pthread_create(&threads[i], NULL, take_all, crowd), 0);
  for (uint32_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (uint32_t round = 0; round < ROUNDS; round++)
    for (uint32_t share = 0; share < crowd->count; share++)
      cr_assert_eq(load_relaxed_u32(&crowd->taken[round][share]), 1, "round %u, share %u", round, share);
  cr_assert_eq(load_relaxed_u32(&crowd->beyond), 0);
  pthread_barrier_destroy(&crowd->start);
  free(crowd);
}
