/* Several plans of a frame, field by field of their report; and what a report of a host counts for: every refusal of
 * it, results of agents that are gone, costs that are not believed, and what looks like a mistake of the host. */
#include "agents/batch.h"
#include "support/planned_world.h"
#include "world/fixture.h"
#include "world/frame_state.h"
#include "world/planner_state.h"
#include "world/world_sums.h"

enum { HERD = 12 };

#define SCOPED_PLANS SCOPED(planned_world_end) planned_world

/* Each of the herd is in the plan that is open. */
static planned_world *herd_of(uint32_t parts, muster_world_def def) {
  planned_world *planned = planned_world_of(&def, due_every(FRAME_NS, parts_type(parts)), HERD);
  planned->little.provokes_idle = true;
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
  SCOPED_PLANS *planned = herd_of(1, WITH(virtual_world_def, it.clock.capacity_ns = 4000));
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
  SUMS(EXPECT_SUM) FIRSTS(EXPECT_FIRST) MOSTS(EXPECT_MOST) LASTS(EXPECT_LAST)
}

Test(planner_plans, of_a_frame_are_told_of_field_by_field) {
  compare_plans(100000000);
  compare_plans(0);
}

/* An update that is over its limit by its model counts for its frame, whichever plan it was in. */
Test(planner_plans, of_a_frame_share_its_overruns) {
  muster_type_def type = CHANGED(parts_type(1), it.parts.part_ns = 3000000, it.limit_ns = 1000000,
                                 it.overruns.demote = it.overruns.quarantine = 0);
  SCOPED_PLANS *planned = planned_world_of(NULL, type, 1);
  planned->little.provokes_idle = true;
  for (uint32_t frame = 0; frame < 20 && plan(planned) == 0; frame++) report(planned, 0);
  cr_assert_eq(planned->plan.count, 1);
  planned->results[0] = result_as_planned(&planned->entries[0], 1);
  cr_assert_eq(report(planned, 1).overruns, 1);
  planned->little.now_ns -= FRAME_NS;
  plan(planned);
  cr_assert_eq(report(planned, 0).overruns, 1);
  plan(planned);
  cr_assert_eq(report(planned, 0).overruns, 0);
}

/* --------------------------------------------------------------------------------------------- those who are gone */

static struct victim {
  muster_world *world;
  muster_agent agent;
} victim;

static void remove_victim(const muster_importance_query *queries, float *importances, uint32_t count, void *user) {
  (void)queries, (void)importances, (void)count, (void)user;
  if (victim.world) assert_ok(muster_agent_remove(victim.world, victim.agent));
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
    muster_world_def def = WITH(muster_world_def, it.clock.kind = virtual ? MUSTER_CLOCK_VIRTUAL : MUSTER_CLOCK_WALL);
    muster_type_def type = CHANGED(due_every(FRAME_NS, parts_type(1)), it.models.importance = remove_victim);
    SCOPED_PLANS *planned = planned_world_of(&def, type, 0);
    planned->little.provokes_idle = true;
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
  }
}

/* Of a result for one who was removed after the plan the cost counts, as the longest, too. */
Test(planner_plans, count_what_was_run_of_an_agent_that_is_gone) {
  SCOPED_PLANS *planned = herd_of(1, muster_world_def_default());
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
}

/* Agents of a call for an array that were named twice there are not taken for such as were reported. */
Test(planner_plans, are_reported_of_whatever_was_moved_before) {
  SCOPED_PLANS *planned = herd_of(1, virtual_world_def_default());
  muster_agent twice[3] = {planned->entries[4].agent, planned->entries[2].agent, planned->entries[4].agent};
  report(planned, 0);
  cr_assert_eq(
      muster_agents_move(planned->little.world, twice, (muster_position[3]){{1, 1, 0}, {2, 2, 0}, {3, 3, 0}}, 3), 3);
  cr_assert_eq(run_plan(planned).completed, HERD);
}

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
  SCOPED_PLANS *planned = herd_of(PARTS, virtual_world_def_default());
  muster_world *world = planned->little.world;
  muster_plan_result *results = planned->results;
  run_entries(planned, HERD, PARTS);
  uint64_t hash = muster_world_hash(world);
  for (uint32_t i = 0; i < COUNT_OF(wrongs); i++)
    for (uint32_t at = 0; at < HERD; at += HERD - 1) {
      const muster_plan_result good = results[at];
      results[at] = CHANGED(wrongs[i].result, it.agent = good.agent);
      expect_report_refused(planned, HERD, wrongs[i].words);
      cr_assert_eq(muster_world_hash(world), hash);
      results[at] = good;
    }
  results[HERD - 1].agent = results[2].agent;
  cr_assert_eq(muster_plan_report(world, results, HERD), MUSTER_E_ARGUMENT, "twice");
  results[HERD - 1].agent = muster_agent_make(muster_agent_index(planned->entries[HERD - 1].agent), 77);
  cr_assert_eq(muster_plan_report(world, results, HERD), MUSTER_E_ARGUMENT, "another generation");
  results[HERD - 1].agent = planned->entries[HERD - 1].agent;
  for (uint32_t i = 0; i < COUNT_OF(right); i++) results[i] = CHANGED(right[i], it.agent = planned->entries[i].agent);
  muster_frame_report frame = report(planned, HERD);
  cr_assert(frame.completed == HERD - 2 && frame.preempted == 1 && frame.carried == 1, "%u, %u and %u", frame.completed,
            frame.preempted, frame.carried);
  cr_assert_eq(frame.longest_claim_ns, 10000000000u, "what was not run has no cost");
}

/* A host that measures by the wall is believed eight times what was expected, or twice the slice where that is more. */
Test(planner_plans, believe_the_wall_so_far_and_other_clocks_wholly) {
  for (uint32_t by_wall = 0; by_wall < 2; by_wall++) {
    SCOPED_PLANS *planned = herd_of(1, WITH(muster_world_def, it.planner.by_wall = by_wall));
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
  }
}

/* ---------------------------------------------------------------------------------------------- what hosts forget */

static struct said said;

static planned_world *warned_world(void) {
  planned_world *planned = herd_of(1, WITH(virtual_world_def, it.log = log_to(&said)));
  run_entries(planned, 1, 1);
  report(planned, 1);
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
  said.lines = 0;
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
  return said.lines;
}

Test(planner_plans, warn_once_of_places_that_were_never_moved_to) {
  const struct habit still = {.plans = 30, .room = HERD, .runs = HERD, .cost_ns = 1000, .place = {0, 50, 0}};
  const struct habit few = CHANGED(still, it.plans = 10); /* 120 results */
  SCOPED_PLANS *unaware = warned_world(), *knowing = warned_world(), *silent = warned_world();
  cr_assert_eq(warnings_of(unaware, few), 0);
  cr_assert_eq(warnings_of(unaware, few), 1);
  cr_assert_eq(warnings_of(unaware, still), 0);
  cr_assert_eq(warnings_of(knowing, few), 0);
  cr_assert_eq(warnings_of(knowing, CHANGED(few, it.moves = HERD)), 0);
  cr_assert_eq(warnings_of(knowing, still), 0, "it has shown that it knows of it");
  cr_assert_eq(warnings_of(silent, CHANGED(still, it.plans = 40, it.place = (muster_position){0})), 0,
               "places that were not given");
}

Test(planner_plans, warn_once_of_an_array_without_room) {
  const struct habit narrow = {.plans = 127, .room = 3, .runs = 3, .cost_ns = 1000};
  const struct habit wide = CHANGED(narrow, it.plans = 1, it.room = it.runs = HERD);
  const struct habit longer = CHANGED(narrow, it.plans = 200);
  SCOPED_PLANS *planned = warned_world();
  for (uint32_t i = 0; i < 2; i++) {
    cr_assert_eq(warnings_of(planned, narrow), 0);
    cr_assert_eq(warnings_of(planned, wide), 0);
  }
  cr_assert_eq(warnings_of(planned, CHANGED(longer, it.cost_ns = 5000000 / 3 + 1)), 0, "there is no time for more");
  cr_assert_eq(warnings_of(planned, CHANGED(longer, it.runs = 2)), 0, "not all that was planned ran");
  cr_assert_eq(warnings_of(planned, narrow), 0);
  cr_assert_eq(warnings_of(planned, longer), 1);
  cr_assert_eq(warnings_of(planned, wide), 0);
  cr_assert_eq(warnings_of(planned, longer), 0, "once");
}

Test(planner_plans, warn_once_of_reports_without_anything) {
  const struct habit idle = {.plans = 127, .room = HERD}, one = {.plans = 1, .room = HERD, .runs = 1, .cost_ns = 1000};
  SCOPED_PLANS *planned = warned_world();
  for (uint32_t i = 0; i < 2; i++) {
    cr_assert_eq(warnings_of(planned, idle), 0);
    cr_assert_eq(warnings_of(planned, one), 0);
  }
  cr_assert_eq(warnings_of(planned, idle), 0);
  cr_assert_eq(warnings_of(planned, idle), 1);
  cr_assert_eq(warnings_of(planned, one), 0);
  cr_assert_eq(warnings_of(planned, idle) + warnings_of(planned, idle), 0, "once");
}
