/* What importance is made of: observers, factors, types and their models. */
#include "world/fixture.h"

static muster_type_def plain_type(void) {
  return type_running(nothing, 0);
}

Test(importance, is_lowered_by_what_the_agent_and_its_type_are) {
  SCOPED_WORLD little = world_of(CHANGED(plain_type(), it.importance = 0.5f));
  muster_agent agent = spawn_as(&little, WITH(muster_agent_def, it.visibility = 0.8f, it.bulk = 0.5f));
  observe_at(&little, 0);
  run_frame(&little);
  cr_assert_float_eq(info_of(&little, agent).importance, 0.2f, 0.003);
  tune_agent(&little, agent, WITH(muster_agent_tuning, it.visibility = 1.0f, it.interactivity = 0.0f));
  run_frame(&little);
  cr_assert_eq(info_of(&little, agent).importance, 0.0f);
  tune_agent(&little, agent, WITH(muster_agent_tuning, it.interactivity = 1.0f));
  run_frame(&little);
  cr_assert_float_eq(info_of(&little, agent).importance, 0.25f, 0.003);
}

Test(importance, has_no_factors_that_are_not_shares) {
  SCOPED_WORLD little = world_of(plain_type());
  expect_spawn_refused(&little, WITH(muster_agent_def, it.visibility = NAN), "visibility nan must be 0..1");
  expect_spawn_refused(&little, WITH(muster_agent_def, it.bulk = -0.1f), "bulk -0.1 must be 0..1");
  expect_spawn_refused(&little, WITH(muster_agent_def, it.interactivity = 1.1f), "interactivity 1.1 must be 0..1");
  muster_agent agent = spawn_at(&little, 0);
  cr_assert_eq(tune_agent(&little, agent, WITH(muster_agent_tuning, it.bulk = 2.0f)), MUSTER_E_ARGUMENT);
  cr_assert_eq(tune_agent(&little, agent, WITH(muster_agent_tuning, it.bulk = NAN)), MUSTER_E_ARGUMENT);
  const float wrong[] = {NAN, -1.0f, 1.5f, INFINITY};
  for (uint32_t i = 0; i < COUNT_OF(wrong); i++)
    expect_type_refused(&little, CHANGED(plain_type(), it.importance = wrong[i]), "importance");
}

/* A model that halves what observers give, and checks what it is told. */
struct model {
  uint32_t asked, largest, unobserved;
  float answer; /* the importance it gives; 2 = half of what observers give */
};

static void halve(const muster_importance_query *queries, float *importances, uint32_t count, void *user) {
  struct model *model = user;
  model->asked += count;
  if (count > model->largest) model->largest = count;
  for (uint32_t i = 0; i < count; i++) {
    const muster_importance_query *query = &queries[i];
    cr_assert_eq(importances[i], query->importance);
    cr_assert_not(muster_agent_is_null(query->agent));
    double distance = fabs(query->position.x - query->observer_position.x);
    if (query->observed)
      cr_assert_float_eq(query->distance_m, distance, 1e-3);
    else
      cr_assert(isinf(query->distance_m) && query->importance == 0.0f);
    model->unobserved += !query->observed;
    importances[i] = model->answer == 2.0f ? query->importance / 2 : model->answer;
  }
}

static little_world modelled_world(struct model *model, muster_log_sink log) {
  little_world little = little_world_of(1, WITH(virtual_world_def, it.log = log));
  add_type(&little, CHANGED(plain_type(), it.models.importance = halve, it.user = model));
  return little;
}

/* Agents of both types stand at one place, so that they are looked at together. */
Test(importance, a_types_idea_is_of_its_own_agents_alone) {
  enum { EACH = 8 };
  struct model model = {.answer = 1.0f};
  muster_agent agents[2 * EACH];
  SCOPED_WORLD little = modelled_world(&model, (muster_log_sink){0});
  muster_type modelled = little.type;
  add_type(&little, plain_type());
  for (uint32_t i = 0; i < 2 * EACH; i++)
    agents[i] =
        spawn_as(&little, WITH(muster_agent_def, it.type = i % 2 ? little.type : modelled, it.position.x = 137.5));
  observe_at(&little, 0);
  run_frames(&little, 3);
  for (uint32_t i = 0; i < 2 * EACH; i++)
    cr_assert_float_eq(info_of(&little, agents[i]).importance, i % 2 ? 0.5f : 1.0f, 1e-3, "agent %u", i);
  cr_assert_eq(model.asked % EACH, 0, "it was asked about %u", model.asked);
}

Test(importance, may_be_a_types_own_idea) {
  struct model model = {.answer = 2.0f};
  SCOPED_WORLD little = modelled_world(&model, (muster_log_sink){0});
  muster_agent near = spawn_at(&little, 10), far = spawn_at(&little, 137.5), away = spawn_at(&little, 3000);
  run_frame(&little);
  cr_assert_eq(model.unobserved, 3);
  observe_at(&little, 0);
  run_frame(&little);
  cr_assert_float_eq(info_of(&little, near).importance, 0.5f, 1e-4);
  cr_assert_float_eq(info_of(&little, far).importance, 0.25f, 1e-4);
  cr_assert_eq(info_of(&little, away).importance, 0.0f);
  uint32_t asked = model.asked;
  run_frames(&little, 10);
  cr_assert_eq(model.asked, asked, "nothing changed");
  cr_assert_eq(statistics_of(&little).importances_refused, 0);
}

Test(importance, models_are_asked_about_at_most_64_agents_at_once) {
  struct model model = {.answer = 2.0f};
  SCOPED_WORLD little = modelled_world(&model, (muster_log_sink){0});
  for (uint32_t i = 0; i < 500; i++) spawn_at(&little, i % 10);
  run_frames(&little, 5);
  model.asked = 0;
  observe_at(&little, 0);
  run_frame(&little);
  cr_assert_eq(model.asked, 500);
  cr_assert_eq(model.largest, 64);
}

static void check_answer(float answer, float expected) {
  struct model model = {.answer = answer};
  struct said said = {.about = "model_importance"};
  SCOPED_WORLD little = modelled_world(&model, log_to(&said));
  muster_agent agent = spawn_and_run(&little, 10, 1);
  for (int i = 0; i < 10; i++) {
    muster_agent_move(little.world, agent, (muster_position){100 * (i + 1), 0, 0});
    run_frame(&little);
    cr_assert_eq(info_of(&little, agent).importance, expected);
  }
  cr_assert_eq(statistics_of(&little).importances_refused, 11);
  cr_assert_eq(said.lines, 1);
  muster_statistics_clear(little.world);
  cr_assert_eq(statistics_of(&little).importances_refused, 0);
}

Test(importance, answers_that_are_not_shares_are_clamped_counted_and_logged_once) {
  check_answer(NAN, 0.0f);
  check_answer(-1.0f, 0.0f);
  check_answer(-INFINITY, 0.0f);
  check_answer(7.0f, 1.0f);
  check_answer(INFINITY, 1.0f);
}

Test(importance, is_looked_at_only_where_something_changed_as_the_report_tells) {
  SCOPED_WORLD little = world_of(plain_type());
  for (uint32_t i = 0; i < 1000; i++) spawn_at(&little, i * 10.0);
  run_frames(&little, 10);
  cr_assert_eq(run_frame(&little).scored, 0);
  observe_at(&little, 5000);
  muster_frame_report report = run_frame(&little);
  cr_assert(report.scored >= 50 && report.scored < 100, "%u", report.scored);
  cr_assert_geq(report.score_cells, 10);
  cr_assert_eq(report.score_waiting, 0);
  report = run_frame(&little);
  cr_assert_eq(report.scored + report.score_cells + report.score_waiting, 0);
}

Test(importance, of_more_than_a_frame_can_look_at_waits_and_is_reported) {
  SCOPED_WORLD little = typed_world(1, WITH(virtual_world_def, it.limits.observers_max = 1000), plain_type());
  for (uint32_t i = 0; i < 20000; i++) spawn_at(&little, i);
  while (run_frame(&little).spawns_waiting) continue;
  for (uint32_t i = 0; i < 1000; i++) observe_at(&little, i * 20.0);
  uint32_t frames = 1;
  for (; run_frame_with(&little, 100000).score_waiting; frames++) cr_assert_lt(frames, 1000);
  cr_assert_gt(frames, 5);
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little.world, agent));)
    cr_assert_eq(info_of(&little, agent).importance, 1.0f);
}

Test(importance, observers_nowhere_or_at_infinity_are_refused) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  const double wrong[] = {NAN, INFINITY, -INFINITY, 1e10};
  muster_observer observer = observe_at(&little, 0);
  for (uint32_t i = 0; i < 4; i++) {
    cr_assert_eq(muster_observer_generation(observe_at(&little, wrong[i])), 0);
    cr_assert_eq(muster_observer_move(little.world, observer, (muster_position){0, 0, wrong[i]}), MUSTER_E_ARGUMENT);
    cr_assert_eq(muster_observers_move(little.world, &observer, &(muster_position){0, wrong[i], 0}, 1), 0);
  }
  cr_assert_eq(statistics_of(&little).positions_refused, 4);
}

/* A world in which observers walk and agents are moved; its hash after every frame. */
static void live(uint32_t workers, uint64_t *hashes, uint32_t count) {
  enum { AGENTS = 4000, WALKERS = 100 };
  SCOPED_WORLD little = typed_world(workers, virtual_world_def_default(), CHANGED(plain_type(), it.levels.count = 4));
  static muster_agent agents[AGENTS];
  static muster_position places[AGENTS];
  muster_observer walkers[WALKERS];
  for (uint32_t i = 0; i < AGENTS; i++) agents[i] = spawn_at(&little, i % 1000);
  for (uint32_t i = 0; i < WALKERS; i++) walkers[i] = observe_at(&little, i * 10.0);
  for (uint32_t frame = 0; frame < count; frame++) {
    muster_position steps[WALKERS];
    for (uint32_t i = 0; i < WALKERS; i++)
      steps[i] = (muster_position){i * 10.0 + frame * (i % 7), frame * (double)(i % 5), 0};
    if (frame) cr_assert_eq(muster_observers_move(little.world, walkers, steps, WALKERS), WALKERS);
    for (uint32_t i = 0; i < AGENTS; i++)
      places[i] = (muster_position){i % 1000 + sin(frame + i) * 3, (i / 1000) * 50.0 + frame, 0};
    cr_assert_eq(muster_agents_move(little.world, agents, places, AGENTS), AGENTS);
    run_frame_with(&little, 1000000);
    hashes[frame] = muster_world_hash(little.world);
  }
}

Test(importance, does_not_depend_on_the_number_of_workers) {
  enum { FRAMES = 40 };
  uint64_t one[FRAMES], four[FRAMES];
  live(1, one, FRAMES);
  live(4, four, FRAMES);
  for (uint32_t i = 0; i < FRAMES; i++) cr_assert_eq(one[i], four[i], "frame %u", i);
  cr_assert_neq(one[0], one[FRAMES - 1]);
}

typedef struct onlookers {
  uint32_t seen, unseen, wrong;
} onlookers;

/* The observer may have gone on by a little since it was noted. */
static void check_onlooker(const muster_importance_query *queries, float *importances, uint32_t count, void *user) {
  onlookers *all = user;
  for (uint32_t i = 0; i < count; i++) {
    *(queries[i].observed ? &all->seen : &all->unseen) += 1;
    all->wrong +=
        queries[i].observed != (importances[i] > 0.0f) || queries[i].observed != (queries[i].distance_m < 250.0f);
  }
}

/* A crowd is looked at together: some of it is in sight, and some is not. */
Test(importance, is_told_to_be_of_an_observer_only_where_that_gives_some) {
  onlookers all = {0};
  SCOPED_WORLD little = world_of(CHANGED(plain_type(), it.models.importance = check_onlooker, it.user = &all));
  for (uint32_t i = 0; i < 400; i++) spawn_at(&little, 200.0 + i * 0.25);
  muster_observer observer = observe_at(&little, 0);
  for (uint32_t i = 0; i < 30; i++) {
    muster_observer_move(little.world, observer, (muster_position){i % 2 ? 20 : -20, 0, 0});
    run_frame(&little);
  }
  cr_assert(all.seen > 100 && all.unseen > 100, "%u in sight, %u not", all.seen, all.unseen);
  cr_assert_eq(all.wrong, 0, "%u of %u", all.wrong, all.seen + all.unseen);
}
