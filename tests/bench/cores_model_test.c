/* List scheduling of `muster bench cores`, with steps that are made up. All times in ns. */
#include "cores_model.h"
#include "support/with.h"

#include <criterion/criterion.h>

enum { STEPS = 64, PIECES = 1024 };

static timeline_step recorded[STEPS];
static uint32_t pieces[PIECES];
static struct timeline steps = {.steps = recorded, .pieces_ns = pieces};

static const cores_costs nothing = {.planning = 1};

static timeline_step *add(timeline_kind kind) {
  if (steps.step_count == 0) recorded[steps.step_count++] = (timeline_step){.kind = TIMELINE_FRAME};
  recorded[steps.step_count] = (timeline_step){.kind = kind, .first = steps.piece_count};
  return &recorded[steps.step_count++];
}

static void alone(uint64_t ns) {
  add(TIMELINE_ALONE)->ns = ns;
}

static void add_pieces(timeline_step *step, uint32_t count, uint32_t each_ns) {
  for (uint32_t i = 0; i < count; i++) pieces[steps.piece_count++] = each_ns;
  step->count += count;
  step->ns += (uint64_t)count * each_ns;
}

/* A section of even pieces, which is expected to take what it takes. */
static timeline_step *section(uint32_t count, uint32_t each_ns) {
  timeline_step *step = add(TIMELINE_SECTION);
  add_pieces(step, count, each_ns);
  step->work_ns = step->ns;
  step->worth_ns = 50000;
  return step;
}

static void offer(uint32_t claims, uint64_t work_ns) {
  timeline_step *step = add(TIMELINE_OFFER);
  step->count = claims;
  step->work_ns = work_ns;
  step->worth_ns = 500000;
}

static void claims(uint32_t count, uint32_t each_ns) {
  add_pieces(add(TIMELINE_CLAIMS), count, each_ns);
}

static cores_step told[STEPS];

static double whole(const cores_costs *costs, uint32_t workers) {
  double sum = 0;
  cores_model(&steps, costs, workers, told);
  for (uint32_t i = 0; i < steps.step_count; i++) sum += told[i].wall;
  return sum;
}

static double serial(const cores_costs *costs, uint32_t workers) {
  double sum = 0;
  cores_model(&steps, costs, workers, told);
  for (uint32_t i = 0; i < steps.step_count; i++) sum += told[i].alone;
  return sum;
}

#define EXPECT_NS(found, expected)                                                                                     \
  cr_expect_float_eq(found, expected, 1e-6, "%g instead of %g ns", found, (double)(expected))

/* --------------------------------------------------------------------------------------------------------- sections */

Test(cores_model, adds_up_with_one_worker_whatever_calls_cost) {
  const cores_costs costs = {1e3, 1e3, 1e4, 1e5, 500, 1e3, .planning = 1};
  alone(700);
  section(12, 100000);
  offer(40, 40 * 20000);
  alone(300);
  claims(40, 20000);
  alone(5);
  EXPECT_NS(whole(&costs, 1), 700 + 12 * 100000 + 300 + 40 * 20000 + 5);
  EXPECT_NS(serial(&costs, 1), 700 + 300 + 5);
}

Test(cores_model, shares_a_section_evenly_when_calls_cost_nothing) {
  section(8, 100000);
  EXPECT_NS(whole(&nothing, 2), 400000);
  EXPECT_NS(whole(&nothing, 4), 200000);
  EXPECT_NS(whole(&nothing, 8), 100000);
  EXPECT_NS(whole(&nothing, 256), 100000);
  cores_model(&steps, &nothing, 4, told);
  cr_expect_eq(told[1].workers, 4);
  EXPECT_NS(serial(&nothing, 4), 0);
}

Test(cores_model, calls_as_many_helpers_as_the_work_is_worth) {
  section(8, 10000); /* 80 us: one helper */
  EXPECT_NS(whole(&nothing, 64), 40000);
  recorded[1].work_ns = 49999; /* and now none */
  EXPECT_NS(whole(&nothing, 64), 80000);
}

Test(cores_model, cuts_fewer_runs_for_fewer_helpers) {
  section(16, 10000)->work_ns = 99999; /* one helper, so eight runs of two pieces; the helper begins at the fifth */
  pieces[15] = 200000;                 /* the piece before it goes with it */
  EXPECT_NS(whole(&nothing, 64), 3 * 20000 + 210000);
}

/* The caller: called until 5, run 0 until 105. The helper: awake at 25, run 1 until 125, left at 125. */
Test(cores_model, waits_until_a_helper_is_awake_and_has_left) {
  const cores_costs costs = {.call_sleeping_ns = 5000, .wake_ns = 20000, .barrier_ns = 1000, .planning = 1};
  section(2, 100000);
  pieces[0] = 110000; /* so that the caller does not sleep while it waits */
  EXPECT_NS(whole(&costs, 2), 125000 + 1000);
}

Test(cores_model, does_not_wait_for_a_helper_that_comes_when_nothing_is_left) {
  const cores_costs costs = {.call_sleeping_ns = 5000, .wake_ns = 1000000, .barrier_ns = 1000, .planning = 1};
  section(2, 50000);
  EXPECT_NS(whole(&costs, 2), 5000 + 100000 + 1000);
}

Test(cores_model, wakes_the_caller_that_waits_long_for_the_last_helper) {
  const cores_costs costs = {.wake_ns = 20000, .planning = 1};
  section(2, 100000); /* the helper ends 20 us after the caller, which looks for 16 us */
  EXPECT_NS(whole(&costs, 2), 120000 + 20000);
}

Test(cores_model, finds_a_helper_awake_that_has_just_left) {
  const cores_costs costs = {
      .call_ns = 100, .begin_ns = 200, .call_sleeping_ns = 5000, .wake_ns = 20000, .planning = 1};
  section(2, 100000);
  recorded[1].ns += 10000, pieces[0] += 10000;
  alone(1000);
  double first = whole(&costs, 2);
  section(2, 100000);
  EXPECT_NS(whole(&costs, 2) - first, 100 + 200 + 100000);
  recorded[2].ns = 1000000; /* and asleep after a millisecond */
  cr_expect_gt(whole(&costs, 2) - first - 999000, 120000);
}

Test(cores_model, lets_woken_helpers_wake_others) {
  const cores_costs costs = {.call_sleeping_ns = 10000, .wake_ns = 10000, .planning = 1};
  section(256, 100000);
  double one_by_one = 63 * 10000;
  cores_model(&steps, &costs, 64, told);
  cr_expect_eq(told[1].workers, 64);
  cr_expect_lt(told[1].wall, 256 * 100000 / 64 + one_by_one, "%g ns", told[1].wall);
}

Test(cores_model, takes_runs_of_the_same_word_one_after_the_other) {
  const cores_costs costs = {.take_ns = 1000, .planning = 1};
  section(64, 20000); /* 25 helpers; all bits stand in one word */
  cr_expect_geq(whole(&costs, 32), 64 * 1000 + 20000);
}

Test(cores_model, makes_planning_slower_and_no_claims) {
  const cores_costs slow = {.planning = 3};
  alone(1000);
  section(2, 100000);
  offer(2, 1000000);
  claims(2, 7000);
  EXPECT_NS(whole(&slow, 1), 3 * 201000 + 14000);
  EXPECT_NS(whole(&slow, 2), 3 * 101000 + 7000);
}

/* Moving makes each kind of step longer by a part of its own: with two workers by that, with four by half as much
 * again, and with one not at all. A gain stays as it is with two. */
Test(cores_model, charges_for_lines_that_move_the_more_the_more_workers_there_are) {
  cores_costs costs = CHANGED(nothing, it.moved[0][TIMELINE_ALONE] = 0.1, it.moved[0][TIMELINE_SECTION] = 0.5,
                              it.moved[0][TIMELINE_CLAIMS] = -0.2);
  costs.moved[1][TIMELINE_ALONE] = costs.moved[1][TIMELINE_SECTION] = 9; /* of a stage that is not there */
  alone(1000);
  section(4, 100000);
  section(1, 20000); /* nobody is called to it, but others may have written what it reads */
  offer(4, 2000000);
  claims(4, 7000);
  EXPECT_NS(whole(&costs, 1), 1000 + 400000 + 20000 + 28000);
  EXPECT_NS(whole(&costs, 2), 1100 + 300000 + 30000 + 11200);
  EXPECT_NS(whole(&costs, 4), 1150 + 175000 + 35000 + 5600);
  EXPECT_NS(serial(&costs, 4), 1150);
}

Test(cores_model, charges_for_moves_in_the_stage_of_the_claims) {
  cores_costs costs = CHANGED(nothing, it.moved[6][TIMELINE_CLAIMS] = 1);
  offer(2, 1000000);
  claims(2, 7000);
  EXPECT_NS(whole(&costs, 2), 7000);
  recorded[2].stage = 6;
  EXPECT_NS(whole(&costs, 2), 14000);
}

/* ----------------------------------------------------------------------------------------------------------- claims */

/* The helper runs the first while the caller cuts the second. */
Test(cores_model, runs_claims_while_others_are_cut) {
  alone(100000);
  offer(1, 500000);
  alone(100000);
  offer(2, 1000000);
  claims(2, 100000);
  EXPECT_NS(whole(&nothing, 2), 300000);
  EXPECT_NS(serial(&nothing, 2), 100000);
  EXPECT_NS(whole(&nothing, 1), 400000);
  EXPECT_NS(serial(&nothing, 1), 200000);
}

Test(cores_model, runs_no_claim_before_it_is_offered) {
  offer(1, 500000);
  alone(100000);
  offer(3, 1500000);
  claims(3, 20000);
  EXPECT_NS(whole(&nothing, 4), 120000);
  EXPECT_NS(serial(&nothing, 4), 80000);
}

Test(cores_model, calls_a_helper_for_each_half_of_a_millisecond_of_claims) {
  offer(64, 64 * 20000); /* 1.28 ms */
  claims(64, 20000);
  cr_expect_geq(whole(&nothing, 64), 64 * 20000 / 3);
  cores_model(&steps, &nothing, 64, told);
  cr_expect_eq(told[2].workers, 3);
}

Test(cores_model, takes_claims_one_after_the_other) {
  const cores_costs costs = {.take_ns = 1000, .planning = 1};
  offer(100, 100000000);
  claims(100, 1000);
  cr_expect_geq(whole(&costs, 64), 100 * 1000 + 1000);
}

Test(cores_model, forgets_offers_of_a_frame_in_which_nothing_runs) {
  offer(1, 500000);
  alone(1000);
  add(TIMELINE_FRAME);
  offer(2, 1000000);
  claims(2, 5000);
  EXPECT_NS(whole(&nothing, 2), 1000 + 5000);
}

/* No schedule of claims beats the work of each worker, or the longest claim; and one more worker makes none longer, as
 * long as calling it costs nothing. */
Test(cores_model, is_never_slower_with_more_workers_that_cost_nothing) {
  uint64_t random = 1;
  for (uint32_t turn = 0; turn < 50; turn++) {
    double sum = 0, longest = 0;
    steps.step_count = steps.piece_count = 0;
    offer(500, 1000000000);
    claims(500, 0);
    for (uint32_t i = 0; i < 500; i++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      pieces[i] = 1 + (uint32_t)(random >> 44) % 100000;
      sum += pieces[i];
      if (pieces[i] > longest) longest = pieces[i];
    }
    double before = sum;
    for (uint32_t workers = 1; workers <= 256; workers++) {
      double now = whole(&nothing, workers);
      cr_assert(now <= before + 1e-6, "%u workers: %g after %g ns", workers, now, before);
      cr_assert(now >= sum / workers - 1e-3 && now >= longest, "%u workers: %g ns", workers, now);
      before = now;
    }
  }
}
