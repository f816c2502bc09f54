/* touch.h - the first and the last touch of an agent: on_spawned and on_removed, at the intake. */
#ifndef TOUCH_H
#define TOUCH_H

#include "world/world.h"

/* Runs one of the two, which may be null; what it moves or spawns counts. Frame's thread. */
void touch_agent(struct muster_world *world, uint32_t index, muster_flight_doing doing,
                 void (*callback)(muster_update *));

#endif
