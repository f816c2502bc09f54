#include "plan/controller.h"

#include <criterion/criterion.h>

enum { BUDGET_NS = 5000000, IN_TIME_NS = 0, LATE_NS = 100000 };

/* A machine that takes `stall_ns` at the end of one frame in `one_in`: so late is a frame, less what was kept free
 * beyond the least. Counts the late ones of the later half. */
static uint32_t count_late(uint32_t one_in, uint64_t stall_ns, uint32_t frames, double *learnt_ns) {
  uint32_t late = 0;
  for (uint32_t i = 0; i < frames; i++) {
    uint64_t kept_ns = frame_reserve_ns(*learnt_ns, BUDGET_NS) - frame_reserve_ns(0.0, BUDGET_NS);
    uint64_t late_ns = i % one_in == 0 && stall_ns > kept_ns ? stall_ns - kept_ns : 0;
    late += i >= frames / 2 && late_ns > RESERVE_LATE_NS;
    *learnt_ns = frame_reserve_learn(*learnt_ns, BUDGET_NS, late_ns);
  }
  return late;
}

Test(closing, keeps_the_least_while_frames_are_in_time) {
  cr_assert_eq(frame_reserve_ns(0.0, 1000000), 18000);
  cr_assert_eq(frame_reserve_ns(0.0, 100000000), 50000, "at most");
  cr_assert_eq(frame_reserve_ns(0.0, 10000), 1250, "an eighth of a tiny budget");
  cr_assert_eq(frame_reserve_learn(0.0, BUDGET_NS, IN_TIME_NS), 0.0);
  cr_assert_eq(frame_reserve_learn(0.0, BUDGET_NS, RESERVE_LATE_NS), 0.0, "so little is not late");
}

Test(closing, a_late_frame_moves_it_up_and_frames_in_time_slowly_down) {
  double learnt_ns = frame_reserve_learn(0.0, BUDGET_NS, LATE_NS);
  cr_assert_float_eq(learnt_ns, BUDGET_NS / 200.0, 1.0);
  for (int i = 0; i < RESERVE_LATE_ONE_IN; i++) {
    double before_ns = learnt_ns;
    learnt_ns = frame_reserve_learn(learnt_ns, BUDGET_NS, IN_TIME_NS);
    cr_assert(learnt_ns < before_ns || learnt_ns == 0.0);
    cr_assert_geq(learnt_ns, before_ns - BUDGET_NS / 200.0 / 200);
  }
  cr_assert_eq(learnt_ns, 0.0, "one late frame in so many leaves nothing");
}

Test(closing, is_a_fiftieth_at_most_whatever_the_machine_takes_and_whatever_the_next_budget_is) {
  double learnt_ns = 0.0;
  for (int i = 0; i < 100; i++) learnt_ns = frame_reserve_learn(learnt_ns, BUDGET_NS, 30000);
  cr_assert_leq(learnt_ns, BUDGET_NS / 50.0);
  cr_assert_gt(learnt_ns, BUDGET_NS / 60.0);
  cr_assert_leq(frame_reserve_ns(learnt_ns, BUDGET_NS / 10), 8000 + BUDGET_NS / 10 / 100 + BUDGET_NS / 10 / 50);
}

Test(closing, what_a_larger_budget_taught_is_soon_forgotten_under_a_smaller_one) {
  double learnt_ns = 5e6;
  for (int i = 0; i < 6 * RESERVE_LATE_ONE_IN; i++) learnt_ns = frame_reserve_learn(learnt_ns, BUDGET_NS, IN_TIME_NS);
  cr_assert_eq(learnt_ns, 0.0);
}

Test(closing, a_frame_that_nothing_could_have_saved_says_nothing) {
  cr_assert_eq(frame_reserve_learn(0.0, BUDGET_NS, BUDGET_NS), 0.0);
  cr_assert_eq(frame_reserve_learn(80000.0, BUDGET_NS, LATE_NS), 80000.0,
               "100 us may be kept, and 180 would have had to be");
}

Test(closing, settles_where_few_frames_are_late) {
  enum { FRAMES = 20000 };
  double learnt_ns = 0.0;
  uint32_t late = count_late(10, 90000, FRAMES, &learnt_ns);
  cr_assert_gt(late, 0, "it tries less again and again");
  cr_assert_leq(late, FRAMES / 2 / RESERVE_LATE_ONE_IN + 2);
  cr_assert_geq(learnt_ns, 90000.0 - RESERVE_LATE_NS - BUDGET_NS / 200.0);
  count_late(10, 0, 2000, &learnt_ns);
  cr_assert_eq(learnt_ns, 0.0, "and it is given back when the machine is quiet");
}
