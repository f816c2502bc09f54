/* score_inputs.h - what the score works on, from a world's parts. */
#ifndef SCORE_INPUTS_H
#define SCORE_INPUTS_H

#include "world/world.h"
#include "world/world_observers.h"
#include "world/world_queues.h"
#include "world/world_score.h"

static inline score_inputs world_score_inputs(struct muster_world *world) {
  return (score_inputs){.store = &world->agents.store,
                        .types = &world->agents.types,
                        .space = &world->agents.space,
                        .observers = &world->observers->table,
                        .classes = &world->queues->classes,
                        .ready = &world->queues->ready,
                        .factors = world->score->factors};
}

#endif
