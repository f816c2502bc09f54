/* Costs that grow with the time that has passed, by the law of importance: what no period lowers is told, periods are
 * fitted to the rest, and where even that does not fit they stop. */
#include "plan/periods.h"
#include "support/whole_frames.h"
#include "world/fixture.h"
#include "world/world_queues.h"

enum { AGENTS = 2000, BUDGET_NS = 2000000, LONGEST_NS = 100000000, LEVELS_OF_IMPORTANCE = 8 };

/* What an update costs, and each second more. */
static struct line { uint64_t fixed_ns, second_ns; } line;

static uint64_t cost_of(const muster_cost_query *query, void *user) {
  (void)user;
  return line.fixed_ns + (uint64_t)((double)line.second_ns * (double)query->elapsed_ns * 1e-9);
}

static double capacity(void) {
  return (double)BUDGET_NS / (double)FRAME_NS;
}

static little_world open_world(uint32_t workers, uint64_t (*cost)(const muster_cost_query *, void *)) {
  little_world little = little_world_of(workers, WITH(virtual_world_def, it.limits.agents_max = AGENTS));
  add_type(&little, CHANGED(type_running(nothing, 20000), it.name = "walker", it.models.cost_ns = cost,
                            it.overruns.demote = 0, it.period_ns = 20000000, it.period_max_ns = LONGEST_NS));
  return little;
}

static void populate(little_world *little) {
  for (uint32_t i = 0; i < AGENTS; i++)
    spawn_as(little, WITH(muster_agent_def, it.position.x = 1000.0 * i,
                          it.importance_floor = (float)(i % LEVELS_OF_IMPORTANCE) / LEVELS_OF_IMPORTANCE));
}

/* The time that passes costs `elapsed` times the capacity, and the longest periods `rest` times besides. */
static little_world populated_world(uint32_t workers, double elapsed, double rest, double seconds) {
  double each = capacity() / AGENTS;
  line = (struct line){(uint64_t)(rest * each * LONGEST_NS), (uint64_t)(elapsed * each * 1e9)};
  little_world little = open_world(workers, cost_of);
  populate(&little);
  for (uint32_t i = 0; i < (uint32_t)(seconds * 1e9 / FRAME_NS); i++) run_frame_with(&little, BUDGET_NS);
  return little;
}

struct seen {
  double fitted, nominal, ran, elapsed_load, period_s,
      put_off; /* period: of an agent that is not put off, in the mean */
};

static double period_of(const little_world *little) {
  const class_table *classes = &little->world->queues->classes;
  double sum_s = 0, members = 0;
  for (uint32_t i = 0; i < classes->active_count; i++) {
    const agent_class *class = &classes->classes[classes->active[i]];
    if (class->rate <= PERIODS_RATE_LEAST) continue;
    sum_s += class->members * (double)classes_period_ns(class) * 1e-9;
    members += class->members;
  }
  return members > 0 ? sum_s / members : 0.0;
}

static struct seen watch(little_world *little, uint32_t frames) {
  struct seen seen = {0};
  uint64_t before_ns = little->now_ns;
  for (uint32_t i = 0; i < frames; i++) {
    muster_frame_report report = run_frame_with(little, BUDGET_NS);
    seen.fitted += (double)report.utilisation_fitted / frames;
    seen.nominal += (double)report.utilisation_nominal / frames;
    seen.elapsed_load += (double)report.elapsed_load / frames;
    seen.put_off += (double)report.agents_put_off / frames;
    seen.ran += (double)report.update_cpu_ns;
    seen.period_s += period_of(little) / frames;
  }
  seen.ran /= (double)(little->now_ns - before_ns);
  return seen;
}

Test(elapsed_load, half_of_the_capacity_is_told_and_periods_share_the_rest) {
  SCOPED_WORLD little = populated_world(1, 0.5, 5.5, 60.0);
  struct seen first = watch(&little, 600), later;
  for (uint32_t i = 0; i < 3000; i++) run_frame_with(&little, BUDGET_NS);
  later = watch(&little, 600);
  cr_expect_float_eq(first.elapsed_load, 0.5, 0.05, "b %g", first.elapsed_load);
  cr_expect_float_eq(first.fitted / first.ran, 1.0, 0.05, "fitted %g, ran %g", first.fitted, first.ran);
  cr_expect_float_eq(later.fitted / later.ran, 1.0, 0.05, "fitted %g, ran %g", later.fitted, later.ran);
  cr_expect_float_eq(later.period_s / first.period_s, 1.0, 0.1, "%g s, then %g s", first.period_s, later.period_s);
  cr_expect_eq(later.put_off, 0.0);
  must_be_sound(little.world);
}

Test(elapsed_load, more_than_there_is_is_told_within_two_seconds_and_periods_stop) {
  SCOPED_WORLD little = populated_world(1, 1.5, 0.5, 2.0);
  muster_frame_report report = run_frame_with(&little, BUDGET_NS);
  cr_expect_gt(report.elapsed_load, 1.0f, "%g", (double)report.elapsed_load);
  cr_expect_eq(report.elapsed_type.index, little.type.index);
  for (uint32_t i = 0; i < 600; i++) run_frame_with(&little, BUDGET_NS);
  struct seen first = watch(&little, 600), later;
  for (uint32_t i = 0; i < 3000; i++) run_frame_with(&little, BUDGET_NS);
  later = watch(&little, 600);
  cr_expect_float_eq(first.elapsed_load, 1.5, 0.15, "b %g", first.elapsed_load);
  cr_expect(later.period_s < 1.25 * first.period_s, "periods of %g s, and then %g s", first.period_s, later.period_s);
  double least = 0.25,
         most_s = 0.5 / least * LONGEST_NS * 1e-9; /* report.h: a quarter of the capacity is for periods */
  cr_expect(later.period_s <= most_s, "periods of %g s, and %g s are the most", later.period_s, most_s);
  cr_expect(later.put_off > 0.4 * AGENTS && later.put_off < 0.7 * AGENTS, "%g are put off", later.put_off);
  must_be_sound(little.world);
}

/* Even the most important cost more than there is. */
Test(elapsed_load, somebody_runs_though_there_is_time_for_nobody) {
  SCOPED_WORLD little = populated_world(1, 20.0, 0.5, 2.0);
  for (uint32_t i = 0; i < 600; i++) run_frame_with(&little, BUDGET_NS);
  struct seen seen = watch(&little, 600);
  cr_expect_gt(seen.elapsed_load, 10.0, "b %g", seen.elapsed_load);
  cr_expect_float_eq(seen.put_off, AGENTS * (1.0 - 1.0 / LEVELS_OF_IMPORTANCE), 1.0, "%g are put off", seen.put_off);
  cr_expect_gt(seen.ran, 0.9 * capacity(), "%g of %g are used", seen.ran, capacity());
  must_be_sound(little.world);
}

Test(elapsed_load, the_important_run_in_time_whatever_the_others_cost) {
  SCOPED_WORLD little = populated_world(1, 1.5, 0.5, 60.0);
  uint64_t longest_ns = 0;
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little.world, agent));) {
    muster_agent_info info = info_of(&little, agent);
    if (info.importance >= 0.8f && little.now_ns - info.last_update_ns > longest_ns)
      longest_ns = little.now_ns - info.last_update_ns;
  }
  cr_expect(longest_ns < LONGEST_NS, "%g s", (double)longest_ns * 1e-9);
}

static uint64_t constant_cost(const muster_cost_query *query, void *user) {
  (void)user;
  return query->agent.value % 10 ? 10000 : 200000;
}

Test(elapsed_load, costs_by_agent_are_none) {
  SCOPED_WORLD little = open_world(1, constant_cost);
  populate(&little);
  for (uint32_t i = 0; i < 3000; i++) {
    muster_frame_report report = run_frame_with(&little, BUDGET_NS);
    cr_assert_eq(report.elapsed_load, 0.0f, "frame %u", i);
    cr_assert_eq(report.elapsed_type.index, 0);
  }
}

Test(elapsed_load, types_tell_their_part) {
  SCOPED_WORLD little = populated_world(1, 0.5, 2.0, 30.0);
  muster_type_cost cost = type_cost_of(&little);
  cr_expect_float_eq((double)cost.per_second_ns, (double)line.second_ns, 0.1 * (double)line.second_ns, "%lu",
                     cost.per_second_ns);
  cr_expect_float_eq((double)cost.fixed_ns, (double)line.fixed_ns, 0.2 * (double)line.fixed_ns, "%lu", cost.fixed_ns);
  cr_expect_float_eq((double)cost.elapsed_load, 0.5, 0.05, "%g", (double)cost.elapsed_load);
}

Test(elapsed_load, is_the_same_on_any_number_of_workers_and_in_snapshots) {
  SCOPED_WORLD one = populated_world(1, 1.5, 0.5, 20.0), many = populated_world(3, 1.5, 0.5, 20.0);
  cr_assert_eq(muster_world_hash(one.world), muster_world_hash(many.world));
  SCOPED_WORLD loaded = open_world(2, cost_of);
  copy_world(&one, &loaded);
  for (uint32_t i = 0; i < 200; i++) {
    muster_frame_report report = run_frame_with(&one, BUDGET_NS), other = run_frame_with(&loaded, BUDGET_NS);
    cr_assert_eq(muster_world_hash(one.world), muster_world_hash(loaded.world), "frame %u", i);
    cr_assert_eq(report.elapsed_load, other.elapsed_load);
    cr_assert_eq(report.agents_put_off, other.agents_put_off);
  }
}
