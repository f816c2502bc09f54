/* zone_mail.h - messages that leave a zone, or come from another one. Frame's thread unless a comment says otherwise.
 */
#ifndef WORLD_ZONE_MAIL_H
#define WORLD_ZONE_MAIL_H

#include "world/world_zone.h"

struct message_head;

/* Whether something is known of an agent that is not here: it is a ghost, or left. Any thread. */
bool zone_knows(const struct muster_world *world, muster_agent id);

/* Takes a message into the queue to other zones when its receiver is in one, as far as is known; what finds no room
 * there is dropped. And one to an agent that is here, when it must not overtake what its sender sent it from zone to
 * zone. False: the receiver is here and the message may go into its box at once, or nothing is known of it. `from` is
 * the sender's index, or MESSAGE_OF_HOST. */
bool zone_takes_message(struct muster_world *world, uint32_t from, muster_agent sender, const struct message_head *head,
                        const void *bytes);

/* The zone in which an agent is that is not here; 0 when nothing is known of it. Between frames, or at a commit. */
uint32_t zone_of_absent(const struct muster_world *world, muster_agent id);

/* What hosts are told that a message follows, and give back: how often it went on goes with that, in bits that it has
 * in common with the message's own sequence. */
uint64_t zone_follows_of(const zone_outgoing *message);
void zone_take_follows(zone_outgoing *message, uint64_t given);

/* Puts a message into the queue to other zones, with its bytes; false, and counted, when there is no room. */
bool zone_queue(struct muster_world *world, const zone_outgoing *message, const void *bytes);

#endif
