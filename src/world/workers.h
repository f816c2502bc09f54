/* workers.h - how many workers run a world's updates. */
#ifndef WORKERS_H
#define WORKERS_H

#include "world/world.h"

/* How many run updates: the host's workers in a planner world, else the world's own. */
uint32_t world_workers(const struct muster_world *world);

/* The world's own workers: they run updates unless the host does, and help in stages. */
uint32_t world_own_workers(const struct muster_world *world);

/* At most so many of the pool's from now on; 0 = all of them, also of those that it gets later. */
void world_set_own_workers(struct muster_world *world, uint32_t workers);

/* Before a frame: takes as many as that, of those that the pool has for it. A record says so. */
void world_take_workers(struct muster_world *world);

#endif
