/* Types with sets: what is refused, and with which words. */
#include "run/runner.h"
#include "support/set_world.h"
#include "world/world.h"

#include <muster/overruns.h>
#include <muster/record.h>
#include <muster/sets.h>

static struct calls noted;

/* Registers a type of one set after a change of either. Returns the error text. */
static const char *refusal(void (*change)(muster_type_def *type, muster_set_def *set)) {
  muster_set_def set = set_of(2, MUSTER_MODE_SLICEABLE, 50);
  muster_type_def type = type_of_sets(&set, 1, &noted);
  little_world little = little_world_create(1, NULL);
  change(&type, &set);
  muster_type registered = muster_type_register(little.world, &type);
  cr_assert_eq(registered.index, 0, "it was taken");
  little_world_destroy(&little);
  return muster_last_error();
}

static void check(void (*change)(muster_type_def *, muster_set_def *), const char *words) {
  const char *error = refusal(change);
  cr_assert_not_null(strstr(error, words), "'%s' does not say '%s'", error, words);
}

#define CHANGE(name, statement)                                                                                        \
  static void name(muster_type_def *type, muster_set_def *set) {                                                       \
    (void)type, (void)set;                                                                                             \
    statement;                                                                                                         \
  }
CHANGE(no_priority, set->share = 0)
CHANGE(high_priority, set->share = 101)
CHANGE(unknown_role, set->role = 3)
CHANGE(unknown_mode, set->mode = 3)
CHANGE(slicing_action, set->role = MUSTER_ROLE_ACTION)
CHANGE(no_period, set->period_updates = 0)
CHANGE(two_periods, set->period_ns = 1000000u)
CHANGE(long_period, set->period_updates = 1000001)
CHANGE(short_period, (set->period_updates = 0, set->period_ns = 99999))
CHANGE(long_delay, (set->period_updates = 4, set->delay_updates = 4))
CHANGE(long_delay_ns, (set->period_updates = 0, set->period_ns = 1000000u, set->delay_ns = 1000000u))
CHANGE(other_delay, set->delay_ns = 1)
CHANGE(no_asks, set->asks = 0)
CHANGE(no_atoms, set->atom_count = 0)
CHANGE(null_atoms, set->atoms = NULL)
CHANGE(not_initialised, set->size = 0)
CHANGE(of_a_size_out_of_range, set->size = 1u << 30)
CHANGE(no_sets, type->sets.count = 0)
CHANGE(null_sets, type->sets.list = NULL)
CHANGE(many_sets, type->sets.count = MUSTER_SETS_MAX + 1)
CHANGE(unknown_order, type->sets.order = (muster_set_order)2)
CHANGE(both, (type->atoms = noting_atoms, type->atom_count = 1))
CHANGE(steps, (type->elapsed.contract = MUSTER_ELAPSED_STEPS, type->elapsed.step_ns = 5000000u,
               type->elapsed.steps_max = 1000))
CHANGE(type_priority, type->sets.share = 101)
CHANGE(short_slice, type->sets.slice_ns = 999)
CHANGE(unknown_act, type->act = (muster_act)3)
CHANGE(plain_slice, (type->sets.list = NULL, type->sets.count = 0, type->atoms = noting_atoms, type->atom_count = 1,
                     type->sets.slice_ns = 1000000u))

Test(sets_rules, definitions_say_what_is_wrong_and_where) {
  check(no_priority, "type 'setter', set 'set': share 0 must be 1..100");
  check(high_priority, "share 101 must be 1..100");
  check(unknown_role, "role 3");
  check(unknown_mode, "mode 3 is unknown");
  check(slicing_action, "actions run whole");
  check(no_period, "one of period_updates and period_ns must be 0");
  check(two_periods, "one of period_updates and period_ns must be 0");
  check(long_period, "period_updates 1000001 must be 1..1000000");
  check(short_period, "period_ns 99999 100 us .. 24 h");
  check(long_delay, "its delay (4 updates, 0 ns)");
  check(long_delay_ns, "its delay (0 updates, 1000000 ns)");
  check(other_delay, "its delay (0 updates, 1 ns)");
  check(no_asks, "asks 0 must be 1..1000000");
  check(no_atoms, "its sets have 0 atoms in all");
  check(null_atoms, "with atoms set");
  check(not_initialised, "type 'setter', set 0: muster_set_def was not set by muster_set_def_default(): its size is 0");
  check(of_a_size_out_of_range, "set 0: muster_set_def was not set by muster_set_def_default()");
  check(no_sets, "sets.count 0 must be 1..16");
  check(null_sets, "with sets set");
  check(many_sets, "sets.count 17 must be 1..16");
  check(unknown_order, "sets.order 2 is unknown");
  check(both, "atoms and sets cannot be given both");
  check(steps, "sets are told delta or events");
  check(type_priority, "sets.share 101 must be at most 100");
  check(short_slice, "sets.slice_ns 999");
  check(unknown_act, "act 3 is unknown");
  check(plain_slice, "are for types with sets");
}

Test(sets_rules, planner_worlds_have_no_sets_of_atoms) {
  muster_set_def set = set_of(1, MUSTER_MODE_RUN, 50);
  muster_type_def type = type_of_sets(&set, 1, &noted);
  muster_world_def def = muster_world_def_default();
  def.planner_workers = 2;
  little_world little = little_world_create(1, &def);
  cr_assert_eq(muster_type_register(little.world, &type).index, 0);
  cr_assert_not_null(strstr(muster_last_error(), "atoms must be the default in a planner world"), "%s",
                     muster_last_error());
  little_world_destroy(&little);
}

static bool write_nowhere(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count, (void)user;
  return true;
}

Test(sets_rules, no_records_on_the_wall_clock) {
  muster_set_def set = set_of(1, MUSTER_MODE_RUN, 50);
  muster_type_def type = type_of_sets(&set, 1, &noted);
  muster_world_def def = muster_world_def_default();
  muster_record_def record = muster_record_def_default();
  record.write = write_nowhere;
  little_world little = little_world_create(1, &def);
  register_type(&little, &type);
  cr_assert_eq(muster_record_begin(little.world, &record), MUSTER_E_STATE);
  cr_assert_not_null(strstr(muster_last_error(), "type 'setter' has sets"), "%s", muster_last_error());
  little_world_destroy(&little);
  little = little_world_create(1, &def);
  cr_assert_eq(muster_record_begin(little.world, &record), MUSTER_OK);
  cr_assert_eq(muster_type_register(little.world, &type).index, 0);
  cr_assert_not_null(strstr(muster_last_error(), "recorded on the wall clock"), "%s", muster_last_error());
  little_world_destroy(&little);
}

Test(sets_rules, changes_say_what_is_wrong) {
  muster_set_def sets[2] = {set_of(1, MUSTER_MODE_SLICEABLE, 50), set_of(1, MUSTER_MODE_RUN, 50)};
  muster_agent agent;
  sets[1].role = MUSTER_ROLE_ACTION;
  muster_type_def type = type_of_sets(sets, 2, &noted), plain = muster_type_def_default();
  plain.atoms = noting_atoms;
  plain.atom_count = 1;
  little_world little = create_sets(&type, &agent);
  muster_type setter = little.type, other = muster_type_register(little.world, &plain), none = {7};
  muster_set_tuning tuning = muster_set_tuning_default();
  cr_assert_eq(muster_set_tune(little.world, none, 0, &tuning), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_set_tune(little.world, other, 0, &tuning), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_set_tune(little.world, setter, 2, &tuning), MUSTER_E_ARGUMENT);
  cr_assert_not_null(strstr(muster_last_error(), "set 2 is none of its 2"), "%s", muster_last_error());
  cr_assert_eq(muster_set_tune(little.world, setter, 0, NULL), MUSTER_E_NOT_INITIALISED);
  tuning.mode = MUSTER_MODE_SLICEABLE;
  cr_assert_eq(muster_set_tune(little.world, setter, 1, &tuning), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_set_tune(little.world, setter, 0, &tuning), MUSTER_OK);
  tuning.share = 0;
  cr_assert_eq(muster_set_tune(little.world, setter, 0, &tuning), MUSTER_E_ARGUMENT);
  tuning = muster_set_tuning_default();
  tuning.period_updates = 0;
  cr_assert_eq(muster_set_tune(little.world, setter, 0, &tuning), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_type_set_share(little.world, setter, 101), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_type_set_share(little.world, other, 1), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_type_set_share(little.world, setter, 0), MUSTER_OK);
  muster_set_info info = muster_set_info_default();
  run_frame(&little);
  cr_assert_eq(muster_agent_set_read(little.world, agent, 2, &info), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_agent_set_read(little.world,
                                     muster_agent_make(muster_agent_index(agent), muster_agent_generation(agent) + 2),
                                     0, &info),
               MUSTER_E_STALE);
  little_world_destroy(&little);
}

Test(sets_rules, a_full_inbox_says_so) {
  muster_set_def set = set_of(1, MUSTER_MODE_RUN, 50);
  muster_type_def type = type_of_sets(&set, 1, &noted);
  muster_world_def def = muster_world_def_default();
  muster_set_tuning tuning = muster_set_tuning_default();
  def.limits.commands_max = 16;
  little_world little = little_world_create(1, &def);
  register_type(&little, &type);
  muster_result result = MUSTER_OK;
  for (int i = 0; i < 64 && result == MUSTER_OK; i++) result = muster_set_tune(little.world, little.type, 0, &tuning);
  cr_assert_eq(result, MUSTER_E_FULL);
  cr_assert_eq(muster_type_set_share(little.world, little.type, 5), MUSTER_E_FULL);
  little_world_destroy(&little);
}

static uint64_t cost_of(const muster_cost_query *query, void *user) {
  (void)user;
  return query->atom == 3 ? 2000000u : 1000u;
}

/* Atoms are told by their number in the type: perceptions come first, then behaviours, then actions. */
Test(sets_rules, an_atom_over_its_limit_is_named) {
  muster_set_def sets[2] = {set_of(2, MUSTER_MODE_SLICEABLE, 50), set_of(2, MUSTER_MODE_RUN, 50)};
  muster_overrun overrun;
  muster_agent agent;
  sets[1].role = MUSTER_ROLE_PERCEPTION;
  muster_type_def type = type_of_sets(sets, 2, &noted);
  memset(&noted, 0, sizeof noted);
  type.models.cost_ns = cost_of;
  type.limit_ns = 1000000u;
  little_world little = create_sets(&type, &agent);
  while (noted.count == 0) run_frame(&little);
  cr_assert_str_eq(text_of(&noted), "b0b1a0a1");
  cr_assert_eq(muster_overruns_read(little.world, &overrun, 1), 1);
  cr_assert_eq(overrun.atom, 3);
  cr_assert_eq(overrun.duration_ns, 2000000u);
  cr_assert(muster_agent_equal(overrun.agent, agent));
  little_world_destroy(&little);
}

/* Each worker counts for itself: what is read is what all have run and cut. */
Test(sets_rules, runs_of_all_workers_are_told) {
  muster_set_def sets[2] = {set_of(2, MUSTER_MODE_SLICEABLE, 50), set_of(1, MUSTER_MODE_RUN, 50)};
  muster_type_def type = type_of_sets(sets, 2, &noted);
  little_world little = little_world_create(3, NULL);
  register_type(&little, &type);
  muster_agent agent = spawn_at(&little, 0);
  run_frame(&little);
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
    muster_set_info info = muster_set_info_default();
    cr_assert_eq(muster_agent_set_read(little.world, agent, set, &info), MUSTER_OK, "%s", muster_last_error());
    cr_expect(info.runs == runs[set] && info.cuts == cuts[set], "set %u", set);
  }
  little.provokes_idle = true;
  little_world_destroy(&little);
}
