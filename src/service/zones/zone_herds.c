/* zone_herds.c - herds that leave and come, folded and whole. A herd has no hop as an agent has; what tells one that
 * comes a second time is where it came from: the zone, the place of the parcel and the item in it. */
#include "service/log.h"
#include "service/service.h"
#include "service/zones/zone_parts.h"

#include <muster/herd.h>
#include <stdlib.h>
#include <string.h>

enum { HERDS_EACH_FRAME = 64 };

/* In front of a herd's bytes. */
typedef struct herd_item {
  uint64_t own;       /* its id in the zone that it leaves */
  zone_origin origin; /* how it had come there; zone 0 = it was added there */
} herd_item;

static bool same_origin(const zone_origin *a, const zone_origin *b) {
  return a->zone == b->zone && a->item == b->item && place_equal(a->place, b->place);
}

static zone_herd *zone_herds_find(struct zone *zone, uint64_t own) {
  for (uint32_t i = 0; i < zone->herd_count; i++)
    if (zone->herds[i].own == own) return &zone->herds[i];
  return NULL;
}

static bool append_herd(zone_herd **list, uint32_t *count, uint32_t *room, zone_herd herd) {
  if (*count == *room) {
    uint32_t more = 2 * *room + 16;
    zone_herd *larger = realloc(*list, more * sizeof *larger);
    if (!larger) return false;
    *list = larger;
    *room = more;
  }
  (*list)[(*count)++] = herd;
  return true;
}

bool zone_keep_herd(struct zone *zone, zone_herd herd) {
  zone_herd *known = zone_herds_find(zone, herd.own); /* a note may repeat what the state before it has */
  if (known) *known = herd;
  return known || append_herd(&zone->herds, &zone->herd_count, &zone->herd_room, herd);
}

void zone_forget_herd(struct zone *zone, uint64_t own) {
  zone_herd *herd = zone_herds_find(zone, own);
  if (herd) *herd = zone->herds[--zone->herd_count];
}

/* ---------------------------------------------------------------------------------------------------------- leaving */

static void herd_depart(hosted_world *world, zone_link *link, muster_herd herd) {
  struct zone *zone = world->zone;
  struct parcel *parcel = zone_parcel(world, link);
  const zone_herd *known = zone_herds_find(zone, herd.value);
  herd_item item;
  memset(&item, 0, sizeof item);
  item.own = herd.value;
  if (known) item.origin = known->origin;
  parcel_open(parcel, PARCEL_HERD);
  parcel_put(&item, sizeof item, parcel);
  if (muster_herd_depart(world->world, herd, link->zone, parcel_put, parcel) != MUSTER_OK) {
    parcel_undo(parcel); /* unfolded, or a named member is busy: another time */
    return;
  }
  parcel_close(parcel);
  zone->published.departed++;
  if (!known) return;
  zone_note_herd(world, known, false);
  zone_forget_herd(zone, herd.value);
}

/* Some each frame, round and round. */
void zone_scan_herds(hosted_world *world) {
  struct zone *zone = world->zone;
  muster_herd_info info = muster_herd_info_default();
  for (uint32_t i = 0; i < HERDS_EACH_FRAME; i++) {
    zone->next_herd = muster_herd_next(world->world, zone->next_herd);
    if (muster_herd_is_null(zone->next_herd)) return; /* from the first one on, in the next frame */
    if (muster_herd_read(world->world, zone->next_herd, &info) != MUSTER_OK || info.leaves) continue;
    uint32_t to = ground_target(&zone->lease.ground, info.position.x, info.position.y);
    zone_link *link = zone_link_of(zone, to);
    if (link) herd_depart(world, link, zone->next_herd);
  }
}

/* ----------------------------------------------------------------------------------------------------------- coming */

bool zone_take_herd(hosted_world *world, const zone_link *link, zone_place place, uint32_t number, const void *bytes,
                    size_t count) {
  struct zone *zone = world->zone;
  zone_herd came = {.origin = {.zone = link->zone, .item = number, .place = place}};
  muster_herd herd;
  if (count < sizeof(herd_item)) return true;
  for (uint32_t i = 0; i < zone->gone_count; i++)
    if (same_origin(&zone->gone[i].origin, &came.origin)) return true; /* it went on, in an earlier life of this zone */
  muster_result result = muster_herd_arrive(world->world, (const unsigned char *)bytes + sizeof(herd_item),
                                            count - sizeof(herd_item), &herd);
  if (result == MUSTER_E_FULL || result == MUSTER_E_MEMORY || result == MUSTER_E_INPUT) return false;
  zone->published.arrived += !result;
  zone->published.refused += result != MUSTER_OK;
  if (result) {
    log_line(MUSTER_LOG_ERROR, "world %s: a herd of zone %u was not taken in: %s", world->name, link->zone,
             muster_last_error());
    return true;
  }
  came.own = herd.value;
  if (!append_herd(&zone->herds, &zone->herd_count, &zone->herd_room, came))
    abort(); /* the next process reads it again */
  zone_note_herd(world, &came, true);
  return true;
}

static bool drop_bytes(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count, (void)user;
  return true;
}

/* A herd that left after the restored state was stored. */
void zone_herd_left(hosted_world *world, const zone_link *link, const void *bytes, size_t count) {
  struct zone *zone = world->zone;
  herd_item item;
  if (count < sizeof item) return;
  memcpy(&item, bytes, sizeof item);
  const muster_herd herd = {item.own};
  muster_herd_info info = muster_herd_info_default();
  if (muster_herd_read(world->world, herd, &info) == MUSTER_OK &&
      muster_herd_depart(world->world, herd, link->zone, drop_bytes, NULL) != MUSTER_OK)
    muster_herd_remove(world->world, herd); /* it was unfolded then */
  if (item.origin.zone &&
      !append_herd(&zone->gone, &zone->gone_count, &zone->gone_room, (zone_herd){.origin = item.origin}))
    abort();
  zone_forget_herd(zone, item.own);
}
