/* When a world that ended is started again. */
#include "room.h"
#include "service/supervise/restarts.h"

#include "base/random.h"
#include "support/walled.h"

static restart_record ends;

/* Without chance, pauses are whole. */
static uint64_t crash(const restart_rules *by, uint64_t at_ns) {
  return restarts_ended(&ends, by, (restart_end){.at_ns = at_ns, .by_code = true}, 0);
}

static uint64_t trouble(const restart_rules *by, uint64_t at_ns, uint64_t ran_ns) {
  return restarts_ended(&ends, by, (restart_end){.at_ns = at_ns, .ran_ns = ran_ns}, 0);
}

static const restart_rules rules = {.most = 4, .window_ns = 1000, .pause_first_ns = 10, .pause_most_ns = 25};
static const uint64_t pauses_ns[] = {0, 10, 20, 25};

Test(restarts, the_first_is_at_once_and_pauses_double_up_to_the_longest) {
  for (uint64_t i = 0; i < 4; i++) cr_assert_eq(crash(&rules, 100 + i), 100 + i + pauses_ns[i]);
}

Test(restarts, one_end_more_than_allowed_within_the_window_fails_it_for_good) {
  for (uint64_t i = 0; i < 4; i++) cr_assert_neq(crash(&rules, i), UINT64_MAX);
  cr_assert_eq(crash(&rules, 999), UINT64_MAX);
  cr_assert(ends.failed);
  cr_assert_eq(crash(&rules, 1000000), UINT64_MAX, "time alone must not bring it back");
}

Test(restarts, an_end_counts_no_more_when_the_window_has_passed) {
  for (uint64_t i = 0; i < 4; i++) crash(&rules, i);
  cr_assert_eq(crash(&rules, 1000), 1025, "the end at 0 is forgotten, three are left");
  cr_assert_eq(crash(&rules, 5000), 5000, "all are forgotten");
}

Test(restarts, a_person_brings_it_back) {
  for (uint64_t i = 0; i < 5; i++) crash(&rules, i);
  restarts_reset(&ends);
  cr_assert_eq(crash(&rules, 6), 6);
  cr_assert_not(ends.failed);
}

Test(restarts, without_a_limit_it_always_starts_again_after_the_longest_pause) {
  restart_rules any = rules;
  any.most = 0;
  for (uint64_t i = 0; i < 3; i++) crash(&any, i);
  for (uint64_t i = 3; i < 3 * RESTARTS_KEPT; i++) cr_assert_eq(crash(&any, i), i + 25);
  cr_assert_eq(ends.count, RESTARTS_KEPT);
}

/* Where none is a trouble the oldest goes. What lies behind the record is not looked at: that cannot be read here. */
Test(restarts, of_crashes_alone_the_oldest_is_forgotten_and_nothing_behind_them_is_read) {
  SCOPED(walled_destroy) walled memory = walled_create(sizeof(restart_record));
  restart_record *last = WALLED_ARRAY(memory, restart_record, 1);
  restart_rules any = rules;
  any.most = 0;
  for (uint64_t i = 0; i < RESTARTS_KEPT + 2; i++)
    restarts_ended(last, &any, (restart_end){.at_ns = i, .by_code = true}, 0);
  cr_expect_eq(last->count, RESTARTS_KEPT);
  for (uint64_t i = 0; i < RESTARTS_KEPT; i++) cr_expect(last->ends[i].at_ns == i + 2 && last->ends[i].by_code);
}

Test(restarts, troubles_never_fail_it_and_their_pauses_grow_to_the_longest) {
  for (uint64_t i = 0; i < 3 * RESTARTS_KEPT; i++)
    cr_assert_eq(trouble(&rules, i, 0), i + pauses_ns[i < 3 ? i : 3], "trouble %lu", i);
  cr_assert_not(ends.failed);
}

Test(restarts, pauses_of_troubles_grow_whatever_the_window) {
  restart_rules brief = rules;
  brief.window_ns = 1;
  for (uint64_t i = 0; i < 4; i++) trouble(&brief, 100 * i, 25);
  cr_assert_eq(trouble(&brief, 500, 25), 525);
  cr_assert_eq(trouble(&brief, 600, 26), 600, "it ran for longer than the longest pause: they begin anew");
  cr_assert_eq(trouble(&brief, 700, 0), 710, "that one was the first of them");
}

Test(restarts, crashes_count_alone_towards_its_failure_among_any_troubles) {
  uint64_t at_ns = 0;
  for (uint32_t i = 0; i < rules.most; i++) {
    cr_assert_neq(crash(&rules, at_ns++), UINT64_MAX);
    for (uint32_t k = 0; k < 2 * RESTARTS_KEPT; k++) cr_assert_neq(trouble(&rules, at_ns++, 0), UINT64_MAX);
  }
  cr_assert_eq(crash(&rules, at_ns), UINT64_MAX, "crashes are kept though there were more troubles than room");
}

Test(restarts, chance_leaves_out_a_quarter_of_a_pause_at_most) {
  for (uint32_t i = 0; i < 4; i++) trouble(&rules, 0, 0);
  cr_assert_eq(restarts_ended(&ends, &rules, (restart_end){.at_ns = 0}, UINT64_MAX), 19);
  for (uint64_t i = 0, before = 25; i <= 16; i++) {
    uint64_t due_ns = restarts_ended(&ends, &rules, (restart_end){.at_ns = 0}, UINT64_MAX / 16 * i);
    cr_assert(due_ns <= before && due_ns >= 18);
    before = due_ns;
  }
}

Test(restarts, the_end_that_it_failed_by_counts_and_ends_of_before_the_window_do_not) {
  for (uint64_t i = 0; i < 4; i++) {
    cr_expect_eq(restarts_count(&ends, rules.window_ns, 100 * i), i);
    crash(&rules, 100 * i);
  }
  cr_expect_eq(restarts_count(&ends, rules.window_ns, 999), 4);
  cr_expect_eq(restarts_count(&ends, rules.window_ns, 1000), 3);
  cr_expect_eq(restarts_count(&ends, rules.window_ns, 1300), 0);
  crash(&rules, 999);
  cr_expect_eq(restarts_count(&ends, rules.window_ns, 999), 5);
  restarts_reset(&ends);
  cr_expect_eq(restarts_count(&ends, rules.window_ns, 999), 0);
}

/* Whatever ended it then. */
Test(restarts, a_long_run_lets_the_pauses_of_troubles_begin_anew) {
  for (uint64_t i = 0; i < 4; i++) trouble(&rules, i, 0);
  restarts_ended(&ends, &rules, (restart_end){.at_ns = 100, .ran_ns = 26, .by_code = true}, 0);
  cr_expect_eq(trouble(&rules, 200, 0), 200);
  cr_expect_eq(trouble(&rules, 300, 0), 310);
}

/* Against counting by hand over all ends that there ever were. */
Test(restarts, agrees_with_a_plain_count_over_random_ends) {
  enum { ENDS = 2000 };
  static uint64_t at[ENDS];
  uint64_t seed = 28, now_ns = 0;
  uint32_t first = 0;
  for (uint32_t i = 0; i < ENDS; i++) {
    now_ns += muster_random_mix(seed + i) % 600;
    at[i] = now_ns;
    uint32_t within = 0;
    for (uint32_t k = first; k < i; k++) within += now_ns - at[k] < rules.window_ns;
    uint64_t start_ns = crash(&rules, now_ns);
    cr_assert_eq(start_ns == UINT64_MAX, within == rules.most, "end %u at %lu", i, now_ns);
    if (start_ns != UINT64_MAX) continue;
    restarts_reset(&ends);
    first = i + 1;
  }
}
