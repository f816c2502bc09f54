/* What an explanation says an agent gets, beside what the rule says: its age, that it never ran, that it is late, and a
 * period that is longer than its type wishes. */
#include "support/little_world.h"

#include <muster/explain.h>

static char words[4096];

static muster_type_def every(uint64_t period_ns, uint64_t period_max_ns) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 100000}};
  muster_type_def def = type_with(atoms, 1);
  def.period_ns = period_ns;
  def.period_max_ns = period_max_ns;
  return def;
}

static muster_world_def ruled(muster_elastic elastic, muster_order order) {
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.elastic = elastic;
  def.order = order;
  return def;
}

static muster_agent_explanation explain(const little_world *little, muster_agent agent) {
  muster_agent_explanation explanation = muster_agent_explanation_default();
  muster_result result = muster_agent_explain(little->world, agent, &explanation);
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  muster_explanation_print(&explanation, words, sizeof words);
  return explanation;
}

static void expect_words(const char *expected) {
  cr_expect_not_null(strstr(words, expected), "no '%s' in: %s", expected, words);
}

static muster_agent spawn_tuned(const little_world *little, float elasticity, float importance) {
  muster_agent_def def = muster_agent_def_default();
  def.type = little->type;
  def.elasticity = elasticity;
  def.importance_floor = importance;
  return muster_agent_spawn(little->world, &def);
}

Test(explain_gets, how_long_ago_it_ran_and_how_often_by_the_rule) {
  muster_world_def def = ruled(MUSTER_ELASTIC_IMPORTANCE, MUSTER_ORDER_DEADLINE);
  little_world little = little_world_create(1, &def);
  muster_type_def type = every(100000000u, 200000000u);
  register_type(&little, &type);
  muster_agent agent = spawn_tuned(&little, -1.0f, 1.0f);
  run_frames(&little, 50);
  muster_statistics_clear(little.world);
  run_frames(&little, 100);
  while (little.now_ns - info_of(&little, agent).last_update_ns != 30000000u) run_frame(&little);
  muster_agent_explanation why = explain(&little, agent);
  cr_expect(why.has_run && why.by_importance && why.longest_is_wish);
  cr_expect_eq(why.age_ns, 30000000u);
  expect_words("Last update: 30 ms ago; by the rule it comes every 100 ms. Agents that matter as much got one every ");
  expect_words("as wanted; under load at most 200 ms, if that wish can be kept.");
  little_world_destroy(&little);
}

/* Of two agents of the same importance, one runs every 100 ms and one never: 200 ms is what such agents got. */
Test(explain_gets, that_it_never_ran_and_what_its_like_got) {
  muster_world_def def = ruled(MUSTER_ELASTIC_IMPORTANCE, MUSTER_ORDER_DEADLINE);
  little_world little = little_world_create(1, &def);
  muster_type_def often = every(100000000u, 200000000u), seldom = every(1000000000000u, 1000000000000u);
  register_type(&little, &often);
  spawn_tuned(&little, -1.0f, 1.0f);
  register_type(&little, &seldom);
  muster_agent agent = spawn_tuned(&little, -1.0f, 1.0f);
  run_frames(&little, 50);
  muster_statistics_clear(little.world);
  run_frames(&little, 100);
  muster_agent_explanation why = explain(&little, agent);
  cr_expect(!why.has_run);
  cr_expect_eq(why.age_ns, 149 * FRAME_NS);
  cr_expect_eq(why.band_interval_ns, 200000000u);
  expect_words(
      "Last update: none yet, 1.49 s after its spawn; by the rule it comes every 1000 s. Agents that matter as "
      "much got one every 200 ms.");
  little_world_destroy(&little);
}

/* A paper's rule, in its order, does not keep the longest period under overload. */
Test(explain_gets, that_it_is_late_where_the_rule_is_not_kept) {
  muster_world_def def = ruled(MUSTER_ELASTIC_RATE, MUSTER_ORDER_PRIORITY);
  little_world little = little_world_create(1, &def);
  muster_type_def type = every(20000000u, 100000000u);
  register_type(&little, &type);
  for (uint32_t i = 0; i < 2000; i++) spawn_at(&little, 0);
  run_frames(&little, 100);
  muster_agent_explanation why = {0};
  for (uint32_t i = 0; why.age_ns < 250000000u; i++) why = explain(&little, muster_agent_make(i, 1));
  cr_expect(!why.by_importance && !why.longest_is_wish);
  expect_words(" ago; by the rule it comes every 100 ms, so it is late by ");
  expect_words("even with the longest period of every agent the work does not fit the budget");
  little_world_destroy(&little);
}

/* The same load under the law of importance: periods are longer than types wish, but they are kept, and known. */
Test(explain_gets, that_its_period_is_beyond_its_wish) {
  muster_world_def def = ruled(MUSTER_ELASTIC_IMPORTANCE, MUSTER_ORDER_DEADLINE);
  little_world little = little_world_create(1, &def);
  muster_type_def type = every(100000000u, 100000000u);
  register_type(&little, &type);
  for (uint32_t i = 0; i < 2000; i++) spawn_tuned(&little, i ? -1.0f : 2.0f, 0.0f);
  run_frames(&little, 300);
  muster_agent_explanation why = explain(&little, muster_agent_make(7, 1));
  cr_expect_gt(why.period_ns, 110000000u);
  expect_words("Period: longer than its type wishes, 100 ms at most, because the pressure is ");
  expect_words("even with the longest periods that types wish for the work does not fit the budget; what matters least "
               "gives way most");
  cr_expect_null(strstr(words, "it is late"), "%s", words);
  explain(&little, muster_agent_make(0, 1));
  expect_words(", from what was set for this agent and its importance;");
  little_world_destroy(&little);
}

/* Exempt agents alone want the whole budget: they get half of it. */
Test(explain_gets, that_exempt_agents_give_way_to_each_other_alone) {
  muster_world_def def = ruled(MUSTER_ELASTIC_IMPORTANCE, MUSTER_ORDER_DEADLINE);
  little_world little = little_world_create(1, &def);
  muster_type_def type = every(20000000u, 100000000u);
  register_type(&little, &type);
  for (uint32_t i = 0; i < 200; i++) spawn_tuned(&little, 0.0f, 1.0f);
  run_frames(&little, 100);
  muster_agent_explanation why = explain(&little, muster_agent_make(7, 1));
  cr_expect_gt(why.period_ns, 22000000u);
  expect_words(
      "it is exempt: its elasticity is 0, set for this agent, so its period gives way only because exempt agents "
      "want more than half of the time that there is.");
  little_world_destroy(&little);
}
