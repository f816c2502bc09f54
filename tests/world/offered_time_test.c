/* What a frame on the wall clock learns of how much of what is believed fits into its time. The test gives the clocks'
 * figures, so that the share that the controller finds is known beforehand. */
#include "agents/batch.h"
#include "frame/forecast.h"
#include "run/runner.h"
#include "world/fixture.h"
#include "world/frame_state.h"
#include "world/world_learnt.h"
#include "world/world_sums.h"

enum { BUDGET_NS = 10000000, SHOWN = 400 };

/* Creates a world in which no frame has run, and in which work waits. */
static little_world waiting_world(uint32_t workers) {
  little_world little = little_world_of(workers, muster_world_def_default());
  little.world->frame->budget_ns = little.world->sums->report.budget_ns = BUDGET_NS;
  little.world->sums->report.carried = 1;
  return little;
}

/* Shows the same frame to the controller again and again. Returns the share that it learns. */
static double learnt_share(const little_world *little, double used_ns) {
  runner_caller(little->world->runner)->believed_ns = (uint64_t)used_ns;
  for (uint32_t i = 0; i < SHOWN; i++) forecast_learn(little->world);
  return (double)little->world->sums->report.share;
}

static void expect_share(double share, double wanted) {
  cr_assert(fabs(share - wanted) < 0.015, "the share is %g instead of %g", share, wanted);
}

Test(offered_time, is_the_budget_of_every_worker) {
  for (uint32_t workers = 1; workers <= 4; workers++) {
    SCOPED_WORLD little = waiting_world(workers);
    expect_share(learnt_share(&little, 0.6 * BUDGET_NS * workers), 0.6);
    expect_share(learnt_share(&little, 0.9 * BUDGET_NS * workers), 0.9);
  }
}

/* Stages 1 to 5 run on one worker while the others wait, unless updates are held for them; stage 6 while the others run
 * what is ranked. Stage 7 and what follows do not count. */
Test(offered_time, is_less_what_planning_takes_from_all_of_them) {
  SCOPED_WORLD little = waiting_world(3);
  little.world->learnt->experience.holding = 0.0;
  little.world->sums->report.stage_ns[MUSTER_STAGE_INTAKE] = 1000000;
  little.world->sums->report.stage_ns[MUSTER_STAGE_RANK] = 1500000;
  little.world->sums->report.stage_ns[MUSTER_STAGE_RUN] = 7000000;
  little.world->sums->report.stage_ns[MUSTER_STAGE_COMMIT] = 500000;
  expect_share(learnt_share(&little, 0.5 * ((BUDGET_NS - 1000000) * 3 - 1500000)), 0.5);
  expect_share(learnt_share(&little, 0.8 * ((BUDGET_NS - 1000000) * 3 - 1500000)), 0.8);
}

/* The other workers run held updates while the frame is planned: so much more time is offered. */
Test(offered_time, is_more_by_what_others_run_while_a_frame_is_planned) {
  enum { PLAN_NS = 2500000 };
  SCOPED_WORLD little = waiting_world(3);
  little.world->sums->report.stage_ns[MUSTER_STAGE_SCORE] = PLAN_NS;
  little.world->learnt->experience.holding = 0.5; /* half of what could be held is held */
  double offered_ns = (BUDGET_NS - PLAN_NS) * 3 + 0.5 * PLAN_NS * 2;
  expect_share(learnt_share(&little, 0.8 * offered_ns), 0.8);
}

/* A commit takes a known time for each entry of the batch. */
Test(offered_time, is_less_what_settling_the_batch_will_take) {
  SCOPED_WORLD little = waiting_world(2);
  little.world->learnt->experience.settle.mean_ns = little.world->learnt->experience.settle.high_ns = 2000.0;
  little.world->batch->count = 1000;
  expect_share(learnt_share(&little, 0.5 * (BUDGET_NS - 2000000) * 2), 0.5);
}

/* Nothing is learnt where no work waits, and the share stays within its bounds. */
Test(offered_time, teaches_only_where_work_waits) {
  SCOPED_WORLD little = waiting_world(2);
  little.world->sums->report.carried = 0;
  expect_share(learnt_share(&little, 0.5 * BUDGET_NS * 2), 1.0);
  little.world->sums->report.preempted = 1;
  expect_share(learnt_share(&little, 0.5 * BUDGET_NS * 2), 0.5);
  expect_share(learnt_share(&little, 3.0 * BUDGET_NS * 2), 1.25);
}

/* A frame owes what the wall clock shows beyond its budget. */
Test(offered_time, owes_what_it_overran) {
  enum { LATE_NS = 700000 };
  SCOPED_WORLD little = waiting_world(2);
  little.world->sums->report.wall_ns = BUDGET_NS + LATE_NS;
  forecast_learn(little.world);
  cr_assert_eq(little.world->sums->report.debt_ns, LATE_NS);
  forecast_learn(little.world);
  cr_assert_eq(little.world->sums->report.debt_ns, 2 * LATE_NS);
  little.world->sums->report.wall_ns = BUDGET_NS - 1;
  forecast_learn(little.world);
  cr_assert_eq(little.world->sums->report.debt_ns, 2 * LATE_NS, "a frame that is early gives nothing back");
}
