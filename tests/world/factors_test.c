/* Importance by the four factors of Rankin, Acton & Katchabaw, and company. */
#include "run/intake_queues.h"
#include "world/fixture.h"
#include "world/guard.h"

static muster_world_def weighing(muster_world_def def, const float weights[4]) {
  return CHANGED(def, it.importance_model = MUSTER_IMPORTANCE_FACTORS, it.importance.focus = weights[0],
                 it.importance.designer = weights[1], it.importance.role = weights[2],
                 it.importance.company = weights[3]);
}

static little_world factors_world_of(muster_world_def def) {
  return typed_world(1, CHANGED(def, it.limits.agents_max = 16), type_running(nothing, 0));
}

/* With weights as they are by default. */
static little_world factors_world(void) {
  return factors_world_of(WITH(virtual_world_def, it.importance_model = MUSTER_IMPORTANCE_FACTORS));
}

static muster_agent spawn(const little_world *little, double x, float designer, float role) {
  return spawn_as(little, WITH(muster_agent_def, it.position.x = x, it.designer = designer, it.role = role));
}

/* After so many frames. */
static void importance_is(little_world *little, uint32_t frames, muster_agent agent, float expected) {
  run_frames(little, frames);
  float importance = info_of(little, agent).importance;
  cr_assert_float_eq(importance, expected, 0.012, "importance is %g, not %g", (double)importance, (double)expected);
}

/* The role as it is explained: the agent's own or, if it has none, its type's. */
static void role_is(const little_world *little, muster_agent agent, float expected) {
  float role = explain(little, agent).role;
  cr_assert_float_eq(role, expected, 0.005, "role is %g, not %g", (double)role, (double)expected);
}

Test(factors, weigh_focus_designer_and_role) {
  SCOPED_WORLD little = factors_world_of(weighing(virtual_world_def_default(), (const float[4]){1, 0.5f, 0.25f, 1}));
  observe_at(&little, 0);
  muster_agent near = spawn(&little, 0, 0.8f, 0.4f), far = spawn(&little, 10000, 0.8f, 0.4f);
  muster_agent of_type = spawn(&little, 10000, 0, -1);
  importance_is(&little, 5, near, (1.0f + 0.5f * 0.8f + 0.25f * 0.4f) / 4);
  importance_is(&little, 0, far, (0.5f * 0.8f + 0.25f * 0.4f) / 4);
  importance_is(&little, 0, of_type, 0.25f / 4);
  role_is(&little, near, 0.4f);
  role_is(&little, of_type, 1.0f);
  cr_assert_eq(tune_agent(&little, far, WITH(muster_agent_tuning, it.designer = 0.0f)), MUSTER_OK);
  importance_is(&little, 1, far, 0.25f * 0.4f / 4);
}

Test(factors, follow_their_weights_while_the_world_runs) {
  SCOPED_WORLD little = factors_world();
  muster_agent agent = spawn(&little, 0, 1.0f, 0.2f);
  importance_is(&little, 1, agent, 1.2f / 4);
  muster_world_tuning tuning =
      WITH(muster_world_tuning, it.importance.focus = it.importance.designer = it.importance.company = 0.0f,
           it.importance.role = 1.0f);
  cr_assert_eq(tune_world(&little, tuning), MUSTER_OK);
  importance_is(&little, 3, agent, 0.2f / 4);
  tuning.importance.role = 0.0f;
  cr_assert_eq(tune_world(&little, tuning), MUSTER_E_ARGUMENT);
  expect_error("not all zero");
  tuning.importance.role = -1.0f; /* with this, only three of the four are given */
  cr_assert_eq(tune_world(&little, tuning), MUSTER_E_ARGUMENT);
}

Test(factors, have_weights_of_0_to_1_that_are_not_all_zero) {
  const float bad[][4] = {{0, 0, 0, 0}, {1.1f, 1, 1, 1}, {1, -0.1f, 1, 1}, {1, 1, NAN, 1}};
  static const char *const says[] = {"not all zero", "focus 1.1 must be 0..1", "designer -0.1 must be 0..1",
                                     "role nan must be 0..1"};
  for (uint32_t i = 0; i < COUNT_OF(bad); i++)
    expect_world_refused(weighing(muster_world_def_default(), bad[i]), says[i]);
}

Test(factors, refuse_agents_beyond_their_range) {
  SCOPED_WORLD little = factors_world();
  expect_spawn_refused(&little, WITH(muster_agent_def, it.designer = 1.5f), "designer");
  expect_spawn_refused(&little, WITH(muster_agent_def, it.role = NAN), "role");
  muster_agent agent = spawn(&little, 0, 0, 0);
  cr_assert_eq(tune_agent(&little, agent, WITH(muster_agent_tuning, it.role = 2.0f)), MUSTER_E_ARGUMENT);
}

/* --------------------------------------------------------------------------------------------------------- company */

Test(company, lifts_the_less_important_and_ends) {
  SCOPED_WORLD little = factors_world();
  muster_agent king = spawn(&little, 0, 0.9f, 0.9f), page = spawn(&little, 0, 0.3f, 0.3f);
  cr_assert_eq(muster_agent_link(little.world, page, king), MUSTER_OK);
  cr_assert_eq(muster_agent_link(little.world, king, page), MUSTER_OK);
  importance_is(&little, 4, page, (0.6f + 1.8f / 3) / 4); /* its own, and a share of the king's */
  importance_is(&little, 0, king, 1.8f / 4);              /* a page does not lift a king */
  muster_agent_explanation why = explain(&little, page);
  cr_assert(why.reasons & MUSTER_REASON_COMPANY);
  cr_assert_float_eq(why.company, 0.6f, 0.01);
  cr_assert_float_eq(why.designer, 0.3f, 0.01);
  cr_assert_eq(muster_agent_unlink(little.world, page, king), MUSTER_OK);
  importance_is(&little, 3, page, 0.6f / 4);
  cr_assert_eq(muster_agent_link(little.world, page, king), MUSTER_OK);
  run_frames(&little, 3);
  muster_agent_remove(little.world, king);
  importance_is(&little, 4, page, 0.6f / 4);
  bool follows = false; /* another agent, as important, gets the index of the king that was removed */
  for (uint32_t i = 0; i < 15; i++)
    follows |= muster_agent_index(spawn(&little, 0, 0.9f, 0.9f)) == muster_agent_index(king);
  cr_assert(follows);
  importance_is(&little, 4, page, 0.6f / 4);
}

/* Each agent names the next one, in a circle. An agent that is lifted is lifted by one step, and stays there. */
Test(company, makes_no_chains_and_no_unrest_in_circles) {
  enum { CIRCLE = 12 };
  SCOPED_WORLD little = factors_world();
  muster_agent agents[CIRCLE];
  float settled[CIRCLE];
  for (uint32_t i = 0; i < CIRCLE; i++) agents[i] = spawn(&little, 0, (float)i / CIRCLE, 0.5f);
  for (uint32_t i = 0; i < CIRCLE; i++) {
    cr_assert_eq(muster_agent_link(little.world, agents[i], agents[(i + 1) % CIRCLE]), MUSTER_OK);
    cr_assert_eq(muster_agent_link(little.world, agents[i], agents[(i + CIRCLE - 1) % CIRCLE]), MUSTER_OK);
  }
  run_frames(&little, 6);
  for (uint32_t i = 0; i < CIRCLE; i++) {
    uint32_t next = i == 0 ? CIRCLE - 1 : i + 1; /* the more important of the two neighbours */
    float own = (float)i / CIRCLE + 0.5f, other = (float)(next % CIRCLE) / CIRCLE + 0.5f;
    float inherited = i + 1 < CIRCLE ? other / 3 : 0.0f;
    settled[i] = info_of(&little, agents[i]).importance;
    cr_assert_float_eq(settled[i], (own + inherited) / 4, 0.012, "agent %u: %g", i, (double)settled[i]);
  }
  for (uint32_t frame = 0; frame < 50; frame++) cr_assert_eq(run_frame(&little).scored, 0, "a circle is never at rest");
}

Test(company, keeps_the_latest_four) {
  SCOPED_WORLD little = factors_world();
  muster_agent page = spawn(&little, 0, 0, 0.1f), kings[6];
  for (uint32_t i = 0; i < 6; i++) {
    kings[i] = spawn(&little, 0, 1.0f - 0.1f * (float)i, 1.0f - 0.1f * (float)i);
    muster_agent_link(little.world, page, kings[i]);
  }
  importance_is(&little, 4, page, (0.1f + 1.6f / 3) / 4); /* kings[2] is the first of the last four */
  muster_agent_unlink(little.world, page, (muster_agent){0});
  importance_is(&little, 3, page, 0.1f / 4);
}

Test(company, refuses_oneself_the_gone_and_other_worlds) {
  SCOPED_WORLD little = factors_world();
  muster_agent one = spawn(&little, 0, 0, 0), gone = spawn(&little, 0, 0, 0);
  run_frame(&little);
  muster_agent_remove(little.world, gone);
  run_frame(&little);
  cr_assert_eq(muster_agent_link(little.world, one, one), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_agent_link(little.world, one, gone), MUSTER_E_STALE);
  cr_assert_eq(muster_agent_link(little.world, gone, one), MUSTER_E_STALE);
  cr_assert_eq(muster_agent_wake(little.world, gone), MUSTER_E_STALE);
  little_world_destroy(&little);
  little = little_world_create(1, NULL);
  cr_assert_eq(muster_agent_link(little.world, one, gone), MUSTER_E_STATE);
}

/* Such commands can only come from a forged snapshot or record. */
Test(company, no_command_links_an_agent_to_none_or_to_itself) {
  SCOPED_WORLD little = factors_world();
  const struct {
    command_kind kind;
    muster_agent other;
    bool possible;
  } cases[] = {{COMMAND_LINK, muster_agent_make(5, 1), true},
               {COMMAND_LINK, {0}, false},
               {COMMAND_LINK, muster_agent_make(5, 2), false},
               {COMMAND_LINK, muster_agent_make(16, 1), false},
               {COMMAND_LINK, muster_agent_make(2, 1), false},
               {COMMAND_LINK, muster_agent_make(2, 3), true},
               {COMMAND_UNLINK, {0}, true},
               {COMMAND_UNLINK, muster_agent_make(5, 2), true},
               {COMMAND_UNLINK, muster_agent_make(16, 1), true}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    struct command command = {.kind = cases[i].kind, .index = 2, .generation = 1};
    command.other = cases[i].other;
    cr_assert_eq(command_is_possible(little.world, &command), cases[i].possible, "case %zu", i);
  }
}
