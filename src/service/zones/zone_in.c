/* zone_in.c - who comes to a zone. */
#include "service/log.h"
#include "service/service.h"
#include "service/zones/zone_parts.h"

#include "base/clock.h"

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

typedef enum in_result {
  IN_DONE = 0,
  IN_EARLY, /* this zone's time is behind that of the sender, and there soon */
  IN_FULL,
  IN_AWAITS, /* a message is for an agent that comes later */
  IN_DAMAGED
} in_result;

static uint64_t in_twice(const hosted_world *world) {
  muster_zone_status status = muster_zone_status_default();
  muster_zone_status_read(world->world, &status);
  return status.messages_twice;
}

/* IN_FULL: its receiver has moved on, and the messages that go after it wait to go out with this frame. */
static in_result in_deliver(hosted_world *world, const zone_link *link, const void *bytes, size_t count) {
  parcel_letter letter;
  if (count < sizeof letter) return IN_DONE;
  memcpy(&letter, bytes, sizeof letter);
  const muster_zone_message message = {.from = {letter.from},
                                       .to = {letter.to},
                                       .sequence = letter.sequence,
                                       .sent_ns = letter.sent_ns,
                                       .size = (uint32_t)(count - sizeof letter),
                                       .bytes = (const unsigned char *)bytes + sizeof letter};
  uint64_t twice = in_twice(world);
  muster_result result = muster_zone_deliver_after(world->world, &message, letter.follows);
  bool is_lost = result && in_twice(world) == twice;
  if (result == MUSTER_E_FULL) return IN_FULL;
  if (is_lost && result == MUSTER_E_STALE && zone_may_come(world->zone, link, message.to)) {
    if (!world->zone->gives_up) return IN_AWAITS;
    world->zone->gives_up = false;
  }
  world->zone->published.delivered += !result;
  world->zone->published.lost += is_lost;
  return IN_DONE;
}

static in_result in_take_item(hosted_world *world, const zone_link *link, zone_place place, size_t at,
                              const parcel_item *item, const unsigned char *bytes) {
  bool taken = true;
  if (item->kind == PARCEL_MESSAGE) return in_deliver(world, link, bytes, item->bytes);
  if (item->kind == PARCEL_AGENT) taken = in_arrive(world, bytes, item->bytes);
  if (item->kind == PARCEL_HERD) taken = zone_take_herd(world, link, place, (uint32_t)at, bytes, item->bytes);
  if (item->kind == PARCEL_OBSERVER) taken = zone_take_observer(world, bytes, item->bytes);
  return taken ? IN_DONE : IN_FULL;
}

/* The next life of the zone goes on there, too: who was taken may be gone by then, and must not come again. */
static in_result in_take_part(hosted_world *world, zone_link *link, zone_part part, in_result result) {
  if (part.at == zone_part_taken(link, part.place)) return result;
  link->part = part;
  zone_note_part(world, link);
  return result;
}

/* This zone is behind, and there soon: no time may pass twice. For one that is ahead of land time nobody waits, once
 * this zone itself is level. */
static bool zone_is_early(const hosted_world *world, uint64_t sent_ns) {
  uint64_t own_ns = zone_land_ns(world), now_ns = land_reading_at(&world->zone->lease.clock, clock_boot());
  bool ahead = sent_ns > now_ns && sent_ns - now_ns > MUSTER_ZONE_EARLY_NS,
       level = own_ns + MUSTER_ZONE_EARLY_NS >= now_ns;
  return sent_ns > own_ns && !(ahead && level);
}

/* Takes the items that were not taken, as far as there is room. */
static in_result in_take(hosted_world *world, zone_link *link, zone_place place, const void *bytes, size_t count) {
  parcel_head head;
  parcel_item item;
  const unsigned char *item_bytes;
  bool damaged = false;
  if (parcel_read_head(bytes, count, &head)) return IN_DAMAGED;
  bool counts = pair_counts(&link->in, place, head.epoch, head.number);
  if (counts && zone_is_early(world, head.sim_now_ns)) return IN_EARLY;
  size_t at = zone_part_taken(link, place);
  for (size_t next = at; counts && parcel_next(bytes, count, &next, &item, &item_bytes, &damaged); at = next) {
    in_result result = in_take_item(world, link, place, at, &item, item_bytes);
    if (result) return in_take_part(world, link, (zone_part){place, at}, result);
  }
  pair_takes(&link->in, place, head.epoch, head.number);
  zone_note_taken(world, link);
  return damaged ? IN_DAMAGED : IN_DONE;
}

static bool in_waits(in_result result) {
  return result == IN_EARLY || result == IN_FULL || result == IN_AWAITS;
}

/* Those that come behind one that waits wait, too. */
static void in_wait(zone_link *link, zone_place place, const void *bytes, size_t count) {
  zone_held *held = malloc(sizeof *held + count);
  if (!held) abort(); /* the next process reads it again */
  *held = (zone_held){.place = place, .bytes = count};
  memcpy(held->parcel, bytes, count);
  STAILQ_INSERT_TAIL(&link->held, held, link);
}

static void tell_full(const hosted_world *world, zone_link *link, bool full) {
  if (full && !link->full)
    log_line(MUSTER_LOG_WARNING, "world %s: what comes from zone %u waits: %s", world->name, link->zone,
             muster_last_error());
  link->full = full;
}

bool zone_take_parcel(hosted_world *world, zone_link *link, zone_place place, const void *bytes, size_t count) {
  in_result result = STAILQ_EMPTY(&link->held) ? in_take(world, link, place, bytes, count) : IN_EARLY;
  if (result != IN_DAMAGED) link->given = place;
  if (result == IN_FULL) tell_full(world, link, true);
  if (in_waits(result)) in_wait(link, place, bytes, count);
  return result != IN_DAMAGED;
}

/* Whether anything was taken. */
static bool take_held_of(hosted_world *world, zone_link *link) {
  bool any = false;
  for (zone_held *held; (held = STAILQ_FIRST(&link->held)) != NULL;) {
    size_t before = zone_part_taken(link, held->place);
    in_result result = in_take(world, link, held->place, held->parcel, held->bytes);
    tell_full(world, link, result == IN_FULL);
    link->awaits = result == IN_AWAITS;
    any = any || !in_waits(result) || zone_part_taken(link, held->place) != before;
    if (in_waits(result)) return any;
    STAILQ_REMOVE_HEAD(&link->held, link);
    free(held);
  }
  return any;
}

/* Whether what waits awaits others, all of it: they await each other. */
static bool in_all_await(const struct zone *zone) {
  bool any = false;
  for (uint32_t i = 0; i < zone->link_count; i++) {
    const zone_link *link = &zone->links[i];
    if (STAILQ_EMPTY(&link->held)) continue;
    if (!link->awaits) return false;
    any = true;
  }
  return any;
}

void zone_take_held(hosted_world *world) {
  struct zone *zone = world->zone;
  bool any;
  do { /* what is taken at one may be what another awaits */
    any = false;
    for (uint32_t i = 0; i < zone->link_count; i++) any |= take_held_of(world, &zone->links[i]);
    zone->gives_up = !any && zone->all_came && in_all_await(zone);
  } while (any || zone->gives_up);
}
