/* Small sets that threads share, looked at by one thread: which agents were woken, which workers sleep, which comes
 * next. */
#include "pool/crowds.h"
#include "pool/group.h"
#include "pool/idle.h"
#include "run/wakes.h"

Test(hints, of_a_wake_that_was_returned_is_found_again) {
  SCOPED(arena_destroy) struct arena memory = begin_arena();
  struct wakes wakes = {0};
  uint32_t agent = 99;
  wakes_create(&wakes, 16, 8, &memory);
  cr_assert(wakes_push(&wakes, 5));
  cr_assert(wakes_pop(&wakes, &agent));
  cr_assert_eq(agent, 5);
  cr_assert_eq(wakes_count(&wakes), 0);
  wakes_return(&wakes, agent);
  cr_assert(wakes_wait(&wakes) && wakes_is_woken(&wakes, 5));
  agent = 99;
  cr_assert(wakes_pop(&wakes, &agent));
  cr_assert_eq(agent, 5);
  cr_assert_not(wakes_pop(&wakes, &agent));
}

Test(hints, of_sleepers_are_found_at_every_index_the_lowest_first) {
  for (uint32_t index = 0; index < IDLE_MAX; index++) {
    idle_set set = {0};
    idle_enter(&set, IDLE_MAX - 1);
    idle_enter(&set, index);
    cr_assert_eq(idle_take(&set, index + 1), index, "of %u", index + 1);
  }
}
