/* Commands of updates come to the commit in the order of entries and of their parts, whichever workers ran them. */
#include "run/runner.h"

#include <criterion/criterion.h>
#include <string.h>

enum { COMMANDS = 600 };

static logged_command log_of[COMMANDS], scratch[COMMANDS];

static void sort(uint32_t count) {
  struct runner runner = {.log_max = COMMANDS, .log_scratch = scratch};
  static worker_state state;
  state.log = log_of;
  state.log_count = count;
  runner_sort_log(&runner, &state);
}

/* Indices are given in the order of the log, so that those of equal commands must still rise. */
static void expect_order(uint32_t count) {
  for (uint32_t i = 1; i < count; i++) {
    cr_assert(!runner_logged_before(&log_of[i], &log_of[i - 1]), "%u of %u", i, count);
    if (!runner_logged_before(&log_of[i - 1], &log_of[i]))
      cr_assert_lt(log_of[i - 1].command.index, log_of[i].command.index, "%u of %u", i, count);
  }
}

Test(log, a_log_in_any_order_is_sorted_and_equals_stay_as_they_came) {
  for (uint32_t count = 0; count < COMMANDS; count = count * 2 + 1) {
    for (uint32_t i = 0; i < count; i++)
      log_of[i] = (logged_command){.entry = i * 37 % 50, .part = i % 3, .command = {.index = i}};
    sort(count);
    expect_order(count);
  }
}

Test(log, the_second_part_of_an_update_follows_the_first_one_and_wakes_come_last) {
  log_of[0] = (logged_command){.entry = 4, .part = 2, .command = {.index = 0}};
  log_of[1] = (logged_command){.entry = UINT32_MAX, .command = {.index = 1}};
  log_of[2] = (logged_command){.entry = 4, .part = 0, .command = {.index = 2}};
  log_of[3] = (logged_command){.entry = 3, .part = 9, .command = {.index = 3}};
  sort(4);
  static const uint32_t expected[] = {3, 2, 0, 1};
  for (uint32_t i = 0; i < 4; i++) cr_assert_eq(log_of[i].command.index, expected[i], "at %u", i);
}
