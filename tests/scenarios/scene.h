/* tests/scenarios/scene.h - a scenario on a stage: module, pool and world under the virtual clock, frames of 30 Hz, and
 * what the waits and costs of its frames came to. */
#ifndef SCENE_H
#define SCENE_H

#include "support/full_frames.h"

#include <muster/module.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SCENE_FRAME_NS 33333333u

struct scene {
  const muster_module *module;
  void *instance;
  muster_module_needs needs;
  muster_pool *pool;
  muster_world *world;
  uint64_t now_ns, capacity_ns, turn_longest_ns;
  uint32_t frames;
  /* Of all frames: */
  uint64_t longest_wait_ns, worst_excess_ns; /* excess: what was spent beyond capacity and the longest update */
  uint32_t completed_least;                  /* in a frame at whose end work waited */
  uint32_t agents_max, late_max;
  double nominal, desired; /* utilisations, summed over frames */
};

static inline muster_module_options scene_options(uint32_t agents, uint64_t seed) {
  muster_module_options options = muster_module_options_default();
  options.agents = agents;
  options.seed = seed;
  return options;
}

/* A scene of a module that was opened: pool, world, and what the module puts there. */
static inline void scene_enter(struct scene *it, const muster_module_options *options, uint32_t workers,
                               const muster_world_def *rules) {
  muster_pool_def pool = muster_pool_def_default();
  pool.workers = workers;
  it->pool = muster_pool_create(&pool);
  cr_assert_not_null(it->pool, "%s", muster_last_error());
  muster_world_def def = *rules;
  def.pool = it->pool;
  def.limits.agents_max = it->needs.agents_max;
  def.limits.observers_max = it->needs.observers;
  def.limits.commands_max += it->needs.observers;
  if (it->needs.cell_m > 0) def.cell_m = it->needs.cell_m;
  def.seed = options->seed;
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.clock.capacity_ns = it->capacity_ns;
  it->world = muster_world_create(&def);
  cr_assert_not_null(it->world, "%s", muster_last_error());
  cr_assert_eq(it->module->populate(it->instance, it->world), MUSTER_OK, "%s", muster_last_error());
}

static inline struct scene scene_open_with(const muster_module *module, const muster_module_options *options,
                                           uint32_t workers, uint64_t capacity_ns, const muster_world_def *rules) {
  struct scene it = {.module = module, .capacity_ns = capacity_ns, .completed_least = UINT32_MAX};
  it.needs.size = sizeof it.needs;
  cr_assert_eq(module->open(options, &it.instance, &it.needs), MUSTER_OK, "%s", muster_last_error());
  scene_enter(&it, options, workers, rules);
  return it;
}

static inline struct scene scene_open(const muster_module *module, const muster_module_options *options,
                                      uint32_t workers, uint64_t capacity_ns) {
  muster_world_def rules = muster_world_def_default();
  return scene_open_with(module, options, workers, capacity_ns, &rules);
}

static inline void scene_close(struct scene *it) {
  destroy_full(it->world);
  it->module->close(it->instance);
  muster_pool_destroy(it->pool);
}

/* One frame, so long after the last. */
static inline muster_frame_report scene_frame(struct scene *it, uint64_t frame_ns) {
  muster_frame_report report = muster_frame_report_default();
  it->now_ns += frame_ns;
  if (it->module->before_frame) it->module->before_frame(it->instance, it->world, it->now_ns);
  muster_result result = muster_frame_run(it->world, &(muster_frame){it->now_ns, 10000000u});
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  muster_frame_report_read(it->world, &report);
  it->frames++;
  if (report.longest_wait_ns > it->longest_wait_ns) it->longest_wait_ns = report.longest_wait_ns;
  cr_assert(muster_frame_kept(&report), "frame %llu broke the promise", (unsigned long long)it->frames);
  uint64_t most_ns = it->capacity_ns + report.longest_atom_ns;
  uint64_t excess_ns = report.update_cpu_ns > most_ns ? report.update_cpu_ns - most_ns : 0;
  if (excess_ns > it->worst_excess_ns) it->worst_excess_ns = excess_ns;
  if (report.carried && report.completed < it->completed_least) it->completed_least = report.completed;
  if (report.agents > it->agents_max) it->agents_max = report.agents;
  if (report.agents_late > it->late_max) it->late_max = report.agents_late;
  if (report.turn_longest_ns > it->turn_longest_ns) it->turn_longest_ns = report.turn_longest_ns;
  if (it->frames > 1) { /* the first frame has no period */
    it->nominal += (double)report.utilisation_nominal;
    it->desired += (double)report.utilisation_desired;
  }
  return report;
}

static inline void scene_frames(struct scene *it, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++) scene_frame(it, SCENE_FRAME_NS);
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
static inline double scene_reported(const struct scene *it, const char *name) {
  scene_figure wanted = {name, (double)NAN};
  it->module->report(it->instance, it->world, scene_keep, &wanted);
  cr_assert(!isnan(wanted.value), "the report has no '%s'", name);
  return wanted.value;
}

/* As report.h has it: x is the least that a frame completed while work waited. */
static inline uint64_t scene_wait_bound_ns(const struct scene *it, uint64_t frame_ns) {
  uint64_t round = (it->late_max + it->completed_least - 1) / it->completed_least;
  return it->turn_longest_ns + (round + 1) * frame_ns;
}

static inline void scene_check_waits(const struct scene *it) {
  cr_assert_leq(it->longest_wait_ns, scene_wait_bound_ns(it, SCENE_FRAME_NS), "%llu ns, %u updates at least",
                (unsigned long long)it->longest_wait_ns, it->completed_least);
}

/* How many times the capacity everything at its shortest period would take. */
static inline double scene_overload(const struct scene *it) {
  return it->nominal / it->desired;
}

static inline uint64_t scene_hash_after(const muster_module *module, const muster_module_options *options,
                                        uint32_t workers, uint64_t capacity_ns, uint32_t frames) {
  struct scene it = scene_open(module, options, workers, capacity_ns);
  scene_frames(&it, frames);
  uint64_t hash = muster_world_hash(it.world);
  scene_close(&it);
  return hash;
}

/* The same seed gives the same world on any number of workers, another seed another one. */
static inline void scene_check_determinism(const muster_module *module, muster_module_options options,
                                           uint64_t capacity_ns, uint32_t frames) {
  uint64_t alone = scene_hash_after(module, &options, 1, capacity_ns, frames);
  static const uint32_t workers[] = {2, 8, 64};
  for (uint32_t i = 0; i < sizeof workers / sizeof *workers; i++)
    cr_assert_eq(scene_hash_after(module, &options, workers[i], capacity_ns, frames), alone, "%u workers", workers[i]);
  options.seed++;
  cr_assert_neq(scene_hash_after(module, &options, 2, capacity_ns, frames), alone);
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
  muster_module_options options = muster_module_options_default();
  options.path = "animals.csv";
  scene_refuses(module, options, MUSTER_E_ARGUMENT, "takes no file (animals.csv)");
  options = muster_module_options_default();
  options.agents = 4000000000u;
  scene_refuses(module, options, MUSTER_E_ARGUMENT, "4000000000 agents are more than");
  options = muster_module_options_default();
  options.observers = 70000;
  scene_refuses(module, options, MUSTER_E_ARGUMENT, "70000 observers are more than");
  options.size = 0;
  scene_refuses(module, options, MUSTER_E_NOT_INITIALISED, "muster_module_options_default");
}

#endif
