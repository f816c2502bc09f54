/* Partitions of some work: each is taken once, by preference by the worker that it belongs to. */
#include "pool/crowds.h"
#include "pool/ticket.h"

static struct work_partitions partitions;

Test(partitions, nobody_finds_any_before_they_are_opened_nor_among_none) {
  cr_assert_eq(work_partitions_take(&partitions, 0), PARTITION_NONE);
  work_partitions_open(&partitions, 0);
  for (uint32_t own = 0; own < PARTITIONS_MAX; own++)
    cr_assert_eq(work_partitions_take(&partitions, own), PARTITION_NONE);
}

Test(partitions, one_taker_gets_its_own_first_and_then_each_other_in_order) {
  for (uint32_t count = 1; count <= PARTITIONS_MAX; count++)
    for (uint32_t own = 0; own < count; own++) {
      partitions = (struct work_partitions){0};
      work_partitions_open(&partitions, count);
      for (uint32_t taken = 0; taken < count; taken++)
        cr_assert_eq(work_partitions_take(&partitions, own), (own + taken) % count, "of %u, from %u on", count, own);
      cr_assert_eq(work_partitions_take(&partitions, own), PARTITION_NONE);
    }
}

Test(partitions, who_has_none_of_its_own_takes_what_is_left) {
  work_partitions_open(&partitions, 3);
  uint32_t first = work_partitions_take(&partitions, PARTITIONS_MAX - 1);
  cr_assert_lt(first, 3);
  uint32_t second = work_partitions_take(&partitions, first); /* another worker has it by now */
  cr_assert(second < 3 && second != first);
  cr_assert_eq(work_partitions_take(&partitions, PARTITIONS_MAX - 1), 3 - first - second);
  cr_assert_eq(work_partitions_take(&partitions, PARTITIONS_MAX - 1), PARTITION_NONE);
}

Test(partitions, opened_anew_they_are_all_there_whatever_was_left_before) {
  for (uint32_t taken = 0; taken <= 4; taken++) {
    work_partitions_open(&partitions, 4);
    for (uint32_t i = 0; i < taken; i++) cr_assert_neq(work_partitions_take(&partitions, i), PARTITION_NONE);
    work_partitions_open(&partitions, 4);
    for (uint32_t i = 0; i < 4; i++) cr_assert_eq(work_partitions_take(&partitions, i), i);
    cr_assert_eq(work_partitions_take(&partitions, 0), PARTITION_NONE);
  }
}

/* ------------------------------------------------------------------------------------------- many threads at once */

enum { THREADS = 4, ROUNDS = 3000 };

struct crowd {
  struct work_partitions partitions[ROUNDS];
  uint32_t count;
  pthread_barrier_t start;
  shared_u32 taken[ROUNDS][PARTITIONS_MAX];
  shared_u32 next_number, beyond;
};

static void *take_all(void *argument) {
  struct crowd *crowd = argument;
  uint32_t own = fetch_add_relaxed_u32(&crowd->next_number, 1), partition;
  pthread_barrier_wait(&crowd->start);
  for (uint32_t round = 0; round < ROUNDS; round++)
    while ((partition = work_partitions_take(&crowd->partitions[round], own)) != PARTITION_NONE) {
      if (partition >= crowd->count) fetch_add_relaxed_u32(&crowd->beyond, 1);
      fetch_add_relaxed_u32(&crowd->taken[round][partition % PARTITIONS_MAX], 1);
    }
  return NULL;
}

Test(partitions, four_threads_take_each_of_thousands_of_partitions_once) {
  SCOPED(free_memory) struct crowd *crowd = calloc(1, sizeof *crowd);
  pthread_t threads[THREADS];
  crowd->count = THREADS + 1;
  for (uint32_t round = 0; round < ROUNDS; round++) work_partitions_open(&crowd->partitions[round], crowd->count);
  pthread_barrier_init(&crowd->start, NULL, THREADS);
  start_threads(threads, THREADS, take_all, crowd, 0);
  join_threads(threads, THREADS);
  for (uint32_t round = 0; round < ROUNDS; round++)
    for (uint32_t partition = 0; partition < crowd->count; partition++)
      cr_assert_eq(load_relaxed_u32(&crowd->taken[round][partition]), 1, "round %u, partition %u", round, partition);
  cr_assert_eq(load_relaxed_u32(&crowd->beyond), 0);
  pthread_barrier_destroy(&crowd->start);
}
