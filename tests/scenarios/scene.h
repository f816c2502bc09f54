/* tests/scenarios/scene.h - a scenario on a stage: module, pool and world under the virtual clock, frames of 30 Hz, and
 * what the waits and costs of its frames came to. */
#ifndef SCENE_H
#define SCENE_H

#include "examples/worlds/worlds.h"
#include "scenarios/scenarios.h"
#include "support/full_frames.h"
#include "support/papers_rules.h"
#include "support/with.h"

#include <muster/module.h>

#include <math.h>
#include <stdio.h>

#define SCENE_FRAME_NS 33333333u

struct scene {
  const muster_module *module;
  void *instance;
  muster_module_needs needs;
  muster_pool *pool;
  muster_world *world;
  uint64_t seed, now_ns, budget_ns, capacity_ns, turn_longest_ns;
  uint32_t frames;
  /* Of all frames: */
  uint64_t longest_wait_ns, worst_excess_ns; /* excess: what was spent beyond capacity and the longest update */
  uint64_t longest_claim_ns;
  uint32_t completed_least; /* in a frame at whose end work waited */
  uint32_t agents_max, late_max;
  double nominal, desired; /* utilisations, summed over frames */
};

static inline muster_module_options scene_options(uint32_t agents, uint64_t seed) {
  return WITH(muster_module_options, it.agents = agents, it.seed = seed);
}

/* A scene of a module that is opened, and has no world yet. */
static inline struct scene scene_begin(const muster_module *module, muster_module_options options,
                                       uint64_t capacity_ns) {
  struct scene scene = {.module = module,
                        .needs.size = sizeof scene.needs,
                        .seed = options.seed,
                        .budget_ns = 10000000u,
                        .capacity_ns = capacity_ns,
                        .completed_least = UINT32_MAX};
  cr_assert_eq(module->open(&options, &scene.instance, &scene.needs), MUSTER_OK, "%s", muster_last_error());
  return scene;
}

/* Pool, world, and what the module puts there. */
static inline void scene_enter(struct scene *scene, uint32_t workers, muster_world_def def) {
  muster_pool_def pool = WITH(muster_pool_def, it.workers = workers);
  scene->pool = muster_pool_create(&pool);
  cr_assert_not_null(scene->pool, "%s", muster_last_error());
  def.pool = scene->pool;
  def.limits.agents_max = scene->needs.agents_max;
  if (scene->needs.observers) def.limits.observers_max = scene->needs.observers;
  def.limits.commands_max += scene->needs.observers;
  if (scene->needs.cell_m > 0) def.cell_m = scene->needs.cell_m;
  def.seed = scene->seed;
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.clock.capacity_ns = scene->capacity_ns;
  scene->world = muster_world_create(&def);
  cr_assert_not_null(scene->world, "%s", muster_last_error());
  cr_assert_eq(scene->module->populate(scene->instance, scene->world), MUSTER_OK, "%s", muster_last_error());
}

static inline struct scene scene_open_with(const muster_module *module, muster_module_options options, uint32_t workers,
                                           uint64_t capacity_ns, muster_world_def rules) {
  struct scene scene = scene_begin(module, options, capacity_ns);
  scene_enter(&scene, workers, rules);
  return scene;
}

static inline struct scene scene_open(const muster_module *module, muster_module_options options, uint32_t workers,
                                      uint64_t capacity_ns) {
  return scene_open_with(module, options, workers, capacity_ns, muster_world_def_default());
}

static inline void scene_close(struct scene *scene) {
  destroy_full(scene->world);
  scene->module->close(scene->instance);
  muster_pool_destroy(scene->pool);
}

/* A frame at some time, of which nothing is noted. */
static inline muster_frame_report scene_frame_at(struct scene *scene, uint64_t now_ns) {
  muster_frame_report report = muster_frame_report_default();
  if (scene->module->before_frame) scene->module->before_frame(scene->instance, scene->world, now_ns);
  muster_result result = muster_frame_run(scene->world, &(muster_frame){now_ns, scene->budget_ns});
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(muster_frame_report_read(scene->world, &report), MUSTER_OK);
  return report;
}

/* One frame, so long after the last. */
static inline muster_frame_report scene_frame(struct scene *scene, uint64_t frame_ns) {
  scene->now_ns += frame_ns;
  muster_frame_report report = scene_frame_at(scene, scene->now_ns);
  scene->frames++;
  if (report.longest_wait_ns > scene->longest_wait_ns) scene->longest_wait_ns = report.longest_wait_ns;
  cr_assert(muster_frame_kept(&report), "frame %u broke the promise", scene->frames);
  uint64_t most_ns = scene->capacity_ns + report.longest_atom_ns;
  uint64_t excess_ns = report.update_cpu_ns > most_ns ? report.update_cpu_ns - most_ns : 0;
  if (excess_ns > scene->worst_excess_ns) scene->worst_excess_ns = excess_ns;
  if (report.carried && report.completed < scene->completed_least) scene->completed_least = report.completed;
  if (report.longest_claim_ns > scene->longest_claim_ns) scene->longest_claim_ns = report.longest_claim_ns;
  if (report.agents > scene->agents_max) scene->agents_max = report.agents;
  if (report.agents_late > scene->late_max) scene->late_max = report.agents_late;
  if (report.turn_longest_ns > scene->turn_longest_ns) scene->turn_longest_ns = report.turn_longest_ns;
  if (scene->frames > 1) { /* the first frame has no period */
    scene->nominal += (double)report.utilisation_nominal;
    scene->desired += (double)report.utilisation_desired;
  }
  return report;
}

static inline void scene_frames(struct scene *scene, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++) scene_frame(scene, SCENE_FRAME_NS);
}

/* For a walk over all agents: `for (scene_agent one = {0}; scene_next_agent(&scene, &one);)`. */
typedef struct scene_agent {
  muster_agent id;
  muster_agent_info info;
} scene_agent;

static inline bool scene_next_agent(const struct scene *scene, scene_agent *one) {
  one->id = muster_agent_next(scene->world, one->id);
  if (muster_agent_is_null(one->id)) return false;
  one->info = muster_agent_info_default();
  cr_assert_eq(muster_agent_read(scene->world, one->id, &one->info), MUSTER_OK);
  return true;
}

typedef struct scene_figure {
  const char *name;
  double value;
} scene_figure;

static inline void scene_keep(const char *name, double value, void *user) {
  scene_figure *wanted = user;
  if (strcmp(name, wanted->name) == 0) wanted->value = value;
}

/* A number of the module's report. */
static inline double scene_reported(const struct scene *scene, const char *name) {
  scene_figure wanted = {name, (double)NAN};
  scene->module->report(scene->instance, scene->world, scene_keep, &wanted);
  cr_assert(!isnan(wanted.value), "the report has no '%s'", name);
  return wanted.value;
}

static inline void scene_expect(const struct scene *scene, const char *name, double value) {
  double reported = scene_reported(scene, name);
  cr_assert_eq(reported, value, "%s is %g, should be %g", name, reported, value);
}

/* What the report says, as in "births > 100, folds >= 10, violations = 0". */
static inline void scene_says(const struct scene *scene, const char *words) {
  for (int length = 0; *words; words += length, words += *words == ',') {
    char name[64], than[3];
    double bound;
    cr_assert_eq(sscanf(words, " %63[a-z0-9_] %2[<=>] %lf%n", name, than, &bound, &length), 3, "what is '%s'?", words);
    double reported = scene_reported(scene, name);
    bool may_be_equal = strchr(than, '=') != NULL;
    cr_assert((reported < bound && *than == '<') || (reported > bound && *than == '>') ||
                  (reported == bound && may_be_equal),
              "%s is %g, which is not %s %g", name, reported, than, bound);
  }
}

/* As report.h has it: x is the least that a frame completed while work waited. */
static inline uint64_t scene_wait_bound_ns(const struct scene *scene, uint64_t frame_ns) {
  uint64_t round = (scene->late_max + scene->completed_least - 1) / scene->completed_least;
  return scene->turn_longest_ns + (round + 1) * frame_ns;
}

static inline void scene_check_waits(const struct scene *scene) {
  cr_assert_leq(scene->longest_wait_ns, scene_wait_bound_ns(scene, SCENE_FRAME_NS), "%lu ns, %u updates at least",
                scene->longest_wait_ns, scene->completed_least);
}

/* How many times the capacity everything at its shortest period would take. */
static inline double scene_overload(const struct scene *scene) {
  return scene->nominal / scene->desired;
}

static inline uint64_t scene_hash_after(const muster_module *module, muster_module_options options, uint32_t workers,
                                        uint64_t capacity_ns, uint32_t frames) {
  SCOPED(scene_close) struct scene scene = scene_open(module, options, workers, capacity_ns);
  scene_frames(&scene, frames);
  return muster_world_hash(scene.world);
}

/* The same seed gives the same world on any number of workers, another seed another one. */
static inline void scene_check_determinism(const muster_module *module, muster_module_options options,
                                           uint64_t capacity_ns, uint32_t frames) {
  uint64_t alone = scene_hash_after(module, options, 1, capacity_ns, frames);
  static const uint32_t workers[] = {2, 8, 64};
  for (uint32_t i = 0; i < COUNT_OF(workers); i++)
    cr_assert_eq(scene_hash_after(module, options, workers[i], capacity_ns, frames), alone, "%u workers", workers[i]);
  options.seed++;
  cr_assert_neq(scene_hash_after(module, options, 2, capacity_ns, frames), alone);
}

/* Where priorities do not rise with age, it is the guarantee that bounds waits. */
static inline void scene_check_guarantee(const muster_module *module, uint32_t agents, uint64_t capacity_ns,
                                         uint32_t frames) {
  const muster_world_def rules = WITH(papers_world_rules, it.priority.wait = 0.0f);
  SCOPED(scene_close) struct scene scene = scene_open_with(module, scene_options(agents, 6), 2, capacity_ns, rules);
  scene_frames(&scene, frames);
  cr_assert_gt(scene.longest_wait_ns, rules.priority.guarantee_ns, "or nobody needed it");
  scene_check_waits(&scene);
}

static inline void scene_refuses(const muster_module *module, muster_module_options options, muster_result expected,
                                 const char *message) {
  void *instance = NULL;
  muster_module_needs needs = {.size = sizeof needs};
  cr_assert_eq(module->open(&options, &instance, &needs), expected);
  cr_assert(strstr(muster_last_error(), message) != NULL, "'%s' does not say '%s'", muster_last_error(), message);
  cr_assert_null(instance);
}

/* What every one of these scenarios refuses. */
static inline void scene_check_refusals(const muster_module *module) {
  scene_refuses(module, WITH(muster_module_options, it.path = "animals.csv"), MUSTER_E_ARGUMENT,
                "takes no file (animals.csv)");
  scene_refuses(module, WITH(muster_module_options, it.agents = 4000000000u), MUSTER_E_ARGUMENT,
                "4000000000 agents are more than");
  scene_refuses(module, WITH(muster_module_options, it.observers = 70000), MUSTER_E_ARGUMENT,
                "70000 observers are more than");
  scene_refuses(module, WITH(muster_module_options, it.size = 0), MUSTER_E_NOT_INITIALISED,
                "muster_module_options_default");
}

#endif
