/* zone_ghosts.c - what neighbours see of each other: told some times a second, in messages that may be lost. A telling
 * comes in parts, and counts when all of them have come. Most of them tell of those that changed; now and then one is
 * of all that is seen, and what it does not name is gone. */
#include "service/service.h"
#include "service/zones/format.h"
#include "service/zones/zone_parts.h"

#include <stdlib.h>
#include <string.h>

/* Ghosts that were not renewed for so many rounds are gone. */
enum { ROUNDS_KEPT = 10, PART_BYTES = 1 << 17 };

/* A telling as a whole: ghosts, then observers. */
typedef struct telling_sizes {
  uint64_t ghosts, observers; /* bytes */
} telling_sizes;

typedef struct telling_head {
  uint64_t epoch, round;
  uint32_t part, parts;
  uint32_t whole; /* it tells of all that is seen */
  uint32_t zero;
} telling_head;

FORMAT_HAS(telling_sizes, 16);
FORMAT_HAS(telling_head, 32);

/* ---------------------------------------------------------------------------------------------------------- telling */

/* One pack, cut into as many messages as it needs. */
static void tell_neighbour(hosted_world *world, uint32_t number) {
  struct zone *zone = world->zone;
  zone_link *link = &zone->links[number];
  struct parcel *pack = &zone->pack;
  telling_sizes sizes = {.ghosts = 0};
  unsigned char message[sizeof(telling_head) + PART_BYTES];
  pack->count = 0;
  pack->failed = false;
  parcel_put(&sizes, sizeof sizes, pack);
  muster_result result = muster_ghosts_pack(world->world, link->seen, link->seen_count, parcel_put, pack);
  sizes.ghosts = pack->count - sizeof sizes;
  zone_tell_observers(world, link, pack);
  sizes.observers = pack->count - sizeof sizes - sizes.ghosts;
  if (result || pack->failed) return;
  memcpy(pack->bytes, &sizes, sizeof sizes);
  const uint32_t parts = (uint32_t)((pack->count + PART_BYTES - 1) / PART_BYTES);
  for (uint32_t part = 0; part < parts; part++) {
    size_t first = (size_t)part * PART_BYTES, left = pack->count - first, count = left < PART_BYTES ? left : PART_BYTES;
    const telling_head head = {.epoch = zone->lease.epoch,
                               .part = part,
                               .parts = parts,
                               .whole = zone_tells_all(zone, number),
                               .round = zone->round};
    memcpy(message, &head, sizeof head);
    memcpy(message + sizeof head, pack->bytes + first, count);
    wire_put(&zone->wire,
             (wire_head){.kind = WIRE_TELL, .zone = link->zone, .number = zone->round, .bytes = sizeof head + count},
             message);
  }
}

void zone_tell_round(hosted_world *world) {
  struct zone *zone = world->zone;
  for (uint32_t i = 0; i < zone->link_count; i++) {
    tell_neighbour(world, i);
    zone->links[i].seen_count = 0;
  }
  zone->round++;
}

/* ----------------------------------------------------------------------------------------------------------- seeing */

static bool telling_append(zone_telling *telling, const void *bytes, size_t count) {
  if (telling->room - telling->count < count) {
    size_t room = 2 * (telling->count + count);
    unsigned char *larger = realloc(telling->bytes, room);
    if (!larger) return false;
    telling->bytes = larger;
    telling->room = room;
  }
  memcpy(telling->bytes + telling->count, bytes, count);
  telling->count += count;
  return true;
}

static void take_telling(hosted_world *world, zone_link *link, bool whole) {
  zone_telling *telling = &link->telling;
  telling_sizes sizes;
  if (telling->count < sizeof sizes) return;
  memcpy(&sizes, telling->bytes, sizeof sizes);
  if (sizes.ghosts > telling->count || sizes.observers != telling->count - sizeof sizes - sizes.ghosts) return;
  const unsigned char *ghosts = telling->bytes + sizeof sizes;
  muster_result result = muster_ghosts_set(world->world, link->zone, ghosts, sizes.ghosts, whole);
  if (result && result != MUSTER_E_FULL) return;
  zone_take_observers(world, link, ghosts + sizes.ghosts, sizes.observers);
  telling->taken_ns = world->sim_now_ns ? world->sim_now_ns : 1;
}

void zone_take_telling(hosted_world *world, zone_link *link, const void *bytes, size_t count) {
  zone_telling *telling = &link->telling;
  telling_head head;
  if (count < sizeof head) return;
  memcpy(&head, bytes, sizeof head);
  if (head.epoch < telling->epoch || head.epoch < link->in.epoch) return;
  if (head.epoch == telling->epoch && head.round < telling->round) return; /* by a slower server */
  if (head.part == 0) {
    telling->epoch = head.epoch;
    telling->round = head.round;
    telling->parts = head.parts;
    telling->next = 0;
    telling->count = 0;
  }
  if (head.round != telling->round || head.part != telling->next || head.parts != telling->parts) return;
  if (!telling_append(telling, (const unsigned char *)bytes + sizeof head, count - sizeof head)) return;
  if (++telling->next == telling->parts) take_telling(world, link, head.whole);
}

void zone_expire_ghosts(hosted_world *world) {
  struct zone *zone = world->zone;
  for (uint32_t i = 0; i < zone->link_count; i++) {
    zone_telling *telling = &zone->links[i].telling;
    if (!telling->taken_ns || world->sim_now_ns - telling->taken_ns < ROUNDS_KEPT * zone->round_ns) continue;
    muster_ghosts_set(world->world, zone->links[i].zone, NULL, 0, true);
    zone_drop_observers(world, &zone->links[i]);
    telling->taken_ns = 0;
  }
}
