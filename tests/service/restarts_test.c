/* When a world that ended is started again. */
#include "service/supervise/restarts.h"

#include "base/random.h"

#include <criterion/criterion.h>

static const restart_rules rules = {.most = 4, .window_ns = 1000, .pause_first_ns = 10, .pause_most_ns = 25};

Test(restarts, the_first_is_at_once_and_pauses_double_up_to_the_longest) {
  restart_record ends = {0};
  static const uint64_t expected[] = {0, 10, 20, 25};
  for (uint64_t i = 0; i < 4; i++) cr_assert_eq(restarts_ended(&ends, &rules, 100 + i), 100 + i + expected[i]);
}

Test(restarts, one_end_more_than_allowed_within_the_window_fails_it_for_good) {
  restart_record ends = {0};
  for (uint64_t i = 0; i < 4; i++) cr_assert_neq(restarts_ended(&ends, &rules, i), UINT64_MAX);
  cr_assert_eq(restarts_ended(&ends, &rules, 999), UINT64_MAX);
  cr_assert(ends.failed);
  cr_assert_eq(restarts_ended(&ends, &rules, 1000000), UINT64_MAX, "time alone must not bring it back");
}

Test(restarts, an_end_counts_no_more_when_the_window_has_passed) {
  restart_record ends = {0};
  for (uint64_t i = 0; i < 4; i++) restarts_ended(&ends, &rules, i);
  cr_assert_eq(restarts_ended(&ends, &rules, 1000), 1025, "the end at 0 is forgotten, three are left");
  cr_assert_eq(restarts_ended(&ends, &rules, 5000), 5000, "all are forgotten");
}

Test(restarts, a_person_brings_it_back) {
  restart_record ends = {0};
  for (uint64_t i = 0; i < 5; i++) restarts_ended(&ends, &rules, i);
  restarts_reset(&ends);
  cr_assert_eq(restarts_ended(&ends, &rules, 6), 6);
  cr_assert_not(ends.failed);
}

Test(restarts, without_a_limit_it_always_starts_again_after_the_longest_pause) {
  restart_record ends = {0};
  restart_rules any = rules;
  any.most = 0;
  for (uint64_t i = 0; i < 3; i++) restarts_ended(&ends, &any, i);
  for (uint64_t i = 3; i < 3 * RESTARTS_KEPT; i++) cr_assert_eq(restarts_ended(&ends, &any, i), i + 25);
  cr_assert_eq(ends.count, RESTARTS_KEPT);
}

/* Against counting by hand over all ends that there ever were. */
Test(restarts, agrees_with_a_plain_count_over_random_ends) {
  enum { ENDS = 2000 };
  static uint64_t at[ENDS];
  uint64_t seed = 28;
  restart_record ends = {0};
  uint64_t now_ns = 0;
  uint32_t first = 0;
  for (uint32_t i = 0; i < ENDS; i++) {
    now_ns += muster_random_mix(seed + i) % 600;
    at[i] = now_ns;
    uint32_t within = 0;
    for (uint32_t k = first; k < i; k++) within += now_ns - at[k] < rules.window_ns;
    uint64_t start_ns = restarts_ended(&ends, &rules, now_ns);
    cr_assert_eq(start_ns == UINT64_MAX, within == rules.most, "end %u at %lu", i, now_ns);
    if (start_ns != UINT64_MAX) continue;
    restarts_reset(&ends);
    first = i + 1;
  }
}
