/* The fit over classes: together they ask for what is desired, stretch in proportion to their elasticity, and the mean
 * stretch that is reported is that of agents. Types in quarantine, and classes that all agents have left, have no part.
 */
#include "plan/periods.h"
#include "plan/planning.h"

enum { PERIOD_NS = 100000000, COST_NS = 1000000, STEP = 10 };

static struct arena arena;
static class_table classes;
static cost_table costs;
static struct periods periods;
static muster_type_def types[2];
static double nominal; /* of the last fit: what all would take */

static void begin(void) {
  muster_world_def def = papers_world_def();
  arena = begin_arena();
  classes_create(&classes, 2, 100, 1, &arena);
  costs_create(&costs, 2, &arena);
  periods_create(&periods, &classes, &def, &arena);
  for (uint32_t type = 0; type < 2; type++) {
    types[type] = WITH(muster_type_def, it.period_ns = PERIOD_NS, it.period_max_ns = 10u * PERIOD_NS);
    costs_guess(&costs, type, COST_NS);
  }
}

static void end(void) {
  arena_destroy(&arena);
}

TestSuite(periods_fit, .init = begin, .fini = end);

static agent_class *join(uint32_t type, uint32_t step, uint32_t members) {
  agent_class *class = classes_get(&classes, &types[type], type, 0, step);
  for (uint32_t i = 0; i < members; i++) classes_join(&classes, class, &(agent_row){0});
  return class;
}

/* Fits to a share of what all would take; the mean deviation in ns. */
static double fit(double share) {
  fit_result all = periods_fit(&periods, &classes, &costs, 1e9, 0).fit;
  nominal = all.nominal_sum;
  double desired = share * all.nominal_sum;
  return periods_fit(&periods, &classes, &costs, desired, 0).deviation_ns;
}

static void expect_near(double value, double wanted, const char *what) {
  cr_assert(fabs(value - wanted) <= 1e-9 * fmax(fabs(wanted), 1.0), "%s is %.12g instead of %.12g", what, value,
            wanted);
}

Test(periods_fit, stretches_in_proportion_to_elasticity_and_reports_the_mean_of_agents) {
  agent_class *stiff = join(0, STEP, 3), *soft = join(1, STEP + 8, 1); /* an octave softer */
  double deviation_ns = fit(0.8);
  expect_near(nominal, 4.0 * COST_NS / PERIOD_NS, "what all would take");
  expect_near((3.0 * stiff->rate + soft->rate) / 4.0, 0.8, "what they take");
  expect_near((1.0 - soft->rate) / (1.0 - stiff->rate), soft->elasticity / stiff->elasticity, "how much more it gives");
  double stretched_ns = 3.0 * (PERIOD_NS / stiff->rate - PERIOD_NS) + (PERIOD_NS / soft->rate - PERIOD_NS);
  expect_near(deviation_ns, stretched_ns / 4.0, "the mean stretch");
  cr_assert_eq(classes_real_ns(stiff, stiff->nominal_ns), (uint64_t)(PERIOD_NS / stiff->rate));
}

Test(periods_fit, leaves_out_types_that_stand_still) {
  agent_class *running = join(0, STEP, 2);
  join(1, STEP, 50);
  classes.frozen[1] = true;
  double deviation_ns = fit(0.5);
  expect_near(nominal, 2.0 * COST_NS / PERIOD_NS, "what all would take");
  expect_near(running->rate, 0.5, "the rate");
  expect_near(deviation_ns, PERIOD_NS, "the mean stretch");
  classes.frozen[0] = true;
  cr_assert_eq(fit(0.5), 0.0, "nobody is stretched");
  cr_assert_eq(nominal, 0.0);
}

Test(periods_fit, is_of_those_who_are_left) {
  agent_class *joined[4];
  for (uint32_t i = 0; i < 4; i++) joined[i] = join(i % 2, STEP + i / 2, 1);
  joined[1]->pace.beat_ns = 1.0;
  classes_leave(&classes, joined[1], &(agent_row){0});
  cr_assert_eq(joined[1]->pace.beat_ns, 0.0, "a class that comes back learns its pace anew");
  classes_leave(&classes, joined[3], &(agent_row){0});
  fit(0.5);
  expect_near(nominal, 2.0 * COST_NS / PERIOD_NS, "what all would take");
  expect_near((joined[0]->rate + joined[2]->rate) / 2.0, 0.5, "what they take");
  cr_assert_eq(joined[1]->rate, 1.0, "nobody has a part in it");
  join(1, STEP, 1);
  fit(0.5);
  expect_near(nominal, 3.0 * COST_NS / PERIOD_NS, "what all would take");
  cr_assert_lt(joined[1]->rate, 1.0, "somebody has come back");
  classes_leave(&classes, joined[0], &(agent_row){0});
  classes_leave(&classes, joined[1], &(agent_row){0});
  classes_leave(&classes, joined[2], &(agent_row){0});
  cr_assert_eq(fit(0.5), 0.0, "nobody is there");
  cr_assert_eq(nominal, 0.0);
}

/* What runs in a frame of that length, when each agent runs once at most. */
static double runs_in(double frame_ns) {
  double sum = 0.0;
  for (uint32_t i = 0; i < classes.active_count; i++) {
    const agent_class *class = &classes.classes[classes.active[i]];
    sum += class->members * fmin(frame_ns * class->rate / (double)class->nominal_ns, 1.0);
  }
  return sum;
}

Test(periods_fit, fills_frames_that_are_longer_than_periods) {
  muster_world_def law = muster_world_def_default();
  double frame_ns = 2.5 * PERIOD_NS, most = 50.0;
  periods_create(&periods, &classes, &law, &arena);
  join(0, STEP, 30), join(0, STEP + 24, 40); /* whose periods are eight times as long, with room */
  periods_told told = periods_fit(&periods, &classes, &costs, most * COST_NS / frame_ns, (uint64_t)frame_ns);
  expect_near(runs_in(frame_ns), most, "what runs in a frame");
  expect_near(told.everybody_ns, 70.0 * COST_NS, "what one update of each takes");
  periods_fit(&periods, &classes, &costs, 71.0 * COST_NS / frame_ns, (uint64_t)frame_ns);
  expect_near(runs_in(frame_ns), 70.0, "what runs where there is room");
}

/* A type that is only called asks for as much as its calls usually take, and never gives way. */
Test(periods_fit, keeps_free_what_calls_usually_take) {
  types[1].elapsed.contract = MUSTER_ELAPSED_EVENTS;
  agent_class *timed = join(0, STEP, 2), *called = join(1, STEP, 5);
  called->events_per_ns = 1.0 / PERIOD_NS;
  double deviation_ns = fit(2.0 / 3.0);
  expect_near(nominal, 3.0 * COST_NS / PERIOD_NS, "what all would take");
  expect_near(timed->rate, 0.5, "the rate of those with a period");
  expect_near(called->rate, 1.0, "the rate of those without");
  expect_near(deviation_ns, PERIOD_NS, "the mean stretch of those with a period");
}

/* The longest period that a type may have beside the shortest one. */
Test(periods_fit, keeps_to_the_longest_period_however_long_that_is) {
  types[0].period_ns = 100000u;
  types[0].period_max_ns = 86400000000000u;
  agent_class *class = join(0, ELASTICITY_STEP_OF_ONE, 10);
  fit(0.0);
  expect_near((double)class->nominal_ns / class->rate, 86400e9, "the period at no time at all");
}
