/* flight.h - the flight recorder of a world: see muster/flight.h. */
#ifndef FLIGHT_H
#define FLIGHT_H

#include "world/world.h"

/* Enters the names of the types that were registered since the last call. A no-op without a recorder. Frame's
 * thread. */
void flight_enter_types(struct muster_world *world);

#endif
