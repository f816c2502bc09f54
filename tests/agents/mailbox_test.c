/* Boxes against a plain list, and the mailbox's three bitmaps and losses. */
#include "agents/mailbox.h"
#include "support/arenas.h"

#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 3, CAPACITY = 5, BYTES = 12 };

static struct arena arena;

static void begin(void) {
  arena = begin_arena();
}

static void end(void) {
  arena_destroy(&arena);
}

TestSuite(mailbox, .init = begin, .fini = end);

static box_table few_boxes(void) {
  box_table table;
  boxes_create(&table, SLOTS, CAPACITY, BYTES, &arena);
  return table;
}

static struct mailbox mailbox_of(uint32_t agents) {
  struct mailbox mailbox = {0};
  mailbox_create(&mailbox, agents, 16, &arena);
  return mailbox;
}

static bool put(box_table *table, uint32_t slot, uint32_t number) {
  const struct message_head head = {muster_agent_make(number, 1), number * 10u, BYTES};
  const uint32_t bytes[3] = {number, ~number, number};
  return boxes_put(table, slot, &head, bytes);
}

static void check_message(const box_table *table, uint32_t slot, uint32_t at, uint32_t number) {
  const struct message_head *message = boxes_message(table, slot, at);
  const uint32_t bytes[3] = {number, ~number, number};
  cr_assert_eq(muster_agent_index(message->peer), number);
  cr_assert_eq(message->sent_ns, number * 10u);
  cr_assert_eq(message->size, BYTES);
  cr_assert_eq(memcmp(message + 1, bytes, BYTES), 0);
  cr_assert_eq((uintptr_t)(message + 1) % 8, 0);
}

/* What a box should hold: numbers from `first` to `end`; an update that goes on has seen those up to `seen`. */
struct expected {
  uint32_t first, end, seen;
  bool under_way;
};

/* Pages of an array that begins at a page and that some thread has touched. */
static size_t pages_touched(void *array, size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), touched = 0;
  for (size_t at = 0; at < bytes; at += page) {
    unsigned char resident;
    cr_assert_eq(mincore((unsigned char *)array + at, 1, &resident), 0);
    touched += resident & 1;
  }
  return touched;
}

Test(mailbox, boxes_of_one_message_touch_no_memory_for_more) {
  enum { AGENTS = 20000 };
  box_table table;
  boxes_create(&table, AGENTS, CAPACITY, BYTES, &arena);
  for (int turn = 0; turn < 3; turn++)
    for (uint32_t slot = 0; slot < AGENTS; slot++) {
      cr_assert(put(&table, slot, slot));
      boxes_complete(&table, slot, false);
    }
  size_t one = (size_t)AGENTS * table.stride, all = one * CAPACITY * 2;
  size_t pages = pages_touched(table.messages, all), page = (size_t)sysconf(_SC_PAGESIZE);
  cr_assert(pages <= one / page + 1, "%zu pages for %zu bytes of messages", pages, one);
}

Test(mailbox, boxes_hold_what_was_put_in_order_until_the_update_that_could_read_it_completes) {
  box_table table = few_boxes();
  struct expected expected[SLOTS] = {0};
  uint32_t refused = 0, left = 0;
  for (uint32_t step = 0; step < 20000; step++) {
    uint64_t random = random_at(5, step, 0, 0);
    uint32_t slot = (uint32_t)(random % SLOTS), what = (uint32_t)(random >> 8) % 8;
    struct expected *box = &expected[slot];
    if (what < 5) {
      bool fits = box->end - (box->under_way ? box->seen : box->first) < CAPACITY;
      cr_assert_eq(put(&table, slot, box->end), fits);
      box->end += fits;
      refused += !fits;
    } else if (what == 5 && !box->under_way) {
      boxes_begin(&table, slot);
      box->seen = box->end;
      box->under_way = true;
    } else if (what == 6) {
      box->first = box->under_way ? box->seen : box->end;
      cr_assert_eq(boxes_complete(&table, slot, box->under_way), box->end - box->first);
      left += box->end > box->first;
      box->under_way = false;
    }
    cr_assert_eq(table.boxes[slot].count, box->end - box->first);
    for (uint32_t i = 0; i < box->end - box->first; i++) check_message(&table, slot, i, box->first + i);
  }
  cr_assert(refused > 100 && left > 100, "%u refused, %u left", refused, left);
}

Test(mailbox, an_update_that_began_with_an_empty_box_takes_nothing_out) {
  box_table table = few_boxes();
  boxes_begin(&table, 1);
  put(&table, 1, 7);
  cr_assert_eq(boxes_complete(&table, 1, true), 1);
  check_message(&table, 1, 0, 7);
  cr_assert_eq(boxes_complete(&table, 1, false), 0, "the next one reads it");
}

Test(mailbox, a_cleared_box_is_as_new) {
  box_table table = few_boxes();
  const struct box empty = {0};
  for (uint32_t i = 0; i < CAPACITY; i++) put(&table, 2, i);
  boxes_begin(&table, 2);
  boxes_clear(&table, 2);
  cr_assert_eq(memcmp(&table.boxes[2], &empty, sizeof empty), 0);
}

Test(mailbox, a_type_without_boxes_reserves_nothing) {
  box_table table;
  boxes_create(&table, 1000000, 0, 0, &arena);
  cr_assert_eq(arena.block_count, 0);
  cr_assert_null(table.boxes);
}

Test(mailbox, senders_are_taken_in_agent_order_with_the_entry_that_they_named) {
  enum { AGENTS = 700 };
  const uint32_t agents[] = {699, 0, 63, 64, 65, 400, 1, 128, 127};
  const uint32_t sorted[] = {0, 1, 63, 64, 65, 127, 128, 400, 699};
  struct mailbox mailbox = mailbox_of(AGENTS);
  for (uint32_t round = 0; round < 2; round++) {
    uint32_t from = 0;
    for (uint32_t i = 0; i < 9; i++) mailbox_add_sender(&mailbox, agents[i], agents[i] * 3);
    for (uint32_t i = 0; i < 9; i++) {
      from = mailbox_take_sender(&mailbox, from);
      cr_assert_eq(from, sorted[i]);
      cr_assert_eq(mailbox.entries[from], sorted[i] * 3);
    }
    cr_assert_eq(mailbox.sender_count, 0);
  }
}

Test(mailbox, an_agent_is_woken_once_and_not_when_it_is_gone) {
  struct mailbox mailbox = mailbox_of(200);
  for (uint32_t i = 0; i < 5; i++) mailbox_wake(&mailbox, 150);
  mailbox_wake(&mailbox, 3);
  mailbox_wake(&mailbox, 64);
  mailbox_forget(&mailbox, 3);
  mailbox_forget(&mailbox, 4);
  cr_assert_eq(mailbox.wake_count, 2);
  cr_assert_eq(mailbox_take_wake(&mailbox, 0), 64);
  cr_assert_eq(mailbox_take_wake(&mailbox, 64), 150);
  cr_assert_eq(mailbox.wake_count, 0);
}

Test(mailbox, losses_are_told_by_the_update_that_began_with_them) {
  struct mailbox mailbox = mailbox_of(10);
  mailbox_lose(&mailbox, 4);
  mailbox_lose(&mailbox, 4);
  mailbox_lose(&mailbox, 5);
  cr_assert_eq(mailbox.owed_count, 2);
  mailbox_losses_begin(&mailbox, 4);
  mailbox_lose(&mailbox, 4);
  cr_assert_eq(mailbox.losses[4].begun, 2);
  mailbox_losses_complete(&mailbox, 4, true);
  cr_assert_eq(mailbox.losses[4].count, 1, "the third is for the next update");
  cr_assert_eq(mailbox.owed_count, 2);
  mailbox_losses_complete(&mailbox, 4, false);
  cr_assert_eq(mailbox.losses[4].count, 0);
  mailbox_forget(&mailbox, 5);
  cr_assert_eq(mailbox.losses[5].count, 0);
  cr_assert_eq(mailbox.owed_count, 0);
}
