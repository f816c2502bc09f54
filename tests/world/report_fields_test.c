/* Fields of reports that are alike in kind have different values: what is told in another's place is seen. */
#include "support/burn.h"
#include "support/herd_world.h"
#include "world/fixture.h"

enum { ACTORS = 4, SHORT_NS = 3000, MIDDLE_NS = 4000, ACTION_NS = 5000 };

/* -------------------------------------------------------------------------------------------------------- of frames */

/* Agents of two behaviours and an action, in each frame. */
static little_world actors(muster_act act) {
  static const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, SHORT_NS},
                                      {nothing, MUSTER_ROLE_BEHAVIOUR, MIDDLE_NS},
                                      {nothing, MUSTER_ROLE_ACTION, ACTION_NS}};
  little_world little = peopled(world_of(CHANGED(actors_def(atoms, act, NULL), it.atom_count = 3)), ACTORS);
  run_frames(&little, 3);
  return little;
}

Test(report_fields, virtual_times_are_each_their_own) {
  SCOPED_WORLD little = actors(MUSTER_ACT_SERIAL);
  muster_statistics_clear(little.world);
  muster_frame_report report = run_frame(&little);
  const uint64_t behaviours_ns = ACTORS * (SHORT_NS + MIDDLE_NS), actions_ns = ACTORS * ACTION_NS;
  cr_expect_eq(report.completed, ACTORS);
  cr_expect_eq(report.frame_period_ns, FRAME_NS);
  cr_expect_eq(report.stage_ns[MUSTER_STAGE_RUN], behaviours_ns);
  cr_expect_eq(report.stage_ns[MUSTER_STAGE_COMMIT], actions_ns);
  cr_expect_eq(report.work_ns, behaviours_ns + actions_ns);
  cr_expect_eq(report.update_cpu_ns, behaviours_ns + actions_ns);
  cr_expect_eq(report.acts_serial_ns, actions_ns);
  cr_expect_eq(report.serial_ns, 0);
  cr_expect_eq(report.overhead_ns, 0);
  cr_expect_eq(report.commit_kept_ns, 0);
  cr_expect_eq(report.longest_atom_ns, ACTION_NS);
  cr_expect_eq(report.longest_claim_ns, SHORT_NS + MIDDLE_NS);
  cr_expect_eq(report.rankings, 1);
  cr_expect_eq(statistics_of(&little).work_ns, report.work_ns);
  cr_expect_eq(statistics_of(&little).serial_ns, 0);
  little.now_ns += 2 * FRAME_NS;
  cr_expect_eq(run_frame(&little).frame_period_ns, 3 * FRAME_NS);
}

Test(report_fields, actions_beside_each_other_are_no_serial_time) {
  SCOPED_WORLD little = actors(MUSTER_ACT_PARALLEL);
  muster_frame_report report = run_frame(&little);
  cr_expect_eq(report.completed, ACTORS);
  cr_expect_eq(report.acts_serial_ns, 0);
  cr_expect_eq(report.stage_ns[MUSTER_STAGE_COMMIT], ACTORS * ACTION_NS);
}

/* An atom that is too long for its frame: what is not made up for at once is owed. */
Test(report_fields, what_is_repaid_is_not_what_is_owed_still) {
  enum { BUDGET_NS = 1000000, LONG_NS = 9 * BUDGET_NS };
  SCOPED_WORLD little = careless(little_world_of(1, WITH(virtual_world_def, it.debt_budgets = 8.0f)));
  add_type(&little, CHANGED(due_every(40 * FRAME_NS, type_running(nothing, LONG_NS)), it.limit_ns = 1000000000u));
  uint64_t owed_ns = 0, repaid_ns = 0;
  spawn_at(&little, 0);
  for (uint32_t i = 0; i < 120; i++) {
    muster_frame_report report = run_frame_with(&little, BUDGET_NS);
    if (report.completed) owed_ns = report.debt_ns;
    if (report.completed || !owed_ns) continue;
    cr_expect_leq(report.repaid_ns, BUDGET_NS / 3, "at most a third");
    cr_expect_leq(report.debt_ns, owed_ns);
    cr_expect_eq(report.debt_ns + report.repaid_ns, owed_ns, "frame %u repays %lu of %lu, and %lu are left", i,
                 report.repaid_ns, owed_ns, report.debt_ns);
    owed_ns = report.debt_ns;
    repaid_ns += report.repaid_ns;
  }
  cr_expect_gt(owed_ns, BUDGET_NS, "it is owed still");
  cr_expect_gt(repaid_ns, BUDGET_NS, "some was repaid");
}

/* An intake takes 256 at least, and no more of them than fit its share of the frame. */
Test(report_fields, commands_that_wait_are_those_that_no_intake_has_taken) {
  enum { COMMANDS = 600, TAKEN = 256, BUDGET_NS = 20000 };
  SCOPED_WORLD little = careless(world_of(type_running(nothing, 1000)));
  muster_agent agent = spawn_at(&little, 0);
  cr_expect_eq(run_frame_with(&little, BUDGET_NS).commands_waiting, 0);
  for (uint32_t i = 0; i < COMMANDS; i++) assert_ok(muster_agent_move(little.world, agent, (muster_position){i, 0, 0}));
  cr_expect_eq(run_frame_with(&little, BUDGET_NS).commands_waiting, COMMANDS - TAKEN);
  cr_expect_float_eq(info_of(&little, agent).position.x, TAKEN - 1, 0.01);
  cr_expect_eq(run_frame_with(&little, BUDGET_NS).commands_waiting, COMMANDS - 2 * TAKEN);
  cr_expect_eq(run_frame_with(&little, BUDGET_NS).commands_waiting, 0);
  cr_expect_float_eq(info_of(&little, agent).position.x, COMMANDS - 1, 0.01);
}

/* On the wall clock a claim has all atoms of an update, and some of the budget is kept for the commit. */
static muster_atom_result burn_some(muster_update *update) {
  const uint64_t *burns_ns = update->type_user;
  burn(*burns_ns);
  return MUSTER_ATOM_NEXT;
}

/* One agent of so many such atoms, which runs in each frame. */
static little_world burning(const muster_atom *atoms, uint32_t count, const uint64_t *burns_ns, bool audit) {
  little_world little = careless(little_world_of(1, WITH(muster_world_def, it.audit = audit)));
  add_type(&little,
           WITH(muster_type_def, it.atoms = atoms, it.atom_count = count, it.period_ns = it.period_max_ns = FRAME_NS,
                it.user = (void *)(uintptr_t)burns_ns, it.limit_ns = 1000000000u));
  spawn_at(&little, 0);
  return little;
}

Test(report_fields, an_atom_is_not_the_whole_claim, .disabled = UNDER_SANITIZER) {
  enum { TRIES = 200, LITTLE_NS = 50000 };
  static const muster_atom atoms[] = {{burn_some, MUSTER_ROLE_BEHAVIOUR, 0}, {burn_some, MUSTER_ROLE_BEHAVIOUR, 0}};
  static const uint64_t burns_ns = 1000000;
  SCOPED_WORLD little = burning(atoms, 2, &burns_ns, true);
  uint32_t seen = 0, kept = 0;
  for (uint32_t i = 0; i < TRIES && (seen < 5 || !kept); i++) {
    muster_frame_report report = run_frame_with(&little, 100000000);
    kept += report.commit_kept_ns > 0 && report.commit_kept_ns <= report.budget_ns;
    if (report.completed == 0) continue;
    cr_expect_geq(report.longest_claim_ns + LITTLE_NS, report.longest_atom_ns, "%lu, and %lu of an atom",
                  report.longest_claim_ns, report.longest_atom_ns);
    if (report.longest_atom_ns < burns_ns - LITTLE_NS) continue; /* the kernel took some of it */
    seen += report.longest_claim_ns >= report.longest_atom_ns + burns_ns - LITTLE_NS;
  }
  cr_assert_geq(seen, 5, "%u frames of %u showed both atoms of their claim", seen, TRIES);
  cr_assert_gt(kept, 0, "nothing is kept for the commit");
}

/* Each update that is timed is in one bucket, and in the sum. */
Test(report_fields, times_of_updates_add_up, .disabled = UNDER_SANITIZER) {
  enum { TRIES = 400, ENOUGH = 20 };
  static const uint64_t burns_ns = 200000;
  SCOPED_WORLD little = burning(atom_of(burn_some, 0), 1, &burns_ns, false);
  uint64_t timed = 0, least_ns = 0, most_ns = 0;
  muster_statistics statistics = statistics_of(&little);
  for (uint32_t i = 0; i < TRIES && timed < ENOUGH; i++) {
    run_frame_with(&little, 100000000);
    statistics = statistics_of(&little);
    timed = 0;
    for (uint32_t k = 0; k < MUSTER_UPDATE_TIMES; k++) timed += statistics.update_times[k];
  }
  cr_assert_geq(timed, ENOUGH, "%lu were timed", timed);
  for (uint32_t k = 0; k < MUSTER_UPDATE_TIMES; k++) {
    least_ns += k ? statistics.update_times[k] * (muster_update_time_bound(k - 1) + 1) : 0;
    if (k + 1 < MUSTER_UPDATE_TIMES) most_ns += statistics.update_times[k] * muster_update_time_bound(k);
  }
  cr_expect_geq(statistics.update_times_ns, least_ns);
  if (!statistics.update_times[MUSTER_UPDATE_TIMES - 1]) cr_expect_leq(statistics.update_times_ns, most_ns);
}

/* One that sees much farther than the others: everybody is looked at again when it leaps. */
Test(report_fields, rounds_of_the_score_are_counted) {
  enum { AGENTS = 200, NEAR_SIGHTED = 50 };
  SCOPED_WORLD little = world_of(type_running(nothing, 1000));
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, 10.0 * i);
  for (uint32_t i = 0; i < NEAR_SIGHTED; i++) observe_at(&little, 10.0 * i);
  run_frames(&little, 4);
  uint64_t before = statistics_of(&little).score_rounds;
  muster_observer_def def = WITH(muster_observer_def, it.position.x = 10.0 * (NEAR_SIGHTED - 1), it.far_m = 1e6f);
  cr_assert(!muster_observer_is_null(muster_observer_add(little.world, &def)));
  run_frames(&little, 4);
  cr_expect_gt(statistics_of(&little).score_rounds, before);
  cr_expect_eq(statistics_of(&little).importances_refused, 0);
}

Test(report_fields, the_worst_overrun_names_its_atom_and_agent) {
  static const muster_atom atoms[] = {
      {.run = nothing, .model_ns = 1000}, {.run = nothing, .model_ns = 1000}, {.run = nothing, .model_ns = 9000000}};
  SCOPED_WORLD little = world_of(WITH(muster_type_def, it.atoms = atoms, it.atom_count = 3, it.period_ns = FRAME_NS,
                                      it.limit_ns = 2000000, it.overruns.demote = it.overruns.quarantine = 0));
  muster_overrun overrun;
  spawn_at(&little, 0);
  muster_agent_remove(little.world, muster_agent_next(little.world, (muster_agent){0}));
  run_frames(&little, 2);
  spawn_at(&little, 1); /* its generation is another one than 1 where the index is the same */
  muster_agent agent = muster_agent_next(little.world, (muster_agent){0});
  run_frames(&little, 6);
  muster_overrun_counts counts = overrun_counts_of(&little);
  cr_assert_gt(counts.overruns, 0);
  cr_expect_eq(counts.worst_ns, 9000000);
  cr_expect_eq(counts.worst_atom, 2);
  cr_expect(muster_agent_equal(counts.worst_agent, agent));
  cr_expect_eq(counts.worst_blocked_ns, 0);
  cr_assert_geq(muster_overruns_read(little.world, &overrun, 1), 1);
  cr_expect_eq(overrun.atom, 2);
  little.provokes_idle = true;
}

/* ------------------------------------------------------------------------------------------------- of explanations */

/* One in ten costs more, whoever it is of. */
static uint64_t two_costs(const muster_cost_query *query, void *user) {
  static uint32_t asked;
  (void)query, (void)user;
  return ++asked % 10 == 0 ? 300000 : 100000;
}

static void expect_sum(const muster_agent_explanation *why) {
  cr_expect_eq(why->priority_ns, why->priority_wait_ns + why->priority_importance_ns + why->priority_progress_ns +
                                     why->priority_runs_ns + why->priority_reduction_ns + why->priority_reaction_ns);
}

/* Agents that wait, at the second of three levels. */
Test(report_fields, costs_and_levels_are_each_their_own) {
  enum { CROWD = 320 };
  SCOPED_WORLD little = careless(
      little_world_of(1, WITH(virtual_world_def, it.order = MUSTER_ORDER_PRIORITY, it.priority.reduction = 0.5f)));
  add_type(&little, CHANGED(type_running(nothing, 100000), it.levels.count = 3, it.levels.importance[0] = 0.9f,
                            it.levels.importance[1] = 0.2f, it.models.cost_ns = two_costs,
                            it.period_ns = it.period_max_ns = 2 * FRAME_NS, it.limit_ns = 1000000000u));
  muster_agent agents[CROWD];
  for (int i = 0; i < CROWD; i++) agents[i] = spawn_as(&little, WITH(muster_agent_def, it.importance_floor = 0.5f));
  run_frames(&little, 30);
  muster_type_cost cost = muster_type_cost_default();
  cr_assert_eq(muster_type_cost_read(little.world, little.type, 1, &cost), MUSTER_OK);
  cr_expect_gt(cost.high_ns, cost.mean_ns);
  cr_expect_eq(cost.agents, CROWD);
  cr_expect_eq(cost.levels, 3);
  cr_expect_eq(cost.fixed_ns, cost.mean_ns);
  cr_expect_eq(cost.per_second_ns, 0);
  uint32_t waiting = 0;
  for (uint32_t i = 0; i < CROWD; i++) {
    muster_agent_explanation why = explain(&little, agents[i]);
    cr_expect_eq(why.level, 1);
    cr_expect_eq(why.level_count, 3);
    cr_expect_eq(why.cost_high_ns, cost.high_ns);
    cr_expect_eq(why.cost_mean_ns, cost.mean_ns);
    cr_expect_eq(why.cost_samples, cost.samples);
    cr_expect_lt(why.level_low, 0.3f);
    cr_expect_gt(why.level_high, 0.8f);
    if (!(why.reasons & MUSTER_REASON_CARRIED)) continue;
    waiting++;
    cr_expect_gt(why.priority_reduction_ns, 0, "it runs below its best level");
    cr_expect_eq(why.priority_reaction_ns, 0);
    cr_expect_eq(why.priority_progress_ns, 0);
    cr_expect_leq(why.priority_runs_ns, 0);
    expect_sum(&why);
  }
  cr_assert_gt(waiting, 0);
}

static muster_atom_result react(muster_update *update) {
  muster_update_react_by(update, update->now_ns + 30 * FRAME_NS);
  return MUSTER_ATOM_NEXT;
}

/* Few that must react, among many that matter more. */
Test(report_fields, who_must_react_has_a_term_for_it) {
  enum { CROWD = 200, REACTORS = 10, TRIES = 200 };
  static const muster_atom plain = {.run = nothing, .model_ns = 1000}, reacts = {.run = react, .model_ns = 1000};
  SCOPED_WORLD little =
      careless(little_world_of(1, WITH(virtual_world_def, it.order = MUSTER_ORDER_PRIORITY, it.updates_per_frame = 4)));
  muster_agent agents[REACTORS];
  for (uint32_t kind = 0; kind < 2; kind++) {
    add_type(&little, WITH(muster_type_def, it.atoms = kind ? &reacts : &plain, it.atom_count = 1,
                           it.period_ns = 2 * FRAME_NS, it.period_max_ns = 400ull * FRAME_NS));
    for (uint32_t i = 0; i < (kind ? REACTORS : CROWD); i++) {
      muster_agent one = spawn_as(&little, WITH(muster_agent_def, it.importance_floor = kind ? 0.0f : 1.0f));
      if (kind) agents[i] = one;
    }
  }
  uint32_t seen = 0;
  for (uint32_t i = 0; i < TRIES && !seen; i++) {
    run_frame(&little);
    for (uint32_t k = 0; k < REACTORS; k++) {
      muster_agent_explanation why = explain(&little, agents[k]);
      expect_sum(&why);
      cr_expect_eq((why.reasons & MUSTER_REASON_REACTION) != 0, why.react_by_ns != 0);
      cr_expect_eq(why.priority_reduction_ns, 0);
      if (!why.react_by_ns) cr_expect_eq(why.priority_reaction_ns, 0);
      seen += why.priority_reaction_ns != 0;
    }
  }
  cr_expect_gt(seen, 0, "nobody that must react waits");
}

Test(report_fields, leaves_and_blocks_of_herds_are_explained_as_such) {
  enum { FAR_HERDS = 3, MEMBERS = 20 };
  SCOPED(herd_world_destroy) herd_world herds = herd_world_create(1, NULL, NULL);
  for (uint32_t i = 0; i < FAR_HERDS; i++) add_herd(&herds, 100000, 100.0 * i, MEMBERS);
  muster_herd near = add_herd(&herds, 0, 0, MEMBERS);
  observe(&herds, 0, 0);
  run_frames(&herds.little, 20);
  muster_agent leaves[MEMBERS];
  uint32_t count = muster_herd_leaves(herds.little.world, near, leaves, NULL, MEMBERS), members = 0, blocks = 0;
  cr_assert_gt(count, 1, "it is folded");
  for (uint32_t i = 0; i < count; i++) {
    muster_agent_explanation why = explain(&herds.little, leaves[i]);
    cr_expect_eq(muster_herd_index(why.herd), muster_herd_index(near));
    cr_expect_eq(muster_herd_generation(why.herd), muster_herd_generation(near));
    cr_expect_eq(why.block_herds, 0);
    members += why.herd_members;
  }
  cr_expect_eq(members, MEMBERS);
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(herds.little.world, agent));) {
    muster_agent_explanation why = explain(&herds.little, agent);
    if (!why.block_herds) continue;
    blocks++;
    cr_expect_eq(why.block_herds, FAR_HERDS + 1);
    cr_expect_eq(why.herd_members, 0);
  }
  cr_expect_eq(blocks, 1);
}
