/* The whole words of explanations: each value in its place, each clause where it belongs and nowhere else. */
#include "support/with.h"

#include <criterion/criterion.h>
#include <muster/explain.h>
#include <muster/muster.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Values of which no two are alike. */
static muster_agent_explanation badger(void) {
  return WITH(muster_agent_explanation, it.agent = muster_agent_make(11, 12),
              snprintf(it.type_name, sizeof it.type_name, "badger"),
              snprintf(it.set_owed, sizeof it.set_owed, "forage"), it.sim_now_ns = 5000000000, it.pressure = 1.25f,
              it.importance = 0.61f, it.observer = muster_observer_make(24, 25),
              it.observed = it.modelled = it.has_run = true, it.distance_m = 26.5f, it.near_m = 27, it.far_m = 280,
              it.by_observer = 0.62f, it.visibility = 0.63f, it.bulk = 0.64f, it.interactivity = 0.65f,
              it.of_type = 0.66f, it.by_model = 0.67f, it.floor = 0.68f, it.designer = 0.69f, it.role = 0.70f,
              it.company = 0.71f, it.level = 1, it.level_count = 3, it.shed = 2, it.level_low = 0.31f,
              it.level_high = 0.72f, it.elasticity = 3.7f, it.elasticity_of_type = 3.8f, it.class_members = 39,
              it.nominal_ns = 20000000, it.longest_ns = 210000000, it.period_ns = 52000000,
              it.band_interval_ns = 61500000, it.age_ns = 33000000, it.due_ns = it.sim_now_ns + 19000000,
              it.wake_at_ns = it.sim_now_ns + 90000000, it.waited_ns = 43000000, it.delays = 44, it.atoms_done = 2,
              it.atoms = 5, it.cost_mean_ns = 53100, it.cost_high_ns = 154000, it.cost_samples = 55,
              it.priority_wait_ns = 49000000, it.priority_importance_ns = 50000000, it.priority_progress_ns = 51000000,
              it.priority_runs_ns = -52000000, it.priority_reduction_ns = 53000000, it.priority_reaction_ns = 54000000,
              it.priority_ns = 205000000, it.herd = muster_herd_make(31, 32), it.herd_members = 7);
}

/* Words that stand in many of them. */
#define NAMED  "badger 11 runs every 52 ms, at level 1 of 0..2, with importance 0.61.\n"
#define STANDS "  It stands for 7 of herd 31.\n"
#define SEEN   "  Importance: observer 24, 26.5 m away, gives it 0.62 (1 within 27 m, nothing from 280 m on)"
#define LOWERED                                                                                                        \
  ", times 0.63 for visibility, times 0.64 for bulk, times 0.65 for interactivity, times 0.66 for its type"
#define FACTORS "; of the factors, designer 0.69, role 0.70 and company 0.71"
#define AGREED  "; its type's own model agrees on 0.67.\n"
#define LEVEL_1 "  Level 1: better from importance 0.72 on, cheaper below importance 0.31.\n"
#define LEVEL_2 "  Level 2: better from importance 0.72 on.\n"
#define RANKED                                                                                                         \
  "  Rank: as if it had waited 205.0 ms: 49.0 since its last update, +50.0 for importance, +51.0 for having begun, "   \
  "-52.0 for having run often.\n"
#define UPDATED                                                                                                        \
  "  Last update: 33 ms ago; by the rule it comes every 52 ms. Agents that matter as much got one every 61.5 ms.\n"
#define COST "  Cost: an update takes 53.1 us on average, 154 us at most in 19 of 20 cases (55 measured).\n"
#define SET_ALIKE                                                                                                      \
  " Elasticity 3.7, from what was set for this agent and its importance; 39 of its kind stretch alike.\n"
#define WITHOUT_PERIOD                                                                                                 \
  "badger 11 runs when it is woken, or at a time that was asked for, at level 1 of 0..2, with importance 0.61.\n"
#define STRETCHED "badger 11 runs every 52 ms instead of every 20 ms, "

static void expect_words(muster_agent_explanation of, const char *expected) {
  char text[2048];
  size_t length = muster_explanation_print(&of, text, sizeof text);
  cr_expect_str_eq(text, expected, "%s", text);
  cr_expect_eq(length, strlen(expected));
}

Test(explain_words, asleep_and_stretched_at_a_middle_level) {
  expect_words(
      CHANGED(badger(),
              it.reasons = MUSTER_REASON_ASLEEP | MUSTER_REASON_LOWERED | MUSTER_REASON_MODELLED | MUSTER_REASON_FLOOR |
                           MUSTER_REASON_CHEAPER_LEVEL | MUSTER_REASON_PERIOD_STRETCHED | MUSTER_REASON_OVERLOAD,
              it.level = 1),
      STRETCHED
      "at level 1 of 0..2, with importance 0.61.\n" STANDS
      "  Period: stretched because the pressure is 1.25; at most 210 ms." SET_ALIKE
      "  Overload: even with the longest period of every agent the work does not fit the budget.\n" SEEN LOWERED FACTORS
      "; its type's own model makes that 0.67; the designer's floor keeps it at 0.68.\n" LEVEL_1
      "  Now: asleep; due in 19 ms.\n" UPDATED COST);
}

Test(explain_words, spawned_and_not_taken_in_yet) {
  expect_words(CHANGED(badger(), it.reasons = MUSTER_REASON_SPAWN_WAITING | MUSTER_REASON_REMOVAL_WAITING,
                       snprintf(it.problem, sizeof it.problem, "village.lua:12 has failed"),
                       it.herd = muster_herd_make(9, 1), it.herd_members = 0),
               "badger 11 is spawned and waits to be taken in by a frame; spawns of many are spread over several.\n"
               "  It is a member of herd 9, with a name.\n"
               "  Its code fails: village.lua:12 has failed.\n"
               "  It is about to be removed.\n");
}

Test(explain_words, without_a_period_and_woken) {
  expect_words(CHANGED(badger(),
                       it.reasons = MUSTER_REASON_ASLEEP | MUSTER_REASON_WOKEN | MUSTER_REASON_NO_PERIOD |
                                    MUSTER_REASON_OWN_PERIOD | MUSTER_REASON_REACTION,
                       it.elasticity_derived = true, it.react_by_ns = it.sim_now_ns + 45000000, it.herd_members = 17),
               WITHOUT_PERIOD "  It stands for 17 of herd 31.\n" SEEN LOWERED FACTORS AGREED LEVEL_1
                              "  Now: asleep, but it was woken and runs in the next frame.\n"
                              "  Last update: 33 ms ago.\n" COST "  It must react within 45 ms.\n");
}

Test(explain_words, without_a_period_until_it_is_woken) {
  expect_words(CHANGED(badger(), it.reasons = MUSTER_REASON_ASLEEP | MUSTER_REASON_NO_PERIOD | MUSTER_REASON_REACTION,
                       it.due_ns = it.wake_at_ns = 0, it.react_by_ns = it.sim_now_ns - 45000000, it.herd_members = 0,
                       it.has_run = false),
               WITHOUT_PERIOD "  It is a member of herd 31, with a name.\n" SEEN LOWERED FACTORS AGREED LEVEL_1
                              "  Now: asleep until it is woken.\n"
                              "  Last update: none yet, 33 ms after its spawn.\n" COST
                              "  It should have reacted 45 ms ago.\n");
}

Test(explain_words, asleep_until_a_time_that_was_asked_for) {
  expect_words(CHANGED(badger(),
                       it.reasons = MUSTER_REASON_ASLEEP | MUSTER_REASON_TIME_ASKED | MUSTER_REASON_OWN_PERIOD |
                                    MUSTER_REASON_REACTION,
                       it.wake_at_ns = it.due_ns, it.react_by_ns = it.sim_now_ns, it.elasticity_derived = true,
                       it.block_herds = 23),
               "badger 11 runs every 52 ms, a period of its own, at level 1 of 0..2, with importance 0.61.\n"
               "  It brings a block of 23 herds forward, those of them that are folded.\n"
               "  Period: as wanted; under load at most 210 ms. Elasticity 3.7, from its type and importance; 39 of "
               "its kind stretch alike.\n" SEEN LOWERED FACTORS AGREED LEVEL_1
               "  Now: asleep; due in 19 ms, as was asked for.\n" UPDATED COST "  It must react within 0 ns.\n");
}

Test(explain_words, asleep_and_its_wake_delayed_beyond_its_time) {
  expect_words(CHANGED(badger(),
                       it.reasons = MUSTER_REASON_ASLEEP | MUSTER_REASON_WAKE_DELAYED | MUSTER_REASON_TIME_ASKED |
                                    MUSTER_REASON_ELASTICITY_SET,
                       it.due_ns = it.sim_now_ns - 1, it.longest_is_wish = true),
               NAMED STANDS "  Period: as wanted; under load at most 210 ms, if that wish can be kept. Elasticity 3.7, "
                            "set for this agent; 39 of its kind stretch alike.\n" SEEN LOWERED FACTORS AGREED LEVEL_1
                            "  Now: asleep; due in 0 ns; it was woken, and waits for time to pass.\n" UPDATED COST);
}

Test(explain_words, exempt) {
  expect_words(
      CHANGED(badger(),
              it.reasons = MUSTER_REASON_CARRIED | MUSTER_REASON_EXEMPT | MUSTER_REASON_ELASTICITY_SET |
                           MUSTER_REASON_PENALTY | MUSTER_REASON_NO_OBSERVER_NEAR,
              it.observed = false, it.deadline_ns = (int64_t)it.sim_now_ns + 7000000, it.priority_ns = 0),
      NAMED STANDS
      "  Period: it is exempt: its elasticity is 0, set for this agent, so its period does not give way to others.\n"
      "  Importance: no observer is near; the nearest, observer 24, is 26.5 m away and sees 280 m far" FACTORS AGREED
      "  Level 1: no better one, for its overruns or its type's; better from importance 0.72 on, cheaper below "
      "importance 0.31.\n"
      "  Now: it found no time in the last frame; due for 43 ms, 44 frames.\n"
      "  Rank: it shall run within 7 ms; agents with less time go first.\n" UPDATED COST);
}

Test(explain_words, exempt_and_stretched_for_all_that) {
  expect_words(CHANGED(badger(),
                       it.reasons = MUSTER_REASON_CARRIED | MUSTER_REASON_EXEMPT | MUSTER_REASON_PERIOD_STRETCHED |
                                    MUSTER_REASON_WOKEN | MUSTER_REASON_NO_OBSERVER_NEAR,
                       it.observed = false, it.distance_m = INFINITY, it.deadline_ns = (int64_t)it.sim_now_ns - 7000000,
                       it.priority_ns = 0, it.level = 2, it.waited_ns = 0),
               STRETCHED
               "at level 2 of 0..2, with importance 0.61.\n" STANDS
               "  Period: it is exempt: its elasticity is 0, so its period gives way only because exempt agents want "
               "more than half of the time that there is.\n"
               "  Importance: there is no observer in its partition" FACTORS AGREED LEVEL_2
               "  Now: it found no time in the last frame; due since that frame; it was woken, so it goes sooner.\n"
               "  Rank: it should have run 7 ms ago.\n" UPDATED COST);
}

Test(explain_words, carried_and_woken_in_the_order_of_priorities) {
  expect_words(
      CHANGED(badger(),
              it.reasons = MUSTER_REASON_CARRIED | MUSTER_REASON_WOKEN | MUSTER_REASON_HELD | MUSTER_REASON_GUARANTEED |
                           MUSTER_REASON_PERIOD_STRETCHED | MUSTER_REASON_PERIOD_LONGEST,
              it.priority_reaction_ns = 0, it.level_count = 1),
      STRETCHED "with importance 0.61.\n" STANDS
                "  Period: stretched as far as its type allows, because the pressure is 1.25." SET_ALIKE SEEN LOWERED
                    FACTORS AGREED "  Now: it found no time in the last frame; due for 43 ms, 44 frames; it was woken, "
                "so it goes before all others; it leads the next frame.\n" RANKED
                "  In it, too: +53.0 for its level, +0.0 for the time by which it must react.\n" UPDATED COST);
}

Test(explain_words, carried_for_longer_than_is_guaranteed) {
  expect_words(CHANGED(badger(),
                       it.reasons = MUSTER_REASON_CARRIED | MUSTER_REASON_GUARANTEED | MUSTER_REASON_PERIOD_STRETCHED |
                                    MUSTER_REASON_PERIOD_LONGEST | MUSTER_REASON_OVERLOAD,
                       it.longest_is_wish = it.by_importance = true, it.priority_reduction_ns = 0, it.level = 2),
               STRETCHED "at level 2 of 0..2, with importance 0.61.\n" STANDS
                         "  Period: stretched as far as its type wishes, because the pressure is 1.25." SET_ALIKE
                         "  Overload: even with the longest periods that types wish for the work does not fit the "
                         "budget; what matters least gives way most.\n" SEEN LOWERED FACTORS AGREED LEVEL_2
                         "  Now: it found no time in the last frame; due for 43 ms, 44 frames; it has waited longer "
                         "than is guaranteed, so it goes before the ranked.\n" RANKED
                         "  In it, too: +0.0 for its level, +54.0 for the time by which it must react.\n" UPDATED COST);
}

Test(explain_words, preempted) {
  expect_words(
      CHANGED(badger(),
              it.reasons = MUSTER_REASON_PREEMPTED | MUSTER_REASON_BEYOND_WISH | MUSTER_REASON_PERIOD_STRETCHED |
                           MUSTER_REASON_SHED,
              it.level = 1, it.priority_reduction_ns = it.priority_reaction_ns = 0,
              it.visibility = it.interactivity = 1, it.designer = it.role = it.company = 0),
      STRETCHED
      "at level 1 of 0..2, with importance 0.61.\n" STANDS
      "  Period: longer than its type wishes, 210 ms at most, because the pressure is 1.25." SET_ALIKE SEEN
      ", times 0.64 for bulk, times 0.66 for its type" AGREED
      "  Level 1: lowered by 2 for the pressure; better from importance 0.72 on, cheaper below importance 0.31.\n"
      "  Now: its update was stopped after 2 of 5 atoms and goes on there; due for 43 ms, 44 frames.\n" RANKED UPDATED
          COST);
}

Test(explain_words, owed_time_in_one_of_its_sets) {
  expect_words(CHANGED(badger(), it.reasons = MUSTER_REASON_CARRIED | MUSTER_REASON_OWED, it.longest_ns = it.nominal_ns,
                       it.bulk = it.of_type = 1, it.modelled = true, it.designer = it.role = 0),
               NAMED STANDS
               "  Period: its type has no longer period than the one it wants." SET_ALIKE SEEN
               ", times 0.63 for visibility, times 0.65 for interactivity; of the factors, designer 0.00, role 0.00 "
               "and company 0.71" AGREED LEVEL_1 "  Now: its set 'forage' is owed time and goes on without waiting for "
               "its period; due for 43 ms, 44 frames.\n" RANKED
               "  In it, too: +53.0 for its level, +54.0 for the time by which it must react.\n" UPDATED COST);
}

Test(explain_words, waiting_for_its_action) {
  expect_words(CHANGED(badger(), it.reasons = MUSTER_REASON_WAITS_FOR_ACTION, it.level = 0, it.longest_is_wish = true,
                       it.elasticity_derived = true, it.modelled = false, it.age_ns = 0, it.band_interval_ns = 0),
               "badger 11 runs every 52 ms, at level 0 of 0..2, with importance 0.61.\n" STANDS
               "  Period: as wanted; under load at most 210 ms, if that wish can be kept. Elasticity 3.7, from its "
               "type and importance; 39 of its kind stretch alike.\n" SEEN LOWERED FACTORS ".\n"
               "  Level 0: full capability; cheaper below importance 0.31.\n"
               "  Now: it has thought; what it wants to do found no time and leads the next commit.\n"
               "  Last update: in the last frame; by the rule it comes every 52 ms.\n" COST);
}

Test(explain_words, in_quarantine) {
  expect_words(
      CHANGED(badger(), it.reasons = MUSTER_REASON_QUARANTINED | MUSTER_REASON_REMOVAL_WAITING,
              it.age_ns = it.period_ns + it.period_ns / 2, it.cost_samples = 0, it.cost_mean_ns = 999,
              it.cost_high_ns = 9994999),
      NAMED STANDS
      "  Period: as wanted; under load at most 210 ms." SET_ALIKE SEEN LOWERED FACTORS AGREED LEVEL_1
      "  Now: in quarantine: its atoms, or those of its type, took too long too often; reinstating it brings it back.\n"
      "  Last update: 78 ms ago; by the rule it comes every 52 ms. Agents that matter as much got one every 61.5 ms.\n"
      "  Cost: an update takes 999 ns on average, 9.99 ms at most in 19 of 20 cases (a guess: none was measured yet).\n"
      "  It is about to be removed.\n");
}

Test(explain_words, late_by_more_than_half_a_period) {
  expect_words(CHANGED(badger(), it.reasons = MUSTER_REASON_ASLEEP, it.age_ns = it.period_ns + it.period_ns / 2 + 1,
                       it.cost_mean_ns = 99950000000, it.cost_high_ns = 9995000),
               NAMED STANDS
               "  Period: as wanted; under load at most 210 ms." SET_ALIKE SEEN LOWERED FACTORS AGREED LEVEL_1
               "  Now: asleep; due in 19 ms.\n"
               "  Last update: 78 ms ago; by the rule it comes every 52 ms, so it is late by 26 ms. Agents that matter "
               "as much got one every 61.5 ms.\n"
               "  Cost: an update takes 100 s on average, 10.0 ms at most in 19 of 20 cases (55 measured).\n");
}
