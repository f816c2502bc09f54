/* workers.h - how many run a world's updates. */
#ifndef WORKERS_H
#define WORKERS_H

#include "world/world.h"

/* The host's workers, or ours. */
uint32_t world_workers(const struct muster_world *world);

/* Ours: who runs updates unless the host does, and helps in stages. */
uint32_t world_own_workers(const struct muster_world *world);
void world_set_own_workers(struct muster_world *world, uint32_t workers);

#endif
