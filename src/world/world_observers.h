/* world_observers.h - observers and their ids. One per world: each shard's agents are scored against the same. */
#ifndef WORLD_OBSERVERS_H
#define WORLD_OBSERVERS_H

#include "agents/observers.h"
#include "pool/identity.h"

struct world_observers {
  observer_table table;
  struct identity ids;
};

#endif
