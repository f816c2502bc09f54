/* Importance by the four factors of Rankin, Acton & Katchabaw, and company. */
#include "run/intake_queues.h"
#include "support/little_world.h"
#include "world/guard.h"

#include <muster/explain.h>
#include <muster/tune.h>

#include <math.h>

static little_world factors_world(const float weights[4]) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 0}};
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.importance_model = MUSTER_IMPORTANCE_FACTORS;
  def.limits.agents_max = 16;
  if (weights) def.importance.focus = weights[0];
  if (weights) def.importance.designer = weights[1];
  if (weights) def.importance.role = weights[2];
  if (weights) def.importance.company = weights[3];
  little_world little = little_world_create(1, &def);
  muster_type_def type = type_with(atoms, 1);
  register_type(&little, &type);
  return little;
}

static muster_agent spawn(const little_world *little, double x, float designer, float role) {
  muster_agent_def def = muster_agent_def_default();
  def.type = little->type;
  def.position.x = x;
  def.designer = designer;
  def.role = role;
  muster_agent agent = muster_agent_spawn(little->world, &def);
  cr_assert(!muster_agent_is_null(agent), "%s", muster_last_error());
  return agent;
}

static void importance_is(const little_world *little, muster_agent agent, float expected) {
  float importance = info_of(little, agent).importance;
  cr_assert_float_eq(importance, expected, 0.012, "importance is %g, not %g", (double)importance, (double)expected);
}

/* The role as it is explained: the agent's own or, if it has none, its type's. */
static void role_is(const little_world *little, muster_agent agent, float expected) {
  muster_agent_explanation why = muster_agent_explanation_default();
  cr_assert_eq(muster_agent_explain(little->world, agent, &why), MUSTER_OK, "%s", muster_last_error());
  cr_assert_float_eq(why.role, expected, 0.005, "role is %g, not %g", (double)why.role, (double)expected);
}

Test(factors, weigh_focus_designer_and_role) {
  little_world little = factors_world((const float[4]){1.0f, 0.5f, 0.25f, 1.0f});
  muster_observer_def observer = muster_observer_def_default();
  muster_observer_add(little.world, &observer);
  muster_agent near = spawn(&little, 0, 0.8f, 0.4f), far = spawn(&little, 10000, 0.8f, 0.4f);
  muster_agent of_type = spawn(&little, 10000, 0, -1);
  run_frames(&little, 5);
  importance_is(&little, near, (1.0f + 0.5f * 0.8f + 0.25f * 0.4f) / 4);
  importance_is(&little, far, (0.5f * 0.8f + 0.25f * 0.4f) / 4);
  importance_is(&little, of_type, 0.25f / 4);
  role_is(&little, near, 0.4f);
  role_is(&little, of_type, 1.0f);
  muster_agent_tuning tuning = muster_agent_tuning_default();
  tuning.designer = 0.0f;
  cr_assert_eq(muster_agent_tune(little.world, far, &tuning), MUSTER_OK);
  run_frame(&little);
  importance_is(&little, far, 0.25f * 0.4f / 4);
  little_world_destroy(&little);
}

Test(factors, follow_their_weights_while_the_world_runs) {
  little_world little = factors_world(NULL);
  muster_agent agent = spawn(&little, 0, 1.0f, 0.2f);
  run_frame(&little);
  importance_is(&little, agent, 1.2f / 4);
  muster_world_tuning tuning = muster_world_tuning_default();
  tuning.importance.focus = tuning.importance.designer = tuning.importance.company = 0.0f;
  tuning.importance.role = 1.0f;
  cr_assert_eq(muster_world_tune(little.world, &tuning), MUSTER_OK);
  run_frames(&little, 3);
  importance_is(&little, agent, 0.2f / 4);
  tuning.importance.role = 0.0f;
  cr_assert_eq(muster_world_tune(little.world, &tuning), MUSTER_E_ARGUMENT);
  cr_assert_not_null(strstr(muster_last_error(), "not all zero"), "%s", muster_last_error());
  tuning.importance.role = -1.0f; /* with this, only three of the four are given */
  cr_assert_eq(muster_world_tune(little.world, &tuning), MUSTER_E_ARGUMENT);
  little_world_destroy(&little);
}

Test(factors, have_weights_of_0_to_1_that_are_not_all_zero) {
  const float bad[][4] = {{0, 0, 0, 0}, {1.1f, 1, 1, 1}, {1, -0.1f, 1, 1}, {1, 1, NAN, 1}};
  static const char *const says[] = {"not all zero", "focus 1.1 must be 0..1", "designer -0.1 must be 0..1",
                                     "role nan must be 0..1"};
  for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    muster_world_def def = muster_world_def_default();
    def.importance_model = MUSTER_IMPORTANCE_FACTORS;
    def.importance.focus = bad[i][0];
    def.importance.designer = bad[i][1];
    def.importance.role = bad[i][2];
    def.importance.company = bad[i][3];
    cr_assert_null(muster_world_create(&def), "case %u was taken", i);
    cr_assert_not_null(strstr(muster_last_error(), says[i]), "%s", muster_last_error());
  }
}

Test(factors, refuse_agents_beyond_their_range) {
  little_world little = factors_world(NULL);
  muster_agent_def def = muster_agent_def_default();
  def.type = little.type;
  def.designer = 1.5f;
  cr_assert(muster_agent_is_null(muster_agent_spawn(little.world, &def)));
  def.designer = 0.0f;
  def.role = NAN;
  cr_assert(muster_agent_is_null(muster_agent_spawn(little.world, &def)));
  cr_assert_not_null(strstr(muster_last_error(), "role"));
  muster_agent agent = spawn(&little, 0, 0, 0);
  muster_agent_tuning tuning = muster_agent_tuning_default();
  tuning.role = 2.0f;
  cr_assert_eq(muster_agent_tune(little.world, agent, &tuning), MUSTER_E_ARGUMENT);
  little_world_destroy(&little);
}

/* --------------------------------------------------------------------------------------------------------- company */

Test(company, lifts_the_less_important_and_ends) {
  little_world little = factors_world(NULL);
  muster_agent king = spawn(&little, 0, 0.9f, 0.9f), page = spawn(&little, 0, 0.3f, 0.3f);
  cr_assert_eq(muster_agent_link(little.world, page, king), MUSTER_OK);
  cr_assert_eq(muster_agent_link(little.world, king, page), MUSTER_OK);
  run_frames(&little, 4);
  importance_is(&little, page, (0.6f + 1.8f / 3) / 4); /* its own, and a share of the king's */
  importance_is(&little, king, 1.8f / 4);              /* a page does not lift a king */
  muster_agent_explanation why = muster_agent_explanation_default();
  cr_assert_eq(muster_agent_explain(little.world, page, &why), MUSTER_OK);
  cr_assert(why.reasons & MUSTER_REASON_COMPANY);
  cr_assert_float_eq(why.company, 0.6f, 0.01);
  cr_assert_float_eq(why.designer, 0.3f, 0.01);
  cr_assert_eq(muster_agent_unlink(little.world, page, king), MUSTER_OK);
  run_frames(&little, 3);
  importance_is(&little, page, 0.6f / 4);
  cr_assert_eq(muster_agent_link(little.world, page, king), MUSTER_OK);
  run_frames(&little, 3);
  muster_agent_remove(little.world, king);
  run_frames(&little, 4);
  importance_is(&little, page, 0.6f / 4);
  bool follows = false; /* another agent, as important, gets the index of the king that was removed */
  for (uint32_t i = 0; i < 15; i++)
    follows |= muster_agent_index(spawn(&little, 0, 0.9f, 0.9f)) == muster_agent_index(king);
  cr_assert(follows);
  run_frames(&little, 4);
  importance_is(&little, page, 0.6f / 4);
  little_world_destroy(&little);
}

/* Each agent names the next one, in a circle. An agent that is lifted is lifted by one step, and stays there. */
Test(company, makes_no_chains_and_no_unrest_in_circles) {
  enum { CIRCLE = 12 };
  little_world little = factors_world(NULL);
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
  for (uint32_t frame = 0; frame < 50; frame++) {
    muster_frame_report report = run_frame(&little);
    cr_assert_eq(report.scored, 0, "a circle is never at rest");
  }
  little_world_destroy(&little);
}

Test(company, keeps_the_latest_four) {
  little_world little = factors_world(NULL);
  muster_agent page = spawn(&little, 0, 0, 0.1f), kings[6];
  for (uint32_t i = 0; i < 6; i++) {
    kings[i] = spawn(&little, 0, 1.0f - 0.1f * (float)i, 1.0f - 0.1f * (float)i);
    muster_agent_link(little.world, page, kings[i]);
  }
  run_frames(&little, 4);
  importance_is(&little, page, (0.1f + 1.6f / 3) / 4); /* kings[2] is the first of the last four */
  muster_agent_unlink(little.world, page, (muster_agent){0});
  run_frames(&little, 3);
  importance_is(&little, page, 0.1f / 4);
  little_world_destroy(&little);
}

Test(company, refuses_oneself_the_gone_and_other_worlds) {
  little_world little = factors_world(NULL);
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
  little_world_destroy(&little);
}

/* Such commands can only come from a forged snapshot or record. */
Test(company, no_command_links_an_agent_to_none_or_to_itself) {
  little_world little = factors_world(NULL);
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
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct command command = {.kind = cases[i].kind, .index = 2, .generation = 1};
    command.other = cases[i].other;
    cr_assert_eq(command_is_possible(little.world, &command), cases[i].possible, "case %zu", i);
  }
  little_world_destroy(&little);
}
