/* tests/scenarios/herd_scene.h - the herd scenario on a stage, as a test chooses it. */
#ifndef HERD_SCENE_H
#define HERD_SCENE_H

#include "scenarios/herd.h"
#include "scenarios/scene.h"

enum { HERD_CAPACITY_NS = 5000000 };

/* Null = the module's own choice. */
static inline struct scene herd_scene(uint32_t deer, uint32_t observers, uint32_t workers, uint64_t capacity_ns,
                                      const herd_choice *choice) {
  muster_module_options options = WITH(muster_module_options, it.agents = deer, it.observers = observers);
  struct scene scene = scene_begin(muster_module_herd(), options, capacity_ns);
  if (choice) herd_choose(scene.instance, choice);
  scene_enter(&scene, workers, muster_world_def_default());
  return scene;
}

#endif
