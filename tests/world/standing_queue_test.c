/* What waits at a frame's end, where cheap and dear agents wait together, and what a frame without a commit shows. */
#include "plan/ready.h"
#include "plan/score.h"
#include "world/frame_state.h"
#include "world/told_clock.h"
#include "world/world_learnt.h"
#include "world/world_queues.h"
#include "world/world_score.h"

enum { AGENTS = 1000, DEAR_ONE_IN = 10, BUDGET_NS = 8250000, CHEAP_NS = 2000, DEAR_NS = 200000, LEVELS = 16 };

static uint64_t once_ns; /* the next update takes that instead */

static muster_atom_result live(muster_update *update) {
  spend(once_ns ? once_ns : *(const uint64_t *)update->type_user);
  once_ns = 0;
  return MUSTER_ATOM_NEXT;
}

/* A type that is due in every other frame. */
static void register_costs(little_world *little, uint64_t *cost_ns) {
  add_type(little, CHANGED(type_running(live, 20000), it.period_ns = 2 * FRAME_NS, it.period_max_ns = 20 * FRAME_NS,
                           it.limit_ns = 1000000000u, it.overruns.demote = 0, it.user = cost_ns));
}

static little_world open_world(uint64_t costs_ns) {
  static uint64_t dear_ns, cheap_ns = CHEAP_NS;
  dear_ns = costs_ns;
  little_world little = careless(told_world(muster_world_def_default()));
  register_costs(&little, &dear_ns);
  muster_type dear = little.type;
  register_costs(&little, &cheap_ns);
  for (uint32_t i = 0; i < AGENTS; i++)
    spawn_as(&little, WITH(muster_agent_def, it.type = i % DEAR_ONE_IN ? little.type : dear, it.position.x = 1000.0 * i,
                           it.importance_floor = (float)(i / DEAR_ONE_IN % LEVELS) / LEVELS));
  return little;
}

/* What those who wait are believed to cost, and that it is their sum. */
static double waiting_ns(const struct muster_world *world) {
  double told = ready_waiting_ns(&world->queues->ready, &world->learnt->costs), sum_ns = 0.0;
  for (uint32_t i = 0; i < world->agents.store.high; i++) {
    const agent_row *row = &world->agents.store.rows[i];
    const cost_estimate *estimate = costs_of(&world->learnt->costs, row->type, row->level);
    double factor = (double)factor_units_of(row->cost_factor) / FACTOR_ONE;
    if (row->status == AGENT_READY) sum_ns += factor * costs_usual_ns(estimate);
  }
  cr_assert_float_eq(told, sum_ns, 1e-6 * sum_ns, "%g instead of %g", told, sum_ns);
  return told;
}

/* Two frames in turn run many cheap agents and few: what an update of theirs took in the mean says nothing of those who
 * are left. Were it taken for that, every other plan would be a fifth too large. */
Test(standing_queue, is_worth_what_the_agents_cost_that_stand_there) {
  SCOPED(told_world_destroy) little_world little = open_world(DEAR_NS);
  double least = INFINITY, most = 0.0;
  for (uint32_t i = 0; i < 400; i++) run_frame_with(&little, BUDGET_NS);
  for (uint32_t i = 0; i < 100; i++) {
    muster_frame_report report = run_frame_with(&little, BUDGET_NS);
    cr_assert_gt(waiting_ns(little.world), 0.0, "agents wait");
    least = fmin(least, (double)report.utilisation_desired);
    most = fmax(most, (double)report.utilisation_desired);
  }
  cr_assert_lt(most, 1.1 * least, "plans of %g to %g", least, most);
}

Test(standing_queue, follows_what_is_learnt_of_agents_that_wait) {
  SCOPED(told_world_destroy) little_world little = open_world(DEAR_NS);
  uint32_t index = 0;
  for (uint32_t i = 0; i < 100; i++) run_frame_with(&little, BUDGET_NS);
  while (little.world->agents.store.rows[index].status != AGENT_READY) index++;
  double before_ns = waiting_ns(little.world);
  score_set_factor(&little.world->score->board, index, 2 * FACTOR_RESTS);
  cr_assert_gt(waiting_ns(little.world), before_ns);
  run_frame_with(&little, BUDGET_NS);
  waiting_ns(little.world);
}

/* All that are due are in its batch, so that none waits beside it; and its commit is left to the next frame. */
Test(standing_queue, a_frame_that_was_late_had_more_to_do) {
  SCOPED(told_world_destroy) little_world little = open_world(CHEAP_NS);
  uint32_t late = 0;
  for (uint32_t i = 0; i < 100; i++) run_frame_with(&little, BUDGET_NS);
  double *share = &little.world->learnt->experience.controller.share;
  for (uint32_t i = 0; i < 20; i++) {
    *share = 0.8;
    once_ns = 2 * BUDGET_NS;
    run_frame_with(&little, BUDGET_NS);
    if (!little.world->commit->open) continue;
    cr_assert_leq(*share, 0.8, "after frame %u", i);
    late++;
  }
  cr_assert_gt(late, 0);
}
