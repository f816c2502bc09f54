/* zone_delivery.h - messages that come from other zones. Frame's thread, between frames. */
#ifndef WORLD_ZONE_DELIVERY_H
#define WORLD_ZONE_DELIVERY_H

#include "world/world_zone.h"

/* Whether a message from another zone came before. */
bool zone_came_before(const struct muster_world *world, const muster_zone_message *message);

/* Whether a message from another zone can be delivered; and delivers it. `given` is what it follows, as hosts give it
 * (zone_take_follows). */
muster_result zone_check_delivery(const struct muster_world *world, const muster_zone_message *message, uint64_t given);
void zone_deliver(struct muster_world *world, const muster_zone_message *message, uint64_t given);

/* A frame begins: messages that came long ago are known no more. */
void zone_forget_delivered(struct muster_world *world);

#endif
