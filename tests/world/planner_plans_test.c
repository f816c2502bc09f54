/* Several plans of a frame, field by field of their report; and what a report of a host counts for: every refusal of
 * it, results of agents that are gone, costs that are not believed, and what looks like a mistake of the host. */
#include "agents/batch.h"
#include "support/planned_world.h"
#include "world/frame_state.h"
#include "world/planner_state.h"
#include "world/world_sums.h"

#include <muster/bulk.h>
#include <muster/planner.h>

#include <math.h>

enum { HERD = 12 };

static planned_world *herd_of(uint32_t parts, const muster_world_def *given) {
  planned_world *planned = planned_world_create(given);
  muster_type_def type = parts_type(parts);
  type.period_ns = type.period_max_ns = FRAME_NS;
  register_type(&planned->little, &type);
  for (uint32_t i = 0; i < HERD; i++) spawn_at(&planned->little, i);
  for (uint32_t frame = 0; frame < 3; frame++) run_plan(planned);
  plan(planned);
  return planned;
}

/* --------------------------------------------------------------------------------------------- the plans of a frame */

/* Each field of a frame's report, and what it is after a further plan: of the first, of the last, their sum, or the
 * greater one. */
/* clang-format off */
#define SUMS(F)                                                                                                        \
  F(wall_ns)                                                                                                           \
  F(stage_ns[0]) F(stage_ns[1]) F(stage_ns[2]) F(stage_ns[3]) F(stage_ns[4]) F(stage_ns[5]) F(stage_ns[6])             \
      F(stage_ns[7]) F(update_cpu_ns) F(overhead_ns) F(released) F(completed) F(preempted) F(woken) F(scored)          \
          F(score_cells) F(repaid_ns) F(overruns) F(serial_ns) F(work_ns) F(rankings) F(sets_cut)                \
  F(cycles) F(folds) F(unfolds)
#define FIRSTS(F)                                                                                                      \
  F(frame_period_ns)                                                                                                   \
  F(budget_ns) F(utilisation_desired) F(utilisation_nominal) F(utilisation_fitted) F(pressure) F(period_deviation_ns)  \
      F(held_load) F(important_load) F(elapsed_load) F(elapsed_type.index) F(agents_put_off)
#define MOSTS(F) F(longest_claim_ns) F(longest_atom_ns) F(longest_wait_ns)
#define LASTS(F)                                                                                                       \
  F(size)                                                                                                              \
  F(frame) F(sim_now_ns) F(overrun_wall_ns) F(agents) F(spawns_waiting) F(carried) F(actions_waiting) F(levels[0])     \
      F(levels[1]) F(commands_waiting) F(score_waiting) F(debt_ns) F(share) F(agents_demoted) F(agents_quarantined)    \
          F(types_quarantined) F(updates_max) F(agents_shed) F(represented) F(leaves) F(herds_folded)                  \
              F(herds_unfolded) F(changes_waiting) F(agents_beyond_wish) F(turn_longest_ns) F(agents_late)             \
                  F(idle_ns[1]) F(announced_ns) F(commit_kept_ns) F(time_hardly_moves)
/* clang-format on */

/* Reports a further plan of a frame whose first plans had told what is in `first`. */
static void compare_plans(uint32_t least) {
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.clock.capacity_ns = 4000;
  planned_world *planned = herd_of(1, &def);
  muster_frame_report *first = &planned->little.world->planner->report, before;
  uint32_t number = least;
  planned->results[0] = result_as_planned(&planned->entries[0], 1);
  report(planned, 1);
#define GIVE(FIELD) first->FIELD = (__typeof__(first->FIELD))(least ? ++number : 0);
  SUMS(GIVE) FIRSTS(GIVE) MOSTS(GIVE) LASTS(GIVE) before = *first;
  planned->little.now_ns -= FRAME_NS; /* the same time again */
  cr_assert_gt(plan(planned), 1);
  planned->results[0] = result_as_planned(&planned->entries[0], 1);
  muster_frame_report whole = report(planned, 1), last = planned->little.world->sums->report;
  cr_assert(last.completed == 1 && last.longest_atom_ns == 1000 && last.carried > 1);
#define EXPECT_SUM(FIELD)                                                                                              \
  cr_expect((double)whole.FIELD == (double)before.FIELD + (double)last.FIELD, #FIELD " is %g", (double)whole.FIELD);
#define EXPECT_FIRST(FIELD)                                                                                            \
  cr_expect((double)whole.FIELD == (double)before.FIELD, #FIELD " is %g", (double)whole.FIELD);
#define EXPECT_LAST(FIELD) cr_expect((double)whole.FIELD == (double)last.FIELD, #FIELD " is %g", (double)whole.FIELD);
#define EXPECT_MOST(FIELD)                                                                                             \
  cr_expect(whole.FIELD == (before.FIELD > last.FIELD ? before.FIELD : last.FIELD), #FIELD " is %g",                   \
            (double)whole.FIELD);
  SUMS(EXPECT_SUM) FIRSTS(EXPECT_FIRST) MOSTS(EXPECT_MOST) LASTS(EXPECT_LAST) planned->little.provokes_idle = true;
  planned_world_destroy(planned);
}

Test(planner_plans, of_a_frame_are_told_of_field_by_field) {
  compare_plans(100000000);
  compare_plans(0);
}

/* An update that is over its limit by its model counts for its frame, whichever plan it was in. */
Test(planner_plans, of_a_frame_share_its_overruns) {
  planned_world *planned = planned_world_create(NULL);
  muster_type_def type = parts_type(1);
  type.parts.part_ns = 3000000;
  type.limit_ns = 1000000;
  type.overruns.demote = type.overruns.quarantine = 0;
  register_type(&planned->little, &type);
  spawn_at(&planned->little, 0);
  for (uint32_t frame = 0; frame < 20 && plan(planned) == 0; frame++) report(planned, 0);
  cr_assert_eq(planned->plan.count, 1);
  planned->results[0] = result_as_planned(&planned->entries[0], 1);
  cr_assert_eq(report(planned, 1).overruns, 1);
  planned->little.now_ns -= FRAME_NS;
  plan(planned);
  cr_assert_eq(report(planned, 0).overruns, 1);
  plan(planned);
  cr_assert_eq(report(planned, 0).overruns, 0);
  planned->little.provokes_idle = true;
  planned_world_destroy(planned);
}

/* -------------------------------------------------------------------------------------------------- those who are gone
 */

static struct victim {
  muster_world *world;
  muster_agent agent;
} victim;

static void remove_victim(const muster_importance_query *queries, float *importances, uint32_t count, void *user) {
  (void)queries, (void)importances, (void)count, (void)user;
  if (victim.world) cr_assert_eq(muster_agent_remove(victim.world, victim.agent), MUSTER_OK, "%s", muster_last_error());
  victim.world = NULL;
}

static uint64_t sum_of_slices(const planned_world *planned) {
  uint64_t sum_ns = 0;
  for (uint32_t i = 0; i < planned->plan.count; i++) sum_ns += planned->entries[i].slice_ns;
  return sum_ns;
}

static bool names(const planned_world *planned, muster_agent agent) {
  for (uint32_t i = 0; i < planned->plan.count; i++)
    if (muster_agent_equal(planned->entries[i].agent, agent)) return true;
  return false;
}

/* By the wall clock an agent that is removed while a plan is made is not in it any more, nor in its sums; under the
 * virtual clock it is until the frame ends. */
Test(planner_plans, do_not_name_who_was_removed_meanwhile) {
  for (uint32_t virtual = 0; virtual < 2; virtual ++) {
    muster_world_def def = muster_world_def_default();
    def.clock.kind = virtual ? MUSTER_CLOCK_VIRTUAL : MUSTER_CLOCK_WALL;
    planned_world *planned = planned_world_create(&def);
    muster_type_def type = parts_type(1);
    type.period_ns = type.period_max_ns = FRAME_NS;
    type.models.importance = remove_victim;
    register_type(&planned->little, &type);
    for (uint32_t i = 0; i < HERD; i++) victim.agent = spawn_at(&planned->little, i);
    for (uint32_t frame = 0; frame < 3; frame++) run_plan(planned);
    cr_assert_eq(plan_with(planned, 1000000000u, ENTRIES_MAX), HERD);
    cr_assert(names(planned, victim.agent));
    report(planned, 0);
    spawn_at(&planned->little, 99);
    victim.world = planned->little.world;
    plan_with(planned, 1000000000u, ENTRIES_MAX);
    cr_assert_null(victim.world, "nobody asked for the importance");
    cr_assert_eq(names(planned, victim.agent), virtual);
    cr_assert_geq(planned->plan.count, HERD - 1);
    cr_assert_leq(planned->plan.fits, planned->plan.count);
    cr_assert_eq(planned->plan.slices_ns, sum_of_slices(planned));
    report(planned, 0);
    plan_with(planned, 1000000000u, ENTRIES_MAX);
    cr_assert(!names(planned, victim.agent));
    planned->little.provokes_idle = true;
    planned_world_destroy(planned);
  }
}

/* Of a result for one who was removed after the plan the cost counts, as the longest, too. */
Test(planner_plans, count_what_was_run_of_an_agent_that_is_gone) {
  muster_world_def def = muster_world_def_default();
  planned_world *planned = herd_of(1, &def);
  muster_agent gone = planned->entries[3].agent;
  for (uint32_t i = 0; i < HERD; i++) {
    planned->results[i] = result_as_planned(&planned->entries[i], 1);
    planned->results[i].cost_ns = i == 3 ? 70000 : 1000 + i;
    planned->results[i].moved = 1;
    planned->results[i].position = (muster_position){500, 0, 0};
  }
  cr_assert_eq(muster_agent_remove(planned->little.world, gone), MUSTER_OK);
  muster_frame_report frame = report(planned, HERD);
  cr_assert_eq(frame.completed, HERD - 1);
  cr_assert_eq(frame.longest_claim_ns, 70000);
  cr_assert_eq(frame.longest_atom_ns, 70000);
  cr_assert_eq(frame.update_cpu_ns, 70000 + 11 * 1000 + 66 - 3);
  cr_assert_eq(planned->little.world->planner->ran_ns, frame.update_cpu_ns);
  plan(planned);
  cr_assert(!names(planned, gone));
  planned->little.provokes_idle = true;
  planned_world_destroy(planned);
}

/* Agents of a call for an array that were named twice there are not taken for such as were reported. */
Test(planner_plans, are_reported_of_whatever_was_moved_before) {
  planned_world *planned = herd_of(1, NULL);
  muster_agent twice[3] = {planned->entries[4].agent, planned->entries[2].agent, planned->entries[4].agent};
  report(planned, 0);
  cr_assert_eq(
      muster_agents_move(planned->little.world, twice, (muster_position[3]){{1, 1, 0}, {2, 2, 0}, {3, 3, 0}}, 3), 3);
  cr_assert_eq(run_plan(planned).completed, HERD);
  planned->little.provokes_idle = true;
  planned_world_destroy(planned);
}

/* ----------------------------------------------------------------------------------------------------- what is refused
 */

struct wrong {
  const char *words;
  muster_plan_result result; /* its agent is that of the entry */
};

/* Behind any number of good results: nothing changes, and the frame can be reported as it was. */
Test(planner_plans, refuse_a_report_as_a_whole) {
  enum { PARTS = 5, FINISHED = MUSTER_PLAN_FINISHED, CONTINUED = MUSTER_PLAN_CONTINUED };
  const muster_position nowhere = {0, 0, 1e9 * (1 + 1e-15)};
  const struct wrong wrongs[] = {{"outcome", {.outcome = CONTINUED + 1}},
                                 {"cost_ns", {.outcome = FINISHED, .cost_ns = 10000000001u}},
                                 {"cost_ns", {.outcome = CONTINUED, .cost_ns = 10000000001u, .part_next = 1}},
                                 {"position", {.outcome = FINISHED, .moved = 1, .position = {NAN, 0, 0}}},
                                 {"position", {.outcome = FINISHED, .moved = 7, .position = nowhere}},
                                 {"position", {.outcome = CONTINUED, .part_next = 1, .moved = 1, .position = nowhere}},
                                 {"part_next", {.outcome = CONTINUED, .part_next = 0}},
                                 {"part_next", {.outcome = CONTINUED, .part_next = PARTS}},
                                 {"part_next", {.outcome = CONTINUED, .part_next = PARTS + 1}},
                                 {"part_next", {.outcome = CONTINUED, .part_next = 65537}}};
  const muster_plan_result right[] = {
      {.outcome = FINISHED, .cost_ns = 10000000000u},
      {.outcome = FINISHED, .part_next = 99, .position = {NAN, 0, 0}},
      {.outcome = CONTINUED, .part_next = PARTS - 1},
      {.outcome = MUSTER_PLAN_NOT_RUN, .cost_ns = UINT64_MAX, .part_next = 99, .moved = 1, .position = {NAN, 0, 0}}};
  planned_world *planned = herd_of(PARTS, NULL);
  muster_world *world = planned->little.world;
  muster_plan_result *results = planned->results;
  for (uint32_t i = 0; i < HERD; i++) results[i] = result_as_planned(&planned->entries[i], PARTS);
  uint64_t hash = muster_world_hash(world);
  for (uint32_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++)
    for (uint32_t at = 0; at < HERD; at += HERD - 1) {
      const muster_plan_result good = results[at];
      results[at] = wrongs[i].result;
      results[at].agent = good.agent;
      cr_assert_eq(muster_plan_report(world, results, HERD), MUSTER_E_ARGUMENT, "%s of number %u", wrongs[i].words, i);
      cr_assert_not_null(strstr(muster_last_error(), wrongs[i].words), "%s", muster_last_error());
      cr_assert_eq(muster_world_hash(world), hash);
      results[at] = good;
    }
  results[HERD - 1].agent = results[2].agent;
  cr_assert_eq(muster_plan_report(world, results, HERD), MUSTER_E_ARGUMENT, "twice");
  results[HERD - 1].agent = muster_agent_make(muster_agent_index(planned->entries[HERD - 1].agent), 77);
  cr_assert_eq(muster_plan_report(world, results, HERD), MUSTER_E_ARGUMENT, "another generation");
  results[HERD - 1].agent = planned->entries[HERD - 1].agent;
  for (uint32_t i = 0; i < sizeof right / sizeof *right; i++) {
    results[i] = right[i];
    results[i].agent = planned->entries[i].agent;
  }
  muster_frame_report frame = report(planned, HERD);
  cr_assert(frame.completed == HERD - 2 && frame.preempted == 1 && frame.carried == 1, "%u, %u and %u", frame.completed,
            frame.preempted, frame.carried);
  cr_assert_eq(frame.longest_claim_ns, 10000000000u, "what was not run has no cost");
  planned->little.provokes_idle = true;
  planned_world_destroy(planned);
}

/* ------------------------------------------------------------------------------------------------- what is believed */

/* A host that measures by the wall is believed eight times what was expected, or twice the slice where that is more. */
Test(planner_plans, believe_the_wall_so_far_and_other_clocks_wholly) {
  for (uint32_t by_wall = 0; by_wall < 2; by_wall++) {
    muster_world_def def = muster_world_def_default();
    def.planner.by_wall = by_wall;
    planned_world *planned = herd_of(1, &def);
    struct batch *batch = planned->little.world->batch;
    uint64_t own_ns = 0, all_ns = 0, expected_ns[HERD];
    for (uint32_t i = 0; i < HERD; i++) {
      batch_entry *entry = &batch->entries[i];
      cr_assert_eq(muster_agent_index(planned->entries[i].agent), entry->agent);
      entry->predicted_ns = 1000;
      entry->model_ns = i % 2 ? 1500 : 30000;
      uint64_t most_ns = i % 2 ? 8000 : 60000;
      planned->results[i] = result_as_planned(&planned->entries[i], 1);
      planned->results[i].cost_ns = i < 4 ? 3000 : 7000 * (i - 3);
      bool cut = by_wall && planned->results[i].cost_ns > most_ns;
      expected_ns[i] = cut ? most_ns : planned->results[i].cost_ns;
      own_ns += expected_ns[i];
      all_ns += planned->results[i].cost_ns;
    }
    cr_assert_eq(own_ns < all_ns, by_wall);
    cr_assert_eq(report(planned, HERD).update_cpu_ns, all_ns);
    cr_assert_eq(planned->little.world->frame->own_ns, own_ns);
    cr_assert_eq(planned->little.world->planner->ran_ns, all_ns);
    for (uint32_t i = 0; i < HERD; i++) cr_assert_eq(batch->entries[i].model_ns, expected_ns[i], "entry %u", i);
    planned->little.provokes_idle = true;
    planned_world_destroy(planned);
  }
}

/* ------------------------------------------------------------------------------------------------- what hosts forget
 */

static uint32_t warned;

static void count_warning(muster_log_level level, const char *message, void *user) {
  (void)message, (void)user;
  warned += level == MUSTER_LOG_WARNING;
}

static planned_world *warned_world(void) {
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.log.write = count_warning;
  planned_world *planned = herd_of(1, &def);
  planned->results[0] = result_as_planned(&planned->entries[0], 1);
  report(planned, 1);
  warned = 0;
  planned->little.provokes_idle = true;
  return planned;
}

/* Plans so many times; of each plan with room for so many, `runs` are reported, which take `cost_ns` and are at a place
 * without `moved`, but for one in `moves` (0 = none). */
struct habit {
  uint32_t plans, room, runs, moves;
  uint64_t cost_ns;
  muster_position place;
};

static uint32_t warnings_of(planned_world *planned, struct habit habit) {
  uint32_t number = 0;
  warned = 0;
  for (uint32_t i = 0; i < habit.plans; i++) {
    uint32_t count = plan_with(planned, 5000000u, habit.room), runs = count < habit.runs ? count : habit.runs;
    for (uint32_t k = 0; k < runs; k++) {
      planned->results[k] = result_as_planned(&planned->entries[k], 1);
      planned->results[k].cost_ns = habit.cost_ns;
      planned->results[k].position = habit.place;
      planned->results[k].moved = habit.moves && ++number % habit.moves == 0;
    }
    report(planned, runs);
  }
  return warned;
}

Test(planner_plans, warn_once_of_places_that_were_never_moved_to) {
  const struct habit still = {.plans = 30, .room = HERD, .runs = HERD, .cost_ns = 1000, .place = {0, 50, 0}};
  struct habit habit = still;
  planned_world *planned = warned_world();
  habit.plans = 10; /* 120 results */
  cr_assert_eq(warnings_of(planned, habit), 0);
  cr_assert_eq(warnings_of(planned, habit), 1);
  cr_assert_eq(warnings_of(planned, still), 0);
  planned_world_destroy(planned);
  planned = warned_world();
  cr_assert_eq(warnings_of(planned, habit), 0);
  habit.moves = HERD;
  cr_assert_eq(warnings_of(planned, habit), 0);
  habit.moves = 0;
  cr_assert_eq(warnings_of(planned, still), 0, "it has shown that it knows of it");
  planned_world_destroy(planned);
  planned = warned_world();
  habit.place = (muster_position){0};
  habit.plans = 40;
  cr_assert_eq(warnings_of(planned, habit), 0, "places that were not given");
  planned_world_destroy(planned);
}

Test(planner_plans, warn_once_of_an_array_without_room) {
  const struct habit narrow = {.plans = 127, .room = 3, .runs = 3, .cost_ns = 1000};
  struct habit habit = narrow, wide = narrow;
  planned_world *planned = warned_world();
  wide.plans = 1;
  wide.room = wide.runs = HERD;
  for (uint32_t i = 0; i < 2; i++) {
    cr_assert_eq(warnings_of(planned, narrow), 0);
    cr_assert_eq(warnings_of(planned, wide), 0);
  }
  habit.cost_ns = 5000000 / 3 + 1; /* there is no time for more */
  habit.plans = 200;
  cr_assert_eq(warnings_of(planned, habit), 0);
  habit.cost_ns = 1000;
  habit.runs = 2;
  cr_assert_eq(warnings_of(planned, habit), 0, "not all that was planned ran");
  habit.runs = 3;
  cr_assert_eq(warnings_of(planned, narrow), 0);
  cr_assert_eq(warnings_of(planned, habit), 1);
  cr_assert_eq(warnings_of(planned, wide), 0);
  cr_assert_eq(warnings_of(planned, habit), 0, "once");
  planned_world_destroy(planned);
}

Test(planner_plans, warn_once_of_reports_without_anything) {
  const struct habit idle = {.plans = 127, .room = HERD}, one = {.plans = 1, .room = HERD, .runs = 1, .cost_ns = 1000};
  planned_world *planned = warned_world();
  for (uint32_t i = 0; i < 2; i++) {
    cr_assert_eq(warnings_of(planned, idle), 0);
    cr_assert_eq(warnings_of(planned, one), 0);
  }
  cr_assert_eq(warnings_of(planned, idle), 0);
  cr_assert_eq(warnings_of(planned, idle), 1);
  cr_assert_eq(warnings_of(planned, one), 0);
  cr_assert_eq(warnings_of(planned, idle) + warnings_of(planned, idle), 0, "once");
  planned_world_destroy(planned);
}
