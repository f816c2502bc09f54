#include "world/zone_delivery.h"

#include "agents/mailbox.h"
#include "base/assert.h"
#include "base/error.h"
#include "world/messages.h"
#include "world/zone_mail.h"

/* Hosts of different zones have the null id in common, and sequences that tell them apart. */
static recent_key key_of(const muster_zone_message *message) {
  return (recent_key){message->from.value, message->sequence};
}

bool zone_came_before(const struct muster_world *world, const muster_zone_message *message) {
  return (message->from.value | message->sequence) && recent_find(&world->zone->delivered, key_of(message), NULL);
}

muster_result zone_check_delivery(const struct muster_world *world, const muster_zone_message *message) {
  if (message->size > MUSTER_MESSAGE_BYTES_MAX || (message->size && !message->bytes))
    return error_set(MUSTER_E_ARGUMENT, "message: size %u must be at most %u, with bytes given", message->size,
                     MUSTER_MESSAGE_BYTES_MAX);
  if (!message->sequence || (!muster_agent_is_null(message->from) && !zone_ids_is_id(message->from)))
    return error_set(MUSTER_E_ARGUMENT, "message: its sequence must not be 0, and its sender an agent of a zone");
  if (zone_came_before(world, message))
    return error_set(MUSTER_E_STALE, "message: number %llu of its sender came before",
                     (unsigned long long)message->sequence);
  if (world_is_live(world, world_find(world, message->to))) return MUSTER_OK;
  if (!zone_of_absent(world, message->to))
    return error_set(MUSTER_E_STALE, "message: agent %u (generation %u) is gone", muster_agent_index(message->to),
                     muster_agent_generation(message->to));
  if (world->zone->queued == world->def.limits.sends_per_frame)
    return error_set(MUSTER_E_FULL, "message: limits.sends_per_frame = %u messages to other zones wait",
                     world->def.limits.sends_per_frame);
  return MUSTER_OK;
}

void zone_deliver(struct muster_world *world, const muster_zone_message *message) {
  struct world_zone *zone = world->zone;
  ASSERT(!zone_came_before(world, message) && message->size <= MUSTER_MESSAGE_BYTES_MAX);
  recent_add(&zone->delivered, key_of(message), 0);
  if (world_is_live(world, world_find(world, message->to))) {
    struct message_head head = {.peer = message->to, .sent_ns = message->sent_ns, .size = message->size};
    messages_put(world, message->from, &head, message->bytes);
    zone->counts.messages_in++;
    return;
  }
  zone_outgoing again = {.from = message->from,
                         .to = message->to,
                         .sequence = message->sequence,
                         .sent_ns = message->sent_ns,
                         .zone = zone_of_absent(world, message->to),
                         .size = message->size};
  if (again.zone && zone_queue(world, &again, message->bytes)) zone->counts.messages_forwarded++;
}
