/* What becomes of types that have many atoms over their limit. */
#include "world/overruns_scene.h"

/* All of them, who have run at the level that this makes. */
static void expect_penalties(const struct scene *scene, const muster_agent agents[40], uint32_t penalty) {
  for (uint32_t i = 0; i < 40; i++) {
    muster_agent_explanation why = explain(&scene->little, agents[i]);
    cr_assert_eq((why.reasons & MUSTER_REASON_PENALTY) != 0, penalty != 0, "agent %u: %#x", i, why.reasons);
    cr_assert_eq(info_of(&scene->little, agents[i]).penalty, penalty);
    cr_assert_eq(state_of(scene, agents[i])->level, penalty, "agent %u", i);
  }
}

/* Half of forty agents have two overruns in a second, which is a fifth of all updates of their type, until each agent
 * is demoted. */
Test(overruns_type, a_type_goes_down_a_level_with_all_its_agents_and_comes_back) {
  SCOPED_SCENE scene;
  open_scene(&scene, 2);
  const uint64_t period_ns = 200000000u; /* a second holds five updates */
  add_type(&scene.little, CHANGED(due_every(period_ns, type_of(&scene, 2)), it.overruns.demote = 2));
  muster_agent agents[40];
  spawn_all(&scene, agents, 40);
  run_frames(&scene.little, 40);
  for (uint32_t i = 0; i < 40; i += 2) convict(&scene, agents[i], 1);
  for (uint32_t i = 0; i < 300 && !counts_of(&scene).level_floor; i++) run_frame(&scene.little);
  cr_assert_eq(counts_of(&scene).level_floor, 1, "all had been demoted, and the window was bad all the same");
  run_frames(&scene.little, 30);
  expect_penalties(&scene, agents, 1);
  cr_assert_eq(counts_of(&scene).agents_demoted, 20);
  memset(scene.guilty, 0, sizeof scene.guilty);
  muster_type_reinstate(scene.little.world, scene.little.type);
  run_frames(&scene.little, 30);
  expect_penalties(&scene, agents, 0);
}

Test(overruns_type, a_type_in_quarantine_is_not_run_until_it_is_reinstated) {
  SCOPED_SCENE scene;
  open_scene(&scene, 2);
  muster_agent agents[40];
  add_type(&scene.little, type_of(&scene, 1));
  muster_agent bystander = spawn_at(&scene.little, 0);
  add_type(&scene.little, CHANGED(type_of(&scene, 1), it.period_ns = it.period_max_ns = 2000000000u));
  spawn_all(&scene, agents, 40);
  /* Each agent has one overrun in two seconds, so that no agent has three before the type has its three seconds. */
  for (uint32_t frame = 0; frame < 3000 && !counts_of(&scene).quarantined; frame++) {
    for (uint32_t i = 0; i < 40; i++) convict(&scene, agents[i], MUSTER_LEVELS);
    muster_agent_reinstate(scene.little.world, agents[frame % 40]);
    run_frame(&scene.little);
  }
  memset(scene.guilty, 0, sizeof scene.guilty);
  cr_assert(counts_of(&scene).quarantined);
  muster_agent late = spawn_at(&scene.little, 1);
  run_frame(&scene.little);
  uint32_t runs = runs_of(&scene, agents, 40), bystander_runs = state_of(&scene, bystander)->runs;
  for (uint32_t i = 0; i < 40; i++) muster_agent_wake(scene.little.world, agents[i]);
  run_frames(&scene.little, 400);
  cr_assert_eq(runs_of(&scene, agents, 40), runs);
  cr_assert_eq(state_of(&scene, late)->runs, 0, "nor is who comes later");
  cr_assert(info_of(&scene.little, late).quarantined);
  cr_assert_eq(state_of(&scene, bystander)->runs, bystander_runs + 400, "others are");
  cr_assert_eq(muster_type_reinstate(scene.little.world, scene.little.type), MUSTER_OK);
  cr_assert_eq(muster_type_reinstate(scene.little.world, (muster_type){7}), MUSTER_E_ARGUMENT);
  run_frames(&scene.little, 210);
  cr_assert_not(counts_of(&scene).quarantined);
  for (uint32_t i = 0; i < 40; i++) {
    muster_agent_info info = info_of(&scene.little, agents[i]);
    cr_assert_not(info.quarantined);
    cr_assert_eq(state_of(&scene, agents[i])->elapsed_sum_ns, info.last_update_ns - FRAME_NS,
                 "it was told all the time since the first frame");
  }
  cr_assert_gt(state_of(&scene, late)->runs, 0);
}

/* Ten of sixty agents fit a frame, so most agents of the type are ready and wait when it goes into quarantine. */
Test(overruns_type, who_is_about_to_run_when_its_type_goes_into_quarantine_does_not) {
  SCOPED_SCENE scene;
  open_scene(&scene, 2);
  add_type(&scene.little, CHANGED(type_of(&scene, 1), it.overruns.quarantine = 1, it.overruns.demote = 1));
  muster_agent agents[60];
  spawn_all(&scene, agents, 60);
  run_frames(&scene.little, 10);
  for (uint32_t i = 0; i < 60; i++) convict(&scene, agents[i], MUSTER_LEVELS);
  /* The agents are reinstated one by one, so that there are always some that have overruns. */
  muster_frame_report report = {0};
  for (uint32_t frame = 0; frame < 400 && !counts_of(&scene).quarantined; frame++) {
    for (uint32_t i = 0; i < 60; i++) muster_agent_reinstate(scene.little.world, agents[i]);
    report = run_frame_with(&scene.little, 10 * OVER_NS);
  }
  cr_assert(counts_of(&scene).quarantined);
  cr_assert_gt(report.carried, 20);
  uint32_t runs = runs_of(&scene, agents, 60);
  cr_assert_eq(run_frame(&scene.little).carried, 0, "none of them waits");
  cr_assert_eq(run_frame(&scene.little).released, 0);
  run_frames(&scene.little, 20);
  cr_assert_eq(runs_of(&scene, agents, 60), runs);
  memset(scene.guilty, 0, sizeof scene.guilty);
  muster_type_reinstate(scene.little.world, scene.little.type);
  run_frames(&scene.little, 20);
  for (uint32_t i = 0; i < 60; i++) {
    muster_agent_info info = info_of(&scene.little, agents[i]);
    cr_assert_eq(state_of(&scene, agents[i])->elapsed_sum_ns, info.last_update_ns - FRAME_NS);
    cr_assert_eq(info.last_update_ns, scene.little.now_ns);
  }
}
