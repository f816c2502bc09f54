/* zone_order.h - messages of one sender reach one receiver in the order in which they were sent, by whatever way they
 * come: sender and receiver cross, and what was sent from zone to zone before may be still on its way.
 *
 * Each message to another zone says which one of the same sender to the same receiver it follows, as long as that one
 * may be on its way. A receiver keeps the number of the last message that reached it from each such sender, and holds
 * back those that follow a later one. What both keep crosses with them, and so does what is held back. Nobody asks
 * which way a message takes.
 *
 *     sender   channel out: {receiver, number sent last}      kept for ZONE_ORDER_FRAMES after it
 *     receiver channel in:  {sender, number that came last}   kept for twice as long, and what is held back
 *
 * A message that follows one that was lost is held back for ZONE_ORDER_FRAMES at most. What comes from other zones
 * comes in bursts, behind a message that was late or when a zone goes on that stood still: what finds the receiver's
 * box full is held back, too, until there is room. Frame's thread, between frames or at an intake or commit. */
#ifndef WORLD_ZONE_ORDER_H
#define WORLD_ZONE_ORDER_H

#include "world/world_zone.h"

struct message_head;

enum { ZONE_ORDER_FRAMES = MUSTER_ZONE_ORDER_FRAMES };

/* The number of the last message that a sender sent to a receiver in another zone, as far as that may be on its way; 0
 * = none. And: it has sent one. `from` is an index, or MESSAGE_OF_HOST. */
uint64_t zone_order_last_sent(const struct muster_world *world, uint32_t from, muster_agent to);
void zone_order_note_sent(struct muster_world *world, uint32_t from, muster_agent to, uint64_t number);

/* Whether all that a sender has sent to an agent that is here has reached it: then the next message may be put into its
 * box at once. False: it has to go the way of those from other zones, zone_order_deliver(). */
bool zone_order_is_even(struct muster_world *world, uint32_t from, muster_agent sender, muster_agent to);

/* Puts a message into the box of an agent that is here, when its turn has come. */
void zone_order_deliver(struct muster_world *world, const zone_outgoing *message);

/* A frame begins: what is too old is forgotten, and what waited too long is delivered. */
void zone_order_pass(struct muster_world *world);

/* An agent is gone, or has left with all that is kept of it: whoever has its index next begins anew. */
void zone_order_forget(struct muster_world *world, uint32_t index);

/* What came with an agent, or stands in a snapshot. zone_order_hold: false when there is no room. */
bool zone_order_hold(struct muster_world *world, channel *in, const zone_outgoing *message, uint64_t frame);

/* The number by which the sender of a message is known to its receivers: its id, or the zone whose host it is. */
uint64_t zone_order_peer(muster_agent from, uint64_t sequence);

/* The place of a message that is held back, by its number + 1; null of 0. */
static inline zone_early *zone_order_early(const struct world_zone *zone, uint32_t place_and_one) {
  return place_and_one ? &zone->early[place_and_one - 1] : NULL;
}

#endif
