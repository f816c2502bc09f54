/* What becomes of agents that have atoms over their limit. */
#include "support/await.h"
#include "world/overruns_scene.h"

Test(overruns, three_overruns_per_level_and_three_more_bring_an_agent_into_quarantine) {
  SCOPED_SCENE scene;
  muster_agent agent = open_scene_of_one(&scene, 3);
  convict(&scene, agent, MUSTER_LEVELS);
  for (uint32_t level = 0; level < 3; level++)
    for (uint32_t count = 0; count < 3; count++) {
      cr_assert_eq(info_of(&scene.little, agent).level, level);
      cr_assert_eq(info_of(&scene.little, agent).penalty, level);
      cr_assert_not(info_of(&scene.little, agent).quarantined);
      cr_assert_eq(run_frame(&scene.little).overruns, 1);
    }
  cr_assert(info_of(&scene.little, agent).quarantined);
  uint32_t runs = state_of(&scene, agent)->runs;
  muster_frame_report report = {0};
  for (uint32_t i = 0; i < 10; i++) {
    cr_assert_eq(muster_agent_wake(scene.little.world, agent), MUSTER_OK);
    report = run_frame(&scene.little);
    cr_assert_eq(report.released + report.woken + report.carried, 0);
  }
  cr_assert_eq(state_of(&scene, agent)->runs, runs);
  cr_assert_eq(report.agents_quarantined, 1);
  cr_assert_eq(report.agents_demoted, 1);
  cr_assert_eq(report.agents, 1, "it still exists");
  cr_assert_eq(report.utilisation_nominal, 0, "it asks for no time");
  cr_assert_eq(statistics_of(&scene.little).atoms_over_limit, 9);
  cr_assert_eq(statistics_of(&scene.little).demotions, 2);
  cr_assert_eq(statistics_of(&scene.little).quarantines, 1);
  cr_assert_eq(scene.lines, 3);
  cr_assert(strstr(scene.last, "'suspect'") && strstr(scene.last, "0.15 ms in atom 0, limit 0.1 ms"), "%s", scene.last);
}

Test(overruns, overruns_and_their_counts_are_read) {
  SCOPED_SCENE scene;
  muster_overrun overruns[MUSTER_OVERRUNS_KEPT + 1];
  muster_agent agent = open_scene_of_one(&scene, 2);
  cr_assert_eq(muster_overruns_read(scene.little.world, overruns, 2), 0);
  convict(&scene, agent, 1);
  run_frames(&scene.little, 20);
  cr_assert_eq(muster_overruns_read(scene.little.world, overruns, MUSTER_OVERRUNS_KEPT + 1), 3, "none at level 1");
  cr_assert_eq(muster_overruns_read(scene.little.world, overruns, 2), 2);
  cr_assert_eq(muster_agent_index(overruns[0].agent), muster_agent_index(agent));
  cr_assert_eq(muster_agent_generation(overruns[0].agent), muster_agent_generation(agent));
  cr_assert_eq(overruns[0].type.index, scene.little.type.index);
  cr_assert_eq(overruns[0].level, 0);
  cr_assert_eq(overruns[0].atom, 0);
  cr_assert_eq(overruns[0].duration_ns, OVER_NS);
  cr_assert_eq(overruns[0].limit_ns, LIMIT_NS);
  cr_assert_eq(overruns[0].frame, overruns[1].frame + 1, "the latest comes first");
  muster_overrun_counts counts = counts_of(&scene);
  cr_assert_eq(counts.overruns, 3);
  cr_assert_eq(counts.worst_ns, OVER_NS);
  cr_assert_eq(muster_agent_index(counts.worst_agent), muster_agent_index(agent));
  cr_assert_eq(counts.agents_demoted, 1);
  cr_assert_eq(counts.agents_quarantined, 0);
  cr_assert_not(counts.quarantined);
  cr_assert_eq(muster_overrun_counts_read(scene.little.world, (muster_type){9}, &counts), MUSTER_E_ARGUMENT);
  counts.size = 0;
  cr_assert_eq(muster_overrun_counts_read(scene.little.world, scene.little.type, &counts), MUSTER_E_NOT_INITIALISED);
}

Test(overruns, a_reinstated_agent_comes_back_at_its_level_and_is_told_all_the_time) {
  SCOPED_SCENE scene;
  muster_agent agent = open_scene_of_one(&scene, 2);
  convict(&scene, agent, MUSTER_LEVELS);
  AWAIT_WITH(run_frame(&scene.little), info_of(&scene.little, agent).quarantined);
  uint64_t before_ns = info_of(&scene.little, agent).last_update_ns, sum_ns = state_of(&scene, agent)->elapsed_sum_ns;
  run_frames(&scene.little, 50);
  convict(&scene, agent, 0);
  cr_assert_eq(muster_agent_reinstate(scene.little.world, agent), MUSTER_OK);
  run_frame(&scene.little);
  cr_assert_not(info_of(&scene.little, agent).quarantined);
  cr_assert_eq(info_of(&scene.little, agent).penalty, 0);
  cr_assert_eq(state_of(&scene, agent)->level, 0);
  cr_assert_eq(state_of(&scene, agent)->elapsed_sum_ns - sum_ns, scene.little.now_ns - before_ns);
  uint32_t runs = state_of(&scene, agent)->runs;
  run_frames(&scene.little, 10);
  cr_assert_eq(state_of(&scene, agent)->runs, runs + 10, "it runs as often as ever");
  cr_assert_eq(statistics_of(&scene.little).reinstated, 1);
  muster_overrun_counts counts = counts_of(&scene);
  cr_assert_eq(counts.agents_demoted + counts.agents_quarantined, 0);
  convict(&scene, agent, MUSTER_LEVELS);
  run_frames(&scene.little, 2);
  cr_assert_eq(info_of(&scene.little, agent).penalty, 0, "its overrun count is forgotten");
  run_frame(&scene.little);
  cr_assert_eq(info_of(&scene.little, agent).penalty, 1);
}

Test(overruns, overruns_far_apart_are_forgotten) {
  SCOPED_SCENE scene;
  muster_agent agent = open_scene_of_one(&scene, 2);
  for (uint32_t i = 0; i < 6; i++) {
    convict(&scene, agent, MUSTER_LEVELS);
    run_frame(&scene.little);
    convict(&scene, agent, 0);
    run_frames(&scene.little, 100);
  }
  cr_assert_eq(counts_of(&scene).overruns, 6);
  cr_assert_eq(info_of(&scene.little, agent).penalty, 0);
}

static void run_over_twice(struct scene *scene, muster_agent agent) {
  convict(scene, agent, MUSTER_LEVELS);
  run_frames(&scene->little, 2);
  convict(scene, agent, 0);
}

Test(overruns, reinstating_or_removing_an_agent_forgets_its_count) {
  SCOPED_SCENE scene;
  muster_agent agent = open_scene_of_one(&scene, 2);
  run_over_twice(&scene, agent);
  muster_agent_reinstate(scene.little.world, agent);
  run_frame(&scene.little);
  run_over_twice(&scene, agent);
  cr_assert_eq(info_of(&scene.little, agent).penalty, 0, "reinstated in between");
  muster_agent heir = agent;
  for (uint32_t i = 0; i < 200 && (i == 0 || muster_agent_index(heir) != muster_agent_index(agent)); i++) {
    muster_agent_remove(scene.little.world, heir);
    run_frame(&scene.little);
    heir = spawn_at(&scene.little, 0);
    run_frame(&scene.little);
  }
  cr_assert_eq(muster_agent_index(heir), muster_agent_index(agent), "the index was not used again");
  settle_in(&scene, heir);
  run_over_twice(&scene, heir);
  cr_assert_eq(info_of(&scene.little, heir).penalty, 0, "the other is gone");
}

Test(overruns, zero_means_no_penalty) {
  SCOPED_SCENE scene;
  open_scene(&scene, 1);
  add_type(&scene.little, CHANGED(type_of(&scene, 2), it.overruns.demote = it.overruns.quarantine = 0));
  for (uint32_t i = 0; i < 20; i++) scene.guilty[muster_agent_index(spawn_at(&scene.little, 0))] = MUSTER_LEVELS;
  run_frames(&scene.little, 500);
  muster_overrun_counts counts = counts_of(&scene);
  cr_assert_gt(counts.overruns, 20 * 490);
  cr_assert_eq(counts.agents_demoted + counts.agents_quarantined + counts.level_floor, 0);
  cr_assert_not(counts.quarantined);
  cr_assert_eq(scene.lines, 0);
}

Test(overruns, overrun_counts_out_of_range_are_refused) {
  SCOPED_SCENE scene;
  open_scene(&scene, 1);
  expect_type_refused(&scene.little, CHANGED(type_of(&scene, 2), it.overruns.demote = 10001), "overruns.demote");
  expect_type_refused(&scene.little, CHANGED(type_of(&scene, 2), it.overruns.quarantine = 10001),
                      "overruns.quarantine");
  expect_world_refused(WITH(muster_world_def, it.watch.stuck_ns = 9999999), "watch.stuck_ns");
  expect_world_refused(WITH(muster_world_def, it.watch.stuck_ns = 3600000000001u), "watch.stuck_ns");
}

Test(overruns, agents_in_quarantine_can_be_moved_removed_and_followed_by_others_under_their_index) {
  SCOPED_SCENE scene; /* removes the three that are still in quarantine */
  open_scene_of(&scene, 1);
  muster_agent agents[7];
  spawn_all(&scene, agents, 7);
  settle_in(&scene, agents[0]);
  for (uint32_t i = 0; i < 4; i++) convict(&scene, agents[i], MUSTER_LEVELS);
  run_frames(&scene.little, 8);
  cr_assert_eq(counts_of(&scene).agents_quarantined, 4);
  muster_agent_move(scene.little.world, agents[0], (muster_position){500, 0, 0});
  muster_agent_remove(scene.little.world, agents[1]);
  muster_frame_report report = run_frame(&scene.little);
  cr_assert_eq(info_of(&scene.little, agents[0]).position.x, 500);
  cr_assert_not(muster_agent_exists(scene.little.world, agents[1]));
  cr_assert_eq(report.agents_quarantined, 3);
  cr_assert_eq(report.agents, 6);
  memset(scene.guilty, 0, sizeof scene.guilty);
  for (uint32_t i = 0; i < 40; i++) {
    muster_agent agent = spawn_at(&scene.little, 0);
    run_frames(&scene.little, 2);
    cr_assert_not(info_of(&scene.little, agent).quarantined);
    cr_assert_gt(state_of(&scene, agent)->runs, 0);
  }
  cr_assert_eq(muster_agent_reinstate(scene.little.world, agents[1]), MUSTER_E_STALE);
}

/* An update that was preempted between two atoms, and one that waits for its action atoms: both go on where they
 * stopped. */
static muster_atom_result step(muster_update *update) {
  struct state *state = update->state;
  state->runs++;
  return MUSTER_ATOM_NEXT;
}

/* Opens a scene of one worker and of a type whose atoms cost what their models say, and who is over its limit once is
 * in quarantine. */
static void open_strict_scene(struct scene *scene, const muster_atom *atoms, uint32_t count) {
  open_scene(scene, 1);
  add_type(&scene->little, CHANGED(type_of(scene, 1), it.atoms = atoms, it.atom_count = count, it.models.cost_ns = NULL,
                                   it.overruns.quarantine = 1));
}

Test(overruns, an_update_that_had_begun_goes_on_when_it_is_reinstated) {
  static const muster_atom steps[] = {
      {.run = step, .model_ns = OVER_NS}, {.run = step, .model_ns = HONEST_NS}, {.run = step, .model_ns = 900000}};
  SCOPED_SCENE scene;
  open_strict_scene(&scene, steps, 3);
  muster_agent agent = spawn_at(&scene.little, 0);
  for (uint32_t i = 0; i < 500 && state_of(&scene, agent)->runs == 0; i++) run_frame_with(&scene.little, 200000);
  cr_assert_eq(state_of(&scene, agent)->runs, 2);
  muster_agent_info info = info_of(&scene.little, agent);
  cr_assert(info.quarantined);
  cr_assert_eq(info.atoms_done, 2);
  run_frames(&scene.little, 5);
  cr_assert_eq(state_of(&scene, agent)->runs, 2);
  muster_agent_reinstate(scene.little.world, agent);
  cr_assert_eq(run_frame(&scene.little).completed, 1);
  cr_assert_eq(state_of(&scene, agent)->runs, 3);
}

static muster_atom_result act_once(muster_update *update) {
  struct state *state = update->state;
  state->level++;
  return MUSTER_ATOM_FINISH;
}

Test(overruns, who_waits_for_action_atoms_acts_when_it_is_reinstated) {
  static const muster_atom acting[] = {{.run = step, .model_ns = OVER_NS},
                                       {.run = act_once, .role = MUSTER_ROLE_ACTION, .model_ns = 50000}};
  SCOPED_SCENE scene;
  open_strict_scene(&scene, acting, 2);
  muster_agent agents[8];
  for (uint32_t i = 0; i < 8; i++) agents[i] = spawn_at(&scene.little, 0);
  uint32_t waiting = 0;
  for (uint32_t i = 0; i < 5 && !waiting; i++) waiting = run_frame_with(&scene.little, 700000).actions_waiting;
  muster_frame_report report = run_frame_with(&scene.little, 700000);
  cr_assert_gt(report.agents_quarantined, 0);
  run_frames(&scene.little, 10);
  report = run_frame(&scene.little);
  cr_assert_eq(report.agents_quarantined, 8);
  cr_assert_eq(report.actions_waiting, 0);
  uint32_t half_run = 0;
  for (uint32_t i = 0; i < 8; i++) {
    half_run += state_of(&scene, agents[i])->runs > state_of(&scene, agents[i])->level;
    muster_agent_reinstate(scene.little.world, agents[i]);
  }
  cr_assert_gt(half_run, 0, "some were taken while their action atoms waited");
  muster_type_reinstate(scene.little.world, scene.little.type);
  run_frames(&scene.little, 3);
  for (uint32_t i = 0; i < 8; i++) {
    cr_assert_gt(state_of(&scene, agents[i])->runs, 0);
    cr_assert_eq(state_of(&scene, agents[i])->level, state_of(&scene, agents[i])->runs, "each update acted once");
  }
}

Test(overruns, a_storm_writes_few_lines) {
  SCOPED_SCENE scene;
  open_scene_of(&scene, 1);
  for (uint32_t i = 0; i < CROWD; i++) scene.guilty[muster_agent_index(spawn_at(&scene.little, 0))] = MUSTER_LEVELS;
  run_frames(&scene.little, 110);
  cr_assert_gt(statistics_of(&scene.little).quarantines, 30);
  cr_assert_eq(scene.lines, 8 + 1, "and one that tells how many were left out: %s", scene.last);
  cr_assert_not_null(strstr(scene.last, "more penalties"), "%s", scene.last);
}

static uint64_t hash_of_life(uint32_t workers) {
  SCOPED_SCENE scene;
  open_scene(&scene, workers);
  add_type(&scene.little, CHANGED(type_of(&scene, 3), it.atom_count = 2, it.overruns.quarantine = 2));
  muster_agent agents[CROWD];
  for (uint32_t i = 0; i < CROWD; i++) agents[i] = spawn_at(&scene.little, i * 3.0);
  uint64_t hash = 0;
  for (uint32_t frame = 0; frame < 400; frame++) {
    for (uint32_t i = 0; i < CROWD; i++) convict(&scene, agents[i], (i * 7 + frame / 3) % 11 < 3 ? i % 5 : 0);
    if (frame % 16 == 0) muster_agent_reinstate(scene.little.world, agents[frame / 16 % CROWD]);
    if (frame == 300) muster_type_reinstate(scene.little.world, scene.little.type);
    run_frame_with(&scene.little, 1500000);
    hash = hash * 31 + muster_world_hash(scene.little.world);
  }
  muster_statistics statistics = statistics_of(&scene.little);
  cr_assert_gt(statistics.demotions, 10);
  cr_assert_gt(statistics.quarantines, 5);
  return hash + statistics.demotions * 1000003 + statistics.quarantines * 7919 + statistics.atoms_over_limit;
}

Test(overruns, the_same_agents_are_penalised_on_any_number_of_workers) {
  uint64_t alone = hash_of_life(1);
  cr_assert_eq(hash_of_life(8), alone);
  cr_assert_eq(hash_of_life(3), alone);
}

/* Lets eight honest agents live beside one that is guilty or not. How often they ran. */
static void live_beside(bool is_guilty, uint32_t runs[8]) {
  SCOPED_SCENE scene;
  open_scene_of(&scene, 2);
  muster_agent agents[8];
  spawn_all(&scene, agents, 8);
  muster_agent other = spawn_at(&scene.little, 9);
  if (is_guilty) convict(&scene, other, MUSTER_LEVELS);
  run_frames(&scene.little, 200);
  cr_assert_eq(info_of(&scene.little, other).quarantined, is_guilty);
  for (uint32_t i = 0; i < 8; i++) {
    runs[i] = state_of(&scene, agents[i])->runs;
    cr_assert_eq(info_of(&scene.little, agents[i]).penalty, 0);
    cr_assert_not(info_of(&scene.little, agents[i]).quarantined);
  }
}

Test(overruns, the_well_behaved_are_left_alone) {
  uint32_t beside_honest[8], beside_guilty[8];
  live_beside(false, beside_honest);
  live_beside(true, beside_guilty);
  for (uint32_t i = 0; i < 8; i++) cr_assert_eq(beside_honest[i], beside_guilty[i]);
}
