/* The reductions that types build their cheaper levels from. */
#include "scenarios/kit_reduction.h"

#include <criterion/criterion.h>
#include <math.h>

#define SECOND_NS 1000000000u

/* --------------------------------------------------------------------------------------------------------- traits */

Test(kit_reduction, the_strongest_traits_are_kept_whatever_their_sign) {
  const float traits[6] = {0.2f, -0.9f, 0.5f, 0.5f, (float)NAN, 0.1f};
  cr_assert_eq(kit_traits_strongest(traits, 6, 0), 0);
  cr_assert_eq(kit_traits_strongest(traits, 6, 1), 1u << 1);
  cr_assert_eq(kit_traits_strongest(traits, 6, 2), 1u << 1 | 1u << 2, "of equals the lower number");
  cr_assert_eq(kit_traits_strongest(traits, 6, 5), 0x2fu, "what is not a number is weakest");
  cr_assert_eq(kit_traits_strongest(traits, 6, 9), 0x3fu);
}

Test(kit_reduction, sixty_four_traits_are_looked_at) {
  float traits[70] = {0};
  traits[63] = 1.0f;
  traits[69] = 2.0f;
  cr_assert_eq(kit_traits_strongest(traits, 70, 1), 1ull << 63);
  cr_assert_eq(kit_traits_strongest(traits, 70, 64), UINT64_MAX);
}

/* --------------------------------------------------------------------------------------------------------- filter */

static kit_event_filter filter;

static const kit_event_rule rule = {
    .importance_least = 0.2f, .importance_sure = 0.9f, .events_most = 4, .window_ns = 4ull * SECOND_NS};

Test(kit_reduction, unimportant_events_are_dropped) {
  cr_assert_not(kit_event_passes(&filter, &rule, 1, 0.19f));
  cr_assert(kit_event_passes(&filter, &rule, 1, 0.2f));
  cr_assert_eq(filter.passed, 1);
  cr_assert_eq(filter.dropped, 1);
}

Test(kit_reduction, events_come_at_their_rate_but_for_sure_ones) {
  for (uint32_t i = 0; i < 10; i++) kit_event_passes(&filter, &rule, 1, 0.5f);
  cr_assert_eq(filter.passed, 4, "a window's worth at once");
  cr_assert(kit_event_passes(&filter, &rule, 1, 0.95f), "too important to be dropped");
  cr_assert_not(kit_event_passes(&filter, &rule, SECOND_NS / 2, 0.5f));
  cr_assert(kit_event_passes(&filter, &rule, SECOND_NS + 1, 0.5f), "a share came back");
  cr_assert_not(kit_event_passes(&filter, &rule, SECOND_NS + 1, 0.5f));
  cr_assert_not(kit_event_passes(&filter, &rule, SECOND_NS, 0.5f), "time that goes back gives nothing back");
}

Test(kit_reduction, in_the_long_run_as_many_events_pass_as_the_rule_says_however_often_it_is_asked) {
  for (uint64_t step_ns = SECOND_NS / 50; step_ns < SECOND_NS; step_ns *= 3) {
    filter = (kit_event_filter){0};
    for (uint64_t now_ns = 1; now_ns < 400ull * SECOND_NS; now_ns += step_ns)
      kit_event_passes(&filter, &rule, now_ns, 0.5f);
    cr_assert_leq(filter.passed, 404);
    cr_assert_geq(filter.passed, 395, "%u passed", filter.passed);
  }
}

Test(kit_reduction, a_rule_without_a_window_has_no_limit_and_one_without_events_lets_only_sure_ones_pass) {
  kit_event_rule free_rule = {.events_most = 1, .importance_sure = 2.0f};
  for (uint32_t i = 0; i < 100; i++) cr_assert(kit_event_passes(&filter, &free_rule, 1, 0.0f));
  kit_event_rule closed = {.importance_sure = 0.9f, .window_ns = SECOND_NS};
  cr_assert_not(kit_event_passes(&filter, &closed, 1, 0.89f));
  cr_assert(kit_event_passes(&filter, &closed, 1, 0.9f));
}

/* --------------------------------------------------------------------------------------------------------- coping */

Test(kit_reduction, one_copes_with_what_is_critical_and_then_rests_unless_it_gets_worse) {
  kit_coping coping = {0};
  cr_assert_not(kit_coping_wanted(&coping, 0.6f, 10ull * SECOND_NS, 1, 0.59f));
  cr_assert(kit_coping_wanted(&coping, 0.6f, 10ull * SECOND_NS, 1, 0.7f));
  cr_assert_not(kit_coping_wanted(&coping, 0.6f, 10ull * SECOND_NS, 2, 0.7f));
  cr_assert(kit_coping_wanted(&coping, 0.6f, 10ull * SECOND_NS, 2, 0.8f), "worse than the last");
  cr_assert_not(kit_coping_wanted(&coping, 0.6f, 10ull * SECOND_NS, 10ull * SECOND_NS, 0.7f));
  cr_assert(kit_coping_wanted(&coping, 0.6f, 10ull * SECOND_NS, 10ull * SECOND_NS + 2, 0.7f));
  cr_assert_not(kit_coping_wanted(&coping, 0.6f, 0, 20ull * SECOND_NS, (float)NAN));
  cr_assert_eq(coping.count, 3);
}

/* --------------------------------------------------------------------------------------------------------- choices */

static const kit_prepared set[] = {{.purpose = 1, .option = 10, .weight = 1, .needs = 1u << 2},
                                   {.purpose = 1, .option = 11, .weight = 3},
                                   {.purpose = 2, .option = 12, .weight = 4},
                                   {.purpose = 1, .option = 13, .weight = 0}};

Test(kit_reduction, the_default_is_the_first_whose_needs_are_met) {
  cr_assert_eq(kit_choose_default(set, 4, 1, 0), 1);
  cr_assert_eq(kit_choose_default(set, 4, 1, 1u << 2 | 1u << 7), 0);
  cr_assert_eq(kit_choose_default(set, 4, 2, 0), 2);
  cr_assert_eq(kit_choose_default(set, 4, 3, 0), KIT_CHOICE_NONE);
}

static uint64_t mix(uint64_t i) {
  i = (i + 1) * 0x9e3779b97f4a7c15u;
  i = (i ^ (i >> 32)) * 0xd6e8feb86659fd93u;
  return i ^ (i >> 29);
}

static void count_choices(uint32_t purpose, uint64_t facts, uint32_t counts[4]) {
  for (uint32_t i = 0; i < 4; i++) counts[i] = 0;
  for (uint64_t i = 0; i < 8000; i++) counts[kit_choose_random(set, 4, purpose, facts, mix(i))]++;
}

Test(kit_reduction, random_choice_follows_the_weights_of_what_serves_the_purpose) {
  uint32_t counts[4];
  count_choices(1, 1u << 2, counts);
  cr_assert(counts[0] > 1850 && counts[0] < 2150, "%u", counts[0]);
  cr_assert_eq(counts[0] + counts[1], 8000);
  count_choices(1, 0, counts);
  cr_assert_eq(counts[1], 8000);
  count_choices(KIT_PURPOSE_ANY, 1u << 2, counts);
  cr_assert(counts[2] > 3850 && counts[2] < 4150, "%u", counts[2]);
  cr_assert_eq(counts[3], 0, "without a weight only by default");
  cr_assert_eq(kit_choose_random(set, 4, 3, 0, 7), KIT_CHOICE_NONE);
  cr_assert_eq(kit_choose_random(set + 3, 1, 1, 0, 7), KIT_CHOICE_NONE);
  cr_assert_eq(kit_choose_random(set, 4, 1, 1u << 2, UINT64_MAX), 1);
}

/* ------------------------------------------------------------------------------------------------------- goal lock */

Test(kit_reduction, a_locked_goal_gives_way_to_one_worth_more_by_the_margin_or_when_its_time_is_over) {
  kit_goal_lock lock = {0};
  cr_assert_eq(kit_goal_lock_choose(&lock, 0, 5, 0.0f, INFINITY), 5, "an open lock holds nothing");
  kit_goal_lock_take(&lock, 3, 0.5f, 100);
  cr_assert(kit_goal_lock_holds(&lock, 99));
  cr_assert_eq(kit_goal_lock_choose(&lock, 99, 5, 0.74f, 0.25f), 3);
  cr_assert_eq(kit_goal_lock_choose(&lock, 99, 5, 0.75f, 0.25f), 5);
  cr_assert_eq(kit_goal_lock_choose(&lock, 99, 5, 1e30f, INFINITY), 3);
  cr_assert_eq(kit_goal_lock_choose(&lock, 100, 5, 0.0f, INFINITY), 5);
  kit_goal_lock_release(&lock);
  cr_assert_not(kit_goal_lock_holds(&lock, 99));
}

/* --------------------------------------------------------------------------------------------------- achievements */

Test(kit_reduction, a_goal_is_reached_when_its_time_has_passed_and_says_when_that_was) {
  kit_achievement achievement = {0};
  uint64_t end_ns = 7;
  cr_assert_not(kit_achievement_reached(&achievement, 1000, &end_ns), "nothing is under way");
  kit_achievement_begin(&achievement, 4, 100, 50);
  cr_assert_eq(achievement.goal, 4);
  cr_assert_not(kit_achievement_reached(&achievement, 149, &end_ns));
  cr_assert_eq(end_ns, 7);
  cr_assert(kit_achievement_reached(&achievement, 5000, &end_ns));
  cr_assert_eq(end_ns, 150);
  cr_assert_not(kit_achievement_reached(&achievement, 5000, &end_ns), "only once");
  kit_achievement_begin(&achievement, 4, 100, UINT64_MAX);
  cr_assert_eq(achievement.end_ns, UINT64_MAX);
}

/* An agent that looks often and one that looks seldom reach as many goals in the same time. */
Test(kit_reduction, achievements_in_an_hour_do_not_depend_on_how_often_one_looks) {
  uint32_t counts[2] = {0};
  for (uint32_t run = 0; run < 2; run++) {
    kit_achievement achievement = {0};
    kit_achievement_begin(&achievement, 0, 0, 7 * SECOND_NS);
    for (uint64_t now_ns = 0; now_ns <= 3600ull * SECOND_NS; now_ns += run ? 60ull * SECOND_NS : SECOND_NS / 3) {
      uint64_t end_ns;
      while (kit_achievement_reached(&achievement, now_ns, &end_ns)) {
        counts[run]++;
        kit_achievement_begin(&achievement, 0, end_ns, 7ull * SECOND_NS);
      }
    }
  }
  cr_assert_eq(counts[0], 514);
  cr_assert_eq(counts[1], 514);
}

/* ---------------------------------------------------------------------------------------------------------- record */

static kit_event_log event_log;
static kit_recorded_event events[3];
static uint32_t told[8], told_count;

static void meet(const kit_recorded_event *event, void *user) {
  (void)user;
  told[told_count++] = event->what;
}

static uint32_t replay(void) {
  return kit_event_replay(&event_log, events, meet, NULL);
}

static bool record(uint64_t at_ns, uint32_t what, float importance) {
  return kit_event_record(&event_log, events, 3, &(kit_recorded_event){at_ns, 9, what, importance});
}

Test(kit_reduction, what_was_recorded_is_told_in_order_of_time_once) {
  cr_assert(record(20, 2, 0.1f));
  cr_assert(record(30, 3, 0.2f));
  cr_assert(record(10, 1, 0.3f));
  cr_assert_eq(replay(), 3);
  cr_assert(told[0] == 1 && told[1] == 2 && told[2] == 3);
  cr_assert_eq(replay(), 0);
}

Test(kit_reduction, the_most_important_are_remembered) {
  record(10, 1, 0.5f);
  record(20, 2, 0.2f);
  record(30, 3, 0.2f);
  cr_assert_not(record(40, 4, 0.1f), "less important than all");
  cr_assert_not(record(50, 5, 0.2f), "the earliest of equals is forgotten");
  cr_assert_not(record(60, 6, 0.9f));
  cr_assert_eq(event_log.forgotten, 3);
  replay();
  cr_assert_eq(told_count, 3);
  cr_assert(told[0] == 1 && told[1] == 5 && told[2] == 6);
  cr_assert_eq(event_log.forgotten, 0);
  cr_assert_not(kit_event_record(&event_log, events, 0, &(kit_recorded_event){0}), "no room at all");
  cr_assert_eq(event_log.count, 0);
}
