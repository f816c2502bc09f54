/* workers.h - how many run a world's updates. */
#ifndef WORKERS_H
#define WORKERS_H

#include "run/runner.h"
#include "world/world.h"

/* The host's workers, or ours. */
static inline uint32_t world_workers(const struct muster_world *world) {
  return world_is_planned(world) ? world->def.planner_workers : world->runner->workers;
}

#endif
