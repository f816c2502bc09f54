/* zone_move.c - a zone that is to be moved: its journal stays in one file while it is followed, and then it stops.
 *
 *     NONE --> HELD --told--> STOPS --------------------behind a frame--> it stands still --told--> OVER: it ends
 *      ^         ^            STOPS_STORED, or it is paused --snapshot-----------^
 *      |         |                                                               |
 *      +---------+-------------------- it goes on after all ---------------------+
 *
 * What was asked of the zone before it stands still is in its last frame, or in that snapshot; what has come since is
 * refused, or nobody was told of it. */
#include "service/journals.h"
#include "service/log.h"
#include "service/service.h"
#include "service/zones/zone_parts.h"

#include <stdlib.h>
#include <unistd.h>

/* There is nothing to save, as another process has all of it, and the machine has other things to do. */
void zone_end_if_over(const struct zone *zone, const wire_head *head) {
  if (head->kind != WIRE_MOVE || head->number != WIRE_MOVE_OVER) return;
  flight_end(&zone->service->flight);
  _exit(EXIT_SUCCESS);
}

void zone_take_move(hosted_world *world, const wire_head *head) {
  struct zone *zone = world->zone;
  zone_end_if_over(zone, head);
  zone->move = (wire_move)head->number;
  zone->move_turn = head->zone;
  zone->held = false;
  journals_hold(world, zone->move != WIRE_MOVE_NONE);
  if (zone->move >= WIRE_MOVE_STOPS) return;
  zone->stands = zone->stopped = false;
  zone->awaits = 0;
}

static muster_journal_status move_read_status(const hosted_world *world) {
  muster_journal_status status = muster_journal_status_default();
  bool known = world->journal && muster_journal_status_read(world->journal, &status) == MUSTER_OK;
  if (!known) status.changes_safe = UINT64_MAX;
  return status;
}

/* A snapshot makes safe what a world without frames was told. */
static void ask_for_last(hosted_world *world) {
  if (journals_snapshot(world) == MUSTER_OK) world->zone->awaits = world->kept.changes;
}

static void stand_still(hosted_world *world) {
  struct zone *zone = world->zone;
  zone->stands = true;
  zone->stopped = false;
  zone->awaits = 0;
  if (world->paused) zone->move = WIRE_MOVE_STOPS_STORED;
}

/* One that began before the journal was held is complete. */
static void tell_held(hosted_world *world) {
  struct zone *zone = world->zone;
  const muster_journal_status status = move_read_status(world);
  if (status.writes) return;
  zone->held = true;
  zone_tell_frame(world);
  wire_put(
      &zone->wire,
      (wire_head){.kind = WIRE_HELD, .zone = zone->move_turn, .number = status.snapshots, .sequence = world->paused},
      NULL);
}

static void tell_stopped(hosted_world *world) {
  struct zone *zone = world->zone;
  bool stored = zone->move == WIRE_MOVE_STOPS_STORED;
  if (stored && !zone->awaits) ask_for_last(world);
  if (stored && world->journal && (!zone->awaits || move_read_status(world).changes_safe < zone->awaits)) return;
  zone->stopped = true;
  zone_tell_frame(world);
  wire_put(
      &zone->wire,
      (wire_head){.kind = WIRE_STOPPED, .zone = zone->move_turn, .number = held_last_frame(world), .sequence = stored},
      NULL);
}

void zone_move_on(hosted_world *world) {
  struct zone *zone = world->zone;
  if (zone->move == WIRE_MOVE_HELD && !zone->held) tell_held(world);
  if (zone->move >= WIRE_MOVE_STOPS && !zone->stands) stand_still(world);
  if (zone->stands && !zone->stopped) tell_stopped(world);
}
