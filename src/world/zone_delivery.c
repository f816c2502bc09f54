#include "world/zone_delivery.h"

#include "base/assert.h"
#include "base/error.h"
#include "world/zone_mail.h"
#include "world/zone_order.h"

#include <string.h>

/* Hosts of different zones have the null id in common, and sequences that tell them apart. */
static recent_key key_of(const muster_zone_message *message) {
  return (recent_key){message->from.value, message->sequence};
}

bool zone_came_before(const struct muster_world *world, const muster_zone_message *message) {
  return (message->from.value | message->sequence) && recent_find(&world->zone->delivered, key_of(message), NULL);
}

/* As it is kept, without its bytes. */
static zone_outgoing delivery_of(const struct muster_world *world, const muster_zone_message *message, uint64_t given) {
  zone_outgoing taken = {.from = message->from,
                         .to = message->to,
                         .sequence = message->sequence,
                         .sent_ns = zone_time_of_own(world, message->sent_ns & (uint64_t)INT64_MAX / 2),
                         .size = (uint16_t)message->size};
  zone_take_follows(&taken, given);
  return taken;
}

muster_result zone_check_delivery(const struct muster_world *world, const muster_zone_message *message,
                                  uint64_t given) {
  if (message->size > MUSTER_MESSAGE_BYTES_MAX || (message->size && !message->bytes))
    return error_set(MUSTER_E_ARGUMENT, "message: size %u must be at most %u, with bytes given", message->size,
                     MUSTER_MESSAGE_BYTES_MAX);
  bool of_host = muster_agent_is_null(message->from);
  const zone_outgoing taken = delivery_of(world, message, given);
  if (!message->sequence || taken.follows >= message->sequence ||
      (of_host ? !zone_order_peer(message->from, message->sequence) : !zone_ids_is_id(message->from)))
    return error_set(MUSTER_E_ARGUMENT, "message: its sequence must be above 0 and above that of the message that it "
                                        "follows, and its sender an agent or a host of a zone");
  if (zone_came_before(world, message))
    return error_set(MUSTER_E_STALE, "message: number %llu of its sender came before",
                     (unsigned long long)message->sequence);
  if (world_is_live(world, world_find(world, message->to))) return MUSTER_OK;
  if (!zone_of_absent(world, message->to))
    return error_set(MUSTER_E_STALE, "message: agent %u (generation %u) is gone", muster_agent_index(message->to),
                     muster_agent_generation(message->to));
  if (taken.hops >= MUSTER_ZONE_HOPS_MAX)
    return error_set(MUSTER_E_STALE, "message: it has gone on %u times behind agent %u (generation %u), who is lost",
                     taken.hops, muster_agent_index(message->to), muster_agent_generation(message->to));
  if (world->zone->queued == world->def.limits.sends_per_frame)
    return error_set(MUSTER_E_FULL, "message: limits.sends_per_frame = %u messages to other zones wait",
                     world->def.limits.sends_per_frame);
  return MUSTER_OK;
}

/* What is passed on has not come: it may pass here once more, behind an agent that comes back. */
void zone_deliver(struct muster_world *world, const muster_zone_message *message, uint64_t given) {
  struct world_zone *zone = world->zone;
  ASSERT(!zone_came_before(world, message) && message->size <= MUSTER_MESSAGE_BYTES_MAX);
  bool here = world_is_live(world, world_find(world, message->to));
  zone_spaces_note(&zone->spaces, message->from);
  zone_spaces_note(&zone->spaces, message->to);
  zone_outgoing taken = delivery_of(world, message, given);
  taken.zone = here ? world->def.zone.number : zone_of_absent(world, message->to);
  if (!here) {
    taken.hops++;
    if (taken.zone && zone_queue(world, &taken, message->bytes)) zone->counts.messages_forwarded++;
    return;
  }
  recent_add(&zone->delivered, key_of(message), world->frames);
  if (taken.size) memcpy(taken.bytes, message->bytes, taken.size);
  zone_order_deliver(world, &taken);
}

void zone_forget_delivered(struct muster_world *world) {
  recent_key key;
  uint64_t frame;
  struct recent *delivered = &world->zone->delivered;
  while (recent_oldest(delivered, &key, &frame) && world->frames - frame > MUSTER_ZONE_KNOWN_FRAMES)
    recent_take_out(delivered, key);
}
