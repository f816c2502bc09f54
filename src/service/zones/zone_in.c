/* zone_in.c - who comes to a zone. */
#include "service/log.h"
#include "service/service.h"
#include "service/zones/zone_parts.h"

#include <stdlib.h>
#include <string.h>

/* False: it must wait, for room, or for a module that has its type as it is. */
static bool in_arrive(hosted_world *world, const void *bytes, size_t count) {
  muster_agent agent;
  uint32_t hop;
  bool gone = muster_agent_packed(bytes, count, &agent, &hop) == MUSTER_OK &&
              zone_gone_has(world->zone, (zone_gone){agent.value, hop, PARCEL_AGENT});
  muster_result result = gone ? MUSTER_E_STALE : muster_agent_arrive(world->world, bytes, count, &agent);
  if (result && result != MUSTER_E_STALE) return false;
  world->zone->published.arrived += !result;
  world->zone->published.refused += result != MUSTER_OK;
  return true;
}

/* The same: its receiver has moved on, and the messages that go after it wait to go out with this frame. */
static bool in_deliver(hosted_world *world, const void *bytes, size_t count) {
  parcel_letter letter;
  if (count < sizeof letter) return true;
  memcpy(&letter, bytes, sizeof letter);
  const muster_zone_message message = {.from = {letter.from},
                                       .to = {letter.to},
                                       .sequence = letter.sequence,
                                       .sent_ns = letter.sent_ns,
                                       .size = (uint32_t)(count - sizeof letter),
                                       .bytes = (const unsigned char *)bytes + sizeof letter};
  muster_result result = muster_zone_deliver_after(world->world, &message, letter.follows);
  if (result == MUSTER_E_FULL) return false;
  world->zone->published.delivered += !result;
  world->zone->published.lost += result != MUSTER_OK;
  return true;
}

typedef enum in_result { IN_DONE = 0, IN_EARLY, IN_FULL, IN_DAMAGED } in_result;

/* Takes the items from *at on, as far as there is room: a world that comes back meanwhile finds those that it has taken
 * by their hops. */
static in_result in_take(hosted_world *world, zone_link *link, uint64_t sequence, const void *bytes, size_t count,
                         size_t *at) {
  parcel_head head;
  parcel_item item;
  const unsigned char *item_bytes;
  bool damaged = false;
  if (parcel_read_head(bytes, count, &head)) return IN_DAMAGED;
  bool counts = pair_counts(&link->in, sequence, head.epoch, head.number);
  if (counts && head.sim_now_ns > world->sim_now_ns) return IN_EARLY; /* this zone is behind: no time may pass twice */
  for (size_t next = *at; counts && parcel_next(bytes, count, &next, &item, &item_bytes, &damaged); *at = next)
    if (item.kind == PARCEL_AGENT && !in_arrive(world, item_bytes, item.bytes))
      return IN_FULL;
    else if (item.kind == PARCEL_HERD && !zone_take_herd(world, link, sequence, (uint32_t)*at, item_bytes, item.bytes))
      return IN_FULL;
    else if (item.kind == PARCEL_OBSERVER && !zone_take_observer(world, item_bytes, item.bytes))
      return IN_FULL;
    else if (item.kind == PARCEL_MESSAGE && !in_deliver(world, item_bytes, item.bytes))
      return IN_FULL;
  pair_takes(&link->in, sequence, head.epoch, head.number);
  zone_note_taken(world, link);
  return damaged ? IN_DAMAGED : IN_DONE;
}

/* Those that come behind one that waits, for room or for its time, wait, too. */
static void in_wait(zone_link *link, uint64_t sequence, const void *bytes, size_t count, size_t at) {
  zone_held *held = malloc(sizeof *held + count);
  if (!held) abort(); /* the next process reads it again */
  *held = (zone_held){.sequence = sequence, .at = at, .bytes = count};
  memcpy(held->parcel, bytes, count);
  STAILQ_INSERT_TAIL(&link->held, held, link);
}

static void tell_full(const hosted_world *world, zone_link *link, bool full) {
  if (full && !link->full)
    log_line(MUSTER_LOG_WARNING, "world %s: what comes from zone %u waits: %s", world->name, link->zone,
             muster_last_error());
  link->full = full;
}

bool zone_take_parcel(hosted_world *world, zone_link *link, uint64_t sequence, const void *bytes, size_t count) {
  size_t at = 0;
  in_result result = STAILQ_EMPTY(&link->held) ? in_take(world, link, sequence, bytes, count, &at) : IN_EARLY;
  if (result != IN_DAMAGED) link->given = sequence;
  if (result == IN_FULL) tell_full(world, link, true);
  if (result == IN_FULL || result == IN_EARLY) in_wait(link, sequence, bytes, count, at);
  return result != IN_DAMAGED;
}

void zone_take_held(hosted_world *world, zone_link *link) {
  for (zone_held *held; (held = STAILQ_FIRST(&link->held)) != NULL;) {
    in_result result = in_take(world, link, held->sequence, held->parcel, held->bytes, &held->at);
    tell_full(world, link, result == IN_FULL);
    if (result == IN_FULL || result == IN_EARLY) return;
    STAILQ_REMOVE_HEAD(&link->held, link);
    free(held);
  }
}
