/* What an explanation says an agent gets, beside what the rule says: its age, that it never ran, that it is late, and a
 * period that is longer than its type wishes. */
#include "world/fixture.h"

static char words[4096];

static muster_type_def every(uint64_t period_ns, uint64_t period_max_ns) {
  return CHANGED(type_running(nothing, 100000), it.period_ns = period_ns, it.period_max_ns = period_max_ns);
}

/* By the law of importance, and in the order of deadlines. */
static little_world lawful_world(uint64_t period_ns, uint64_t period_max_ns) {
  return typed_world(1,
                     WITH(virtual_world_def, it.elastic = MUSTER_ELASTIC_IMPORTANCE, it.order = MUSTER_ORDER_DEADLINE),
                     every(period_ns, period_max_ns));
}

static muster_agent_explanation explained(const little_world *little, muster_agent agent) {
  muster_agent_explanation explanation = explain(little, agent);
  muster_explanation_print(&explanation, words, sizeof words);
  return explanation;
}

static void expect_words(const char *expected) {
  cr_expect_not_null(strstr(words, expected), "no '%s' in: %s", expected, words);
}

static muster_agent spawn_tuned(const little_world *little, float elasticity, float importance) {
  return spawn_as(little, WITH(muster_agent_def, it.elasticity = elasticity, it.importance_floor = importance));
}

Test(explain_gets, how_long_ago_it_ran_and_how_often_by_the_rule) {
  SCOPED_WORLD little = lawful_world(100000000u, 200000000u);
  muster_agent agent = spawn_tuned(&little, -1.0f, 1.0f);
  run_frames(&little, 50);
  muster_statistics_clear(little.world);
  run_frames(&little, 100);
  while (little.now_ns - info_of(&little, agent).last_update_ns != 30000000u) run_frame(&little);
  muster_agent_explanation why = explained(&little, agent);
  cr_expect(why.has_run && why.by_importance && why.longest_is_wish);
  cr_expect_eq(why.age_ns, 30000000u);
  expect_words("Last update: 30 ms ago; by the rule it comes every 100 ms. Agents that matter as much got one every ");
  expect_words("as wanted; under load at most 200 ms, if that wish can be kept.");
}

/* Of two agents of the same importance, one runs every 100 ms and one never: 200 ms is what such agents got. */
Test(explain_gets, that_it_never_ran_and_what_its_like_got) {
  SCOPED_WORLD little = lawful_world(100000000u, 200000000u);
  spawn_tuned(&little, -1.0f, 1.0f);
  add_type(&little, every(1000000000000u, 1000000000000u));
  muster_agent agent = spawn_tuned(&little, -1.0f, 1.0f);
  run_frames(&little, 50);
  muster_statistics_clear(little.world);
  run_frames(&little, 100);
  muster_agent_explanation why = explained(&little, agent);
  cr_expect(!why.has_run);
  cr_expect_eq(why.age_ns, 149 * FRAME_NS);
  cr_expect_eq(why.band_interval_ns, 200000000u);
  expect_words(
      "Last update: none yet, 1.49 s after its spawn; by the rule it comes every 1000 s. Agents that matter as "
      "much got one every 200 ms.");
}

/* A paper's rule, in its order, does not keep the longest period under overload. */
Test(explain_gets, that_it_is_late_where_the_rule_is_not_kept) {
  SCOPED_WORLD little =
      little_world_of(1, WITH(virtual_world_def, it.elastic = MUSTER_ELASTIC_RATE, it.order = MUSTER_ORDER_PRIORITY));
  add_type(&little, every(20000000u, 100000000u));
  for (uint32_t i = 0; i < 2000; i++) spawn_at(&little, 0);
  run_frames(&little, 100);
  muster_agent_explanation why = {0};
  for (uint32_t i = 0; why.age_ns < 250000000u; i++) why = explained(&little, muster_agent_make(i, 1));
  cr_expect(!why.by_importance && !why.longest_is_wish);
  expect_words(" ago; by the rule it comes every 100 ms, so it is late by ");
  expect_words("even with the longest period of every agent the work does not fit the budget");
}

/* The same load under the law of importance: periods are longer than types wish, but they are kept, and known. */
Test(explain_gets, that_its_period_is_beyond_its_wish) {
  SCOPED_WORLD little = lawful_world(100000000u, 100000000u);
  for (uint32_t i = 0; i < 2000; i++) spawn_tuned(&little, i ? -1.0f : 2.0f, 0.0f);
  run_frames(&little, 300);
  cr_expect_gt(explained(&little, muster_agent_make(7, 1)).period_ns, 110000000u);
  expect_words("Period: longer than its type wishes, 100 ms at most, because the pressure is ");
  expect_words("even with the longest periods that types wish for the work does not fit the budget; what matters least "
               "gives way most");
  cr_expect_null(strstr(words, "it is late"), "%s", words);
  explained(&little, muster_agent_make(0, 1));
  expect_words(", from what was set for this agent and its importance;");
}

/* Exempt agents alone want the whole budget: they get half of it. */
Test(explain_gets, that_exempt_agents_give_way_to_each_other_alone) {
  SCOPED_WORLD little = lawful_world(20000000u, 100000000u);
  for (uint32_t i = 0; i < 200; i++) spawn_tuned(&little, 0.0f, 1.0f);
  run_frames(&little, 100);
  cr_expect_gt(explained(&little, muster_agent_make(7, 1)).period_ns, 22000000u);
  expect_words(
      "it is exempt: its elasticity is 0, set for this agent, so its period gives way only because exempt agents "
      "want more than half of the time that there is.");
}
