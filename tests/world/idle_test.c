/* What a frame leaves of its budget though agents wait is counted by the reason; and estimates that let periods stretch
 * while the budget is idle are mended. The clock is told the time. */
#include "agents/batch.h"
#include "frame/forecast.h"
#include "frame/stages.h"
#include "support/planned_world.h"
#include "world/frame_state.h"
#include "world/told_clock.h"
#include "world/world_learnt.h"
#include "world/world_plan.h"
#include "world/world_queues.h"
#include "world/world_sums.h"

enum { AGENTS = 2000, BUDGET_NS = 2000000, COST_NS = 5000 };

static little_world idle_world(void) {
  static const uint64_t cost_ns = COST_NS;
  little_world little = careless(told_world(muster_world_def_default()));
  add_type(&little, spender_type(&cost_ns));
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  for (uint32_t i = 0; i < 30; i++) run_frame_with(&little, BUDGET_NS);
  return little;
}

static const uint64_t *note_again(struct muster_world *world) {
  memset(world->sums->report.idle_ns, 0, sizeof world->sums->report.idle_ns);
  idle_note(world);
  return world->sums->report.idle_ns;
}

/* The state of a world whose stage 7 has just ended, as some stage 7 may leave it: with so much time, so many agents
 * that wait, and claims of the batch that did not run and are believed to take so long. */
static const uint64_t *note(little_world *little, uint64_t left_ns, uint32_t waiting, uint32_t claims,
                            uint32_t predicted_ns) {
  struct muster_world *world = little->world;
  world->frame->deadline_ns = told_ns + left_ns;
  world->frame->forecast = (frame_forecast){.commit_most_ns = 1.0};
  world->frame->updates_max = UINT32_MAX;
  world->plan->ranked.passed_over = 0;
  world->queues->ready.count = waiting;
  world->batch->count = world->batch->claim_count = claims;
  for (uint32_t i = 0; i < claims; i++) {
    world->batch->claims[i] = (batch_claim){.first = i, .end = i + 1, .predicted_ns = predicted_ns};
    world->batch->outcomes[i] = OUTCOME_NOT_RUN;
  }
  return note_again(world);
}

static void expect(const uint64_t *idle_ns, muster_idle reason, uint64_t wanted_ns) {
  for (uint32_t i = 0; i < MUSTER_IDLES; i++)
    cr_assert_eq(idle_ns[i], i == reason ? wanted_ns : 0, "reason %u: %lu", i, idle_ns[i]);
}

/* The reasons are checked by hand; afterwards the world is as it was, and goes on. */
Test(idle, a_frame_that_ends_early_for_no_reason_is_counted_as_a_fault) {
  SCOPED(told_world_destroy) little_world little = idle_world();
  uint32_t waiting = little.world->queues->ready.count;
  expect(note(&little, 1000000, 5, 0, 0), MUSTER_IDLE_FAULT, 1000000);
  expect(note(&little, 1000000, 5, 3, 999999), MUSTER_IDLE_FAULT, 1000000);
  expect(note(&little, 1000000, 5, 3, 1000001), MUSTER_IDLE_LONG, 1000000);
  little.world->batch->claims[2].predicted_ns = 999999;
  expect(note_again(little.world), MUSTER_IDLE_FAULT, 1000000);
  expect(note(&little, CLAIM_NS, 5, 0, 0), MUSTER_IDLE_FAULT, 0);
  expect(note(&little, 1000000, 0, 0, 0), MUSTER_IDLE_FAULT, 0);
  little.world->queues->ready.count = waiting;
  little.world->batch->count = little.world->batch->claim_count = 0;
  run_frame_with(&little, BUDGET_NS);
}

/* What is too long for the rest of a frame says nothing about what fits: the others run as often as before. */
Test(idle, updates_that_are_too_long_for_what_is_left_do_not_shrink_the_plan) {
  enum { FRAMES = 600, SLOW = 40 };
  static const uint64_t cost_ns = BUDGET_NS * 4 / 5;
  SCOPED(told_world_destroy) little_world little = idle_world();
  double share = 0;
  uint64_t long_ns = 0;
  add_type(&little, CHANGED(spender_type(&cost_ns), it.overruns.demote = 0));
  for (uint32_t i = 0; i < SLOW; i++) spawn_at(&little, i);
  for (uint32_t i = 0; i < FRAMES; i++) {
    muster_frame_report report = run_frame_with(&little, BUDGET_NS);
    long_ns += report.idle_ns[MUSTER_IDLE_LONG];
    share += (double)report.share / FRAMES;
  }
  cr_expect_gt(long_ns, 0);
  cr_expect_gt(share, 0.95, "%g", share);
}

/* What a host's frame left, which ran so many of so many entries, 5 us each. */
static muster_frame_report run_host(planned_world *planned, uint32_t capacity, uint32_t runs) {
  uint32_t count = plan_with(planned, BUDGET_NS, capacity);
  for (uint32_t i = 0; i < count; i++) {
    planned->results[i] = result_as_planned(&planned->entries[i], 1);
    if (i >= runs) planned->results[i].outcome = MUSTER_PLAN_NOT_RUN;
  }
  told_ns += (uint64_t)COST_NS * runs;
  return report(planned, count);
}

Test(idle, what_a_host_leaves_is_told_where_it_ran_all_that_it_was_given) {
  muster_world_def def = WITH(muster_world_def, it.planner_workers = 1);
  told_ns = 1000000000u;
  planned_world *planned = planned_world_create(&def);
  tell_clock(&planned->little);
  add_type(&planned->little, parts_type(1));
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&planned->little, i);
  for (uint32_t i = 0; i < 30; i++) run_host(planned, 50, 50);
  muster_frame_report all = run_host(planned, 50, 50);
  cr_assert_eq(planned->plan.count, 50, "agents wait");
  muster_frame_report some = run_host(planned, 50, 30);
  cr_assert_eq(planned->plan.count, 50);
  for (uint32_t i = 0; i < MUSTER_IDLES; i++) {
    cr_assert_eq(all.idle_ns[i] > 0, i == MUSTER_IDLE_HOST, "reason %u: %lu", i, all.idle_ns[i]);
    cr_assert_eq(some.idle_ns[i], 0, "reason %u: %lu", i, some.idle_ns[i]);
  }
  planned_world_destroy(planned);
}

/* Frames with 2 ms for updates, which take a half of what they are believed to take, while periods are twice as long as
 * wanted. All samples say what is believed: they are of the few updates that are timed. */
Test(idle, estimates_that_leave_the_budget_idle_are_mended) {
  SCOPED(told_world_destroy) little_world little = idle_world();
  struct muster_world *world = little.world;
  muster_frame_report *report = &world->sums->report;
  frame_experience *experience = &world->learnt->experience;
  double believed_ns = world->learnt->costs.estimates[0][0].mean_ns, share = experience->controller.share;
  uint64_t before = world->sums->statistics.estimates_mended;
  world->frame->longest_ns = 1e9;
  for (uint32_t i = 0; i < 110; i++) {
    world->frame->now_ns += FRAME_NS;
    *report = muster_frame_report_default();
    report->budget_ns = world->frame->budget_ns = BUDGET_NS;
    world->frame->deadline_ns = told_ns + BUDGET_NS / 2;
    report->completed = 100;
    report->update_cpu_ns = BUDGET_NS / 4;
    report->idle_ns[MUSTER_IDLE_FAULT] = i; /* a fault excuses nothing */
    runner_caller(world->runner)->left_ns = BUDGET_NS / 2;
    report->utilisation_nominal = 0.4f;
    report->utilisation_fitted = 0.2f;
    runner_caller(world->runner)->believed_ns = BUDGET_NS / 2;
    cr_assert_eq(experience->mend_costs, 0.0, "frame %u", i);
    forecast_learn(world);
    if (world->sums->statistics.estimates_mended > before) break;
  }
  cr_assert_eq(world->sums->statistics.estimates_mended, before + 1);
  cr_assert_float_eq(experience->mend_costs, 0.5, 0.05, "%g", experience->mend_costs); /* frames before count, too */
  cr_assert_float_eq(experience->controller.share, share, 0.05, "the plan was right, by what was believed");
  forecast_frame(world);
  cr_assert_float_eq(world->learnt->costs.estimates[0][0].mean_ns, believed_ns / 2.0, 0.05 * believed_ns);
  cr_assert_eq(experience->mend_costs, 0.0);
}
