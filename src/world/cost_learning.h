/* cost_learning.h - what updates cost, learnt for their type and level, and for their agents beside others of these. In
 * the order of the batch, or of the record, so that any number of workers teaches the same. Frame's thread. */
#ifndef COST_LEARNING_H
#define COST_LEARNING_H

#include "plan/costs.h"
#include "run/runner.h"
#include "world/world.h"

/* Learns what an update of an active agent cost. */
void cost_learning_take(struct muster_world *world, const cost_sample *cost, cost_source source);

/* The same for a sample of a worker; or doubts what is believed of the agent, until its next update is timed. */
void cost_learning_take_sample(struct muster_world *world, const cost_sample *sample);

/* A frame has ended: plan/costs.h learns from its samples. */
void cost_learning_end_frame(struct muster_world *world);

#endif
