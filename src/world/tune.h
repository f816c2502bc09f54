/* tune.h - what a host turns while the world runs: weights of the world, what it says about agents, and their
 * companions. Everything here is called on the frame's thread unless a comment says otherwise. */
#ifndef TUNE_H
#define TUNE_H

#include "plan/classes.h"
#include "world/world.h"

#include <muster/tune.h>

struct command;

/* Whether the fields of a definition that can be tuned are in range. Any thread. */
muster_result tune_check_def(const muster_world_def *def);

/* Whether a tuning can be applied. Any thread. */
muster_result tune_check(const struct muster_world *world, const muster_world_tuning *tuning);

/* Sets up what the definition of a new world asks for. The world's stores exist already. */
void tune_create(struct muster_world *world);

/* Intake: applies what other threads queued. */
void tune_run(struct muster_world *world);

/* Intake: what the host says about one agent. */
void tune_ratings(struct muster_world *world, const struct command *command);
void tune_companions(struct muster_world *world, const struct command *command);

/* Intake: other periods of a type, and of an active agent; nominal 0 = back to what they were. `counted` as in
 * plan/retime.h. */
void tune_type_periods(struct muster_world *world, uint32_t type, class_periods periods);
void tune_periods(struct muster_world *world, uint32_t index, class_periods own, bool counted);

/* After the score: looks at what company is worth now to some of the agents that have any; agents with an importance
 * that changes by it are noted. */
void tune_look_at_companions(struct muster_world *world);

#endif
