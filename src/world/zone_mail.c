#include "world/zone_mail.h"

#include "agents/mailbox.h"
#include "base/assert.h"
#include "base/error.h"
#include "world/message_put.h"
#include "world/world_links.h"
#include "world/world_sums.h"
#include "world/zone_order.h"

#include <string.h>

enum {
  ZONE_SHIFT = 64 - ZONE_EPOCH_BITS, /* of its number in an id, and in sequences of hosts */
  HOPS_SHIFT = 56
};

uint32_t zone_of_absent(const struct muster_world *world, muster_agent id) {
  ASSERT(world->zone);
  muster_agent agent = zone_ids_find(&world->zone->ids, id);
  uint32_t index = muster_agent_index(agent);
  zone_mark mark = {0, 0};
  if (!muster_agent_is_null(agent) && zone_ids_is_ghost(&world->zone->ids, index)) return world->zone->rows[index].zone;
  return zone_ids_left(&world->zone->ids, id, &mark) ? mark.zone : 0;
}

bool zone_knows(const struct muster_world *world, muster_agent id) {
  muster_agent agent = zone_ids_find(&world->zone->ids, id);
  zone_mark mark;
  if (!muster_agent_is_null(agent) && zone_ids_is_ghost(&world->zone->ids, muster_agent_index(agent))) return true;
  return zone_ids_left(&world->zone->ids, id, &mark);
}

uint64_t zone_follows_of(const zone_outgoing *message) {
  ASSERT(message->hops <= MUSTER_ZONE_HOPS_MAX);
  return message->follows ^ ((uint64_t)message->hops << HOPS_SHIFT);
}

/* Both sequences are of one sender: of a host's the first bits are its zone. */
void zone_take_follows(zone_outgoing *message, uint64_t given) {
  uint64_t low = given & ((1ull << HOPS_SHIFT) - 1), common = low ? message->sequence >> HOPS_SHIFT : 0;
  message->follows = low | common << HOPS_SHIFT;
  message->hops = (uint16_t)((given >> HOPS_SHIFT) ^ common);
}

bool zone_queue(struct muster_world *world, const zone_outgoing *message, const void *bytes) {
  struct world_zone *zone = world->zone;
  ASSERT(message->size <= sizeof message->bytes && message->zone != world->def.zone.number);
  if (zone->queued == world->def.limits.sends_per_frame) {
    zone->counts.messages_dropped++;
    return false;
  }
  zone_outgoing *place = &zone->queue[zone->queued++];
  *place = *message;
  if (message->size) memcpy(place->bytes, bytes, message->size);
  zone->counts.messages_out++;
  return true;
}

/* It goes out, or is for an agent that is here and to which its sender's messages are still on their way. */
static bool mail_send(struct muster_world *world, uint32_t from, zone_outgoing *message, const void *bytes) {
  bool here = message->zone == world->def.zone.number;
  if (!here && !zone_queue(world, message, bytes)) return false;
  zone_order_note_sent(world, from, message->to, message->sequence);
  if (!here) return true;
  if (message->size) memcpy(message->bytes, bytes, message->size);
  zone_order_deliver(world, message);
  return true;
}

bool zone_takes_message(struct muster_world *world, uint32_t from, muster_agent sender, const struct message_head *head,
                        const void *bytes) {
  struct world_zone *zone = world->zone;
  ASSERT(zone && head->size <= MUSTER_MESSAGE_BYTES_MAX);
  bool here = world_is_live(world, world_find(world, head->peer));
  if (here && zone_order_is_even(world, from, sender, head->peer)) return false;
  uint32_t where = here ? world->def.zone.number : zone_of_absent(world, head->peer);
  if (!where) return false;
  uint64_t *sent = from == MESSAGE_OF_HOST ? &zone->host_sent : &zone->rows[from].sent;
  zone_outgoing message = {.from = sender,
                           .to = head->peer,
                           .sequence = ++*sent,
                           .follows = zone_order_last_sent(world, from, head->peer),
                           .sent_ns = head->sent_ns,
                           .zone = where,
                           .size = (uint16_t)head->size};
  if (from == MESSAGE_OF_HOST) message.sequence |= (uint64_t)world->def.zone.number << ZONE_SHIFT;
  if (mail_send(world, from, &message, bytes)) return true;
  world->sums->statistics.messages_dropped++;
  if (from != MESSAGE_OF_HOST) mailbox_lose(&world->links->mailbox, from);
  return true;
}
