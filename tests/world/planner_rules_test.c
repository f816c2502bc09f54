/* The planner's rules: what is refused, and that a refusal changes nothing; budgets; updates that are continued; that
 * no callback is called and no thread is started. */
#include "run/runner.h"
#include "support/papers_rules.h"
#include "support/planned_world.h"
#include "world/world.h"

#include <muster/bulk.h>
#include <muster/planner.h>

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

static bool says(const char *text) {
  return strstr(muster_last_error(), text) != NULL;
}
/* ------------------------------------------------------------------------------------------------ what is refused */

enum { LITTLE_HERD = 20 };

static planned_world *little_herd(uint32_t steps) {
  planned_world *planned = planned_world_create(NULL);
  muster_type_def type = parts_type(steps);
  type.period_max_ns = type.period_ns;
  register_type(&planned->little, &type);
  for (uint32_t i = 0; i < LITTLE_HERD; i++) spawn_at(&planned->little, i);
  while (plan(planned) < 4) report(planned, 0);
  return planned;
}

/* Reports all entries with one mistake in the second result, and expects the refusal. */
#define REFUSED(FIELD, VALUE, TEXT)                                                                                    \
  do {                                                                                                                 \
    muster_plan_result good = planned->results[1];                                                                     \
    planned->results[1].FIELD = (VALUE);                                                                               \
    cr_assert_eq(muster_plan_report(planned->little.world, planned->results, count), MUSTER_E_ARGUMENT, TEXT);         \
    cr_assert(says("results[1]." TEXT), "%s", muster_last_error());                                                    \
    cr_assert_eq(muster_world_hash(planned->little.world), hash);                                                      \
    planned->results[1] = good;                                                                                        \
  } while (0)

Test(planner_rules, a_wrong_report_is_told_which_result_and_which_field_and_changes_nothing) {
  planned_world *planned = little_herd(4);
  uint32_t count = planned->plan.count;
  uint64_t hash = muster_world_hash(planned->little.world);
  for (uint32_t i = 0; i < count; i++) planned->results[i] = result_as_planned(&planned->entries[i], 4);
  muster_agent stranger = planned->entries[1].agent, first = planned->entries[0].agent;
  stranger = muster_agent_make(muster_agent_index(stranger), muster_agent_generation(stranger) + 1);
  REFUSED(agent, first, "agent");
  cr_assert(says("second time"), "%s", muster_last_error());
  REFUSED(agent, stranger, "agent");
  REFUSED(agent, ((muster_agent){0}), "agent");
  REFUSED(agent, (muster_agent_make(UINT32_MAX, 1)), "agent");
  REFUSED(outcome, 3, "outcome");
  REFUSED(cost_ns, 10000000001u, "cost_ns");
  planned->results[1].moved = 1;
  REFUSED(position.x, NAN, "position");
  REFUSED(position.y, -INFINITY, "position");
  REFUSED(position.z, 1.1e9, "position");
  planned->results[1].moved = 0;
  planned->results[1].outcome = MUSTER_PLAN_CONTINUED;
  REFUSED(part_next, 0, "part_next");
  REFUSED(part_next, 4, "part_next");
  cr_assert_eq(muster_plan_report(planned->little.world, NULL, 1), MUSTER_E_ARGUMENT);
  /* The frame is still open and takes a correct report. */
  planned->results[1].part_next = 3;
  planned->results[1].cost_ns = 10000000000u;
  muster_frame_report right = report(planned, count);
  cr_assert_eq(right.completed, count - 1);
  cr_assert_eq(right.preempted, 1);
  planned_world_destroy(planned);
}

Test(planner_rules, an_agent_that_is_due_but_not_in_the_plan_cannot_be_reported) {
  planned_world *planned = little_herd(1);
  uint32_t count = planned->plan.count;
  muster_agent last = planned->entries[count - 1].agent;
  report(planned, 0);
  plan_with(planned, 5000000, 1); /* room for one */
  cr_assert_eq(planned->plan.count, 1);
  cr_assert(!muster_agent_equal(planned->entries[0].agent, last));
  planned->results[0] = (muster_plan_result){.agent = last, .outcome = MUSTER_PLAN_FINISHED};
  cr_assert_eq(muster_plan_report(planned->little.world, planned->results, 1), MUSTER_E_ARGUMENT);
  cr_assert(says("results[0].agent"), "%s", muster_last_error());
  planned->results[0].outcome = MUSTER_PLAN_NOT_RUN;
  cr_assert_eq(muster_plan_report(planned->little.world, planned->results, 1), MUSTER_E_ARGUMENT);
  planned_world_destroy(planned);
}

Test(planner_rules, calls_at_the_wrong_moment_are_refused) {
  planned_world *planned = little_herd(1);
  muster_world *world = planned->little.world;
  muster_frame next = {planned->little.now_ns + FRAME_NS, 5000000};
  muster_plan_summary summary = muster_plan_summary_default();
  uint64_t hash = muster_world_hash(world);
  cr_assert_eq(muster_plan(world, &next, planned->entries, 1, &summary), MUSTER_E_STATE);
  cr_assert(says("not reported"), "%s", muster_last_error());
  cr_assert_eq(muster_frame_run(world, &next), MUSTER_E_STATE);
  cr_assert_eq(muster_type_register(world, &(muster_type_def){.size = sizeof(muster_type_def)}).index, 0);
  muster_agent agent = planned->entries[0].agent;
  cr_assert_eq(muster_agents_move(world, &agent, &(muster_position){1, 2, 3}, 1), 0);
  cr_assert(says("inside a frame"), "%s", muster_last_error());
  cr_assert_eq(info_of(&planned->little, agent).delays, planned->entries[0].delays + 1, "reading is allowed");
  cr_assert_eq(muster_world_hash(world), hash);
  report(planned, 0);
  cr_assert_eq(muster_plan_report(world, NULL, 0), MUSTER_E_STATE);
  cr_assert(says("no plan"), "%s", muster_last_error());
  cr_assert_eq(muster_frame_run(world, &next), MUSTER_E_STATE);
  cr_assert(says("muster_plan"), "%s", muster_last_error());
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
  planned_world_destroy(planned);
}

static muster_atom_result must_not_run(muster_update *update) {
  (void)update;
  abort();
}

static const muster_atom two_atoms[] = {{must_not_run, MUSTER_ROLE_BEHAVIOUR, 3000},
                                        {must_not_run, MUSTER_ROLE_ACTION, 2000}};

Test(planner_rules, types_without_atoms_belong_into_planner_worlds_and_have_nothing_that_needs_atoms) {
  muster_type_def type = parts_type(1);
  little_world little = little_world_create(1, NULL);
  cr_assert_eq(muster_type_register(little.world, &type).index, 0);
  cr_assert(says("atom_count"), "%s", muster_last_error());
  muster_plan_summary summary = muster_plan_summary_default();
  muster_plan_entry entry;
  cr_assert_eq(muster_plan(little.world, &(muster_frame){FRAME_NS, 5000000}, &entry, 1, &summary), MUSTER_E_STATE);
  cr_assert_eq(muster_plan_report(little.world, NULL, 0), MUSTER_E_STATE);
  planned_world *planned = planned_world_create(NULL);
  const muster_type_def good = type;
#define REFUSED_TYPE(FIELD, VALUE)                                                                                     \
  do {                                                                                                                 \
    type.FIELD = (VALUE);                                                                                              \
    cr_assert_eq(muster_type_register(planned->little.world, &type).index, 0, #FIELD);                                 \
    cr_assert(says(#FIELD), "%s", muster_last_error());                                                                \
    type = good;                                                                                                       \
  } while (0)
  REFUSED_TYPE(parts.count, 0);
  REFUSED_TYPE(parts.count, MUSTER_ATOMS_MAX + 1);
  REFUSED_TYPE(parts.part_ns, 0);
  REFUSED_TYPE(parts.part_ns, 1000000001u);
  REFUSED_TYPE(published_bytes, 8);
  REFUSED_TYPE(messages.waiting_max, 1);
  REFUSED_TYPE(messages.sends_max, 1);
  REFUSED_TYPE(spawns_max, 1);
  REFUSED_TYPE(atom_count, 1);
  REFUSED_TYPE(atoms, two_atoms);
  register_type(&planned->little, &type);
  planned_world_destroy(planned);
  little_world_destroy(&little);
  muster_world_def world = muster_world_def_default();
  world.planner_workers = MUSTER_PLANNER_WORKERS_MAX + 1;
  cr_assert_null(muster_world_create(&world));
  cr_assert(says("planner_workers"), "%s", muster_last_error());
}

/* ------------------------------------------------------------------------------------------------- what is planned */

Test(planner_rules, atoms_are_counted_and_charged_but_not_called) {
  planned_world *planned = planned_world_create(NULL);
  muster_type_def type = type_with(two_atoms, 2);
  register_type(&planned->little, &type);
  spawn_at(&planned->little, 0);
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
  planned_world_destroy(planned);
}

Test(planner_rules, an_entry_says_what_the_host_must_know) {
  planned_world *planned = planned_world_create(NULL);
  muster_type_def type = parts_type(1);
  type.levels.count = 2;
  type.levels.importance[0] = 0.5f;
  register_type(&planned->little, &type);
  for (uint32_t i = 0; i < 2; i++) {
    muster_agent_def def = muster_agent_def_default();
    def.type = planned->little.type;
    def.user = (void *)(uintptr_t)(700 + i);
    def.importance_floor = i ? 0.75f : 0.25f;
    muster_agent_spawn(planned->little.world, &def);
  }
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
  planned_world_destroy(planned);
}

Test(planner_rules, a_continued_update_comes_again_where_it_stopped_and_costs_the_sum_of_its_parts) {
  planned_world *planned = planned_world_create(NULL);
  muster_type_def type = parts_type(100);
  type.period_max_ns = type.period_ns;
  register_type(&planned->little, &type);
  muster_agent agent = spawn_at(&planned->little, 0);
  while (plan(planned) == 0) report(planned, 0);
  uint64_t began_ns = planned->little.now_ns, elapsed_ns = planned->entries[0].elapsed_ns;
  const uint32_t stops[] = {1, 30, 30, 99};
  for (uint32_t part = 0; part < 4; part++) {
    planned->results[0] = (muster_plan_result){
        .agent = agent, .cost_ns = 10000, .outcome = MUSTER_PLAN_CONTINUED, .part_next = stops[part]};
    cr_assert_eq(report(planned, 1).preempted, 1);
    cr_assert_eq(info_of(&planned->little, agent).atoms_done, stops[part]);
    cr_assert_eq(plan(planned), 1, "at once");
    cr_assert_eq(planned->entries[0].part_first, stops[part]);
    cr_assert_eq(planned->entries[0].part_end, 100);
    cr_assert_eq(planned->entries[0].now_ns, began_ns, "the update began then");
    cr_assert_eq(planned->entries[0].elapsed_ns, elapsed_ns);
    cr_assert_eq(planned->entries[0].slice_ns, (100 - stops[part]) * 1000u);
  }
  planned->results[0] =
      (muster_plan_result){.agent = agent, .cost_ns = 10000, .outcome = MUSTER_PLAN_CONTINUED, .part_next = 98};
  cr_assert_eq(muster_plan_report(planned->little.world, planned->results, 1), MUSTER_E_ARGUMENT,
               "it does not go back");
  planned->results[0].outcome = MUSTER_PLAN_FINISHED;
  cr_assert_eq(report(planned, 1).completed, 1);
  cr_assert_eq(info_of(&planned->little, agent).last_update_ns, began_ns);
  muster_type_cost cost = muster_type_cost_default();
  cr_assert_eq(muster_type_cost_read(planned->little.world, planned->little.type, 0, &cost), MUSTER_OK);
  cr_assert_eq(cost.samples, 1);
  cr_assert_eq(cost.mean_ns, 50000); /* costs are modelled */
  planned_world_destroy(planned);
}

Test(planner_rules, an_update_of_one_step_cannot_be_continued) {
  planned_world *planned = little_herd(1);
  planned->results[0] =
      (muster_plan_result){.agent = planned->entries[0].agent, .outcome = MUSTER_PLAN_CONTINUED, .part_next = 1};
  cr_assert_eq(muster_plan_report(planned->little.world, planned->results, 1), MUSTER_E_ARGUMENT);
  cr_assert(says("one part"), "%s", muster_last_error());
  planned_world_destroy(planned);
}

Test(planner_rules, what_is_asked_between_plan_and_report_is_queued_for_the_next_plan) {
  planned_world *planned = little_herd(1);
  muster_world *world = planned->little.world;
  uint32_t count = planned->plan.count;
  muster_agent gone = planned->entries[0].agent, woken = planned->entries[1].agent;
  muster_agent born = spawn_at(&planned->little, 0);
  cr_assert_eq(muster_agent_remove(world, gone), MUSTER_OK);
  cr_assert_eq(muster_agent_wake(world, woken), MUSTER_OK);
  cr_assert_eq(muster_agent_wake(world, born), MUSTER_OK);
  for (uint32_t i = 0; i < count; i++) planned->results[i] = result_as_planned(&planned->entries[i], 1);
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
  planned_world_destroy(planned);
}

Test(planner_rules, the_report_of_the_frame_tells_what_the_host_used) {
  planned_world *planned = little_herd(1);
  uint32_t count = planned->plan.count;
  for (uint32_t i = 0; i < count; i++) {
    planned->results[i] = result_as_planned(&planned->entries[i], 1);
    planned->results[i].cost_ns = i ? 2000 : 7000;
  }
  muster_frame_report frame = report(planned, count);
  cr_assert_eq(frame.update_cpu_ns, 5000 + count * 2000u);
  cr_assert_eq(frame.longest_claim_ns, 7000);
  cr_assert_eq(frame.overrun_wall_ns, 0);
  while (plan(planned) == 0) report(planned, 0);
  planned->results[0] = result_as_planned(&planned->entries[0], 1);
  planned->results[0].cost_ns = 5000300;
  cr_assert_eq(report(planned, 1).overrun_wall_ns, 300, "of a capacity of 5 ms");
  planned_world_destroy(planned);
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
  muster_world_def def = muster_world_def_default();
  def.planner_workers = 4;
  planned_world *planned = planned_world_create(&def);
  muster_type_def type = parts_type(1);
  register_type(&planned->little, &type);
  for (uint32_t i = 0; i < 12000; i++) spawn_at(&planned->little, i);
  uint32_t completed = 0;
  for (uint32_t frame = 0; frame < 50; frame++) {
    completed += run_plan(planned).completed;
    cr_assert_eq(count_threads(), before);
  }
  cr_assert_gt(completed, 3000);
  planned_world_destroy(planned);
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
  for (uint32_t i = 0; i < reporter->count; i++) {
    planned->results[i] = result_as_planned(&planned->entries[i], 1);
    planned->results[i].cost_ns = 2000;
    planned->results[i].moved = 1;
    planned->results[i].position = (muster_position){muster_agent_index(planned->entries[i].agent) * 3.0, 50, 0};
  }
  reporter->report = report(planned, reporter->count);
  return NULL;
}

Test(planner_rules, a_world_with_a_pool_is_planned_and_reported_by_any_thread) {
  muster_pool_def pool_def = muster_pool_def_default();
  pool_def.workers = 3;
  muster_world_def def = muster_world_def_default();
  def.pool = muster_pool_create(&pool_def);
  def.planner_workers = 2;
  def.audit = true;
  planned_world *planned = planned_world_create(&def);
  muster_type_def type = parts_type(1);
  register_type(&planned->little, &type);
  for (uint32_t i = 0; i < 12000; i++) spawn_at(&planned->little, i);
  muster_observer_def observer_def = muster_observer_def_default();
  muster_observer observer = muster_observer_add(planned->little.world, &observer_def);
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
  planned_world *one = little_herd(1), *other = little_herd(1); /* each has an open plan */
  uint32_t count = one->plan.count;
  for (uint32_t i = 0; i < count; i++) one->results[i] = result_as_planned(&one->entries[i], 1);
  cr_assert_eq(report(one, count).completed, count);
  plan(one);
  for (uint32_t i = 0; i < count; i++) other->results[i] = result_as_planned(&other->entries[i], 1);
  cr_assert_eq(report(other, count).completed, count);
  report(one, 0);
  planned_world_destroy(one);
  planned_world_destroy(other);
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
