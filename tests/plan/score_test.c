/* Importance of agents where nothing is hidden: levels, elasticity, bands, and which agents are looked at. */
#include "plan/crowd.h"

#include <muster/bulk.h>

enum { AGENTS = 1000 };

static muster_position at(double x) {
  return (muster_position){x, 0, 0};
}

static struct crowd *crowd;

static void begin(void) {
  crowd = crowd_create_plain(AGENTS, 8, 32.0f);
}

static void end(void) {
  free_fixture(&crowd);
}

TestSuite(score, .init = begin, .fini = end);

/* Observers from now on. */
static void observe(uint32_t index, double x, uint32_t partition) {
  crowd_observe(crowd, index, at(x), partition, 25, 250);
  crowd_settle(crowd);
}

static void step_to(uint32_t index, double x) {
  crowd_move(crowd, index, at(x));
  crowd_settle(crowd);
}

static float importance_of(const agent_row *row) {
  return share_value(row->importance);
}

Test(score, importance_falls_from_near_to_far_and_takes_the_nearest_observer_of_the_partition) {
  observe(0, 0, 0);
  observe(1, 1000, 0);
  observe(2, 500, 7);
  const struct {
    double x;
    uint32_t partition;
    float floor, importance;
  } cases[] = {{10, 0, 0, 1},  {137.5, 0, 0, 0.5f}, {500, 0, 0, 0},
               {500, 7, 0, 1}, {990, 0, 0, 1},      {500, 0, 0.25f, 0.25f}};
  for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
    const agent_row *row = crowd_spawn(crowd, i, at(cases[i].x), cases[i].partition, cases[i].floor);
    cr_assert_float_eq(importance_of(row), cases[i].importance, 2e-5, "case %u: %g", i, (double)importance_of(row));
  }
}

Test(score, importance_sets_the_level_and_the_elasticity) {
  observe(0, 0, 0);
  const agent_row *near = crowd_spawn(crowd, 0, at(0), 0, 0), *far = crowd_spawn(crowd, 1, at(5000), 0, 0);
  cr_assert_eq(near->level, 0);
  cr_assert_eq(far->level, 3);
  cr_assert_float_eq(crowd->classes.classes[near->class].elasticity, 0.125, 1e-9);
  cr_assert_float_eq(crowd->classes.classes[far->class].elasticity, 8.0, 1e-9);
  crowd_check_sums(crowd);
}

Test(score, a_step_to_and_fro_on_a_border_does_not_flap_the_level) {
  observe(0, 0, 0);
  const agent_row *row = crowd_spawn(crowd, 0, at(134), 0, 0);
  cr_assert_eq(row->level, 0);
  for (int i = 0; i < 10; i++) {
    step_to(0, i % 2 ? 134 : 142); /* importance 0.516 and 0.48 around the threshold 0.5 */
    cr_assert_eq(row->level, 0);
  }
  step_to(0, 160);
  cr_assert_eq(row->level, 1);
  step_to(0, 134);
  cr_assert_eq(row->level, 1);
  step_to(0, 100);
  cr_assert_eq(row->level, 0);
  crowd_check_sums(crowd);
}

Test(score, an_exempt_agent_keeps_elasticity_zero_wherever_it_is) {
  observe(0, 0, 0);
  agent_row *row = crowd_spawn(crowd, 0, at(0), 0, 0);
  row->elasticity_step = 0;
  score_tuned_agent(&crowd->board, 0);
  cr_assert_eq(crowd->classes.classes[row->class].elasticity, 0.0);
  step_to(0, 3000);
  cr_assert_eq(row->importance, 0);
  cr_assert_eq(crowd->classes.classes[row->class].elasticity, 0.0);
}

Test(score, an_observer_that_comes_is_felt_at_once_where_it_is_and_nowhere_else) {
  for (uint32_t i = 0; i < AGENTS; i++) crowd_spawn(crowd, i, at(i * 10.0), 0, 0);
  crowd_observe(crowd, 0, at(500), 0, 25, 250);
  score_summary summary = crowd_frame(crowd, SCORE_UNITS_MAX, 1);
  cr_assert_eq(summary.waiting, 0);
  cr_assert_leq(summary.agents, 60, "%u agents were looked at for 50 in sight", summary.agents);
  crowd_check(crowd, 0.0101f);
  crowd_check_sums(crowd);
}

Test(score, where_nothing_changed_nobody_is_looked_at) {
  for (uint32_t i = 0; i < AGENTS; i++) crowd_spawn(crowd, i, at(i), 0, 0);
  observe(0, 500, 0);
  for (int i = 0; i < 5; i++) cr_assert_eq(crowd_frame(crowd, SCORE_UNITS_MAX, 1).agents, 0);
  observers_move(&crowd->observers, 0, at(506)); /* less than OBSERVER_STEP */
  cr_assert_eq(crowd_frame(crowd, SCORE_UNITS_MAX, 1).agents, 0);
  observers_move(&crowd->observers, 0, at(507)); /* more, in sum */
  cr_assert_gt(crowd_frame(crowd, SCORE_UNITS_MAX, 1).agents, 100);
  crowd_check(crowd, 0.0101f);
}

Test(score, leaves_an_admitted_agent_alone_and_comes_back_to_it) {
  agent_row *row = crowd_spawn(crowd, 0, at(0), 0, 0);
  due_remove(&crowd->store, 0);
  row->status = AGENT_ADMITTED;
  crowd_observe(crowd, 0, at(0), 0, 25, 250);
  for (int i = 0; i < 3; i++) {
    cr_assert_eq(crowd_frame(crowd, SCORE_UNITS_MAX, 1).waiting, 1);
    cr_assert_eq(row->importance, 0);
  }
  row->status = AGENT_READY;
  cr_assert_eq(crowd_frame(crowd, SCORE_UNITS_MAX, 1).waiting, 0);
  cr_assert_eq(row->importance, UINT16_MAX);
  crowd_check_sums(crowd);
}

Test(score, factors_and_the_type_lower_importance_but_not_below_the_floor) {
  end();
  crowd = crowd_create(8, 8, 32.0f);
  crowd_register(crowd, CHANGED(crowd_type(), it.importance = 0.5f));
  observe(0, 0, 0);
  agent_row *row = crowd_spawn(crowd, 0, at(0), 0, 0);
  cr_assert_float_eq(importance_of(row), 0.5, 1e-4);
  row->factors[MUSTER_FACTOR_VISIBILITY] = 51; /* a fifth */
  score_tuned_agent(&crowd->board, 0);
  cr_assert_float_eq(importance_of(row), 0.1, 1e-4);
  row->factors[MUSTER_FACTOR_BULK] = 0;
  score_tuned_agent(&crowd->board, 0);
  cr_assert_eq(row->importance, 0);
  row->floor = share_of(0.75f);
  score_tuned_agent(&crowd->board, 0);
  cr_assert_float_eq(importance_of(row), 0.75, 1e-4);
}

Test(score, notices_a_walk_by_its_cubes_also_below_the_ground) {
  observe(0, 0, 0); /* cubes of 1.125 m */
  agent_row *row = crowd_spawn(crowd, 0, (muster_position){100, 0, -1}, 0, 0);
  double worst = 0;
  for (int i = 0; i < 2000; i++) {
    crowd_move(crowd, 0, (muster_position){100 + i * 0.03, 0, -1 + i * 0.001});
    crowd_settle(crowd);
    double margin, expected = (double)crowd_importance(crowd, 0, &margin);
    worst = fmax(worst, fabs(expected - (double)importance_of(row)));
  }
  cr_assert_leq(worst, 0.01 + 0.0088);
  cr_assert_lt(crowd->board.noted_count, 1);
  agent_place place = {.x = 1.0f, .y = 1.0f};
  const float heights[] = {-3.0f, -0.6f, 0.6f, 3.0f};
  for (uint32_t i = 0; i + 1 < 4; i++) {
    place.z = heights[i];
    cr_assert(score_notices(&crowd->board, &place, (space_spot){0, 0, 1.0f, 1.0f, heights[i + 1]}), "step %u", i);
  }
}

Test(score, forgetting_an_agent_leaves_no_trace) {
  crowd_observe(crowd, 0, at(0), 0, 25, 250);
  crowd_frame(crowd, SCORE_UNITS_MAX, 1);
  crowd_spawn(crowd, 0, at(0), 0, 0);
  score_note(&crowd->board, 0);
  due_remove(&crowd->store, 0);
  score_forget_agent(&crowd->board, 0);
  space_unlink(&crowd->space, &crowd->store, 0);
  store_deactivate(&crowd->store, 0);
  cr_assert_eq(crowd->classes.active_count, 0);
  for (uint32_t bin = 0; bin < IMPORTANCE_BINS; bin++) cr_assert_eq(crowd->board.importance[bin], 0);
  cr_assert_eq(crowd_frame(crowd, SCORE_UNITS_MAX, 1).waiting, 0);
  crowd_spawn(crowd, 0, at(0), 0, 0);
  score_note(&crowd->board, 0);
  cr_assert_eq(crowd->board.noted_count, 1);
  cr_assert_eq(crowd_frame(crowd, SCORE_UNITS_MAX, 1).agents, 1);
}
