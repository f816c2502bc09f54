/* Costs that grow with the time that has passed, by the law of importance: what no period lowers is told, periods are
 * fitted to the rest, and where even that does not fit they stop. */
#include "plan/periods.h"
#include "support/little_world.h"
#include "support/snapshots.h"
#include "world/world_queues.h"
#include "world/world_sound.h"

enum { AGENTS = 2000, BUDGET_NS = 2000000, LONGEST_NS = 100000000, LEVELS_OF_IMPORTANCE = 8 };

/* What an update costs, and each second more. */
struct line {
  uint64_t fixed_ns, second_ns;
};

static struct line line;

static uint64_t cost_of(const muster_cost_query *query, void *user) {
  (void)user;
  return line.fixed_ns + (uint64_t)((double)line.second_ns * (double)query->elapsed_ns * 1e-9);
}

static double capacity(void) {
  return (double)BUDGET_NS / (double)FRAME_NS;
}

/* The time that passes costs `elapsed` times the capacity, and the longest periods `rest` times besides. */
static void set_line(double elapsed, double rest) {
  double each = capacity() / AGENTS;
  line = (struct line){(uint64_t)(rest * each * LONGEST_NS), (uint64_t)(elapsed * each * 1e9)};
}

static little_world open_world(uint32_t workers, uint64_t (*cost)(const muster_cost_query *, void *)) {
  static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 20000};
  muster_world_def world = muster_world_def_default();
  world.clock.kind = MUSTER_CLOCK_VIRTUAL;
  world.limits.agents_max = AGENTS;
  little_world little = little_world_create(workers, &world);
  muster_type_def def = type_with(&atom, 1);
  def.name = "walker";
  def.models.cost_ns = cost;
  def.overruns.demote = 0;
  def.period_ns = 20000000;
  def.period_max_ns = LONGEST_NS;
  register_type(&little, &def);
  return little;
}

static void populate(little_world *little) {
  for (uint32_t i = 0; i < AGENTS; i++) {
    muster_agent_def def = muster_agent_def_default();
    def.type = little->type;
    def.position.x = 1000.0 * i;
    def.importance_floor = (float)(i % LEVELS_OF_IMPORTANCE) / LEVELS_OF_IMPORTANCE;
    cr_assert(!muster_agent_is_null(muster_agent_spawn(little->world, &def)));
  }
}

static little_world populated_world(uint32_t workers, double elapsed, double rest, double seconds) {
  set_line(elapsed, rest);
  little_world little = open_world(workers, cost_of);
  populate(&little);
  for (uint32_t i = 0; i < (uint32_t)(seconds * 1e9 / FRAME_NS); i++) run_frame_with(&little, BUDGET_NS);
  return little;
}

/* Means of frames. */
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

static void expect_sound(const muster_world *world) {
  soundness found = {0};
  world_is_sound(world, WORLD_RESTS, &found);
  cr_assert(!found.broken, "%s", found.trouble);
}

Test(elapsed_load, half_of_the_capacity_is_told_and_periods_share_the_rest) {
  little_world little = populated_world(1, 0.5, 5.5, 60.0);
  struct seen first = watch(&little, 600), later;
  for (uint32_t i = 0; i < 3000; i++) run_frame_with(&little, BUDGET_NS);
  later = watch(&little, 600);
  cr_expect_float_eq(first.elapsed_load, 0.5, 0.05, "b %g", first.elapsed_load);
  cr_expect_float_eq(first.fitted / first.ran, 1.0, 0.05, "fitted %g, ran %g", first.fitted, first.ran);
  cr_expect_float_eq(later.fitted / later.ran, 1.0, 0.05, "fitted %g, ran %g", later.fitted, later.ran);
  cr_expect_float_eq(later.period_s / first.period_s, 1.0, 0.1, "periods of %g s, and then %g s", first.period_s,
                     later.period_s);
  cr_expect_eq(later.put_off, 0.0);
  expect_sound(little.world);
  little_world_destroy(&little);
}

Test(elapsed_load, more_than_there_is_is_told_within_two_seconds_and_periods_stop) {
  little_world little = populated_world(1, 1.5, 0.5, 2.0);
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
  expect_sound(little.world);
  little_world_destroy(&little);
}

/* Even the most important cost more than there is. */
Test(elapsed_load, somebody_runs_though_there_is_time_for_nobody) {
  little_world little = populated_world(1, 20.0, 0.5, 2.0);
  for (uint32_t i = 0; i < 600; i++) run_frame_with(&little, BUDGET_NS);
  struct seen seen = watch(&little, 600);
  cr_expect_gt(seen.elapsed_load, 10.0, "b %g", seen.elapsed_load);
  cr_expect_float_eq(seen.put_off, AGENTS * (1.0 - 1.0 / LEVELS_OF_IMPORTANCE), 1.0, "%g are put off", seen.put_off);
  cr_expect_gt(seen.ran, 0.9 * capacity(), "%g of %g are used", seen.ran, capacity());
  expect_sound(little.world);
  little_world_destroy(&little);
}

Test(elapsed_load, the_important_run_in_time_whatever_the_others_cost) {
  little_world little = populated_world(1, 1.5, 0.5, 60.0);
  uint64_t longest_ns = 0;
  for (muster_agent agent = muster_agent_next(little.world, (muster_agent){0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(little.world, agent)) {
    muster_agent_info info = muster_agent_info_default();
    cr_assert_eq(muster_agent_read(little.world, agent, &info), MUSTER_OK);
    if (info.importance < 0.8f) continue;
    uint64_t age_ns = little.now_ns - info.last_update_ns;
    if (age_ns > longest_ns) longest_ns = age_ns;
  }
  cr_expect(longest_ns < LONGEST_NS, "%g s", (double)longest_ns * 1e-9);
  little_world_destroy(&little);
}

static uint64_t constant_cost(const muster_cost_query *query, void *user) {
  (void)user;
  return query->agent.value % 10 ? 10000 : 200000;
}

Test(elapsed_load, costs_by_agent_are_none) {
  little_world little = open_world(1, constant_cost);
  populate(&little);
  for (uint32_t i = 0; i < 3000; i++) {
    muster_frame_report report = run_frame_with(&little, BUDGET_NS);
    cr_assert_eq(report.elapsed_load, 0.0f, "frame %u", i);
    cr_assert_eq(report.elapsed_type.index, 0);
  }
  little_world_destroy(&little);
}

Test(elapsed_load, types_tell_their_part) {
  little_world little = populated_world(1, 0.5, 2.0, 30.0);
  muster_type_cost cost = muster_type_cost_default();
  cr_assert_eq(muster_type_cost_read(little.world, little.type, 0, &cost), MUSTER_OK);
  cr_expect_float_eq((double)cost.per_second_ns, (double)line.second_ns, 0.1 * (double)line.second_ns, "%lu",
                     cost.per_second_ns);
  cr_expect_float_eq((double)cost.fixed_ns, (double)line.fixed_ns, 0.2 * (double)line.fixed_ns, "%lu", cost.fixed_ns);
  cr_expect_float_eq((double)cost.elapsed_load, 0.5, 0.05, "%g", (double)cost.elapsed_load);
  little_world_destroy(&little);
}

Test(elapsed_load, is_the_same_on_any_number_of_workers_and_in_snapshots) {
  little_world one = populated_world(1, 1.5, 0.5, 20.0), many = populated_world(3, 1.5, 0.5, 20.0);
  cr_assert_eq(muster_world_hash(one.world), muster_world_hash(many.world));
  little_world loaded = open_world(2, cost_of);
  saved_world saved = save_world(one.world);
  cr_assert_eq(load_world(loaded.world, saved.bytes, saved.count), MUSTER_OK, "%s", muster_last_error());
  loaded.now_ns = one.now_ns;
  for (uint32_t i = 0; i < 200; i++) {
    muster_frame_report report = run_frame_with(&one, BUDGET_NS), other = run_frame_with(&loaded, BUDGET_NS);
    cr_assert_eq(muster_world_hash(one.world), muster_world_hash(loaded.world), "frame %u", i);
    cr_assert_eq(report.elapsed_load, other.elapsed_load);
    cr_assert_eq(report.agents_put_off, other.agents_put_off);
  }
  little_world_destroy(&one);
  little_world_destroy(&many);
  little_world_destroy(&loaded);
  free(saved.bytes);
}
