/* Weights that are tuned while the world runs, policies, updates per frame (x), and further cycles. */
#include "world/fixture.h"

enum { CROWD = 40, PER_FRAME = 4, COST_NS = 100000 };

struct tally {
  uint32_t runs, cycles, messages;
  uint64_t elapsed_ns, last_cycle_elapsed_ns;
};

static muster_atom_result count(muster_update *update) {
  struct tally *tally = update->state;
  tally->runs += update->cycle == 0;
  tally->cycles++;
  tally->elapsed_ns += update->elapsed_ns;
  if (update->cycle > 0) tally->last_cycle_elapsed_ns += update->elapsed_ns;
  tally->messages += muster_update_messages(update, NULL, 0);
  return MUSTER_ATOM_NEXT;
}

static void register_counters(little_world *little) {
  add_type(little, CHANGED(type_running(count, COST_NS), it.state_bytes = sizeof(struct tally), it.period_ns = FRAME_NS,
                           it.period_max_ns = 100 * FRAME_NS, it.messages.waiting_max = 4));
}

static const struct tally *tally_of(const little_world *little, muster_agent agent) {
  return info_of(little, agent).state;
}

static muster_world_def four_per_frame(void) {
  return CHANGED(papers_world_def(), it.clock.kind = MUSTER_CLOCK_VIRTUAL, it.updates_per_frame = PER_FRAME,
                 it.clock.capacity_ns = 1000000000u);
}

static muster_agent agents[CROWD];

/* A world with a crowd in which importance rises with the index. */
static little_world crowded_world(uint32_t workers, muster_world_def def) {
  little_world little = little_world_of(workers, def);
  register_counters(&little);
  for (uint32_t i = 0; i < CROWD; i++)
    agents[i] = spawn_as(&little, WITH(muster_agent_def, it.importance_floor = (float)(i + 1) / CROWD));
  return little;
}

static uint32_t runs_between(const little_world *little, uint32_t from, uint32_t to) {
  uint32_t runs = 0;
  for (uint32_t i = from; i < to; i++) runs += tally_of(little, agents[i])->runs;
  return runs;
}

Test(tune, turns_the_order_of_those_who_wait_already) {
  muster_world_def def = four_per_frame();
  muster_world_def_policy(&def, MUSTER_POLICY_FAIR);
  def.priority.guarantee_ns = 3600000000000u;
  SCOPED_WORLD little = crowded_world(1, def);
  run_frames(&little, 400);
  uint32_t low = runs_between(&little, 0, CROWD / 2), high = runs_between(&little, CROWD / 2, CROWD);
  cr_assert_leq(abs((int)low - (int)high), 40, "a fair order gave %u and %u runs", low, high);
  muster_world_tuning tuning = muster_world_tuning_default();
  muster_world_tuning_policy(&tuning, MUSTER_POLICY_IMPORTANCE_FIRST);
  cr_assert_eq(muster_world_tune(little.world, &tuning), MUSTER_OK);
  run_frames(&little, 400);
  uint32_t low_then = runs_between(&little, 0, CROWD / 2) - low;
  uint32_t high_then = runs_between(&little, CROWD / 2, CROWD) - high;
  cr_assert_eq(low_then, 0, "the less important half ran %u times, the other %u", low_then, high_then);
  cr_assert_geq(high_then, 1590);
  tuning = WITH(muster_world_tuning, it.priority.guarantee_ns = 200000000u); /* it alone keeps all from starving */
  cr_assert_eq(muster_world_tune(little.world, &tuning), MUSTER_OK);
  run_frames(&little, 200);
  for (uint32_t i = 0; i < CROWD; i++) {
    uint64_t since_ns = little.now_ns - info_of(&little, agents[i]).last_update_ns;
    cr_assert_leq(since_ns, 200000000u + (CROWD / PER_FRAME + 3) * FRAME_NS);
  }
}

/* Preempted updates go on first if progress counts. */
Test(tune, least_slack_finishes_what_was_begun) {
  muster_world_tuning tuning = muster_world_tuning_default();
  muster_world_tuning_policy(&tuning, MUSTER_POLICY_LEAST_SLACK);
  cr_assert_eq(tuning.priority.importance, 0.0f);
  cr_assert_eq(tuning.priority.wait, 1.0f);
  cr_assert_eq(tuning.priority.runs, 0.0f);
  cr_assert_eq(tuning.priority.progress, 1.0f);
  muster_world_tuning before = tuning;
  muster_world_tuning_policy(&tuning, (muster_policy)17);
  cr_assert_eq(memcmp(&before, &tuning, sizeof before), 0);
}

static void refused(const little_world *little, muster_world_tuning tuning, muster_result why, const char *names) {
  cr_assert_eq(muster_world_tune(little->world, &tuning), why);
  expect_error(names);
}

Test(tune, refuses_what_is_out_of_range_and_changes_nothing) {
  SCOPED_WORLD little = crowded_world(1, four_per_frame());
  refused(&little, WITH(muster_world_tuning, it.priority.wait = 1.5f), MUSTER_E_ARGUMENT,
          "priority.wait 1.5 must be 0..1");
  refused(&little, WITH(muster_world_tuning, it.priority.wait = NAN), MUSTER_E_ARGUMENT,
          "priority.wait nan must be 0..1");
  refused(&little, WITH(muster_world_tuning, it.priority.guarantee_ns = 10), MUSTER_E_ARGUMENT,
          "priority.guarantee_ns 10");
  refused(&little, WITH(muster_world_tuning, it.levels.cycles_max = MUSTER_CYCLES_MAX + 1), MUSTER_E_ARGUMENT,
          "levels.cycles_max");
  refused(&little, WITH(muster_world_tuning, it.levels.pressure = 0.01f), MUSTER_E_ARGUMENT, "levels.pressure");
  refused(&little,
          WITH(muster_world_tuning,
               it.importance.focus = it.importance.designer = it.importance.role = it.importance.company = 1.0f),
          MUSTER_E_STATE, "MUSTER_IMPORTANCE_FACTORS");
  cr_assert_eq(muster_world_tune(little.world, &(muster_world_tuning){0}), MUSTER_E_NOT_INITIALISED);
  run_frames(&little, 100);
  cr_assert_eq(run_frame(&little).completed, PER_FRAME);
}

Test(tune, queues_as_many_as_have_room) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  muster_world_tuning tuning = muster_world_tuning_default();
  uint32_t taken = 0;
  register_counters(&little);
  while (taken < 1000 && muster_world_tune(little.world, &tuning) == MUSTER_OK) taken++;
  cr_assert_eq(taken, 64);
  expect_error("tunings");
  run_frame(&little);
  cr_assert_eq(muster_world_tune(little.world, &tuning), MUSTER_OK);
}

Test(tune, takes_any_x) {
  SCOPED_WORLD little = crowded_world(1, four_per_frame());
  run_frames(&little, 10);
  muster_frame_report report = run_frame(&little);
  cr_assert_eq(report.completed, PER_FRAME);
  cr_assert_eq(report.updates_max, PER_FRAME);
  tune_world(&little, WITH(muster_world_tuning, it.updates_per_frame = 0)); /* as many as the budget holds */
  run_frame(&little);
  cr_assert_eq(run_frame(&little).completed, CROWD);
  tune_world(&little, WITH(muster_world_tuning, it.updates_per_frame = 10 * CROWD)); /* more than there are: all */
  run_frame(&little);
  cr_assert_eq(run_frame(&little).completed, CROWD);
}

Test(tune, derives_x_from_the_budget) {
  muster_world_def def = CHANGED(four_per_frame(), it.updates_per_frame = MUSTER_UPDATES_DERIVED,
                                 it.clock.capacity_ns = 12 * COST_NS + COST_NS / 2);
  SCOPED_WORLD little = crowded_world(1, def);
  run_frames(&little, 50);
  cr_assert_eq(run_frame(&little).updates_max, 12);
  cr_assert_leq(run_frame(&little).completed, 12);
}

/* ---------------------------------------------------------------------------------------------------------- cycles */

Test(tune, gives_the_important_further_cycles_in_which_no_time_passes) {
  muster_world_def def =
      CHANGED(four_per_frame(), it.updates_per_frame = 0, it.levels.cycles_max = 5, it.levels.cycles_importance = 0.5f);
  SCOPED_WORLD little = crowded_world(2, def);
  run_frames(&little, 10);
  muster_agent_send(little.world, agents[CROWD - 1], NULL, 0);
  run_frames(&little, 10);
  const struct tally *most = tally_of(&little, agents[CROWD - 1]),
                     *middle = tally_of(&little, agents[CROWD * 3 / 4 - 1]);
  const struct tally *least = tally_of(&little, agents[0]);
  cr_assert_gt(most->runs, 10);
  cr_assert_eq(most->cycles, 5 * most->runs);
  cr_assert_eq(middle->cycles, 3 * middle->runs);
  cr_assert_eq(least->cycles, least->runs);
  cr_assert_eq(most->last_cycle_elapsed_ns, 0);
  cr_assert_eq(most->messages, 1, "a message was seen %u times", most->messages);
  muster_agent_info info = info_of(&little, agents[CROWD - 1]);
  cr_assert_eq(most->elapsed_ns, info.last_update_ns - FRAME_NS, "elapsed times do not add up");
}

static muster_atom_result finish_the_first_cycle(muster_update *update) {
  return update->cycle == 0 ? MUSTER_ATOM_FINISH : MUSTER_ATOM_NEXT;
}

/* The first cycle ends without the action; a further one wants it. */
Test(tune, what_a_further_cycle_wants_to_do_is_done) {
  const muster_atom atoms[] = {{finish_the_first_cycle, MUSTER_ROLE_BEHAVIOUR, 1000},
                               {count_in_user, MUSTER_ROLE_ACTION, 1000}};
  for (uint32_t cycles = 1; cycles <= 3; cycles++) {
    uint32_t acts = 0;
    SCOPED_WORLD little =
        little_world_of(1, WITH(virtual_world_def, it.levels.cycles_max = cycles, it.levels.cycles_importance = 0.0f));
    add_type(&little, actors_def(atoms, MUSTER_ACT_SERIAL, &acts));
    spawn_as(&little, WITH(muster_agent_def, it.importance_floor = 1.0f));
    run_frames(&little, 20);
    cr_assert(cycles == 1 ? acts == 0 : acts >= 18, "%u cycles, %u acts", cycles, acts);
  }
}

Test(tune, charges_cycles_and_gives_no_more_than_fit) {
  SCOPED_WORLD little =
      little_world_of(1, CHANGED(four_per_frame(), it.updates_per_frame = 0, it.clock.capacity_ns = 10 * COST_NS,
                                 it.levels.cycles_max = 8, it.levels.cycles_importance = 0.0f));
  register_counters(&little);
  for (uint32_t i = 0; i < 3; i++) spawn_as(&little, WITH(muster_agent_def, it.importance_floor = 1.0f));
  run_frames(&little, 3);
  for (uint32_t i = 0; i < 20; i++) {
    muster_frame_report report = run_frame(&little);
    cr_assert_leq(report.completed + report.cycles, 10);
    if (report.completed) cr_assert_gt(report.cycles, 0);
  }
}

Test(tune, plans_no_cycles_for_a_host_that_runs_updates) {
  expect_world_refused(WITH(muster_world_def, it.planner_workers = 1, it.levels.cycles_max = 2), "levels.cycles_max");
}

Test(tune, tells_a_host_that_runs_updates_of_what_no_world_can_have_first) {
  SCOPED_WORLD little = little_world_of(1, WITH(muster_world_def, it.planner_workers = 1));
  muster_world_tuning tuning = WITH(muster_world_tuning, it.levels.cycles_max = 2);
  refused(&little, tuning, MUSTER_E_STATE, "levels.cycles_max 2");
  tuning.importance.octaves = 1000.0f;
  refused(&little, tuning, MUSTER_E_ARGUMENT, "octaves");
}
