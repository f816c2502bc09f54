/* tests/support/border_town.h - a zone between two neighbours, with herds, a wire whose other end is the test's, and no
 * brokers: the zone's process without its service. */
#ifndef BORDER_TOWN_H
#define BORDER_TOWN_H

#include "service/service.h"
#include "service/zones/zone_parts.h"
#include "support/herd_world.h"
#include "support/zones.h"
#include "wires.h"

#include "base/clock.h"

#include <muster/herd.h>

enum { TOWN_WEST = 1, TOWN = 2, TOWN_EAST = 3, TOWN_LINKS = 2, TOWN_EPOCH = 4, TOWN_SIDE_M = 100 };

/* As neighbours tell of an observer: zone_watchers.c. */
typedef struct seen_observer {
  uint64_t id;
  double x, y, z;
  float near_m, far_m;
  uint32_t partition, reserved;
} seen_observer;

/* As a herd crosses: zone_herds.c. */
typedef struct herd_head {
  uint64_t own;
  zone_origin origin;
} herd_head;

/* The town of a file of tests; town_begin() makes it. */
typedef struct border_town {
  hosted_world world;
  herd_world own, other; /* the other one is of the zone to the west */
  struct wire end;       /* of the supervisor */
} border_town;

static border_town town;
static little_world *const here = &town.own.little, *const there = &town.other.little;
static struct zone *zone; /* of the town */
static zone_link *west, *east;

static inline zone_place town_place(uint64_t number) {
  return (zone_place){TOWN_EPOCH, number};
}

static inline herd_world town_world(uint32_t number, uint32_t agents_max) {
  muster_world_def def = zone_world_def(number);
  def.limits.agents_max = agents_max;
  return herd_world_create(1, &def, NULL);
}

/* A zone between 0 and 100 m, with one to its west and one to its east. */
static inline struct zone *town_zone(void) {
  static const uint32_t others[TOWN_LINKS] = {TOWN_WEST, TOWN_EAST};
  struct zone *made = calloc(1, sizeof *made);
  cr_assert_not_null(made);
  zone_ground *ground = &made->lease.ground;
  *ground = (zone_ground){.number = TOWN, .rectangle = {0, 0, TOWN_SIDE_M, TOWN_SIDE_M}, .border_m = 10, .margin_m = 1};
  for (uint32_t i = 0; i < TOWN_LINKS; i++) {
    double x = i ? TOWN_SIDE_M : -TOWN_SIDE_M;
    ground->neighbours[ground->neighbour_count++] = (zone_neighbour){others[i], {x, 0, x + TOWN_SIDE_M, TOWN_SIDE_M}};
    made->links[made->link_count++].zone = others[i];
    STAILQ_INIT(&made->links[i].held);
  }
  TAILQ_INIT(&made->waiting);
  made->lease.epoch = TOWN_EPOCH;
  made->lease.ttl_ns = UINT64_MAX / 4;
  made->lease.leased_ns = clock_boot();
  made->round_ns = 5 * FRAME_NS;
  made->safe_frames = made->stored_snapshots = UINT64_MAX;
  return made;
}

static inline void town_zone_free(struct zone *made) {
  zone_close(&(hosted_world){.zone = made});
}

static inline void town_begin(uint32_t agents_max) {
  town = (border_town){.own = town_world(TOWN, agents_max), .other = town_world(TOWN_WEST, 4096)};
  zone = town_zone();
  west = &zone->links[0], east = &zone->links[1];
  town.world = (hosted_world){.world = here->world, .zone = zone, .period_ns = FRAME_NS, .name = "town"};
  wires_open(&zone->wire, &town.end, false);
  run_frame(here);
  run_frame(there);
}

static inline void town_end(void) {
  const int ends[2] = {zone->wire.descriptor, town.end.descriptor};
  town_zone_free(zone);
  wire_close(&town.end);
  close_all(ends, 2);
  herd_world_destroy(&town.own);
  herd_world_destroy(&town.other);
}

/* The supervisor says something, which the zone takes in. */
static inline void town_say(wire_head head, const void *bytes) {
  cr_assert(wire_put(&town.end, head, bytes) && wire_flush(&town.end));
  zone_take_in(&town.world);
}

/* The next message of a kind that the zone has sent; others are passed over. Its kind is 0 when there is none. */
static inline wire_message town_told(wire_kind kind) {
  wire_message message;
  for (bool all = false; !all;) {
    all = wire_flush(&zone->wire);
    while (wire_next(&town.end, &message))
      if (message.head.kind == (uint32_t)kind) return message;
  }
  return (wire_message){.head.kind = 0};
}

/* ---------------------------------------------------------------------------------------------------------- parcels */

static inline struct parcel parcel_of(uint64_t epoch, uint64_t number, uint64_t sim_now_ns) {
  struct parcel parcel = {0};
  parcel_begin(&parcel, epoch, number, 1, sim_now_ns);
  return parcel;
}

static inline void parcel_add(struct parcel *parcel, parcel_kind kind, const void *bytes, size_t count) {
  parcel_open(parcel, kind);
  parcel_put(bytes, count, parcel);
  parcel_close(parcel);
}

/* A herd of the world to the west departs. */
static inline void parcel_add_herd(struct parcel *parcel, double x, uint32_t members) {
  muster_herd herd = add_herd(&town.other, x, 50, members);
  herd_head head;
  memset(&head, 0, sizeof head);
  head.own = herd.value;
  run_frame(there);
  parcel_open(parcel, PARCEL_HERD);
  parcel_put(&head, sizeof head, parcel);
  muster_result result = muster_herd_depart(there->world, herd, TOWN, parcel_put, parcel);
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  parcel_close(parcel);
}

/* A neighbour's parcel comes, from this place of what it has sent. */
static inline void take_parcel(zone_link *from, uint64_t number, const struct parcel *parcel) {
  cr_assert(zone_take_parcel(&town.world, from, town_place(number), parcel->bytes, parcel->count), "%s",
            muster_last_error());
}

#endif
