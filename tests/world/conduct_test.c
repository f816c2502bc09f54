/* What becomes of agents and types whose atoms take longer than they may. Under the virtual clock, where an offence is
 * what the cost model says. */
#include "support/little_world.h"

enum { LIMIT_NS = 100000, HONEST_NS = 2000, OVER_NS = 150000, CROWD = 64 };

/* What the model asks: who offends at which levels, and from which simulation time on. */
typedef struct scene {
  little_world little;
  uint32_t guilty[CROWD]; /* by agent's index: costs too much at levels below; 0 = never */
  uint32_t lines;         /* warnings */
  char last[512];
} scene;

typedef struct state {
  uint64_t elapsed_sum_ns;
  uint32_t runs, level;
} state;

static uint64_t cost_of(const muster_cost_query *query, void *user) {
  const scene *scene = user;
  bool over = query->atom == 0 && query->agent.index < CROWD && query->level < scene->guilty[query->agent.index];
  return over ? OVER_NS : HONEST_NS;
}

static muster_atom_result live(muster_update *update) {
  state *state = update->state;
  state->elapsed_sum_ns += update->elapsed_ns;
  state->runs++;
  state->level = update->level;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result act(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_FINISH;
}

static const muster_atom atoms[] = {{.run = live}, {.run = act, .role = MUSTER_ROLE_ACTION, .model_ns = 500}};

static void count_line(muster_log_level level, const char *message, void *user) {
  scene *scene = user;
  if (level != MUSTER_LOG_WARNING) return;
  scene->lines++;
  strncpy(scene->last, message, sizeof scene->last - 1);
}

static muster_type_def type_of(scene *scene, uint32_t levels) {
  muster_type_def type = muster_default_type_def();
  type.name = "suspect";
  type.atoms = atoms;
  type.atom_count = 1;
  type.state_bytes = sizeof(state);
  type.period_ns = type.period_max_ns = FRAME_NS;
  type.limit_ns = LIMIT_NS;
  type.level_count = levels;
  for (uint32_t i = 0; i + 1 < MUSTER_LEVELS; i++) type.level_importance[i] = 0.0f; /* level 0, left alone */
  type.model_cost_ns = cost_of;
  type.user = scene;
  return type;
}

static void open_scene(scene *scene, uint32_t workers) {
  muster_world_def def = muster_default_world_def();
  *scene = (struct scene){0};
  def.clock = MUSTER_CLOCK_VIRTUAL;
  def.log = (muster_log_sink){count_line, scene};
  scene->little = little_world_create(workers, &def);
}

static void open_scene_of(scene *scene, uint32_t levels) {
  open_scene(scene, 2);
  muster_type_def type = type_of(scene, levels);
  register_type(&scene->little, &type);
}

static void close_scene(scene *scene) {
  little_world_destroy(&scene->little);
}

static const state *state_of(const scene *scene, muster_agent agent) {
  return info_of(&scene->little, agent).state;
}

/* A frame in which the agent completes an update for certain: its first period begins at a random phase. */
static void settle_in(scene *scene, muster_agent agent) {
  while (state_of(scene, agent)->runs == 0) run_frame(&scene->little);
}

static muster_conduct conduct_of(const scene *scene) {
  muster_conduct conduct = muster_default_conduct();
  cr_assert_eq(muster_conduct_read(scene->little.world, scene->little.type, &conduct), MUSTER_OK);
  return conduct;
}

static muster_statistics statistics_of(const scene *scene) {
  muster_statistics statistics = muster_default_statistics();
  muster_statistics_read(scene->little.world, &statistics);
  return statistics;
}

Test(conduct, three_strikes_per_level_and_three_more_bring_an_agent_into_quarantine) {
  scene scene;
  open_scene_of(&scene, 3);
  muster_agent agent = spawn_at(&scene.little, 0);
  settle_in(&scene, agent);
  scene.guilty[agent.index] = MUSTER_LEVELS;
  for (uint32_t level = 0; level < 3; level++)
    for (uint32_t strike = 0; strike < 3; strike++) {
      cr_assert_eq(info_of(&scene.little, agent).level, level);
      cr_assert_eq(info_of(&scene.little, agent).penalty, level);
      cr_assert_not(info_of(&scene.little, agent).quarantined);
      cr_assert_eq(run_frame(&scene.little).offences, 1);
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
  cr_assert_eq(statistics_of(&scene).atoms_over_limit, 9);
  cr_assert_eq(statistics_of(&scene).demotions, 2);
  cr_assert_eq(statistics_of(&scene).quarantines, 1);
  cr_assert_eq(scene.lines, 3);
  cr_assert(strstr(scene.last, "'suspect'") && strstr(scene.last, "0.15 ms in atom 0, limit 0.1 ms"), "%s", scene.last);
  close_scene(&scene);
}

Test(conduct, offences_and_conduct_are_told) {
  scene scene;
  muster_offence offences[MUSTER_OFFENCES_KEPT + 1];
  open_scene_of(&scene, 2);
  muster_agent agent = spawn_at(&scene.little, 0);
  settle_in(&scene, agent);
  cr_assert_eq(muster_offences_read(scene.little.world, offences, 2), 0);
  scene.guilty[agent.index] = 1;
  run_frames(&scene.little, 20);
  cr_assert_eq(muster_offences_read(scene.little.world, offences, MUSTER_OFFENCES_KEPT + 1), 3, "none at level 1");
  cr_assert_eq(muster_offences_read(scene.little.world, offences, 2), 2);
  cr_assert_eq(offences[0].agent.index, agent.index);
  cr_assert_eq(offences[0].agent.generation, agent.generation);
  cr_assert_eq(offences[0].type.index, scene.little.type.index);
  cr_assert_eq(offences[0].level, 0);
  cr_assert_eq(offences[0].atom, 0);
  cr_assert_eq(offences[0].duration_ns, OVER_NS);
  cr_assert_eq(offences[0].limit_ns, LIMIT_NS);
  cr_assert_eq(offences[0].frame, offences[1].frame + 1, "the latest comes first");
  muster_conduct conduct = conduct_of(&scene);
  cr_assert_eq(conduct.offences, 3);
  cr_assert_eq(conduct.worst_ns, OVER_NS);
  cr_assert_eq(conduct.worst_agent.index, agent.index);
  cr_assert_eq(conduct.agents_demoted, 1);
  cr_assert_eq(conduct.agents_quarantined, 0);
  cr_assert_not(conduct.quarantined);
  cr_assert_eq(muster_conduct_read(scene.little.world, (muster_type){9}, &conduct), MUSTER_E_ARGUMENT);
  conduct.size = 0;
  cr_assert_eq(muster_conduct_read(scene.little.world, scene.little.type, &conduct), MUSTER_E_NOT_INITIALISED);
  close_scene(&scene);
}

Test(conduct, a_pardoned_agent_comes_back_at_its_level_and_is_told_all_the_time) {
  scene scene;
  open_scene_of(&scene, 2);
  muster_agent agent = spawn_at(&scene.little, 0);
  settle_in(&scene, agent);
  scene.guilty[agent.index] = MUSTER_LEVELS;
  while (!info_of(&scene.little, agent).quarantined) run_frame(&scene.little);
  uint64_t before_ns = info_of(&scene.little, agent).last_update_ns, sum_ns = state_of(&scene, agent)->elapsed_sum_ns;
  run_frames(&scene.little, 50);
  scene.guilty[agent.index] = 0;
  cr_assert_eq(muster_agent_pardon(scene.little.world, agent), MUSTER_OK);
  run_frame(&scene.little);
  cr_assert_not(info_of(&scene.little, agent).quarantined);
  cr_assert_eq(info_of(&scene.little, agent).penalty, 0);
  cr_assert_eq(state_of(&scene, agent)->level, 0);
  cr_assert_eq(state_of(&scene, agent)->elapsed_sum_ns - sum_ns, scene.little.now_ns - before_ns);
  uint32_t runs = state_of(&scene, agent)->runs;
  run_frames(&scene.little, 10);
  cr_assert_eq(state_of(&scene, agent)->runs, runs + 10, "it runs as often as ever");
  cr_assert_eq(statistics_of(&scene).pardons, 1);
  muster_conduct conduct = conduct_of(&scene);
  cr_assert_eq(conduct.agents_demoted + conduct.agents_quarantined, 0);
  scene.guilty[agent.index] = MUSTER_LEVELS;
  run_frames(&scene.little, 2);
  cr_assert_eq(info_of(&scene.little, agent).penalty, 0, "its strikes are forgotten");
  run_frame(&scene.little);
  cr_assert_eq(info_of(&scene.little, agent).penalty, 1);
  close_scene(&scene);
}

Test(conduct, strikes_far_apart_are_forgotten) {
  scene scene;
  open_scene_of(&scene, 2);
  muster_agent agent = spawn_at(&scene.little, 0);
  settle_in(&scene, agent);
  for (uint32_t i = 0; i < 6; i++) {
    scene.guilty[agent.index] = MUSTER_LEVELS;
    run_frame(&scene.little);
    scene.guilty[agent.index] = 0;
    run_frames(&scene.little, 100);
  }
  cr_assert_eq(conduct_of(&scene).offences, 6);
  cr_assert_eq(info_of(&scene.little, agent).penalty, 0);
  close_scene(&scene);
}

static void offend_twice(scene *scene, muster_agent agent) {
  scene->guilty[agent.index] = MUSTER_LEVELS;
  run_frames(&scene->little, 2);
  scene->guilty[agent.index] = 0;
}

Test(conduct, a_pardon_or_a_removal_ends_strikes) {
  scene scene;
  open_scene_of(&scene, 2);
  muster_agent agent = spawn_at(&scene.little, 0);
  settle_in(&scene, agent);
  offend_twice(&scene, agent);
  muster_agent_pardon(scene.little.world, agent);
  run_frame(&scene.little);
  offend_twice(&scene, agent);
  cr_assert_eq(info_of(&scene.little, agent).penalty, 0, "pardoned in between");
  muster_agent_remove(scene.little.world, agent);
  run_frame(&scene.little);
  for (uint32_t i = 0; i < 200; i++) {
    muster_agent heir = spawn_at(&scene.little, 0);
    run_frame(&scene.little);
    if (heir.index == agent.index) {
      settle_in(&scene, heir);
      offend_twice(&scene, heir);
      cr_assert_eq(info_of(&scene.little, heir).penalty, 0, "the other is gone");
      close_scene(&scene);
      return;
    }
    muster_agent_remove(scene.little.world, heir);
    run_frame(&scene.little);
  }
  cr_assert(false, "the index was not used again");
}

Test(conduct, zero_strikes_never_punish) {
  scene scene;
  open_scene(&scene, 1);
  muster_type_def type = type_of(&scene, 2);
  type.strikes_demote = type.strikes_quarantine = 0;
  register_type(&scene.little, &type);
  for (uint32_t i = 0; i < 20; i++) scene.guilty[spawn_at(&scene.little, 0).index] = MUSTER_LEVELS;
  run_frames(&scene.little, 500);
  muster_conduct conduct = conduct_of(&scene);
  cr_assert_gt(conduct.offences, 20 * 490);
  cr_assert_eq(conduct.agents_demoted + conduct.agents_quarantined + conduct.level_floor, 0);
  cr_assert_not(conduct.quarantined);
  cr_assert_eq(scene.lines, 0);
  close_scene(&scene);
}

Test(conduct, strikes_out_of_range_are_refused) {
  scene scene;
  open_scene(&scene, 1);
  muster_type_def type = type_of(&scene, 2);
  type.strikes_demote = 10001;
  cr_assert_eq(muster_type_register(scene.little.world, &type).index, 0);
  type.strikes_demote = 10000;
  type.strikes_quarantine = 10001;
  cr_assert_eq(muster_type_register(scene.little.world, &type).index, 0);
  close_scene(&scene);
  muster_world_def def = muster_default_world_def();
  def.stuck_ns = 9999999;
  cr_assert_null(muster_world_create(&def));
  def.stuck_ns = 3600000000001u;
  cr_assert_null(muster_world_create(&def));
}

Test(conduct, agents_in_quarantine_can_be_moved_removed_and_followed_by_others_under_their_index) {
  scene scene;
  open_scene_of(&scene, 1);
  muster_agent agents[8];
  for (uint32_t i = 0; i < 7; i++) agents[i] = spawn_at(&scene.little, i);
  settle_in(&scene, agents[0]);
  for (uint32_t i = 0; i < 4; i++) scene.guilty[agents[i].index] = MUSTER_LEVELS;
  run_frames(&scene.little, 8);
  cr_assert_eq(conduct_of(&scene).agents_quarantined, 4);
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
  cr_assert_eq(muster_agent_pardon(scene.little.world, agents[1]), MUSTER_E_STALE);
  close_scene(&scene); /* removes the three that are still in quarantine */
}

/* Half of forty agents offend twice in a second, which is a fifth of all updates, until each is demoted. */
Test(conduct, a_type_goes_down_a_level_with_all_its_agents_and_comes_back) {
  scene scene;
  open_scene(&scene, 2);
  muster_type_def type = type_of(&scene, 2);
  type.strikes_demote = 2;
  type.period_ns = type.period_max_ns = 200000000u; /* a second is five updates */
  register_type(&scene.little, &type);
  muster_agent agents[40];
  for (uint32_t i = 0; i < 40; i++) agents[i] = spawn_at(&scene.little, i);
  run_frames(&scene.little, 40);
  for (uint32_t i = 0; i < 40; i += 2) scene.guilty[agents[i].index] = 1;
  for (uint32_t i = 0; i < 300 && !conduct_of(&scene).level_floor; i++) run_frame(&scene.little);
  cr_assert_eq(conduct_of(&scene).level_floor, 1, "all had been demoted, and the window was bad all the same");
  run_frames(&scene.little, 30);
  for (uint32_t i = 0; i < 40; i++) {
    cr_assert_eq(info_of(&scene.little, agents[i]).penalty, 1);
    cr_assert_eq(state_of(&scene, agents[i])->level, 1, "agent %u", i);
  }
  cr_assert_eq(conduct_of(&scene).agents_demoted, 20);
  memset(scene.guilty, 0, sizeof scene.guilty);
  muster_type_pardon(scene.little.world, scene.little.type);
  run_frames(&scene.little, 30);
  for (uint32_t i = 0; i < 40; i++) {
    cr_assert_eq(info_of(&scene.little, agents[i]).penalty, 0);
    cr_assert_eq(state_of(&scene, agents[i])->level, 0, "agent %u", i);
  }
  close_scene(&scene);
}

Test(conduct, a_type_in_quarantine_is_not_run_until_it_is_pardoned) {
  scene scene;
  open_scene(&scene, 2);
  muster_type_def type = type_of(&scene, 1), other = type_of(&scene, 1);
  type.strikes_quarantine = 3;
  type.period_ns = type.period_max_ns = 2000000000u;
  muster_agent agents[40];
  register_type(&scene.little, &other);
  muster_agent bystander = spawn_at(&scene.little, 0);
  register_type(&scene.little, &type);
  for (uint32_t i = 0; i < 40; i++) agents[i] = spawn_at(&scene.little, i);
  for (uint32_t i = 0; i < 40; i++) scene.guilty[agents[i].index] = 0;
  /* Each offends once in two seconds, so that no agent has three strikes before the type has its three seconds. */
  for (uint32_t frame = 0; frame < 3000 && !conduct_of(&scene).quarantined; frame++) {
    for (uint32_t i = 0; i < 40; i++) scene.guilty[agents[i].index] = MUSTER_LEVELS;
    muster_agent_pardon(scene.little.world, agents[frame % 40]);
    run_frame(&scene.little);
  }
  memset(scene.guilty, 0, sizeof scene.guilty);
  cr_assert(conduct_of(&scene).quarantined);
  muster_agent late = spawn_at(&scene.little, 1);
  run_frame(&scene.little);
  uint32_t runs = 0, after = 0, bystander_runs = state_of(&scene, bystander)->runs;
  for (uint32_t i = 0; i < 40; i++) runs += state_of(&scene, agents[i])->runs;
  for (uint32_t i = 0; i < 40; i++) muster_agent_wake(scene.little.world, agents[i]);
  run_frames(&scene.little, 400);
  for (uint32_t i = 0; i < 40; i++) after += state_of(&scene, agents[i])->runs;
  cr_assert_eq(after, runs);
  cr_assert_eq(state_of(&scene, late)->runs, 0, "nor is who comes later");
  cr_assert(info_of(&scene.little, late).quarantined);
  cr_assert_eq(state_of(&scene, bystander)->runs, bystander_runs + 400, "others are");
  cr_assert_eq(muster_type_pardon(scene.little.world, scene.little.type), MUSTER_OK);
  cr_assert_eq(muster_type_pardon(scene.little.world, (muster_type){7}), MUSTER_E_ARGUMENT);
  run_frames(&scene.little, 210);
  cr_assert_not(conduct_of(&scene).quarantined);
  for (uint32_t i = 0; i < 40; i++) {
    muster_agent_info info = info_of(&scene.little, agents[i]);
    cr_assert_not(info.quarantined);
    cr_assert_eq(state_of(&scene, agents[i])->elapsed_sum_ns, info.last_update_ns - FRAME_NS,
                 "it was told all the time since the first frame");
  }
  cr_assert_gt(state_of(&scene, late)->runs, 0);
  close_scene(&scene);
}

/* Ten of sixty fit a frame, so most of the type is ready and waits when it goes into quarantine. */
Test(conduct, who_is_about_to_run_when_its_type_goes_into_quarantine_does_not) {
  scene scene;
  open_scene(&scene, 2);
  muster_type_def type = type_of(&scene, 1);
  type.strikes_quarantine = 1;
  type.strikes_demote = 1;
  register_type(&scene.little, &type);
  muster_agent agents[60];
  for (uint32_t i = 0; i < 60; i++) agents[i] = spawn_at(&scene.little, i);
  run_frames(&scene.little, 10);
  for (uint32_t i = 0; i < 60; i++) scene.guilty[agents[i].index] = MUSTER_LEVELS;
  /* Pardoned one by one, so that there are always some to offend. */
  muster_frame_report report = {0};
  for (uint32_t frame = 0; frame < 400 && !conduct_of(&scene).quarantined; frame++) {
    for (uint32_t i = 0; i < 60; i++) muster_agent_pardon(scene.little.world, agents[i]);
    report = run_frame_with(&scene.little, 10 * OVER_NS);
  }
  cr_assert(conduct_of(&scene).quarantined);
  cr_assert_gt(report.carried, 20);
  uint32_t runs = 0, after = 0;
  for (uint32_t i = 0; i < 60; i++) runs += state_of(&scene, agents[i])->runs;
  report = run_frame(&scene.little);
  cr_assert_eq(report.carried, 0, "none of them waits");
  cr_assert_eq(run_frame(&scene.little).released, 0);
  run_frames(&scene.little, 20);
  for (uint32_t i = 0; i < 60; i++) after += state_of(&scene, agents[i])->runs;
  cr_assert_eq(after, runs);
  memset(scene.guilty, 0, sizeof scene.guilty);
  muster_type_pardon(scene.little.world, scene.little.type);
  run_frames(&scene.little, 20);
  for (uint32_t i = 0; i < 60; i++) {
    muster_agent_info info = info_of(&scene.little, agents[i]);
    cr_assert_eq(state_of(&scene, agents[i])->elapsed_sum_ns, info.last_update_ns - FRAME_NS);
    cr_assert_eq(info.last_update_ns, scene.little.now_ns);
  }
  close_scene(&scene);
}

/* Preempted between two atoms, and waiting for its action atoms: both go on where they stopped. */
static muster_atom_result step(muster_update *update) {
  state *state = update->state;
  state->runs++;
  return MUSTER_ATOM_NEXT;
}

Test(conduct, an_update_that_had_begun_goes_on_after_the_pardon) {
  static const muster_atom steps[] = {{.run = step, .model_ns = OVER_NS},
                                      {.run = step, .model_ns = HONEST_NS},
                                      {.run = step, .model_ns = 900000}};
  scene scene;
  open_scene(&scene, 1);
  muster_type_def type = type_of(&scene, 1);
  type.atoms = steps;
  type.atom_count = 3;
  type.model_cost_ns = NULL;
  type.strikes_quarantine = 1;
  register_type(&scene.little, &type);
  muster_agent agent = spawn_at(&scene.little, 0);
  for (uint32_t i = 0; i < 5 && state_of(&scene, agent)->runs == 0; i++) run_frame_with(&scene.little, 200000);
  cr_assert_eq(state_of(&scene, agent)->runs, 2);
  muster_agent_info info = info_of(&scene.little, agent);
  cr_assert(info.quarantined);
  cr_assert_eq(info.atoms_done, 2);
  run_frames(&scene.little, 5);
  cr_assert_eq(state_of(&scene, agent)->runs, 2);
  muster_agent_pardon(scene.little.world, agent);
  muster_frame_report report = run_frame(&scene.little);
  cr_assert_eq(report.completed, 1);
  cr_assert_eq(state_of(&scene, agent)->runs, 3);
  close_scene(&scene);
}

static muster_atom_result act_once(muster_update *update) {
  state *state = update->state;
  state->level++;
  return MUSTER_ATOM_FINISH;
}

Test(conduct, who_waits_for_action_atoms_acts_after_the_pardon) {
  static const muster_atom acting[] = {{.run = step, .model_ns = OVER_NS},
                                       {.run = act_once, .role = MUSTER_ROLE_ACTION, .model_ns = 50000}};
  scene scene;
  open_scene(&scene, 1);
  muster_type_def type = type_of(&scene, 1);
  type.atoms = acting;
  type.atom_count = 2;
  type.model_cost_ns = NULL;
  type.strikes_quarantine = 1;
  register_type(&scene.little, &type);
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
    muster_agent_pardon(scene.little.world, agents[i]);
  }
  cr_assert_gt(half_run, 0, "some were taken while their action atoms waited");
  muster_type_pardon(scene.little.world, scene.little.type);
  run_frames(&scene.little, 3);
  for (uint32_t i = 0; i < 8; i++) {
    cr_assert_gt(state_of(&scene, agents[i])->runs, 0);
    cr_assert_eq(state_of(&scene, agents[i])->level, state_of(&scene, agents[i])->runs, "each update acted once");
  }
  close_scene(&scene);
}

Test(conduct, a_storm_writes_few_lines) {
  scene scene;
  open_scene_of(&scene, 1);
  for (uint32_t i = 0; i < CROWD; i++) scene.guilty[spawn_at(&scene.little, 0).index] = MUSTER_LEVELS;
  run_frames(&scene.little, 110);
  cr_assert_gt(statistics_of(&scene).quarantines, 30);
  cr_assert_eq(scene.lines, 8 + 1, "and one that tells how many were left out: %s", scene.last);
  cr_assert_not_null(strstr(scene.last, "more penalties"), "%s", scene.last);
  close_scene(&scene);
}

static uint64_t hash_of_life(uint32_t workers) {
  scene scene;
  open_scene(&scene, workers);
  muster_type_def type = type_of(&scene, 3);
  type.atom_count = 2;
  type.strikes_quarantine = 2;
  register_type(&scene.little, &type);
  muster_agent agents[CROWD];
  for (uint32_t i = 0; i < CROWD; i++) agents[i] = spawn_at(&scene.little, i * 3.0);
  uint64_t hash = 0;
  for (uint32_t frame = 0; frame < 400; frame++) {
    for (uint32_t i = 0; i < CROWD; i++) scene.guilty[agents[i].index] = (i * 7 + frame / 3) % 11 < 3 ? i % 5 : 0;
    if (frame % 16 == 0) muster_agent_pardon(scene.little.world, agents[frame / 16 % CROWD]);
    if (frame == 300) muster_type_pardon(scene.little.world, scene.little.type);
    run_frame_with(&scene.little, 1500000);
    hash = hash * 31 + muster_world_hash(scene.little.world);
  }
  muster_statistics statistics = statistics_of(&scene);
  cr_assert_gt(statistics.demotions, 10);
  cr_assert_gt(statistics.quarantines, 5);
  close_scene(&scene);
  return hash + statistics.demotions * 1000003 + statistics.quarantines * 7919 + statistics.atoms_over_limit;
}

Test(conduct, the_same_agents_are_punished_on_any_number_of_workers) {
  uint64_t alone = hash_of_life(1);
  cr_assert_eq(hash_of_life(8), alone);
  cr_assert_eq(hash_of_life(3), alone);
}

Test(conduct, the_well_behaved_are_left_alone) {
  scene guilty, honest;
  uint32_t runs[2][8];
  for (uint32_t round = 0; round < 2; round++) {
    scene *scene = round ? &guilty : &honest;
    open_scene_of(scene, 2);
    muster_agent agents[8], offender = {0, 0};
    for (uint32_t i = 0; i < 8; i++) agents[i] = spawn_at(&scene->little, i);
    offender = spawn_at(&scene->little, 9);
    if (round) scene->guilty[offender.index] = MUSTER_LEVELS;
    run_frames(&scene->little, 200);
    cr_assert_eq(info_of(&scene->little, offender).quarantined, round == 1);
    for (uint32_t i = 0; i < 8; i++) {
      runs[round][i] = state_of(scene, agents[i])->runs;
      cr_assert_eq(info_of(&scene->little, agents[i]).penalty, 0);
      cr_assert_not(info_of(&scene->little, agents[i]).quarantined);
    }
    close_scene(scene);
  }
  for (uint32_t i = 0; i < 8; i++) cr_assert_eq(runs[0][i], runs[1][i]);
}
