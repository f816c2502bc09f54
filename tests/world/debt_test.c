/* An overrun is taken back from the next frames, and a host may give another budget in any frame. */
#include "world/told_clock.h"

enum { BUDGET_NS = 5000000, UPDATE_NS = 50000, SPIKE_NS = 200000000 };

/* What the test tells the cost model. */
static struct costs {
  bool spike;       /* the next update takes 200 ms */
  uint64_t next_ns; /* or so long, when not 0 */
} costs;

static uint64_t cost_of(const muster_cost_query *query, void *user) {
  (void)query, (void)user;
  uint64_t cost_ns = costs.spike ? SPIKE_NS : costs.next_ns ? costs.next_ns : UPDATE_NS;
  costs.spike = false;
  costs.next_ns = 0;
  return cost_ns;
}

/* 400 agents that would each like 50 us in every frame of 10 ms: four times the budget. */
static little_world crowded(float debt_budgets) {
  little_world little = little_world_of(1, WITH(virtual_world_def, it.debt_budgets = debt_budgets));
  add_type(&little, CHANGED(type_running(nothing, UPDATE_NS), it.period_ns = FRAME_NS, it.models.cost_ns = cost_of));
  for (int i = 0; i < 400; i++) spawn_at(&little, i);
  run_frames(&little, 100);
  return little;
}

Test(debt, an_overrun_is_repaid_a_third_of_a_budget_at_a_time_and_one_budget_at_most) {
  SCOPED_WORLD little = crowded(1.0f);
  costs.spike = true;
  muster_frame_report spike = run_frame_with(&little, BUDGET_NS);
  cr_assert_eq(spike.overrun_own_ns, SPIKE_NS - BUDGET_NS);
  cr_assert_eq(spike.debt_ns, BUDGET_NS);
  cr_assert_eq(spike.repaid_ns, 0);
  uint64_t repaid_ns = 0;
  for (uint32_t i = 0; i < 4; i++) {
    muster_frame_report report = run_frame_with(&little, BUDGET_NS);
    cr_assert_leq(report.repaid_ns, BUDGET_NS / 3 + 1);
    cr_assert_leq(report.update_cpu_ns, BUDGET_NS - report.repaid_ns);
    cr_assert_eq(report.given_cpu_ns, BUDGET_NS, "it is late only after its whole budget, so all of that is given");
    repaid_ns += report.repaid_ns;
    cr_assert_eq(report.debt_ns, BUDGET_NS - repaid_ns);
  }
  cr_assert_eq(repaid_ns, BUDGET_NS);
  muster_frame_report after = run_frame_with(&little, BUDGET_NS);
  cr_assert_eq(after.repaid_ns, 0);
  cr_assert_gt(after.update_cpu_ns, BUDGET_NS - UPDATE_NS, "and then all is as before");
}

/* A frame that repays means to end after two thirds of the budget, but the host was promised the whole budget. */
Test(debt, a_frame_that_repays_is_not_late_within_its_budget_and_owes_again_what_it_did_not_repay) {
  enum { LONG_NS = BUDGET_NS - 500000 };
  SCOPED_WORLD little = crowded(1.0f);
  costs.spike = true;
  uint64_t debt_ns = run_frame_with(&little, BUDGET_NS).debt_ns;
  costs.next_ns = LONG_NS;
  muster_frame_report report = run_frame_with(&little, BUDGET_NS);
  cr_assert_eq(report.update_cpu_ns, LONG_NS, "the first update of a frame runs, however long it is");
  cr_assert_eq(report.overrun_own_ns, 0);
  cr_assert_eq(report.debt_ns, debt_ns - (BUDGET_NS - LONG_NS), "only the rest of the budget was repaid");
}

Test(debt, is_not_asked_for_where_the_host_wants_none) {
  SCOPED_WORLD little = crowded(0.0f);
  costs.spike = true;
  cr_assert_eq(run_frame_with(&little, BUDGET_NS).debt_ns, 0);
  muster_frame_report report = run_frame_with(&little, BUDGET_NS);
  cr_assert_eq(report.repaid_ns, 0);
  cr_assert_gt(report.update_cpu_ns, BUDGET_NS - UPDATE_NS);
}

Test(debt, a_frame_keeps_the_budget_that_it_was_given_whatever_the_one_before_had) {
  SCOPED_WORLD little = crowded(1.0f);
  static const uint64_t budgets_ns[] = {5000000, 1000000, 8000000, 100000, 5000000, 2000000};
  for (uint32_t i = 0; i < 60; i++) {
    uint64_t budget_ns = budgets_ns[i % 6];
    muster_frame_report report = run_frame_with(&little, budget_ns);
    cr_assert_leq(report.update_cpu_ns, budget_ns);
    cr_assert_eq(report.overrun_own_ns, 0);
    if (report.carried) cr_assert_gt(report.update_cpu_ns + UPDATE_NS, budget_ns, "work waited, and there was room");
  }
}

/* Planning takes 200 ms: by itself, or because the kernel took the processor away meanwhile. */
static struct planning { bool slow, preempted; } planning;

static void importance_of(const muster_importance_query *queries, float *importances, uint32_t count, void *user) {
  (void)queries, (void)user;
  for (uint32_t i = 0; i < count; i++) importances[i] = 0.5f;
  if (planning.slow) told_ns += SPIKE_NS;
  if (planning.slow && !planning.preempted) own_ns += SPIKE_NS;
  planning.slow = false;
}

static uint64_t debt_after_planning(bool preempted) {
  planning = (struct planning){.preempted = preempted};
  SCOPED(told_world_destroy) little_world little = told_world(muster_world_def_default());
  add_type(&little, CHANGED(type_running(nothing, UPDATE_NS), it.models.importance = importance_of));
  for (int i = 0; i < 40; i++) spawn_at(&little, i);
  run_frames(&little, 10);
  spawn_at(&little, 40);
  planning.slow = true;
  muster_frame_report report = run_frame_with(&little, BUDGET_NS);
  cr_assert(!planning.slow, "a new agent is looked at");
  cr_assert_geq(report.wall_ns, SPIKE_NS);
  return report.debt_ns;
}

Test(debt, of_planning_is_for_own_time) {
  cr_assert_eq(debt_after_planning(false), BUDGET_NS);
  cr_assert_eq(debt_after_planning(true), 0);
}

Test(debt, its_bound_is_checked) {
  expect_world_refused(WITH(virtual_world_def, it.debt_budgets = -0.5f), "debt_budgets");
  expect_world_refused(WITH(virtual_world_def, it.debt_budgets = 9.0f), "debt_budgets");
}
