/* The claims of a batch: every number once, none beyond the count. */
#include "pool/crowds.h"
#include "pool/ticket.h"

static shared_u64 ticket;

Test(ticket, hands_out_every_number_in_order_and_then_none) {
  ticket_open(&ticket, 1000);
  for (uint32_t i = 0; i < 1000; i++) cr_assert_eq(ticket_take(&ticket), i);
  for (uint32_t i = 0; i < 1000; i++) cr_assert_eq(ticket_take(&ticket), TICKET_NONE);
}

Test(ticket, has_nothing_before_it_is_opened_nor_in_an_empty_batch) {
  cr_assert_eq(ticket_take(&ticket), TICKET_NONE);
  ticket_open(&ticket, 0);
  cr_assert_eq(ticket_take(&ticket), TICKET_NONE);
  ticket_open(&ticket, 1);
  cr_assert_eq(ticket_take(&ticket), 0);
  cr_assert_eq(ticket_take(&ticket), TICKET_NONE);
}

Test(ticket, a_new_batch_forgets_the_one_before_whether_it_was_finished_or_not) {
  for (uint32_t epoch = 0; epoch < 200000; epoch++) {
    uint32_t count = epoch % 5, taken = epoch % 7 < count ? epoch % 7 : count;
    ticket_open(&ticket, count);
    for (uint32_t i = 0; i < taken; i++) cr_assert_eq(ticket_take(&ticket), i);
    if (taken == count) cr_assert_eq(ticket_take(&ticket), TICKET_NONE);
  }
}

Test(ticket, every_batch_has_another_epoch_than_the_one_before) {
  for (uint32_t i = 0; i < 200000; i++) {
    ticket_open(&ticket, 3);
    uint64_t before = load_relaxed_u64(&ticket);
    ticket_open(&ticket, 3);
    cr_assert_neq(load_relaxed_u64(&ticket), before);
  }
}

Test(ticket, opens_the_largest_batch_that_there_may_be) {
  ticket_open(&ticket, TICKET_CLAIMS_MAX);
  cr_assert_eq(ticket_take(&ticket), 0);
  cr_assert_eq(ticket_take(&ticket), 1);
}

Test(ticket, a_batch_grows_and_takers_that_came_too_early_lost_nothing) {
  uint32_t taken = 0;
  ticket_open(&ticket, 0);
  for (uint32_t more = 0; more < 40; more++) {
    cr_assert_eq(ticket_take(&ticket), TICKET_NONE);
    ticket_grow(&ticket, more);
    for (uint32_t i = 0; i < more; i++) cr_assert_eq(ticket_take(&ticket), taken++);
  }
  cr_assert(ticket_is_spent(&ticket));
}

/* ------------------------------------------------------------------------------------------- many threads at once */

enum { THREADS = 8, NUMBERS = 50000 };

struct crowd {
  shared_u64 ticket;
  uint32_t count;
  pthread_barrier_t start;
  shared_u64 beyond, out_of_order;
  shared_u32 taken[NUMBERS];
};

static void *take_all(void *argument) {
  struct crowd *crowd = argument;
  uint32_t number, last = 0;
  bool any = false;
  pthread_barrier_wait(&crowd->start);
  while ((number = ticket_take(&crowd->ticket)) != TICKET_NONE) {
    if (number >= crowd->count) {
      fetch_add_relaxed_u64(&crowd->beyond, 1);
      continue;
    }
    if (any && number <= last) fetch_add_relaxed_u64(&crowd->out_of_order, 1);
    store_relaxed_u32(&crowd->taken[number], load_relaxed_u32(&crowd->taken[number]) + 1);
    last = number;
    any = true;
  }
  return NULL;
}

static void run_batch(struct crowd *crowd, uint32_t count) {
  pthread_t threads[THREADS];
  crowd->count = count;
  for (uint32_t i = 0; i < count; i++) store_relaxed_u32(&crowd->taken[i], 0);
  ticket_open(&crowd->ticket, count);
  start_threads(threads, THREADS, take_all, crowd, 0);
  join_threads(threads, THREADS);
  for (uint32_t i = 0; i < count; i++)
    cr_assert_eq(load_relaxed_u32(&crowd->taken[i]), 1, "number %u of %u was taken %u times", i, count,
                 load_relaxed_u32(&crowd->taken[i]));
  cr_assert_eq(load_relaxed_u64(&crowd->beyond), 0);
  cr_assert_eq(load_relaxed_u64(&crowd->out_of_order), 0);
  cr_assert_eq(ticket_take(&crowd->ticket), TICKET_NONE);
}

Test(ticket, eight_threads_take_every_number_once_and_none_beyond) {
  SCOPED(free_memory) struct crowd *crowd = calloc(1, sizeof *crowd);
  pthread_barrier_init(&crowd->start, NULL, THREADS);
  for (uint32_t i = 0; i < 10; i++) run_batch(crowd, NUMBERS);
  for (uint32_t count = 0; count < 100; count++) run_batch(crowd, count % 20);
  pthread_barrier_destroy(&crowd->start);
}
