#include "world/workers.h"

#include "run/runner.h"

uint32_t world_workers(const struct muster_world *world) {
  return world_is_planned(world) ? world->def.planner_workers : world_own_workers(world);
}

uint32_t world_own_workers(const struct muster_world *world) {
  return world->runner->workers;
}

void world_set_own_workers(struct muster_world *world, uint32_t workers) {
  world->runner->workers = workers;
}
