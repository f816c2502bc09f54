/* tests/support/border_town.h - a zone between two neighbours, with herds, a wire whose other end is the test's, and no
 * brokers: the zone's process without its service. */
#ifndef BORDER_TOWN_H
#define BORDER_TOWN_H

#include "service/service.h"
#include "service/zones/zone_parts.h"
#include "support/herd_world.h"
#include "support/zones.h"

#include "base/clock.h"

#include <muster/herd.h>
#include <sys/socket.h>

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

typedef struct border_town {
  hosted_world world;
  herd_world own, other; /* the other one is of the zone to the west */
  struct wire end;       /* of the supervisor */
} border_town;

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
  struct zone *zone = calloc(1, sizeof *zone);
  cr_assert_not_null(zone);
  zone_ground *ground = &zone->lease.ground;
  *ground = (zone_ground){.number = TOWN, .rectangle = {0, 0, TOWN_SIDE_M, TOWN_SIDE_M}, .border_m = 10, .margin_m = 1};
  for (uint32_t i = 0; i < TOWN_LINKS; i++) {
    double x = i ? TOWN_SIDE_M : -TOWN_SIDE_M;
    ground->neighbours[ground->neighbour_count++] = (zone_neighbour){others[i], {x, 0, x + TOWN_SIDE_M, TOWN_SIDE_M}};
    zone->links[zone->link_count++].zone = others[i];
    STAILQ_INIT(&zone->links[i].held);
  }
  TAILQ_INIT(&zone->waiting);
  zone->lease.epoch = TOWN_EPOCH;
  zone->lease.ttl_ns = UINT64_MAX / 4;
  zone->lease.leased_ns = clock_boot();
  zone->round_ns = 5 * FRAME_NS;
  zone->safe_frames = zone->stored_snapshots = UINT64_MAX;
  return zone;
}

static inline void town_zone_free(struct zone *zone) {
  hosted_world world = {.zone = zone};
  zone_close(&world);
}

static inline void town_begin(border_town *town, uint32_t agents_max) {
  int ends[2];
  *town = (border_town){.own = town_world(TOWN, agents_max), .other = town_world(TOWN_WEST, 4096)};
  town->world =
      (hosted_world){.world = town->own.little.world, .zone = town_zone(), .period_ns = FRAME_NS, .name = "town"};
  cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  wire_open(&town->world.zone->wire, ends[0]);
  wire_open(&town->end, ends[1]);
  run_frame(&town->own.little);
  run_frame(&town->other.little);
}

static inline void town_end(border_town *town) {
  const int ends[2] = {town->world.zone->wire.descriptor, town->end.descriptor};
  town_zone_free(town->world.zone);
  wire_close(&town->end);
  close(ends[0]), close(ends[1]);
  herd_world_destroy(&town->own);
  herd_world_destroy(&town->other);
}

/* The supervisor says something, which the zone takes in. */
static inline void town_say(border_town *town, wire_head head, const void *bytes) {
  cr_assert(wire_put(&town->end, head, bytes) && wire_flush(&town->end));
  zone_take_in(&town->world);
}

/* The next message of a kind that the zone has sent; others are passed over. Its kind is 0 when there is none. */
static inline wire_message town_told(border_town *town, wire_kind kind) {
  wire_message message;
  for (bool all = false; !all;) {
    all = wire_flush(&town->world.zone->wire);
    while (wire_next(&town->end, &message))
      if (message.head.kind == (uint32_t)kind) return message;
  }
  return (wire_message){.head.kind = 0};
}

#endif
