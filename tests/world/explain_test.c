/* Why an agent runs when and how it does: each value in a world made for it, each reason where it holds and nowhere
 * else, and the words. */
#include "support/await.h"
#include "world/fixture.h"

/* An update of 0.1 ms, every 20 ms to 100 ms, at three levels. */
static muster_type_def hen_type(void) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 100000}};
  return WITH(muster_type_def, it.name = "hen", it.atoms = atoms, it.atom_count = 1, it.period_ns = 20000000,
              it.period_max_ns = 100000000, it.levels.count = 3);
}

static muster_agent hen;

/* A world of that one alone, after some frames. */
static little_world hen_world(muster_type_def type, uint32_t frames) {
  little_world little = world_of(type);
  hen = spawn_at(&little, 0);
  run_frames(&little, frames);
  return little;
}

static muster_agent_explanation expect_reasons(const little_world *little, muster_agent agent, uint32_t expected) {
  muster_agent_explanation explanation = explain(little, agent);
  cr_assert(muster_agent_equal(explanation.agent, agent));
  cr_assert_eq(explanation.reasons, expected, "agent %u: %#x", muster_agent_index(agent), explanation.reasons);
  return explanation;
}

static void check_words(const muster_agent_explanation *explanation, const char *words) {
  char text[2048];
  cr_assert_lt(muster_explanation_print(explanation, text, sizeof text), sizeof text);
  cr_assert_not_null(strstr(text, words), "no '%s' in: %s", words, text);
}

Test(explain, tells_what_importance_and_level_are_made_of) {
  SCOPED_WORLD little = world_of(CHANGED(hen_type(), it.importance = 0.5f));
  muster_agent agent = spawn_as(&little, WITH(muster_agent_def, it.position.x = 100, it.visibility = 0.9f));
  observe_at(&little, 5000);
  observe_at(&little, 0);
  run_frames(&little, 5);
  muster_agent_explanation why = explain(&little, agent);
  cr_assert_str_eq(why.type_name, "hen");
  cr_assert_eq(why.type.index, little.type.index);
  cr_assert(muster_agent_equal(why.agent, agent));
  cr_assert_eq(why.sim_now_ns, little.now_ns);
  cr_assert_eq(why.frame, 5);
  cr_assert(why.observed && muster_observer_index(why.observer) == 1);
  cr_assert_float_eq(why.distance_m, 100.0f, 0.01);
  cr_assert_eq(why.near_m, 25.0f);
  cr_assert_eq(why.far_m, 250.0f);
  cr_assert_float_eq(why.by_observer, 150.0f / 225.0f, 0.001);
  cr_assert_float_eq(why.visibility, 0.9f, 0.003);
  cr_assert_eq(why.bulk, 1.0f);
  cr_assert_eq(why.of_type, 0.5f);
  cr_assert_float_eq(why.by_model, why.by_observer * why.visibility * 0.5f, 0.001);
  cr_assert_float_eq(why.importance, why.by_model, 0.011);
  cr_assert_eq(why.level, 1);
  cr_assert_float_eq(why.level_low, 0.225f, 0.001);
  cr_assert_float_eq(why.level_high, 0.55f, 0.001);
  cr_assert(why.elasticity_derived && why.elasticity_of_type == 1.0f);
  cr_assert_float_eq(log2f(why.elasticity), 6.0f - 12.0f * why.importance, 0.2);
  cr_assert_eq(why.nominal_ns, 20000000);
  cr_assert_eq(why.longest_ns, 100000000);
  cr_assert_eq(why.period_ns, 20000000);
  cr_assert_eq(why.class_members, 1);
  cr_assert_eq(why.cost_mean_ns, 100000);
  cr_assert_eq(why.cost_samples, 2);
  cr_assert_eq(why.reasons, MUSTER_REASON_ASLEEP | MUSTER_REASON_LOWERED | MUSTER_REASON_CHEAPER_LEVEL);
  check_words(&why, "hen 0 runs every 20 ms, at level 1 of 0..2, with importance 0.");
  check_words(&why, "observer 1, 100.0 m away, gives it 0.67 (1 within 25 m, nothing from 250 m on)");
  check_words(&why, "times 0.90 for visibility, times 0.50 for its type.");
}

Test(explain, level_bounds_are_where_the_level_changes) {
  SCOPED_WORLD little = hen_world(hen_type(), 0);
  const float floors[] = {0.6f, 0.46f, 0.44f, 0.54f, 0.56f, 0.05f, 0.28f};
  for (uint32_t i = 0; i < COUNT_OF(floors); i++) {
    run_frame(&little);
    muster_agent_explanation before = explain(&little, hen);
    tune_agent(&little, hen, WITH(muster_agent_tuning, it.importance_floor = floors[i]));
    run_frame(&little);
    uint32_t level = info_of(&little, hen).level;
    cr_assert_eq(level > before.level, floors[i] < before.level_low, "%g", (double)floors[i]);
    cr_assert_eq(level < before.level, floors[i] >= before.level_high, "%g", (double)floors[i]);
  }
}

Test(explain, names_the_nearest_observer_when_none_is_near_enough) {
  SCOPED_WORLD little = hen_world(hen_type(), 5);
  const uint32_t unseen = MUSTER_REASON_ASLEEP | MUSTER_REASON_NO_OBSERVER_NEAR | MUSTER_REASON_CHEAPER_LEVEL;
  muster_agent_explanation why = expect_reasons(&little, hen, unseen);
  cr_assert(!why.observed && isinf(why.distance_m) && muster_observer_is_null(why.observer));
  check_words(&why, "there is no observer in its partition");
  muster_observer_def other = WITH(muster_observer_def, it.partition = 1);
  muster_observer_add(little.world, &other);
  observe_at(&little, 4000);
  observe_at(&little, 1000);
  run_frames(&little, 5);
  why = expect_reasons(&little, hen, unseen);
  cr_assert(!why.observed && muster_observer_index(why.observer) == 2);
  cr_assert_float_eq(why.distance_m, 1000.0f, 0.01);
  cr_assert_eq(why.by_observer, 0.0f);
  check_words(&why, "the nearest, observer 2, is 1000.0 m away and sees 250 m far");
}

Test(explain, has_no_reasons_where_nothing_is_special) {
  SCOPED_WORLD little = world_of(hen_type());
  muster_agent agent = spawn_as(&little, WITH(muster_agent_def, it.importance_floor = 0.3f));
  observe_at(&little, 50);
  run_frames(&little, 5);
  muster_agent_explanation why = expect_reasons(&little, agent, MUSTER_REASON_ASLEEP);
  check_words(&why, "Period: as wanted; under load at most 100 ms");
  check_words(&why, "Level 0: full capability; cheaper below importance 0.45");
}

static void always_half(const muster_importance_query *queries, float *importances, uint32_t count, void *user) {
  (void)queries;
  (void)user;
  for (uint32_t i = 0; i < count; i++) importances[i] = 0.5f;
}

Test(explain, tells_of_models_floors_and_exemption) {
  muster_type_def type = CHANGED(hen_type(), it.levels.count = 1);
  SCOPED_WORLD little = world_of(type);
  muster_agent boss = spawn_as(&little, WITH(muster_agent_def, it.importance_floor = 0.75f, it.elasticity = 0.0f));
  muster_agent set = spawn_as(&little, WITH(muster_agent_def, it.elasticity = 2.0f));
  add_type(&little, CHANGED(type, it.models.importance = always_half));
  muster_agent modelled = spawn_at(&little, 0);
  run_frames(&little, 5);
  const uint32_t alone = MUSTER_REASON_ASLEEP | MUSTER_REASON_NO_OBSERVER_NEAR;
  muster_agent_explanation why =
      expect_reasons(&little, boss, alone | MUSTER_REASON_FLOOR | MUSTER_REASON_EXEMPT | MUSTER_REASON_ELASTICITY_SET);
  cr_assert_float_eq(why.floor, 0.75f, 0.001);
  cr_assert_float_eq(why.importance, 0.75f, 0.001);
  check_words(&why, "it is exempt: its elasticity is 0, set for this agent");
  check_words(&why, "ms, with importance 0.75."); /* no words on levels: there is only one */
  check_words(&why, "the designer's floor keeps it at 0.75");
  why = expect_reasons(&little, set, alone);
  cr_assert_eq(why.elasticity, 128.0f);
  check_words(&why, "Elasticity 128, from what was set for this agent and its importance");
  why = expect_reasons(&little, modelled, alone | MUSTER_REASON_MODELLED);
  cr_assert(why.modelled && why.by_model == 0.5f);
  check_words(&why, "its type's own model makes that 0.50");
}

Test(explain, foretells_the_frame_of_the_next_release) {
  SCOPED_WORLD little = hen_world(CHANGED(hen_type(), it.period_ns = 95000000, it.period_max_ns = 200000000), 0);
  for (uint32_t i = 0; i < 60; i++) {
    run_frame(&little);
    muster_agent_explanation why = explain(&little, hen);
    uint64_t runs_before = info_of(&little, hen).last_update_ns;
    cr_assert_gt(why.due_ns, little.now_ns);
    muster_frame_report report = run_frame(&little);
    cr_assert_eq(report.released, why.due_ns <= little.now_ns, "due %lu", why.due_ns);
    cr_assert_eq(info_of(&little, hen).last_update_ns > runs_before, report.released);
  }
}

/* An agent that has a period and was asked for at a time is due at whichever comes first; one without a period, at that
 * time. */
Test(explain, foretells_the_earlier_of_the_period_and_a_time_that_was_asked_for) {
  static const struct {
    bool events;
    uint32_t asked; /* in so many frames; 0 = never */
  } cases[] = {{false, 0}, {false, 2}, {false, 60}, {true, 0}, {true, 2}, {true, 60}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    muster_type_def type = CHANGED(hen_type(), it.period_ns = it.period_max_ns = 40 * (uint64_t)FRAME_NS);
    if (cases[i].events) type.elapsed.contract = MUSTER_ELAPSED_EVENTS;
    SCOPED_WORLD little = hen_world(type, 1);
    for (uint32_t frame = 0; frame < 40 && explain(&little, hen).due_ns < little.now_ns + 5 * FRAME_NS; frame++)
      run_frame(&little); /* to the first ones of a period */
    uint64_t due_ns = explain(&little, hen).due_ns, asked_ns = little.now_ns + cases[i].asked * (uint64_t)FRAME_NS;
    cr_assert_eq(due_ns > 0, !cases[i].events);
    if (cases[i].asked) {
      cr_assert_eq(muster_agent_wake_at(little.world, hen, asked_ns), MUSTER_OK, "%s", muster_last_error());
      if (!due_ns || asked_ns < due_ns) due_ns = asked_ns;
    }
    run_frame(&little);
    uint64_t last_ns = info_of(&little, hen).last_update_ns;
    cr_expect_eq(explain(&little, hen).due_ns, due_ns, "case %zu", i);
    run_frames(&little, 60);
    cr_expect_eq(info_of(&little, hen).last_update_ns > last_ns, due_ns > 0, "case %zu", i);
  }
}

/* A world of so many hens under the virtual clock, after some frames with a budget of 5 ms in every 10 ms. */
static little_world crowd(uint32_t agents, uint64_t guarantee_ns, uint32_t frames) {
  little_world little = typed_world(
      1, CHANGED(papers_world_def(), it.clock.kind = MUSTER_CLOCK_VIRTUAL, it.priority.guarantee_ns = guarantee_ns),
      CHANGED(hen_type(), it.levels.count = 1));
  for (uint32_t i = 0; i < agents; i++) spawn_at(&little, 0);
  run_frames(&little, frames);
  return little;
}

static muster_agent found; /* one that has all reasons that were wanted */

static uint32_t reasons_of_any(const little_world *little, uint32_t wanted) {
  muster_agent agent = {0};
  uint32_t all = 0;
  while (!muster_agent_is_null(agent = muster_agent_next(little->world, agent))) {
    uint32_t reasons = explain(little, agent).reasons;
    if ((reasons & wanted) == wanted) found = agent;
    all |= reasons;
  }
  return all;
}

Test(explain, tells_how_far_periods_stretch) {
  muster_agent agent = muster_agent_make(0, 1);
  SCOPED_WORLD little = crowd(200, 500000000, 40); /* 200 x 0.1 ms / 20 ms = 1, not 0.5 */
  const uint32_t usual = MUSTER_REASON_NO_OBSERVER_NEAR | MUSTER_REASON_PERIOD_STRETCHED;
  cr_assert_eq(reasons_of_any(&little, 0) & ~(uint32_t)(MUSTER_REASON_CARRIED), usual | MUSTER_REASON_ASLEEP);
  muster_agent_explanation why = explain(&little, agent);
  cr_assert_float_eq((double)why.period_ns, 40e6, 1e6);
  cr_assert_eq(why.period_ns, info_of(&little, agent).period_ns);
  cr_assert_gt(why.pressure, 0.0f);
  cr_assert_eq(why.class_members, 200);
  check_words(&why, "runs every 40");
  check_words(&why, "instead of every 20 ms");
  check_words(&why, "stretched because the pressure is 0.");
}

Test(explain, foretells_the_next_release_of_stretched_periods_to_a_frame) {
  muster_agent agent = muster_agent_make(0, 1);
  SCOPED_WORLD little = crowd(200, 500000000, 60);
  for (uint32_t i = 0; i < 20; i++) {
    muster_agent_explanation why = explain(&little, agent);
    for (; !(why.reasons & MUSTER_REASON_ASLEEP); why = explain(&little, agent)) run_frame(&little);
    uint64_t last_ns = why.last_update_ns, due_ns = why.due_ns;
    cr_assert(due_ns > little.now_ns && due_ns - little.now_ns <= why.period_ns);
    for (; why.last_update_ns == last_ns && (why.reasons & MUSTER_REASON_ASLEEP); why = explain(&little, agent))
      run_frame(&little);
    uint64_t released_ns = why.last_update_ns > last_ns ? why.last_update_ns : why.due_ns;
    cr_assert(released_ns + FRAME_NS >= due_ns && released_ns <= due_ns + 2 * FRAME_NS);
  }
}

Test(explain, tells_of_overload_and_of_who_is_passed_over) {
  SCOPED_WORLD little = crowd(1000, 500000000, 20); /* 1 even at 100 ms, not 0.5 */
  const uint32_t usual = MUSTER_REASON_NO_OBSERVER_NEAR | MUSTER_REASON_PERIOD_STRETCHED |
                         MUSTER_REASON_PERIOD_LONGEST | MUSTER_REASON_OVERLOAD;
  uint32_t all = reasons_of_any(&little, MUSTER_REASON_CARRIED);
  cr_assert_eq(all, usual | MUSTER_REASON_ASLEEP | MUSTER_REASON_CARRIED);
  muster_agent_explanation why = expect_reasons(&little, found, usual | MUSTER_REASON_CARRIED);
  cr_assert_eq(why.period_ns, 100000000);
  cr_assert_gt(why.delays, 0);
  cr_assert_eq(why.delays, info_of(&little, found).delays);
  cr_assert_eq(why.waited_ns, little.now_ns - why.due_ns);
  cr_assert_eq(why.waited_ns, (why.delays - 1) * (uint64_t)FRAME_NS);
  cr_assert_eq(why.priority_wait_ns, (int64_t)(little.now_ns - why.last_update_ns));
  cr_assert_eq(why.priority_importance_ns, 0);
  cr_assert_eq(why.priority_progress_ns, 0);
  cr_assert_leq(why.priority_runs_ns, 0);
  cr_assert_eq(why.priority_ns, why.priority_wait_ns + why.priority_runs_ns);
  check_words(&why, "as far as its type allows");
  check_words(&why, "even with the longest period of every agent the work does not fit the budget");
  check_words(&why, "it found no time in the last frame; due ");
}

Test(explain, rank_is_importance_and_time_waited) {
  SCOPED_WORLD little = crowd(1000, 500000000, 0);
  observe_at(&little, 0);
  run_frames(&little, 20);
  reasons_of_any(&little, MUSTER_REASON_CARRIED);
  muster_agent_explanation why = explain(&little, found);
  cr_assert_eq(why.importance, 1.0f);
  cr_assert_float_eq((double)why.priority_importance_ns, 500e6, 1e5);
  cr_assert_eq(why.priority_ns, why.priority_wait_ns + why.priority_importance_ns + why.priority_runs_ns);
}

Test(explain, tells_of_who_has_waited_longer_than_is_guaranteed) {
  SCOPED_WORLD little = crowd(1000, 30000000, 20);
  cr_assert(reasons_of_any(&little, MUSTER_REASON_GUARANTEED) & MUSTER_REASON_GUARANTEED);
  muster_agent_explanation why = explain(&little, found);
  cr_assert_geq(why.waited_ns, 30000000);
  check_words(&why, "longer than is guaranteed");
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little.world, agent));) {
    why = explain(&little, agent);
    cr_assert_eq((why.reasons & MUSTER_REASON_GUARANTEED) != 0, why.waited_ns >= 30000000);
  }
}

Test(explain, tells_of_an_update_that_was_stopped_between_two_atoms) {
  const muster_atom part = {nothing, MUSTER_ROLE_BEHAVIOUR, 3000000}, atoms[] = {part, part, part};
  SCOPED_WORLD little = papers_world(1);
  add_type(&little, CHANGED(hen_type(), it.atoms = atoms, it.atom_count = 3));
  muster_agent agent = spawn_at(&little, 0);
  AWAIT(run_frame(&little).preempted);
  muster_agent_explanation why = explain(&little, agent);
  cr_assert(why.reasons & MUSTER_REASON_PREEMPTED);
  cr_assert(!(why.reasons & (MUSTER_REASON_CARRIED | MUSTER_REASON_ASLEEP)));
  cr_assert_eq(why.atoms_done, 1);
  cr_assert_eq(why.atoms, 3);
  cr_assert_float_eq((double)why.priority_progress_ns, 500e6 / 4, 1e3);
  check_words(&why, "stopped after 1 of 3 atoms");
}

static muster_agent victim;

static muster_atom_result slay(muster_update *update) {
  if (!muster_agent_is_null(victim)) muster_update_remove(update, victim);
  return MUSTER_ATOM_NEXT;
}

Test(explain, tells_of_action_atoms_that_found_no_time_and_of_who_is_about_to_go) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 100000}, {slay, MUSTER_ROLE_ACTION, 4000000}};
  SCOPED_WORLD little =
      world_of(CHANGED(hen_type(), it.atoms = atoms, it.atom_count = 2, it.period_ns = it.period_max_ns = FRAME_NS));
  spawn_at(&little, 0);
  spawn_at(&little, 0);
  while (!run_frame(&little).actions_waiting) cr_assert_lt(little.now_ns, 50u * FRAME_NS);
  cr_assert(!(reasons_of_any(&little, MUSTER_REASON_WAITS_FOR_ACTION) & MUSTER_REASON_REMOVAL_WAITING));
  muster_agent_explanation why = explain(&little, found);
  cr_assert(!(why.reasons & (MUSTER_REASON_CARRIED | MUSTER_REASON_ASLEEP | MUSTER_REASON_PREEMPTED)));
  check_words(&why, "leads the next commit");
  victim = spawn_at(&little, 0);
  run_frame(&little);
  while (!(reasons_of_any(&little, MUSTER_REASON_REMOVAL_WAITING) & MUSTER_REASON_REMOVAL_WAITING)) run_frame(&little);
  cr_assert(muster_agent_equal(found, victim));
  why = explain(&little, found);
  check_words(&why, "about to be removed");
}

Test(explain, tells_of_spawns_that_wait_and_of_wakes) {
  SCOPED_WORLD little = world_of(hen_type());
  muster_agent agent = spawn_at(&little, 7);
  muster_agent_explanation why = expect_reasons(&little, agent, MUSTER_REASON_SPAWN_WAITING);
  cr_assert_eq(why.position.x, 7.0);
  cr_assert_str_eq(why.type_name, "hen");
  check_words(&why, "waits to be taken in");
  run_frames(&little, 5);
  const uint32_t usual = MUSTER_REASON_ASLEEP | MUSTER_REASON_NO_OBSERVER_NEAR | MUSTER_REASON_CHEAPER_LEVEL;
  expect_reasons(&little, agent, usual);
  muster_agent_wake(little.world, agent);
  why = expect_reasons(&little, agent, usual | MUSTER_REASON_WOKEN);
  check_words(&why, "it was woken and runs in the next frame");
  run_frame(&little);
  expect_reasons(&little, agent, usual);
}

Test(explain, refuses_who_is_gone_and_what_is_not_initialised) {
  SCOPED_WORLD little = hen_world(hen_type(), 1);
  muster_agent_explanation why = {0};
  cr_assert_eq(muster_agent_explain(little.world, hen, &why), MUSTER_E_NOT_INITIALISED);
  cr_assert_eq(muster_agent_explain(little.world, hen, NULL), MUSTER_E_NOT_INITIALISED);
  muster_agent_remove(little.world, hen);
  run_frame(&little);
  why = muster_agent_explanation_default();
  cr_assert_eq(muster_agent_explain(little.world, hen, &why), MUSTER_E_STALE);
  expect_error("is gone");
  cr_assert_eq(why.reasons, 0);
}

Test(explain, writes_no_further_than_the_caller_knows_of) {
  SCOPED_WORLD little = hen_world(hen_type(), 1);
  muster_agent_explanation why;
  memset(&why, 0x5a, sizeof why);
  why.size = offsetof(muster_agent_explanation, wake_at_ns);
  cr_assert_eq(muster_agent_explain(little.world, hen, &why), MUSTER_OK);
  cr_assert_eq(why.size, offsetof(muster_agent_explanation, wake_at_ns));
  cr_assert(why.reasons & MUSTER_REASON_ASLEEP);
  cr_assert_eq(why.wake_at_ns, 0x5a5a5a5a5a5a5a5a);
}

Test(explain, words_that_do_not_fit_are_cut_off) {
  SCOPED_WORLD little = hen_world(hen_type(), 1);
  muster_agent_explanation why = explain(&little, hen);
  char whole[2048], part[64];
  size_t length = muster_explanation_print(&why, whole, sizeof whole);
  cr_assert_eq(length, strlen(whole));
  cr_assert_eq(whole[length - 1], '\n');
  for (size_t bytes = 0; bytes < sizeof part; bytes++) {
    memset(part, 'x', sizeof part);
    cr_assert_eq(muster_explanation_print(&why, part, bytes), length);
    if (bytes) cr_assert(strlen(part) == bytes - 1 && memcmp(part, whole, bytes - 1) == 0);
    for (size_t i = bytes; i < sizeof part; i++) cr_assert_eq(part[i], 'x');
  }
}

Test(explain, changes_nothing) {
  SCOPED_WORLD little = crowd(300, 500000000, 0), other = crowd(300, 500000000, 0);
  for (uint32_t i = 0; i < 20; i++) {
    run_frame(&little);
    uint64_t hash = muster_world_hash(little.world);
    reasons_of_any(&little, 0);
    cr_assert_eq(muster_world_hash(little.world), hash);
  }
  run_frames(&other, 20);
  cr_assert_eq(muster_world_hash(other.world), muster_world_hash(little.world));
}
