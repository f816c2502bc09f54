/* The whole words of explanations: each value in its place, each clause where it belongs and nowhere else. */
#include <criterion/criterion.h>
#include <muster/explain.h>
#include <muster/muster.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Values of which no two are alike. */
static muster_agent_explanation badger(void) {
  muster_agent_explanation of = muster_agent_explanation_default();
  of.agent = muster_agent_make(11, 12);
  snprintf(of.type_name, sizeof of.type_name, "badger");
  snprintf(of.set_owed, sizeof of.set_owed, "forage");
  of.sim_now_ns = 5000000000;
  of.pressure = 1.25f;
  of.importance = 0.61f;
  of.observer = muster_observer_make(24, 25);
  of.observed = of.modelled = of.has_run = true;
  of.distance_m = 26.5f;
  of.near_m = 27;
  of.far_m = 280;
  of.by_observer = 0.62f;
  of.visibility = 0.63f;
  of.bulk = 0.64f;
  of.interactivity = 0.65f;
  of.of_type = 0.66f;
  of.by_model = 0.67f;
  of.floor = 0.68f;
  of.designer = 0.69f;
  of.role = 0.70f;
  of.company = 0.71f;
  of.level = 1;
  of.level_count = 3;
  of.shed = 2;
  of.level_low = 0.31f;
  of.level_high = 0.72f;
  of.elasticity = 3.7f;
  of.elasticity_of_type = 3.8f;
  of.class_members = 39;
  of.nominal_ns = 20000000;
  of.longest_ns = 210000000;
  of.period_ns = 52000000;
  of.band_interval_ns = 61500000;
  of.age_ns = 33000000;
  of.due_ns = of.sim_now_ns + 19000000;
  of.wake_at_ns = of.sim_now_ns + 90000000;
  of.waited_ns = 43000000;
  of.delays = 44;
  of.atoms_done = 2;
  of.atoms = 5;
  of.cost_mean_ns = 53100;
  of.cost_high_ns = 154000;
  of.cost_samples = 55;
  of.priority_wait_ns = 49000000;
  of.priority_importance_ns = 50000000;
  of.priority_progress_ns = 51000000;
  of.priority_runs_ns = -52000000;
  of.priority_reduction_ns = 53000000;
  of.priority_reaction_ns = 54000000;
  of.priority_ns = 205000000;
  of.herd = muster_herd_make(31, 32);
  of.herd_members = 7;
  return of;
}

static void expect_words(const muster_agent_explanation *of, const char *expected) {
  char text[2048];
  size_t length = muster_explanation_print(of, text, sizeof text);
  cr_expect_str_eq(text, expected, "%s", text);
  cr_expect_eq(length, strlen(expected));
}

Test(explain_words, asleep_and_stretched_at_a_middle_level) {
  muster_agent_explanation of = badger();
  of.reasons = MUSTER_REASON_ASLEEP | MUSTER_REASON_LOWERED | MUSTER_REASON_MODELLED | MUSTER_REASON_FLOOR |
               MUSTER_REASON_CHEAPER_LEVEL | MUSTER_REASON_PERIOD_STRETCHED | MUSTER_REASON_OVERLOAD;
  of.level = 1;
  expect_words(
      &of,
      "badger 11 runs every 52 ms instead of every 20 ms, at level 1 of 0..2, with importance 0.61.\n"
      "  It stands for 7 of herd 31.\n"
      "  Period: stretched because the pressure is 1.25; at most 210 ms. Elasticity 3.7, from what was set for this "
      "agent and its importance; 39 of its kind stretch alike.\n"
      "  Overload: even with the longest period of every agent the work does not fit the budget.\n"
      "  Importance: observer 24, 26.5 m away, gives it 0.62 (1 within 27 m, nothing from 280 m on), times 0.63 for "
      "visibility, times 0.64 for bulk, times 0.65 for interactivity, times 0.66 for its type; of the factors, "
      "designer 0.69, role 0.70 and company 0.71; its type's own model makes that 0.67; the designer's floor keeps it "
      "at 0.68.\n"
      "  Level 1: better from importance 0.72 on, cheaper below importance 0.31.\n"
      "  Now: asleep; due in 19 ms.\n"
      "  Last update: 33 ms ago; by the rule it comes every 52 ms. Agents that matter as much got one every 61.5 ms.\n"
      "  Cost: an update takes 53.1 us on average, 154 us at most in 19 of 20 cases (55 measured).\n");
}

Test(explain_words, spawned_and_not_taken_in_yet) {
  muster_agent_explanation of = badger();
  of.reasons = MUSTER_REASON_SPAWN_WAITING | MUSTER_REASON_REMOVAL_WAITING;
  snprintf(of.problem, sizeof of.problem, "village.lua:12 has failed");
  of.herd = muster_herd_make(9, 1);
  of.herd_members = 0;
  expect_words(&of,
               "badger 11 is spawned and waits to be taken in by a frame; spawns of many are spread over several.\n"
               "  It is a member of herd 9, with a name.\n"
               "  Its code fails: village.lua:12 has failed.\n"
               "  It is about to be removed.\n");
}

Test(explain_words, without_a_period_and_woken) {
  muster_agent_explanation of = badger();
  of.reasons = MUSTER_REASON_ASLEEP | MUSTER_REASON_WOKEN | MUSTER_REASON_NO_PERIOD | MUSTER_REASON_OWN_PERIOD |
               MUSTER_REASON_REACTION;
  of.elasticity_derived = true;
  of.react_by_ns = of.sim_now_ns + 45000000;
  of.herd_members = 17;
  expect_words(
      &of,
      "badger 11 runs when it is woken, or at a time that was asked for, at level 1 of 0..2, with importance 0.61.\n"
      "  It stands for 17 of herd 31.\n"
      "  Importance: observer 24, 26.5 m away, gives it 0.62 (1 within 27 m, nothing from 280 m on), times 0.63 for "
      "visibility, times 0.64 for bulk, times 0.65 for interactivity, times 0.66 for its type; of the factors, "
      "designer 0.69, role 0.70 and company 0.71; its type's own model agrees on 0.67.\n"
      "  Level 1: better from importance 0.72 on, cheaper below importance 0.31.\n"
      "  Now: asleep, but it was woken and runs in the next frame.\n"
      "  Last update: 33 ms ago.\n"
      "  Cost: an update takes 53.1 us on average, 154 us at most in 19 of 20 cases (55 measured).\n"
      "  It must react within 45 ms.\n");
}

Test(explain_words, without_a_period_until_it_is_woken) {
  muster_agent_explanation of = badger();
  of.reasons = MUSTER_REASON_ASLEEP | MUSTER_REASON_NO_PERIOD | MUSTER_REASON_REACTION;
  of.due_ns = of.wake_at_ns = 0;
  of.react_by_ns = of.sim_now_ns - 45000000;
  of.herd_members = 0;
  of.has_run = false;
  expect_words(
      &of,
      "badger 11 runs when it is woken, or at a time that was asked for, at level 1 of 0..2, with importance 0.61.\n"
      "  It is a member of herd 31, with a name.\n"
      "  Importance: observer 24, 26.5 m away, gives it 0.62 (1 within 27 m, nothing from 280 m on), times 0.63 for "
      "visibility, times 0.64 for bulk, times 0.65 for interactivity, times 0.66 for its type; of the factors, "
      "designer 0.69, role 0.70 and company 0.71; its type's own model agrees on 0.67.\n"
      "  Level 1: better from importance 0.72 on, cheaper below importance 0.31.\n"
      "  Now: asleep until it is woken.\n"
      "  Last update: none yet, 33 ms after its spawn.\n"
      "  Cost: an update takes 53.1 us on average, 154 us at most in 19 of 20 cases (55 measured).\n"
      "  It should have reacted 45 ms ago.\n");
}

Test(explain_words, asleep_until_a_time_that_was_asked_for) {
  muster_agent_explanation of = badger();
  of.reasons = MUSTER_REASON_ASLEEP | MUSTER_REASON_TIME_ASKED | MUSTER_REASON_OWN_PERIOD | MUSTER_REASON_REACTION;
  of.wake_at_ns = of.due_ns;
  of.react_by_ns = of.sim_now_ns;
  of.elasticity_derived = true;
  of.block_herds = 23;
  expect_words(
      &of,
      "badger 11 runs every 52 ms, a period of its own, at level 1 of 0..2, with importance 0.61.\n"
      "  It brings a block of 23 herds forward, those of them that are folded.\n"
      "  Period: as wanted; under load at most 210 ms. Elasticity 3.7, from its type and importance; 39 of its kind "
      "stretch alike.\n"
      "  Importance: observer 24, 26.5 m away, gives it 0.62 (1 within 27 m, nothing from 280 m on), times 0.63 for "
      "visibility, times 0.64 for bulk, times 0.65 for interactivity, times 0.66 for its type; of the factors, "
      "designer 0.69, role 0.70 and company 0.71; its type's own model agrees on 0.67.\n"
      "  Level 1: better from importance 0.72 on, cheaper below importance 0.31.\n"
      "  Now: asleep; due in 19 ms, as was asked for.\n"
      "  Last update: 33 ms ago; by the rule it comes every 52 ms. Agents that matter as much got one every 61.5 ms.\n"
      "  Cost: an update takes 53.1 us on average, 154 us at most in 19 of 20 cases (55 measured).\n"
      "  It must react within 0 ns.\n");
}

Test(explain_words, asleep_and_its_wake_delayed_beyond_its_time) {
  muster_agent_explanation of = badger();
  of.reasons =
      MUSTER_REASON_ASLEEP | MUSTER_REASON_WAKE_DELAYED | MUSTER_REASON_TIME_ASKED | MUSTER_REASON_ELASTICITY_SET;
  of.due_ns = of.sim_now_ns - 1;
  of.longest_is_wish = true;
  expect_words(
      &of,
      "badger 11 runs every 52 ms, at level 1 of 0..2, with importance 0.61.\n"
      "  It stands for 7 of herd 31.\n"
      "  Period: as wanted; under load at most 210 ms, if that wish can be kept. Elasticity 3.7, set for this agent; "
      "39 of its kind stretch alike.\n"
      "  Importance: observer 24, 26.5 m away, gives it 0.62 (1 within 27 m, nothing from 280 m on), times 0.63 for "
      "visibility, times 0.64 for bulk, times 0.65 for interactivity, times 0.66 for its type; of the factors, "
      "designer 0.69, role 0.70 and company 0.71; its type's own model agrees on 0.67.\n"
      "  Level 1: better from importance 0.72 on, cheaper below importance 0.31.\n"
      "  Now: asleep; due in 0 ns; it was woken, and waits for time to pass.\n"
      "  Last update: 33 ms ago; by the rule it comes every 52 ms. Agents that matter as much got one every 61.5 ms.\n"
      "  Cost: an update takes 53.1 us on average, 154 us at most in 19 of 20 cases (55 measured).\n");
}

Test(explain_words, exempt) {
  muster_agent_explanation of = badger();
  of.reasons = MUSTER_REASON_CARRIED | MUSTER_REASON_EXEMPT | MUSTER_REASON_ELASTICITY_SET | MUSTER_REASON_PENALTY |
               MUSTER_REASON_NO_OBSERVER_NEAR;
  of.observed = false;
  of.deadline_ns = (int64_t)of.sim_now_ns + 7000000;
  of.priority_ns = 0;
  expect_words(
      &of,
      "badger 11 runs every 52 ms, at level 1 of 0..2, with importance 0.61.\n"
      "  It stands for 7 of herd 31.\n"
      "  Period: it is exempt: its elasticity is 0, set for this agent, so its period does not give way to others.\n"
      "  Importance: no observer is near; the nearest, observer 24, is 26.5 m away and sees 280 m far; of the factors, "
      "designer 0.69, role 0.70 and company 0.71; its type's own model agrees on 0.67.\n"
      "  Level 1: no better one, for its overruns or its type's; better from importance 0.72 on, cheaper below "
      "importance 0.31.\n"
      "  Now: it found no time in the last frame; due for 43 ms, 44 frames.\n"
      "  Rank: it shall run within 7 ms; agents with less time go first.\n"
      "  Last update: 33 ms ago; by the rule it comes every 52 ms. Agents that matter as much got one every 61.5 ms.\n"
      "  Cost: an update takes 53.1 us on average, 154 us at most in 19 of 20 cases (55 measured).\n");
}

Test(explain_words, exempt_and_stretched_for_all_that) {
  muster_agent_explanation of = badger();
  of.reasons = MUSTER_REASON_CARRIED | MUSTER_REASON_EXEMPT | MUSTER_REASON_PERIOD_STRETCHED | MUSTER_REASON_WOKEN |
               MUSTER_REASON_NO_OBSERVER_NEAR;
  of.observed = false;
  of.distance_m = INFINITY;
  of.deadline_ns = (int64_t)of.sim_now_ns - 7000000;
  of.priority_ns = 0;
  of.level = 2;
  of.waited_ns = 0;
  expect_words(
      &of,
      "badger 11 runs every 52 ms instead of every 20 ms, at level 2 of 0..2, with importance 0.61.\n"
      "  It stands for 7 of herd 31.\n"
      "  Period: it is exempt: its elasticity is 0, so its period gives way only because exempt agents want more than "
      "half of the time that there is.\n"
      "  Importance: there is no observer in its partition; of the factors, designer 0.69, role 0.70 and company 0.71; "
      "its type's own model agrees on 0.67.\n"
      "  Level 2: better from importance 0.72 on.\n"
      "  Now: it found no time in the last frame; due since that frame; it was woken, so it goes sooner.\n"
      "  Rank: it should have run 7 ms ago.\n"
      "  Last update: 33 ms ago; by the rule it comes every 52 ms. Agents that matter as much got one every 61.5 ms.\n"
      "  Cost: an update takes 53.1 us on average, 154 us at most in 19 of 20 cases (55 measured).\n");
}

Test(explain_words, carried_and_woken_in_the_order_of_priorities) {
  muster_agent_explanation of = badger();
  of.reasons = MUSTER_REASON_CARRIED | MUSTER_REASON_WOKEN | MUSTER_REASON_HELD | MUSTER_REASON_GUARANTEED |
               MUSTER_REASON_PERIOD_STRETCHED | MUSTER_REASON_PERIOD_LONGEST;
  of.priority_reaction_ns = 0;
  of.level_count = 1;
  expect_words(
      &of,
      "badger 11 runs every 52 ms instead of every 20 ms, with importance 0.61.\n"
      "  It stands for 7 of herd 31.\n"
      "  Period: stretched as far as its type allows, because the pressure is 1.25. Elasticity 3.7, from what was set "
      "for this agent and its importance; 39 of its kind stretch alike.\n"
      "  Importance: observer 24, 26.5 m away, gives it 0.62 (1 within 27 m, nothing from 280 m on), times 0.63 for "
      "visibility, times 0.64 for bulk, times 0.65 for interactivity, times 0.66 for its type; of the factors, "
      "designer 0.69, role 0.70 and company 0.71; its type's own model agrees on 0.67.\n"
      "  Now: it found no time in the last frame; due for 43 ms, 44 frames; it was woken, so it goes before all "
      "others; it leads the next frame.\n"
      "  Rank: as if it had waited 205.0 ms: 49.0 since its last update, +50.0 for importance, +51.0 for having begun, "
      "-52.0 for having run often.\n"
      "  In it, too: +53.0 for its level, +0.0 for the time by which it must react.\n"
      "  Last update: 33 ms ago; by the rule it comes every 52 ms. Agents that matter as much got one every 61.5 ms.\n"
      "  Cost: an update takes 53.1 us on average, 154 us at most in 19 of 20 cases (55 measured).\n");
}

Test(explain_words, carried_for_longer_than_is_guaranteed) {
  muster_agent_explanation of = badger();
  of.reasons = MUSTER_REASON_CARRIED | MUSTER_REASON_GUARANTEED | MUSTER_REASON_PERIOD_STRETCHED |
               MUSTER_REASON_PERIOD_LONGEST | MUSTER_REASON_OVERLOAD;
  of.longest_is_wish = of.by_importance = true;
  of.priority_reduction_ns = 0;
  of.level = 2;
  expect_words(
      &of,
      "badger 11 runs every 52 ms instead of every 20 ms, at level 2 of 0..2, with importance 0.61.\n"
      "  It stands for 7 of herd 31.\n"
      "  Period: stretched as far as its type wishes, because the pressure is 1.25. Elasticity 3.7, from what was set "
      "for this agent and its importance; 39 of its kind stretch alike.\n"
      "  Overload: even with the longest periods that types wish for the work does not fit the budget; what matters "
      "least gives way most.\n"
      "  Importance: observer 24, 26.5 m away, gives it 0.62 (1 within 27 m, nothing from 280 m on), times 0.63 for "
      "visibility, times 0.64 for bulk, times 0.65 for interactivity, times 0.66 for its type; of the factors, "
      "designer 0.69, role 0.70 and company 0.71; its type's own model agrees on 0.67.\n"
      "  Level 2: better from importance 0.72 on.\n"
      "  Now: it found no time in the last frame; due for 43 ms, 44 frames; it has waited longer than is guaranteed, "
      "so it goes before the ranked.\n"
      "  Rank: as if it had waited 205.0 ms: 49.0 since its last update, +50.0 for importance, +51.0 for having begun, "
      "-52.0 for having run often.\n"
      "  In it, too: +0.0 for its level, +54.0 for the time by which it must react.\n"
      "  Last update: 33 ms ago; by the rule it comes every 52 ms. Agents that matter as much got one every 61.5 ms.\n"
      "  Cost: an update takes 53.1 us on average, 154 us at most in 19 of 20 cases (55 measured).\n");
}

Test(explain_words, preempted) {
  muster_agent_explanation of = badger();
  of.reasons =
      MUSTER_REASON_PREEMPTED | MUSTER_REASON_BEYOND_WISH | MUSTER_REASON_PERIOD_STRETCHED | MUSTER_REASON_SHED;
  of.level = 1;
  of.priority_reduction_ns = of.priority_reaction_ns = 0;
  of.visibility = of.interactivity = 1;
  of.designer = of.role = of.company = 0;
  expect_words(
      &of,
      "badger 11 runs every 52 ms instead of every 20 ms, at level 1 of 0..2, with importance 0.61.\n"
      "  It stands for 7 of herd 31.\n"
      "  Period: longer than its type wishes, 210 ms at most, because the pressure is 1.25. Elasticity 3.7, from what "
      "was set for this agent and its importance; 39 of its kind stretch alike.\n"
      "  Importance: observer 24, 26.5 m away, gives it 0.62 (1 within 27 m, nothing from 280 m on), times 0.64 for "
      "bulk, times 0.66 for its type; its type's own model agrees on 0.67.\n"
      "  Level 1: lowered by 2 for the pressure; better from importance 0.72 on, cheaper below importance 0.31.\n"
      "  Now: its update was stopped after 2 of 5 atoms and goes on there; due for 43 ms, 44 frames.\n"
      "  Rank: as if it had waited 205.0 ms: 49.0 since its last update, +50.0 for importance, +51.0 for having begun, "
      "-52.0 for having run often.\n"
      "  Last update: 33 ms ago; by the rule it comes every 52 ms. Agents that matter as much got one every 61.5 ms.\n"
      "  Cost: an update takes 53.1 us on average, 154 us at most in 19 of 20 cases (55 measured).\n");
}

Test(explain_words, owed_time_in_one_of_its_sets) {
  muster_agent_explanation of = badger();
  of.reasons = MUSTER_REASON_CARRIED | MUSTER_REASON_OWED;
  of.longest_ns = of.nominal_ns;
  of.bulk = of.of_type = 1;
  of.modelled = true;
  of.designer = of.role = 0;
  expect_words(
      &of,
      "badger 11 runs every 52 ms, at level 1 of 0..2, with importance 0.61.\n"
      "  It stands for 7 of herd 31.\n"
      "  Period: its type has no longer period than the one it wants. Elasticity 3.7, from what was set for this agent "
      "and its importance; 39 of its kind stretch alike.\n"
      "  Importance: observer 24, 26.5 m away, gives it 0.62 (1 within 27 m, nothing from 280 m on), times 0.63 for "
      "visibility, times 0.65 for interactivity; of the factors, designer 0.00, role 0.00 and company 0.71; its type's "
      "own model agrees on 0.67.\n"
      "  Level 1: better from importance 0.72 on, cheaper below importance 0.31.\n"
      "  Now: its set 'forage' is owed time and goes on without waiting for its period; due for 43 ms, 44 frames.\n"
      "  Rank: as if it had waited 205.0 ms: 49.0 since its last update, +50.0 for importance, +51.0 for having begun, "
      "-52.0 for having run often.\n"
      "  In it, too: +53.0 for its level, +54.0 for the time by which it must react.\n"
      "  Last update: 33 ms ago; by the rule it comes every 52 ms. Agents that matter as much got one every 61.5 ms.\n"
      "  Cost: an update takes 53.1 us on average, 154 us at most in 19 of 20 cases (55 measured).\n");
}

Test(explain_words, waiting_for_its_action) {
  muster_agent_explanation of = badger();
  of.reasons = MUSTER_REASON_WAITS_FOR_ACTION;
  of.level = 0;
  of.longest_is_wish = true;
  of.elasticity_derived = true;
  of.modelled = false;
  of.age_ns = 0;
  of.band_interval_ns = 0;
  expect_words(&of, "badger 11 runs every 52 ms, at level 0 of 0..2, with importance 0.61.\n"
                    "  It stands for 7 of herd 31.\n"
                    "  Period: as wanted; under load at most 210 ms, if that wish can be kept. Elasticity 3.7, from "
                    "its type and importance; 39 of its kind stretch alike.\n"
                    "  Importance: observer 24, 26.5 m away, gives it 0.62 (1 within 27 m, nothing from 280 m on), "
                    "times 0.63 for visibility, times 0.64 for bulk, times 0.65 for interactivity, times 0.66 for its "
                    "type; of the factors, designer 0.69, role 0.70 and company 0.71.\n"
                    "  Level 0: full capability; cheaper below importance 0.31.\n"
                    "  Now: it has thought; what it wants to do found no time and leads the next commit.\n"
                    "  Last update: in the last frame; by the rule it comes every 52 ms.\n"
                    "  Cost: an update takes 53.1 us on average, 154 us at most in 19 of 20 cases (55 measured).\n");
}

Test(explain_words, in_quarantine) {
  muster_agent_explanation of = badger();
  of.reasons = MUSTER_REASON_QUARANTINED | MUSTER_REASON_REMOVAL_WAITING;
  of.age_ns = of.period_ns + of.period_ns / 2;
  of.cost_samples = 0;
  of.cost_mean_ns = 999;
  of.cost_high_ns = 9994999;
  expect_words(
      &of,
      "badger 11 runs every 52 ms, at level 1 of 0..2, with importance 0.61.\n"
      "  It stands for 7 of herd 31.\n"
      "  Period: as wanted; under load at most 210 ms. Elasticity 3.7, from what was set for this agent and its "
      "importance; 39 of its kind stretch alike.\n"
      "  Importance: observer 24, 26.5 m away, gives it 0.62 (1 within 27 m, nothing from 280 m on), times 0.63 for "
      "visibility, times 0.64 for bulk, times 0.65 for interactivity, times 0.66 for its type; of the factors, "
      "designer 0.69, role 0.70 and company 0.71; its type's own model agrees on 0.67.\n"
      "  Level 1: better from importance 0.72 on, cheaper below importance 0.31.\n"
      "  Now: in quarantine: its atoms, or those of its type, took too long too often; reinstating it brings it back.\n"
      "  Last update: 78 ms ago; by the rule it comes every 52 ms. Agents that matter as much got one every 61.5 ms.\n"
      "  Cost: an update takes 999 ns on average, 9.99 ms at most in 19 of 20 cases (a guess: none was measured yet).\n"
      "  It is about to be removed.\n");
}

Test(explain_words, late_by_more_than_half_a_period) {
  muster_agent_explanation of = badger();
  of.reasons = MUSTER_REASON_ASLEEP;
  of.age_ns = of.period_ns + of.period_ns / 2 + 1;
  of.cost_mean_ns = 99950000000;
  of.cost_high_ns = 9995000;
  expect_words(&of,
               "badger 11 runs every 52 ms, at level 1 of 0..2, with importance 0.61.\n"
               "  It stands for 7 of herd 31.\n"
               "  Period: as wanted; under load at most 210 ms. Elasticity 3.7, from what was set for this agent and "
               "its importance; 39 of its kind stretch alike.\n"
               "  Importance: observer 24, 26.5 m away, gives it 0.62 (1 within 27 m, nothing from 280 m on), times "
               "0.63 for visibility, times 0.64 for bulk, times 0.65 for interactivity, times 0.66 for its type; of "
               "the factors, designer 0.69, role 0.70 and company 0.71; its type's own model agrees on 0.67.\n"
               "  Level 1: better from importance 0.72 on, cheaper below importance 0.31.\n"
               "  Now: asleep; due in 19 ms.\n"
               "  Last update: 78 ms ago; by the rule it comes every 52 ms, so it is late by 26 ms. Agents that matter "
               "as much got one every 61.5 ms.\n"
               "  Cost: an update takes 100 s on average, 10.0 ms at most in 19 of 20 cases (55 measured).\n");
}
