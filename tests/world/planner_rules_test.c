/* The planner's rules: what is refused, and that a refusal changes nothing; budgets; updates that are continued; that
 * no callback is called and no thread is started. */
#include "run/runner.h"
#include "support/papers_rules.h"
#include "support/planned_world.h"
#include "world/fixture.h"

#include <dirent.h>

/* ------------------------------------------------------------------------------------------------ what is refused */

static planned_world *little_herd(uint32_t steps) {
  planned_world *planned = planned_world_of(NULL, rigid_type(steps), 20);
  while (plan(planned) < 4) report(planned, 0);
  return planned;
}

/* Reports all entries with one mistake in the second result, and expects the refusal. */
static void refuse(planned_world *planned, muster_plan_result wrong, const char *words) {
  const muster_plan_result good = planned->results[1];
  const uint64_t hash = muster_world_hash(planned->little.world);
  planned->results[1] = wrong;
  expect_report_refused(planned, planned->plan.count, words);
  cr_assert_eq(muster_world_hash(planned->little.world), hash);
  planned->results[1] = good;
}

Test(planner_rules, a_wrong_report_is_told_which_result_and_which_field_and_changes_nothing) {
  SCOPED(planned_world_end) planned_world *planned = little_herd(4);
  uint32_t count = planned->plan.count;
  run_entries(planned, count, 4);
  const muster_plan_result good = planned->results[1];
  muster_agent own = good.agent, first = planned->entries[0].agent;
  muster_agent stranger = muster_agent_make(muster_agent_index(own), muster_agent_generation(own) + 1);
  refuse(planned, CHANGED(good, it.agent = first), "results[1].agent");
  expect_error("second time");
  refuse(planned, CHANGED(good, it.agent = stranger), "results[1].agent");
  refuse(planned, CHANGED(good, it.agent = (muster_agent){0}), "results[1].agent");
  refuse(planned, CHANGED(good, it.agent = muster_agent_make(UINT32_MAX, 1)), "results[1].agent");
  refuse(planned, CHANGED(good, it.outcome = 3), "results[1].outcome");
  refuse(planned, CHANGED(good, it.cost_ns = 10000000001u), "results[1].cost_ns");
  refuse(planned, CHANGED(good, it.moved = 1, it.position.x = NAN), "results[1].position");
  refuse(planned, CHANGED(good, it.moved = 1, it.position.y = -INFINITY), "results[1].position");
  refuse(planned, CHANGED(good, it.moved = 1, it.position.z = 1.1e9), "results[1].position");
  refuse(planned, result_until(own, 0, good.cost_ns), "results[1].part_next");
  refuse(planned, result_until(own, 4, good.cost_ns), "results[1].part_next");
  cr_assert_eq(muster_plan_report(planned->little.world, NULL, 1), MUSTER_E_ARGUMENT);
  /* The frame is still open and takes a correct report. */
  planned->results[1] = result_until(own, 3, 10000000000u);
  muster_frame_report right = report(planned, count);
  cr_assert_eq(right.completed, count - 1);
  cr_assert_eq(right.preempted, 1);
}

Test(planner_rules, an_agent_that_is_due_but_not_in_the_plan_cannot_be_reported) {
  SCOPED(planned_world_end) planned_world *planned = little_herd(1);
  uint32_t count = planned->plan.count;
  muster_agent last = planned->entries[count - 1].agent;
  report(planned, 0);
  plan_with(planned, 5000000, 1); /* room for one */
  cr_assert_eq(planned->plan.count, 1);
  cr_assert(!muster_agent_equal(planned->entries[0].agent, last));
  planned->results[0] = (muster_plan_result){.agent = last, .outcome = MUSTER_PLAN_FINISHED};
  expect_report_refused(planned, 1, "results[0].agent");
  planned->results[0].outcome = MUSTER_PLAN_NOT_RUN;
  cr_assert_eq(muster_plan_report(planned->little.world, planned->results, 1), MUSTER_E_ARGUMENT);
}

Test(planner_rules, calls_at_the_wrong_moment_are_refused) {
  SCOPED(planned_world_end) planned_world *planned = little_herd(1);
  muster_world *world = planned->little.world;
  muster_frame next = {planned->little.now_ns + FRAME_NS, 5000000};
  muster_plan_summary summary = muster_plan_summary_default();
  uint64_t hash = muster_world_hash(world);
  assert_refused(muster_plan(world, &next, planned->entries, 1, &summary), MUSTER_E_STATE, "not reported");
  cr_assert_eq(muster_frame_run(world, &next), MUSTER_E_STATE);
  cr_assert_eq(muster_type_register(world, &(muster_type_def){.size = sizeof(muster_type_def)}).index, 0);
  muster_agent agent = planned->entries[0].agent;
  cr_assert_eq(muster_agents_move(world, &agent, &(muster_position){1, 2, 3}, 1), 0);
  expect_error("inside a frame");
  cr_assert_eq(info_of(&planned->little, agent).delays, planned->entries[0].delays + 1, "reading is allowed");
  cr_assert_eq(muster_world_hash(world), hash);
  report(planned, 0);
  assert_refused(muster_plan_report(world, NULL, 0), MUSTER_E_STATE, "no plan");
  assert_refused(muster_frame_run(world, &next), MUSTER_E_STATE, "muster_plan");
  cr_assert_eq(muster_plan(world, &next, planned->entries, 0, &summary), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_plan(world, &next, NULL, 1, &summary), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_plan(world, &next, planned->entries, 1, NULL), MUSTER_E_ARGUMENT);
  summary.size = 0;
  cr_assert_eq(muster_plan(world, &next, planned->entries, 1, &summary), MUSTER_E_NOT_INITIALISED);
  summary = muster_plan_summary_default();
  next.sim_now_ns = 1;
  cr_assert_eq(muster_plan(world, &next, planned->entries, 1, &summary), MUSTER_E_TIME);
  next = (muster_frame){planned->little.now_ns + FRAME_NS, 9999};
  cr_assert_eq(muster_plan(world, &next, planned->entries, 1, &summary), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_plan_report(world, NULL, 0), MUSTER_E_STATE, "none of them opened a frame");
  plan(planned); /* the plan is left open: the world can be destroyed all the same */
}

static muster_atom_result must_not_run(muster_update *update) {
  (void)update;
  abort();
}

static const muster_atom two_atoms[] = {{must_not_run, MUSTER_ROLE_BEHAVIOUR, 3000},
                                        {must_not_run, MUSTER_ROLE_ACTION, 2000}};

Test(planner_rules, types_without_atoms_belong_into_planner_worlds_and_have_nothing_that_needs_atoms) {
  muster_type_def type = parts_type(1);
  SCOPED_WORLD little = little_world_create(1, NULL);
  expect_type_refused(&little, type, "atom_count");
  muster_plan_summary summary = muster_plan_summary_default();
  muster_plan_entry entry;
  cr_assert_eq(muster_plan(little.world, &(muster_frame){FRAME_NS, 5000000}, &entry, 1, &summary), MUSTER_E_STATE);
  cr_assert_eq(muster_plan_report(little.world, NULL, 0), MUSTER_E_STATE);
  SCOPED(planned_world_end) planned_world *planned = planned_world_create(NULL);
  expect_type_refused(&planned->little, CHANGED(type, it.parts.count = 0), "parts.count");
  expect_type_refused(&planned->little, CHANGED(type, it.parts.count = MUSTER_ATOMS_MAX + 1), "parts.count");
  expect_type_refused(&planned->little, CHANGED(type, it.parts.part_ns = 0), "parts.part_ns");
  expect_type_refused(&planned->little, CHANGED(type, it.parts.part_ns = 1000000001u), "parts.part_ns");
  expect_type_refused(&planned->little, CHANGED(type, it.published_bytes = 8), "published_bytes");
  expect_type_refused(&planned->little, CHANGED(type, it.messages.waiting_max = 1), "messages.waiting_max");
  expect_type_refused(&planned->little, CHANGED(type, it.messages.sends_max = 1), "messages.sends_max");
  expect_type_refused(&planned->little, CHANGED(type, it.spawns_max = 1), "spawns_max");
  expect_type_refused(&planned->little, CHANGED(type, it.atom_count = 1), "atom_count");
  expect_type_refused(&planned->little, CHANGED(type, it.atoms = two_atoms), "atoms");
  register_type(&planned->little, &type);
  expect_world_refused(WITH(muster_world_def, it.planner_workers = MUSTER_PLANNER_WORKERS_MAX + 1), "planner_workers");
}

/* ------------------------------------------------------------------------------------------------- what is planned */

Test(planner_rules, atoms_are_counted_and_charged_but_not_called) {
  SCOPED(planned_world_end) planned_world *planned = planned_world_of(NULL, type_with(two_atoms, 2), 1);
  uint32_t runs = 0;
  for (uint32_t frame = 0; frame < 50; frame++) {
    if (plan(planned)) {
      cr_assert_eq(planned->entries[0].part_end, 2);
      cr_assert_eq(planned->entries[0].slice_ns, 5000);
      planned->results[0] = result_as_planned(&planned->entries[0], 2);
      runs++;
    }
    report(planned, planned->plan.count);
  }
  cr_assert_eq(runs, 5);
}

Test(planner_rules, an_entry_says_what_the_host_must_know) {
  muster_type_def type = CHANGED(parts_type(1), it.levels.count = 2, it.levels.importance[0] = 0.5f);
  SCOPED(planned_world_end) planned_world *planned = planned_world_of(NULL, type, 0);
  for (uint32_t i = 0; i < 2; i++)
    spawn_as(&planned->little,
             WITH(muster_agent_def, it.user = (void *)(uintptr_t)(700 + i), it.importance_floor = i ? 0.75f : 0.25f));
  uint64_t last_ns[2] = {FRAME_NS, FRAME_NS}; /* when they were spawned */
  uint32_t runs[2] = {0};
  for (uint32_t frame = 0; frame < 60; frame++) {
    uint32_t count = plan(planned);
    cr_assert_eq(planned->plan.run_ns, 5000000, "the capacity");
    cr_assert_eq(planned->plan.slices_ns, count * 1000u);
    for (uint32_t i = 0; i < count; i++) {
      const muster_plan_entry *entry = &planned->entries[i];
      uint64_t number = entry->user - 700;
      cr_assert_lt(number, 2);
      cr_assert_eq(entry->type.index, planned->little.type.index);
      cr_assert_eq(entry->level, number ? 0 : 1);
      cr_assert_float_eq(entry->importance, number ? 0.75f : 0.25f, 0.001f);
      cr_assert_eq(entry->now_ns, planned->little.now_ns);
      cr_assert_eq(entry->elapsed_ns, entry->now_ns - last_ns[number]);
      cr_assert_eq(entry->delays, 0);
      last_ns[number] = entry->now_ns;
      runs[number]++;
      planned->results[i] = result_as_planned(entry, 1);
      planned->results[i].moved = 1;
      planned->results[i].position = (muster_position){frame, 1, 2};
    }
    report(planned, count);
    for (uint32_t i = 0; i < count; i++)
      cr_assert_float_eq(info_of(&planned->little, planned->entries[i].agent).position.x, frame, 0.001);
  }
  cr_assert_geq(runs[0], 5);
  cr_assert_geq(runs[1], 5);
}

Test(planner_rules, a_continued_update_comes_again_where_it_stopped_and_costs_the_sum_of_its_parts) {
  SCOPED(planned_world_end) planned_world *planned = planned_world_of(NULL, rigid_type(100), 1);
  while (plan(planned) == 0) report(planned, 0);
  muster_agent agent = planned->entries[0].agent;
  uint64_t began_ns = planned->little.now_ns, elapsed_ns = planned->entries[0].elapsed_ns;
  const uint32_t stops[] = {1, 30, 30, 99};
  for (uint32_t part = 0; part < 4; part++) {
    planned->results[0] = result_until(agent, stops[part], 10000);
    cr_assert_eq(report(planned, 1).preempted, 1);
    cr_assert_eq(info_of(&planned->little, agent).atoms_done, stops[part]);
    cr_assert_eq(plan(planned), 1, "at once");
    cr_assert_eq(planned->entries[0].part_first, stops[part]);
    cr_assert_eq(planned->entries[0].part_end, 100);
    cr_assert_eq(planned->entries[0].now_ns, began_ns, "the update began then");
    cr_assert_eq(planned->entries[0].elapsed_ns, elapsed_ns);
    cr_assert_eq(planned->entries[0].slice_ns, (100 - stops[part]) * 1000u);
  }
  planned->results[0] = result_until(agent, 98, 10000);
  cr_assert_eq(muster_plan_report(planned->little.world, planned->results, 1), MUSTER_E_ARGUMENT, "it never goes back");
  planned->results[0].outcome = MUSTER_PLAN_FINISHED;
  cr_assert_eq(report(planned, 1).completed, 1);
  cr_assert_eq(info_of(&planned->little, agent).last_update_ns, began_ns);
  muster_type_cost cost = planned_cost(planned);
  cr_assert_eq(cost.samples, 1);
  cr_assert_eq(cost.mean_ns, 50000); /* costs are modelled */
}

Test(planner_rules, an_update_of_one_step_cannot_be_continued) {
  SCOPED(planned_world_end) planned_world *planned = little_herd(1);
  planned->results[0] = result_until(planned->entries[0].agent, 1, 0);
  expect_report_refused(planned, 1, "one part");
}

Test(planner_rules, what_is_asked_between_plan_and_report_is_queued_for_the_next_plan) {
  SCOPED(planned_world_end) planned_world *planned = little_herd(1);
  muster_world *world = planned->little.world;
  uint32_t count = planned->plan.count;
  muster_agent gone = planned->entries[0].agent, woken = planned->entries[1].agent;
  muster_agent born = spawn_at(&planned->little, 0);
  cr_assert_eq(muster_agent_remove(world, gone), MUSTER_OK);
  cr_assert_eq(muster_agent_wake(world, woken), MUSTER_OK);
  cr_assert_eq(muster_agent_wake(world, born), MUSTER_OK);
  run_entries(planned, count, 1);
  cr_assert(!muster_agent_exists(world, gone));
  cr_assert_eq(report(planned, count).completed, count, "the removed one was run, too");
  plan(planned);
  cr_assert(!muster_agent_exists(world, gone));
  cr_assert(planned->plan.count >= 1);
  cr_assert(muster_agent_equal(planned->entries[0].agent, woken), "the woken lead");
  planned->results[0] = (muster_plan_result){.agent = gone, .outcome = MUSTER_PLAN_FINISHED};
  cr_assert_eq(muster_plan_report(world, planned->results, 1), MUSTER_E_ARGUMENT);
  report(planned, 0);
  plan(planned);
  cr_assert(muster_agent_equal(planned->entries[1].agent, born), "once time has passed for it");
}

Test(planner_rules, the_report_of_the_frame_tells_what_the_host_used) {
  SCOPED(planned_world_end) planned_world *planned = little_herd(1);
  uint32_t count = planned->plan.count;
  run_entries(planned, count, 1);
  for (uint32_t i = 0; i < count; i++) planned->results[i].cost_ns = i ? 2000 : 7000;
  muster_frame_report frame = report(planned, count);
  cr_assert_eq(frame.update_cpu_ns, 5000 + count * 2000u);
  cr_assert_eq(frame.longest_claim_ns, 7000);
  cr_assert_eq(frame.overrun_wall_ns, 0);
  while (plan(planned) == 0) report(planned, 0);
  run_entries(planned, 1, 1);
  planned->results[0].cost_ns = 5000300;
  cr_assert_eq(report(planned, 1).overrun_wall_ns, 300, "of a capacity of 5 ms");
}

static uint32_t count_threads(void) {
  uint32_t count = 0;
  DIR *directory = opendir("/proc/self/task");
  cr_assert_not_null(directory);
  for (const struct dirent *entry; (entry = readdir(directory));) count += entry->d_name[0] != '.';
  closedir(directory);
  return count;
}

Test(planner_rules, a_host_without_a_pool_has_no_thread_but_its_own) {
  uint32_t before = count_threads();
  muster_world_def def = WITH(muster_world_def, it.planner_workers = 4);
  SCOPED(planned_world_end) planned_world *planned = planned_world_of(&def, parts_type(1), 12000);
  uint32_t completed = 0;
  for (uint32_t frame = 0; frame < 50; frame++) {
    completed += run_plan(planned).completed;
    cr_assert_eq(count_threads(), before);
  }
  cr_assert_gt(completed, 3000);
}

/* A pool helps with scores. The host runs and reports on a thread other than the one that plans. */
struct reporter {
  planned_world *planned;
  uint32_t count;
  muster_frame_report report;
};

static void *report_elsewhere(void *argument) {
  struct reporter *reporter = argument;
  planned_world *planned = reporter->planned;
  run_entries(planned, reporter->count, 1);
  for (uint32_t i = 0; i < reporter->count; i++) {
    planned->results[i].cost_ns = 2000;
    planned->results[i].moved = 1;
    planned->results[i].position = (muster_position){muster_agent_index(planned->entries[i].agent) * 3.0, 50, 0};
  }
  reporter->report = report(planned, reporter->count);
  return NULL;
}

Test(planner_rules, a_world_with_a_pool_is_planned_and_reported_by_any_thread) {
  muster_pool_def pool_def = WITH(muster_pool_def, it.workers = 3);
  muster_world_def def =
      WITH(muster_world_def, it.pool = muster_pool_create(&pool_def), it.planner_workers = 2, it.audit = true);
  planned_world *planned = planned_world_of(&def, parts_type(1), 12000);
  muster_observer observer = observe_at(&planned->little, 0);
  uint64_t completed = 0;
  for (uint32_t frame = 0; frame < 60; frame++) {
    uint32_t left_out = frame % 2 ? 7 : 0;
    muster_observer_move(planned->little.world, observer, (muster_position){frame * 50.0, 0, 0});
    uint32_t count = plan_with(planned, 1000000000u, ENTRIES_MAX);
    struct reporter reporter = {planned, count > left_out ? count - left_out : 0, {0}};
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, report_elsewhere, &reporter), 0);
    pthread_join(thread, NULL);
    cr_assert_eq(reporter.report.completed, reporter.count);
    cr_assert_eq(reporter.report.update_cpu_ns, reporter.count * 2000u);
    cr_assert_eq(reporter.report.used_cpu_ns, 0, "nothing is audited");
    cr_assert_eq(reporter.report.carried, count - reporter.count);
    completed += reporter.count;
  }
  cr_assert_gt(completed, 10000);
  planned_world_destroy(planned);
  muster_pool_destroy(def.pool);
}

Test(planner_rules, plans_of_several_worlds_may_be_open_at_once) {
  SCOPED(planned_world_end) planned_world *one = little_herd(1), *other = little_herd(1); /* each has an open plan */
  uint32_t count = one->plan.count;
  run_entries(one, count, 1);
  cr_assert_eq(report(one, count).completed, count);
  plan(one);
  run_entries(other, count, 1);
  cr_assert_eq(report(other, count).completed, count);
  report(one, 0);
}

/* ------------------------------------------------------------------------------------ what seems to be forgotten */

static void count_unrun(muster_log_level level, const char *message, void *user) {
  *(uint32_t *)user += level == MUSTER_LOG_WARNING && strstr(message, "nothing ran of the last") != NULL;
}

/* Runs plans of which so many entries are reported as finished, and as continued. Returns how often the log says that
 * nothing ran. */
static uint32_t warnings_of(uint32_t plans, uint32_t finished, uint32_t continued) {
  enum { AGENTS = 8, STEPS = 4 };
  uint32_t said = 0;
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.log = (muster_log_sink){count_unrun, &said};
  planned_world *planned = planned_world_create(&def);
  muster_type_def type = parts_type(STEPS);
  type.period_ns = type.period_max_ns = FRAME_NS;
  register_type(&planned->little, &type);
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&planned->little, i);
  while (plan(planned) < AGENTS) report(planned, 0);
  for (uint32_t number = 0; number < plans; number++) {
    uint32_t all = finished + continued;
    cr_assert_geq(planned->plan.count, all);
    for (uint32_t i = 0; i < all; i++) {
      planned->results[i] = result_as_planned(&planned->entries[i], planned->entries[i].part_end);
      if (i < finished) continue;
      planned->results[i].outcome = MUSTER_PLAN_CONTINUED;
      planned->results[i].part_next = STEPS - 1;
    }
    muster_frame_report told = report(planned, all);
    cr_assert(told.completed == finished && told.preempted == continued);
    plan(planned);
  }
  report(planned, 0);
  planned->little.provokes_idle = true;
  planned_world_destroy(planned);
  return said;
}

Test(planner_rules, plans_of_which_anything_ran_are_none_of_which_nothing_did) {
  enum { OFTEN = 128 };
  cr_expect_eq(warnings_of(OFTEN + 2, 0, 0), 1);
  cr_expect_eq(warnings_of(OFTEN * 2, 0, 0), 1, "once");
  cr_expect_eq(warnings_of(OFTEN / 2, 0, 0), 0);
  cr_expect_eq(warnings_of(OFTEN + 2, 1, 0), 0);
  cr_expect_eq(warnings_of(OFTEN + 2, 0, 1), 0);
  cr_expect_eq(warnings_of(OFTEN + 2, 2, 2), 0);
}

/* What an audit measures would be the host's own work. */
Test(planner_rules, what_hosts_run_is_not_audited) {
  muster_world_def def = muster_world_def_default();
  def.audit = true;
  planned_world *planned = planned_world_create(&def);
  cr_expect_not(planned->little.world->def.audit);
  cr_expect_not(planned->little.world->runner->audit);
  planned_world_destroy(planned);
}
