/* The world of updates of one cost, in virtual time: there an update costs what the module says, to the nanosecond. */
#include "scenarios/scene.h"

enum { AGENTS = 2000, SPREAD = 4 };

#define SIDE_M 10000.0

static struct scene open_with(uint32_t agents, uint32_t observers, uint64_t cost_ns, uint64_t capacity_ns) {
  return scene_open(muster_module_fixed(),
                    WITH(muster_module_options, it.agents = agents, it.observers = observers, it.cost_ns = cost_ns), 1,
                    capacity_ns);
}

static muster_frame_report run_frame(struct scene *scene, uint64_t frame_ns) {
  return scene_frame_at(scene, scene->frames++ * frame_ns);
}

static double number(const struct scene *scene, const char *name) {
  double value = scene_reported(scene, name);
  cr_assert(isfinite(value), "%s", name);
  return value;
}

/* Counts the agents in each of the SPREAD x SPREAD parts of the square. */
static void count_parts(const struct scene *scene, uint32_t parts[SPREAD][SPREAD]) {
  for (scene_agent one = {0}; scene_next_agent(scene, &one);) {
    muster_position at = one.info.position;
    cr_assert(at.x >= 0 && at.x <= SIDE_M && at.y >= 0 && at.y <= SIDE_M);
    uint32_t column = (uint32_t)(at.x / SIDE_M * SPREAD), row = (uint32_t)(at.y / SIDE_M * SPREAD);
    parts[column < SPREAD ? column : SPREAD - 1][row < SPREAD ? row : SPREAD - 1]++;
  }
}

static double importance_of_all(const struct scene *scene) {
  double sum = 0;
  for (scene_agent one = {0}; scene_next_agent(scene, &one);) sum += (double)one.info.importance;
  return sum;
}

Test(fixed, asks_for_room_for_as_many_agents_and_observers_as_were_wanted) {
  muster_module_options options = WITH(muster_module_options, it.agents = 3, it.observers = 5000);
  struct scene scene = scene_begin(muster_module_fixed(), options, 0);
  cr_assert_eq(scene.needs.agents, 3);
  cr_assert_geq(scene.needs.agents_max, 3);
  cr_assert_eq(scene.needs.observers, 5000);
  scene.module->close(scene.instance);
}

Test(fixed, spreads_its_agents_evenly_over_a_square_of_ten_kilometres) {
  uint32_t parts[SPREAD][SPREAD] = {{0}};
  SCOPED(scene_close) struct scene scene = open_with(AGENTS, 1, 100, 10000000);
  run_frame(&scene, SCENE_FRAME_NS);
  count_parts(&scene, parts);
  for (uint32_t i = 0; i < SPREAD * SPREAD; i++) {
    uint32_t count = parts[i / SPREAD][i % SPREAD];
    cr_assert(count > AGENTS / 32 && count < AGENTS / 8, "part %u holds %u of %d agents", i, count, AGENTS);
  }
}

Test(fixed, updates_cost_what_was_asked_for) {
  static const uint64_t costs_ns[] = {0, 100, 20000, 500000}, charged_ns[] = {5000, 100, 20000, 500000};
  for (size_t i = 0; i < COUNT_OF(costs_ns); i++) {
    SCOPED(scene_close) struct scene scene = open_with(100, 1, costs_ns[i], 1000000000);
    uint64_t completed = 0, spent_ns = 0;
    for (int frame = 0; frame < 6; frame++) {
      muster_frame_report report = run_frame(&scene, SCENE_FRAME_NS);
      completed += report.completed;
      spent_ns += report.update_cpu_ns;
    }
    cr_assert_gt(completed, 0);
    cr_assert_eq(spent_ns, completed * charged_ns[i]);
    cr_assert_eq(number(&scene, "cost_ns"), (double)charged_ns[i]);
    cr_assert_eq(number(&scene, "updates"), (double)completed);
  }
}

/* 2,000 agents of 5 us that would run every 100 ms have 0.5 ms per frame here, 100 updates: one turn in 20 frames. */
Test(fixed, gives_way_to_load_until_everybody_fits) {
  SCOPED(scene_close) struct scene scene = open_with(AGENTS, 1, 5000, 500000);
  for (int frame = 0; frame < 150; frame++) run_frame(&scene, SCENE_FRAME_NS);
  muster_frame_report report = run_frame(&scene, SCENE_FRAME_NS);
  cr_assert(report.pressure > 0 && report.pressure < 1, "pressure is %g", (double)report.pressure);
  cr_assert_leq(report.completed, 100);
  cr_assert_gt(number(&scene, "lived_s_per_agent"), 151 * 0.0333 / 2);
}

Test(fixed, has_observers_that_walk) {
  SCOPED(scene_close) struct scene scene = open_with(AGENTS, 100, 100, 10000000);
  run_frame(&scene, SCENE_FRAME_NS);
  double before = importance_of_all(&scene);
  cr_assert_gt(before, 0);
  scene.frames = 200; /* that many seconds: 280 m */
  run_frame(&scene, 1000000000);
  double after = importance_of_all(&scene);
  cr_assert_gt(after, 0);
  cr_assert_neq(before, after);
}

static uint64_t hash_after(uint32_t workers, uint64_t seed) {
  muster_module_options options =
      WITH(muster_module_options, it.agents = AGENTS, it.observers = 20, it.cost_ns = 5000, it.seed = seed);
  SCOPED(scene_close) struct scene scene = scene_open(muster_module_fixed(), options, workers, 1000000);
  for (int frame = 0; frame < 60; frame++) run_frame(&scene, SCENE_FRAME_NS);
  return muster_world_hash(scene.world);
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
  for (size_t i = 0; i < COUNT_OF(refusals); i++)
    scene_refuses(muster_module_fixed(), refusals[i].options, refusals[i].result, refusals[i].says);
}

Test(fixed, reads_no_cost_from_options_that_end_before_it) {
  muster_module_options options = WITH(muster_module_options, it.agents = 10, it.observers = 1, it.cost_ns = 77777,
                                       it.size = offsetof(muster_module_options, cost_ns));
  SCOPED(scene_close) struct scene scene = scene_open(muster_module_fixed(), options, 1, 10000000);
  cr_assert_eq(number(&scene, "cost_ns"), 5000);
}
