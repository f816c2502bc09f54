/* Types with sets: what is refused, and with which words. */
#include "run/runner.h"
#include "support/set_world.h"

static void refuse_type(muster_type_def type, const char *words) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  expect_type_refused(&little, type, words);
}

static void refuse_set(muster_set_def set, const char *words) {
  refuse_type(type_of_sets(&set, 1), words);
}

Test(sets_rules, definitions_say_what_is_wrong_and_where) {
  muster_set_def set = set_of(2, MUSTER_MODE_SLICEABLE, 50);
  muster_type_def type = type_of_sets(&set, 1);
  refuse_set(CHANGED(set, it.share = 0), "type 'setter', set 'set': share 0 must be 1..100");
  refuse_set(CHANGED(set, it.share = 101), "share 101 must be 1..100");
  refuse_set(CHANGED(set, it.role = 3), "role 3");
  refuse_set(CHANGED(set, it.mode = 3), "mode 3 is unknown");
  refuse_set(CHANGED(set, it.role = MUSTER_ROLE_ACTION), "actions run whole");
  refuse_set(CHANGED(set, it.period_updates = 0), "one of period_updates and period_ns must be 0");
  refuse_set(CHANGED(set, it.period_ns = 1000000u), "one of period_updates and period_ns must be 0");
  refuse_set(CHANGED(set, it.period_updates = 1000001), "period_updates 1000001 must be 1..1000000");
  refuse_set(CHANGED(set, it.period_updates = 0, it.period_ns = 99999), "period_ns 99999 100 us .. 24 h");
  refuse_set(CHANGED(set, it.period_updates = 4, it.delay_updates = 4), "its delay (4 updates, 0 ns)");
  refuse_set(CHANGED(set, it.period_updates = 0, it.period_ns = 1000000u, it.delay_ns = 1000000u),
             "its delay (0 updates, 1000000 ns)");
  refuse_set(CHANGED(set, it.delay_ns = 1), "its delay (0 updates, 1 ns)");
  refuse_set(CHANGED(set, it.asks = 0), "asks 0 must be 1..1000000");
  refuse_set(CHANGED(set, it.atom_count = 0), "its sets have 0 atoms in all");
  refuse_set(CHANGED(set, it.atoms = NULL), "with atoms set");
  refuse_set(CHANGED(set, it.size = 0),
             "type 'setter', set 0: muster_set_def was not set by muster_set_def_default(): its size is 0");
  refuse_set(CHANGED(set, it.size = 1u << 30), "set 0: muster_set_def was not set by muster_set_def_default()");
  refuse_type(CHANGED(type, it.sets.count = 0), "sets.count 0 must be 1..16");
  refuse_type(CHANGED(type, it.sets.list = NULL), "with sets set");
  refuse_type(CHANGED(type, it.sets.count = MUSTER_SETS_MAX + 1), "sets.count 17 must be 1..16");
  refuse_type(CHANGED(type, it.sets.order = (muster_set_order)2), "sets.order 2 is unknown");
  refuse_type(CHANGED(type, it.atoms = noting_atoms, it.atom_count = 1), "atoms and sets cannot be given both");
  refuse_type(CHANGED(type, it.elapsed.contract = MUSTER_ELAPSED_STEPS, it.elapsed.step_ns = 5000000u,
                      it.elapsed.steps_max = 1000),
              "sets are told delta or events");
  refuse_type(CHANGED(type, it.sets.share = 101), "sets.share 101 must be at most 100");
  refuse_type(CHANGED(type, it.sets.slice_ns = 999), "sets.slice_ns 999");
  refuse_type(CHANGED(type, it.act = (muster_act)3), "act 3 is unknown");
  refuse_type(CHANGED(type, it.sets.list = NULL, it.sets.count = 0, it.atoms = noting_atoms, it.atom_count = 1,
                      it.sets.slice_ns = 1000000u),
              "are for types with sets");
}

Test(sets_rules, planner_worlds_have_no_sets_of_atoms) {
  muster_set_def set = set_of(1, MUSTER_MODE_RUN, 50);
  SCOPED_WORLD little = little_world_of(1, WITH(muster_world_def, it.planner_workers = 2));
  expect_type_refused(&little, type_of_sets(&set, 1), "atoms must be the default in a planner world");
}

static bool write_nowhere(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count, (void)user;
  return true;
}

Test(sets_rules, no_records_on_the_wall_clock) {
  muster_set_def set = set_of(1, MUSTER_MODE_RUN, 50);
  muster_type_def type = type_of_sets(&set, 1);
  muster_world_def def = muster_world_def_default();
  muster_record_def record = WITH(muster_record_def, it.write = write_nowhere);
  SCOPED_WORLD little = little_world_create(1, &def), other = little_world_create(1, &def);
  register_type(&little, &type);
  assert_refused(muster_record_begin(little.world, &record), MUSTER_E_STATE, "type 'setter' has sets");
  cr_assert_eq(muster_record_begin(other.world, &record), MUSTER_OK);
  expect_type_refused(&other, type, "recorded on the wall clock");
}

Test(sets_rules, changes_say_what_is_wrong) {
  muster_set_def sets[2] = {set_of(1, MUSTER_MODE_SLICEABLE, 50), set_of(1, MUSTER_MODE_RUN, 50)};
  sets[1].role = MUSTER_ROLE_ACTION;
  muster_type_def plain = type_with(noting_atoms, 1);
  SCOPED_WORLD little = create_sets(type_of_sets(sets, 2));
  muster_type sets_type = little.type, other = muster_type_register(little.world, &plain), none = {7};
  muster_set_tuning tuning = muster_set_tuning_default();
  cr_assert_eq(muster_set_tune(little.world, none, 0, &tuning), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_set_tune(little.world, other, 0, &tuning), MUSTER_E_ARGUMENT);
  assert_refused(muster_set_tune(little.world, sets_type, 2, &tuning), MUSTER_E_ARGUMENT, "set 2 is none of its 2");
  cr_assert_eq(muster_set_tune(little.world, sets_type, 0, NULL), MUSTER_E_NOT_INITIALISED);
  tuning.mode = MUSTER_MODE_SLICEABLE;
  cr_assert_eq(muster_set_tune(little.world, sets_type, 1, &tuning), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_set_tune(little.world, sets_type, 0, &tuning), MUSTER_OK);
  tuning.share = 0;
  cr_assert_eq(muster_set_tune(little.world, sets_type, 0, &tuning), MUSTER_E_ARGUMENT);
  tuning = WITH(muster_set_tuning, it.period_updates = 0);
  cr_assert_eq(muster_set_tune(little.world, sets_type, 0, &tuning), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_type_set_share(little.world, sets_type, 101), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_type_set_share(little.world, other, 1), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_type_set_share(little.world, sets_type, 0), MUSTER_OK);
  muster_set_info info = muster_set_info_default();
  run_frame(&little);
  muster_agent stale = muster_agent_make(muster_agent_index(setter), muster_agent_generation(setter) + 2);
  cr_assert_eq(muster_agent_set_read(little.world, setter, 2, &info), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_agent_set_read(little.world, stale, 0, &info), MUSTER_E_STALE);
}

Test(sets_rules, a_full_inbox_says_so) {
  muster_set_def set = set_of(1, MUSTER_MODE_RUN, 50);
  muster_set_tuning tuning = muster_set_tuning_default();
  SCOPED_WORLD little = typed_world(1, WITH(muster_world_def, it.limits.commands_max = 16), type_of_sets(&set, 1));
  muster_result result = MUSTER_OK;
  for (int i = 0; i < 64 && result == MUSTER_OK; i++) result = muster_set_tune(little.world, little.type, 0, &tuning);
  cr_assert_eq(result, MUSTER_E_FULL);
  cr_assert_eq(muster_type_set_share(little.world, little.type, 5), MUSTER_E_FULL);
}

static uint64_t cost_of(const muster_cost_query *query, void *user) {
  (void)user;
  return query->atom == 3 ? 2000000u : 1000u;
}

/* Atoms are told by their number in the type: perceptions come first, then behaviours, then actions. */
Test(sets_rules, an_atom_over_its_limit_is_named) {
  muster_set_def sets[2] = {set_of(2, MUSTER_MODE_SLICEABLE, 50), set_of(2, MUSTER_MODE_RUN, 50)};
  muster_overrun overrun;
  sets[1].role = MUSTER_ROLE_PERCEPTION;
  forget_calls();
  SCOPED_WORLD little = create_sets(CHANGED(type_of_sets(sets, 2), it.models.cost_ns = cost_of, it.limit_ns = 1000000));
  while (noted.count == 0) run_frame(&little);
  cr_assert_str_eq(calls_text(), "b0b1a0a1");
  cr_assert_eq(muster_overruns_read(little.world, &overrun, 1), 1);
  cr_assert_eq(overrun.atom, 3);
  cr_assert_eq(overrun.duration_ns, 2000000u);
  cr_assert(muster_agent_equal(overrun.agent, setter));
}

/* Each worker counts for itself: what is read is what all have run and cut. */
Test(sets_rules, runs_of_all_workers_are_told) {
  muster_set_def sets[2] = {set_of(2, MUSTER_MODE_SLICEABLE, 50), set_of(1, MUSTER_MODE_RUN, 50)};
  SCOPED_WORLD little = careless(typed_world(3, virtual_world_def_default(), type_of_sets(sets, 2)));
  muster_agent agent = spawn_and_run(&little, 0, 1);
  const struct runner *runner = little.world->runner;
  uint64_t runs[2] = {0}, cuts[2] = {0};
  cr_assert_geq(runner->state_count, 3);
  for (uint32_t i = 0; i < runner->state_count; i++)
    for (uint32_t set = 0; set < 2; set++) {
      struct set_counts *counts = &runner->states[i].set_counts[(little.type.index - 1) * MUSTER_SETS_MAX + set];
      counts->runs = 10 * (i + 1) + set;
      counts->cuts = i + 3 * set;
      runs[set] += counts->runs;
      cuts[set] += counts->cuts;
    }
  for (uint32_t set = 0; set < 2; set++) {
    muster_set_info info = set_info_of(&little, agent, set);
    cr_expect(info.runs == runs[set] && info.cuts == cuts[set], "set %u", set);
  }
}
