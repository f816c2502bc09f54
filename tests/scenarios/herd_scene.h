/* tests/scenarios/herd_scene.h - the herd scenario on a stage, as a test chooses it. */
#ifndef HERD_SCENE_H
#define HERD_SCENE_H

#include "scenarios/herd.h"
#include "scenarios/scene.h"

enum { HERD_CAPACITY_NS = 5000000 };

/* Null = the module's own choice. */
static inline struct scene herd_scene(uint32_t deer, uint32_t observers, uint32_t workers, uint64_t capacity_ns,
                                      const herd_choice *choice) {
  muster_module_options options = muster_module_options_default();
  options.agents = deer;
  options.observers = observers;
  struct scene it = {.module = muster_module_herd(), .capacity_ns = capacity_ns, .completed_least = UINT32_MAX};
  it.needs.size = sizeof it.needs;
  cr_assert_eq(it.module->open(&options, &it.instance, &it.needs), MUSTER_OK, "%s", muster_last_error());
  if (choice) herd_choose(it.instance, choice);
  muster_world_def rules = muster_world_def_default();
  scene_enter(&it, &options, workers, &rules);
  return it;
}

#endif
