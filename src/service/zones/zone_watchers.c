/* zone_watchers.c - observers that leave this zone and come to it, as agents do; and observers of neighbours that see
 * into it: told with what stands near the border, and added to this world as observers of its own, so that who is near
 * them matters here, too. */
#include "service/service.h"
#include "service/zones/format.h"
#include "service/zones/zone_parts.h"

#include <stdlib.h>
#include <string.h>

/* What is told of an observer. */
typedef struct told_observer {
  uint64_t id; /* where it belongs */
  double x, y, z;
  float near_m, far_m;
  uint32_t partition, reserved;
} told_observer;

FORMAT_HAS(told_observer, 48);

static bool is_watcher(const struct zone *zone, muster_observer observer) {
  for (uint32_t i = 0; i < zone->link_count; i++)
    for (uint32_t j = 0; j < zone->links[i].watcher_count; j++)
      if (muster_observer_equal(zone->links[i].watchers[j].own, observer)) return true;
  return false;
}

/* --------------------------------------------------------------------------------------------------------- crossing */

/* One about which the next intake is asked something goes a little later. Where it was held it stays held no more. */
static void watcher_departs(hosted_world *world, zone_link *link, muster_observer observer) {
  struct parcel *parcel = zone_parcel(world, link);
  parcel_open(parcel, PARCEL_OBSERVER);
  if (muster_observer_depart(world->world, observer, link->zone, parcel_put, parcel) == MUSTER_OK) {
    parcel_close(parcel);
    holds_drop(&world->holds, observer);
  } else {
    parcel_undo(parcel);
  }
}

void zone_scan_observers(hosted_world *world) {
  struct zone *zone = world->zone;
  muster_observer_def def = muster_observer_def_default();
  muster_observer next = muster_observer_next(world->world, (muster_observer){0});
  while (!muster_observer_is_null(next)) {
    muster_observer observer = next;
    next = muster_observer_next(world->world, observer);
    if (muster_observer_read(world->world, observer, &def) != MUSTER_OK || is_watcher(zone, observer)) continue;
    zone_link *target = zone_link_of(zone, ground_target(&zone->lease.ground, def.position.x, def.position.y));
    if (target) watcher_departs(world, target, observer);
  }
}

void zone_observer_left(hosted_world *world, const zone_link *link, const void *bytes, size_t count) {
  muster_observer observer;
  uint32_t hop;
  if (muster_observer_packed(bytes, count, &observer, &hop) != MUSTER_OK) return;
  zone_gone_add(world->zone, (zone_gone){observer.value, hop, PARCEL_OBSERVER});
  muster_observer_left(world->world, observer, hop, link->zone);
}

bool zone_take_observer(hosted_world *world, const void *bytes, size_t count) {
  muster_observer observer;
  uint32_t hop;
  bool gone = muster_observer_packed(bytes, count, &observer, &hop) == MUSTER_OK &&
              zone_gone_has(world->zone, (zone_gone){observer.value, hop, PARCEL_OBSERVER});
  muster_result result = gone ? MUSTER_E_STALE : muster_observer_arrive(world->world, bytes, count, NULL);
  return !result || result == MUSTER_E_STALE; /* zone.departed, arrived and refused count agents */
}

/* ---------------------------------------------------------------------------------------------------------- telling */

void zone_tell_observers(hosted_world *world, const zone_link *link, struct parcel *to) {
  const struct zone *zone = world->zone;
  const zone_neighbour *neighbour = ground_neighbour(&zone->lease.ground, link->zone);
  muster_observer observer = {0};
  muster_observer_def def = muster_observer_def_default();
  while (!muster_observer_is_null(observer = muster_observer_next(world->world, observer))) {
    if (muster_observer_read(world->world, observer, &def) != MUSTER_OK || is_watcher(zone, observer)) continue;
    if (ground_distance_m(neighbour, def.position.x, def.position.y) > (double)def.far_m) continue;
    const told_observer told = {.id = observer.value,
                                .x = def.position.x,
                                .y = def.position.y,
                                .z = def.position.z,
                                .near_m = def.near_m,
                                .far_m = def.far_m,
                                .partition = def.partition};
    parcel_put(&told, sizeof told, to);
  }
}

/* ----------------------------------------------------------------------------------------------------------- seeing */

static zone_watcher *find_watcher(zone_link *link, uint64_t id) {
  for (uint32_t i = 0; i < link->watcher_count; i++)
    if (link->watchers[i].id == id) return &link->watchers[i];
  return NULL;
}

static void remove_watcher(hosted_world *world, zone_link *link, zone_watcher *watcher) {
  muster_observer_remove(world->world, watcher->own);
  zone_note_watcher(world, link, watcher, false);
  *watcher = link->watchers[--link->watcher_count];
}

bool zone_keep_watcher(zone_link *link, zone_watcher watcher) {
  if (link->watcher_count == link->watcher_room) {
    uint32_t room = 2 * link->watcher_room + 16;
    zone_watcher *larger = realloc(link->watchers, room * sizeof *larger);
    if (!larger) return false;
    link->watchers = larger;
    link->watcher_room = room;
  }
  link->watchers[link->watcher_count++] = watcher;
  return true;
}

static void add_watcher(hosted_world *world, zone_link *link, const told_observer *told) {
  muster_observer_def def = muster_observer_def_default();
  def.position = (muster_position){told->x, told->y, told->z};
  def.near_m = told->near_m;
  def.far_m = told->far_m;
  def.partition = told->partition;
  const zone_watcher watcher = {
      .id = told->id, .own = muster_observer_add(world->world, &def), .position = def.position, .told = true};
  if (muster_observer_is_null(watcher.own)) return; /* no room: another time */
  if (zone_keep_watcher(link, watcher))
    zone_note_watcher(world, link, &watcher, true);
  else
    muster_observer_remove(world->world, watcher.own);
}

static void move_watcher(hosted_world *world, zone_watcher *watcher, const told_observer *told) {
  const muster_position position = {told->x, told->y, told->z};
  watcher->told = true;
  if (memcmp(&position, &watcher->position, sizeof position) == 0) return;
  if (muster_observer_move(world->world, watcher->own, position) == MUSTER_OK) watcher->position = position;
}

void zone_take_observers(hosted_world *world, zone_link *link, const void *bytes, size_t count) {
  told_observer told;
  for (uint32_t i = 0; i < link->watcher_count; i++) link->watchers[i].told = false;
  for (size_t at = 0; at + sizeof told <= count; at += sizeof told) {
    memcpy(&told, (const unsigned char *)bytes + at, sizeof told);
    zone_watcher *watcher = find_watcher(link, told.id);
    if (watcher)
      move_watcher(world, watcher, &told);
    else
      add_watcher(world, link, &told);
  }
  for (uint32_t i = link->watcher_count; i-- > 0;)
    if (!link->watchers[i].told) remove_watcher(world, link, &link->watchers[i]);
}

void zone_drop_observers(hosted_world *world, zone_link *link) {
  while (link->watcher_count > 0) remove_watcher(world, link, &link->watchers[link->watcher_count - 1]);
}
