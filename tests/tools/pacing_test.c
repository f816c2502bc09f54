/* When frames happen on the wall. The past is made by moving the begin, so that nothing is waited for. */
#include "pacing.h"

#include <criterion/criterion.h>

static const uint64_t second_ns = 1000000000u;

/* A program that was stopped for five seconds goes on at its rate, and runs no frames for them. */
Test(pacing, lost_time_is_not_caught_up_with) {
  struct pacing pacing = pacing_begin(30000, true);
  pacing.start_ns -= 5 * second_ns;
  uint64_t before_ns = pacing.start_ns;
  pacing_wait(&pacing, 3);
  cr_expect_geq(pacing.start_ns - before_ns, 5 * second_ns - pacing_sim_time(&pacing, 3));
}

/* However long it ran before. */
Test(pacing, lost_time_of_a_long_run_is_not_caught_up_with) {
  struct pacing pacing = pacing_begin(30000, true);
  pacing.start_ns -= pacing_sim_time(&pacing, 30000) + 5 * second_ns;
  uint64_t before_ns = pacing.start_ns;
  pacing_wait(&pacing, 30000);
  cr_expect_geq(pacing.start_ns - before_ns, 5 * second_ns);
}

/* Who is late by less than a frame catches up, so that the rate is kept. */
Test(pacing, a_frame_that_is_a_little_late_moves_nothing) {
  struct pacing pacing = pacing_begin(1, true); /* a frame in 1,000 s */
  pacing.start_ns -= 1500 * second_ns;
  uint64_t before_ns = pacing.start_ns;
  pacing_wait(&pacing, 1);
  cr_expect_eq(pacing.start_ns, before_ns);
  cr_expect_gt(pacing_spare_ns(&pacing, 2), 0);
}

Test(pacing, frames_without_a_pace_are_never_waited_for) {
  struct pacing pacing = pacing_begin(1, false);
  pacing_wait(&pacing, 1000);
  cr_expect_eq(pacing_spare_ns(&pacing, 1000), 0);
}

Test(pacing, times_of_frames_add_up_without_an_error) {
  struct pacing pacing = pacing_begin(29970, true);
  cr_expect_eq(pacing_sim_time(&pacing, 29970), 1000 * second_ns);
  cr_expect_eq(pacing_sim_time(&pacing, 29970000000u), 1000000000 * second_ns);
  cr_expect_eq(pacing_sim_time(&pacing, 1), 33366700u);
}
