/* workers.h - how many run a world's updates. */
#ifndef WORKERS_H
#define WORKERS_H

#include "world/world.h"

/* The host's workers, or ours. */
uint32_t world_workers(const struct muster_world *world);

/* Ours: who runs updates unless the host does, and helps in stages. */
uint32_t world_own_workers(const struct muster_world *world);

#endif
