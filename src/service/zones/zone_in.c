/* zone_in.c - who comes to a zone. */
#include "service/log.h"
#include "service/service.h"
#include "service/zones/zone_parts.h"

#include <string.h>

static void in_arrive(hosted_world *world, const zone_link *link, const void *bytes, size_t count) {
  muster_agent agent;
  muster_result result = muster_agent_arrive(world->world, bytes, count, &agent);
  world->zone->published.arrived += !result;
  world->zone->published.refused += result != MUSTER_OK;
  if (result && result != MUSTER_E_STALE)
    log_line(MUSTER_LOG_ERROR, "world %s: an agent of zone %u was not taken in: %s", world->name, link->zone,
             muster_last_error());
}

static void in_deliver(hosted_world *world, const void *bytes, size_t count) {
  parcel_letter letter;
  if (count < sizeof letter) return;
  memcpy(&letter, bytes, sizeof letter);
  const muster_zone_message message = {.from = {letter.from},
                                       .to = {letter.to},
                                       .sequence = letter.sequence,
                                       .sent_ns = letter.sent_ns,
                                       .size = (uint32_t)(count - sizeof letter),
                                       .bytes = (const unsigned char *)bytes + sizeof letter};
  bool good = muster_zone_deliver(world->world, &message) == MUSTER_OK;
  world->zone->published.delivered += good;
  world->zone->published.lost += !good;
}

bool zone_take_parcel(hosted_world *world, zone_link *link, uint64_t sequence, const void *bytes, size_t count) {
  parcel_head head;
  parcel_item item;
  const unsigned char *item_bytes;
  bool damaged = false;
  if (parcel_read_head(bytes, count, &head)) return false;
  bool counts = pair_takes(&link->in, sequence, head.epoch, head.number);
  for (size_t at = 0; counts && parcel_next(bytes, count, &at, &item, &item_bytes, &damaged);) {
    if (item.kind == PARCEL_AGENT)
      in_arrive(world, link, item_bytes, item.bytes);
    else if (item.kind == PARCEL_MESSAGE)
      in_deliver(world, item_bytes, item.bytes);
  }
  zone_note_taken(world, link);
  return !damaged;
}
