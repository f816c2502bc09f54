/* For how little work workers are called, on a machine of which the test says what calls cost. */
#include "plan/calling.h"

#include <criterion/criterion.h>

enum { UPDATES = 1000, WORK_NS = 4 * CALLING_RUN_NS, OTHERS = 1, LONG = 4 * CALLING_PAUSE_MOST };

static struct calling state;

static bool is_eager(void) {
  return calling_worth_ns(&state, 1) == 1;
}

/* Runs frames that take so long where workers are called, and where they are not. Every seventh takes ten times as
 * long. Returns how many called workers. */
static uint32_t run(uint32_t frames, uint64_t eager_ns, uint64_t timid_ns) {
  uint32_t eager = 0;
  for (uint32_t i = 0; i < frames; i++) {
    uint64_t frame_ns = is_eager() ? eager_ns : timid_ns;
    eager += is_eager();
    calling_note(&state, WORK_NS, OTHERS, i % 7 ? frame_ns : 10 * frame_ns, UPDATES);
  }
  return eager;
}

Test(calling, goes_on_where_calls_pay) {
  cr_assert(is_eager());
  uint32_t eager = run(LONG, 700000, 900000);
  cr_assert_gt(eager, LONG - LONG / 32);
  cr_assert_lt(eager, LONG, "the other way was never tried");
}

Test(calling, ends_where_calls_cost_more_than_they_bring) {
  cr_assert_lt(run(LONG, 1400000, 900000), LONG / 32);
}

/* It is found out again, however long it had been otherwise. */
Test(calling, follows_a_machine_that_changes) {
  run(LONG, 1400000, 900000);
  cr_assert(state.timid);
  run(CALLING_PAUSE_MOST + CALLING_FRAMES + 1, 700000, 900000);
  cr_assert(!state.timid);
}

Test(calling, stays_where_it_makes_no_difference) {
  cr_assert_gt(run(LONG, 900000, 890000), LONG - LONG / 32);
}

/* The first frame of a trial pays for where the other way has left the agents. */
Test(calling, the_first_frame_of_a_trial_is_left_out) {
  run(CALLING_PAUSE_LEAST, 900000, 0);
  cr_assert(state.trying);
  for (uint32_t i = 0; i <= CALLING_FRAMES; i++)
    calling_note(&state, WORK_NS, OTHERS, i < (CALLING_FRAMES + 1) / 2 ? 2000000 : 500000, UPDATES);
  cr_assert(state.timid);
}

Test(calling, frames_with_little_work_say_nothing) {
  for (uint32_t i = 0; i < LONG; i++) calling_note(&state, CALLING_RUN_NS - 1, OTHERS, 900000, UPDATES);
  for (uint32_t i = 0; i < LONG; i++) calling_note(&state, WORK_NS, OTHERS, 900000, 0);
  cr_assert(!state.trying && !state.timid && state.frames == 0);
}

/* All are called for much work, so its stages are helped, too. */
Test(calling, much_work_ends_what_was_learnt) {
  run(CALLING_PAUSE_LEAST + CALLING_FRAMES + 1, 1400000, 900000);
  cr_assert(state.timid);
  calling_note(&state, (uint64_t)CALLING_RUN_NS * CALLING_TIMID * OTHERS, OTHERS, 9000000, UPDATES);
  cr_assert(is_eager());
}
