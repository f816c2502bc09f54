/* message_put.h - a message into the box of its receiver. Frame's thread. */
#ifndef WORLD_MESSAGE_PUT_H
#define WORLD_MESSAGE_PUT_H

#include "world/world.h"

struct message_head;

#define MESSAGE_OF_HOST UINT32_MAX

/* Puts a message into the box of an agent that is here, and counts it as delivered or dropped. */
bool messages_put(struct muster_world *world, muster_agent sender, const struct message_head *head, const void *bytes);

/* Whether the box of an agent that is here takes one more, or has to refuse it whenever it comes. */
bool message_has_room(struct muster_world *world, uint32_t index);

/* Whether an update of an agent has begun, and so read its box, and is not complete. */
bool message_is_read(const agent_row *row);

#endif
