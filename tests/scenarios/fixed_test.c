/* The world of updates of one cost, in virtual time: there an update costs what the module says, to the nanosecond. */
#include "scenarios/scenarios.h"
#include "support/full_frames.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { AGENTS = 2000, SPREAD = 4 };

#define FRAME_NS 33333333u
#define SIDE_M   10000.0

typedef struct square {
  void *instance;
  muster_module_needs needs;
  muster_pool *pool;
  muster_world *world;
  uint64_t frames;
} square;

static muster_module_options options_for(uint32_t agents, uint32_t observers, uint64_t cost_ns) {
  muster_module_options options = muster_module_options_default();
  options.agents = agents;
  options.observers = observers;
  options.cost_ns = cost_ns;
  return options;
}

static square square_open(const muster_module_options *options, uint32_t workers, uint64_t capacity_ns) {
  square it = {.needs = {.size = sizeof it.needs}};
  const muster_module *module = muster_module_fixed();
  cr_assert_eq(module->open(options, &it.instance, &it.needs), MUSTER_OK, "%s", muster_last_error());
  muster_pool_def pool = muster_pool_def_default();
  pool.workers = workers;
  it.pool = muster_pool_create(&pool);
  cr_assert_not_null(it.pool, "%s", muster_last_error());
  muster_world_def def = muster_world_def_default();
  def.pool = it.pool;
  def.limits.agents_max = it.needs.agents_max;
  def.limits.observers_max = it.needs.observers;
  def.limits.commands_max += it.needs.observers;
  def.seed = options->seed;
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.clock.capacity_ns = capacity_ns;
  it.world = muster_world_create(&def);
  cr_assert_not_null(it.world, "%s", muster_last_error());
  cr_assert_eq(module->populate(it.instance, it.world), MUSTER_OK, "%s", muster_last_error());
  return it;
}

static void square_close(square *it) {
  destroy_full(it->world);
  muster_module_fixed()->close(it->instance);
  muster_pool_destroy(it->pool);
}

static muster_frame_report run_frame(square *it, uint64_t frame_ns) {
  muster_frame_report report = muster_frame_report_default();
  uint64_t sim_now_ns = it->frames++ * frame_ns;
  muster_module_fixed()->before_frame(it->instance, it->world, sim_now_ns);
  cr_assert_eq(muster_frame_run(it->world, &(muster_frame){sim_now_ns, 10000000}), MUSTER_OK, "%s",
               muster_last_error());
  muster_frame_report_read(it->world, &report);
  return report;
}

typedef struct wanted {
  const char *name;
  double value;
} wanted;

static void take(const char *name, double value, void *user) {
  wanted *number = user;
  if (strcmp(name, number->name) == 0) number->value = value;
}

static double number(const square *it, const char *name) {
  wanted number = {name, (double)NAN};
  muster_module_fixed()->report(it->instance, it->world, take, &number);
  cr_assert(isfinite(number.value), "the report has no '%s'", name);
  return number.value;
}

/* Counts the agents in each of the SPREAD x SPREAD parts of the square. */
static void count_parts(const square *it, uint32_t parts[SPREAD][SPREAD]) {
  muster_agent_info info = muster_agent_info_default();
  for (muster_agent agent = muster_agent_next(it->world, (muster_agent){0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(it->world, agent)) {
    cr_assert_eq(muster_agent_read(it->world, agent, &info), MUSTER_OK);
    cr_assert(info.position.x >= 0 && info.position.x <= SIDE_M && info.position.y >= 0 && info.position.y <= SIDE_M);
    uint32_t column = (uint32_t)(info.position.x / SIDE_M * SPREAD),
             row = (uint32_t)(info.position.y / SIDE_M * SPREAD);
    parts[column < SPREAD ? column : SPREAD - 1][row < SPREAD ? row : SPREAD - 1]++;
  }
}

static double importance_of_all(const square *it) {
  double sum = 0;
  muster_agent_info info = muster_agent_info_default();
  for (muster_agent agent = muster_agent_next(it->world, (muster_agent){0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(it->world, agent)) {
    cr_assert_eq(muster_agent_read(it->world, agent, &info), MUSTER_OK);
    sum += (double)info.importance;
  }
  return sum;
}

Test(fixed, asks_for_room_for_as_many_agents_and_observers_as_were_wanted) {
  muster_module_options options = options_for(3, 5000, 0);
  muster_module_needs needs = {.size = sizeof needs};
  void *instance = NULL;
  cr_assert_eq(muster_module_fixed()->open(&options, &instance, &needs), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(needs.agents, 3);
  cr_assert_geq(needs.agents_max, 3);
  cr_assert_eq(needs.observers, 5000);
  muster_module_fixed()->close(instance);
}

Test(fixed, spreads_its_agents_evenly_over_a_square_of_ten_kilometres) {
  uint32_t parts[SPREAD][SPREAD] = {{0}};
  muster_module_options options = options_for(AGENTS, 1, 100);
  square it = square_open(&options, 1, 10000000);
  run_frame(&it, FRAME_NS);
  count_parts(&it, parts);
  for (uint32_t i = 0; i < SPREAD * SPREAD; i++) {
    uint32_t count = parts[i / SPREAD][i % SPREAD];
    cr_assert(count > AGENTS / 32 && count < AGENTS / 8, "part %u holds %u of %d agents", i, count, AGENTS);
  }
  square_close(&it);
}

Test(fixed, updates_cost_what_was_asked_for) {
  static const uint64_t costs_ns[] = {0, 100, 20000, 500000}, charged_ns[] = {5000, 100, 20000, 500000};
  for (size_t i = 0; i < sizeof costs_ns / sizeof *costs_ns; i++) {
    muster_module_options options = options_for(100, 1, costs_ns[i]);
    square it = square_open(&options, 1, 1000000000);
    uint64_t completed = 0, spent_ns = 0;
    for (int frame = 0; frame < 6; frame++) {
      muster_frame_report report = run_frame(&it, FRAME_NS);
      completed += report.completed;
      spent_ns += report.update_cpu_ns;
    }
    cr_assert_gt(completed, 0);
    cr_assert_eq(spent_ns, completed * charged_ns[i]);
    cr_assert_eq(number(&it, "cost_ns"), (double)charged_ns[i]);
    cr_assert_eq(number(&it, "updates"), (double)completed);
    square_close(&it);
  }
}

/* 2,000 agents of 5 us that would run every 100 ms have 0.5 ms per frame here, 100 updates: one turn in 20 frames. */
Test(fixed, gives_way_to_load_until_everybody_fits) {
  muster_module_options options = options_for(AGENTS, 1, 5000);
  square it = square_open(&options, 1, 500000);
  for (int frame = 0; frame < 150; frame++) run_frame(&it, FRAME_NS);
  muster_frame_report report = run_frame(&it, FRAME_NS);
  cr_assert(report.pressure > 0 && report.pressure < 1, "pressure is %g", (double)report.pressure);
  cr_assert_leq(report.completed, 100);
  cr_assert_gt(number(&it, "lived_s_per_agent"), 151 * 0.0333 / 2);
  square_close(&it);
}

Test(fixed, has_observers_that_walk) {
  muster_module_options options = options_for(AGENTS, 100, 100);
  square it = square_open(&options, 1, 10000000);
  run_frame(&it, FRAME_NS);
  double before = importance_of_all(&it);
  cr_assert_gt(before, 0);
  it.frames = 200; /* that many seconds: 280 m */
  run_frame(&it, 1000000000);
  double after = importance_of_all(&it);
  cr_assert_gt(after, 0);
  cr_assert_neq(before, after);
  square_close(&it);
}

static uint64_t hash_after(uint32_t workers, uint64_t seed) {
  muster_module_options options = options_for(AGENTS, 20, 5000);
  options.seed = seed;
  square it = square_open(&options, workers, 1000000);
  for (int frame = 0; frame < 60; frame++) run_frame(&it, FRAME_NS);
  uint64_t hash = muster_world_hash(it.world);
  square_close(&it);
  return hash;
}

Test(fixed, is_the_same_world_for_the_same_seed_on_any_number_of_workers) {
  uint64_t hash = hash_after(1, 7);
  cr_assert_eq(hash_after(1, 7), hash);
  cr_assert_eq(hash_after(3, 7), hash);
  cr_assert_neq(hash_after(1, 8), hash);
}

Test(fixed, refuses_what_it_cannot_do) {
  static const struct {
    muster_module_options options;
    muster_result result;
    const char *says;
  } refusals[] = {
      {{.size = 0}, MUSTER_E_NOT_INITIALISED, "muster_module_options_default"},
      {{.size = sizeof(muster_module_options), .path = "npcs.csv"}, MUSTER_E_ARGUMENT, "takes no file"},
      {{.size = sizeof(muster_module_options), .agents = 16000001}, MUSTER_E_ARGUMENT, "16000001 agents"},
      {{.size = sizeof(muster_module_options), .observers = 65537}, MUSTER_E_ARGUMENT, "65537 observers"},
      {{.size = sizeof(muster_module_options), .cost_ns = 99}, MUSTER_E_ARGUMENT, "a cost of 99 ns"},
      {{.size = sizeof(muster_module_options), .cost_ns = 500001}, MUSTER_E_ARGUMENT, "a cost of 500001 ns"},
  };
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    void *instance = NULL;
    muster_module_needs needs = {.size = sizeof needs};
    cr_assert_eq(muster_module_fixed()->open(&refusals[i].options, &instance, &needs), refusals[i].result);
    cr_assert(strstr(muster_last_error(), refusals[i].says) != NULL, "it says: %s", muster_last_error());
    cr_assert_null(instance);
  }
}

Test(fixed, reads_no_cost_from_options_that_end_before_it) {
  muster_module_options options = options_for(10, 1, 77777);
  options.size = offsetof(muster_module_options, cost_ns);
  square it = square_open(&options, 1, 10000000);
  cr_assert_eq(number(&it, "cost_ns"), 5000);
  square_close(&it);
}
