/* zone_out.c - who leaves a zone, and what is told to its neighbours. */
#include "service/log.h"
#include "service/service.h"
#include "service/zones/zone_parts.h"

#include "base/clock.h"

#include <muster/tune.h>
#include <muster/view.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- parcels */

/* Those that leave are gone from the world and not in the journal, which ends before this frame. */
static void out_fail(const hosted_world *world, const char *why) {
  log_line(MUSTER_LOG_ERROR, "world %s: those that leave are not in its journal, from which it begins again: %s",
           world->name, why);
  abort();
}

/* The parcel waits until the frame with its departures is safe. It is not in the journal yet: a parcel is closed when
 * it is full, also from inside a call of the world, which takes no notes then. */
static void out_close(hosted_world *world, zone_link *link) {
  struct zone *zone = world->zone;
  if (!parcel_has_items(&link->parcel)) return;
  zone_waiting *waiting = link->parcel.failed ? NULL : malloc(sizeof *waiting + link->parcel.count);
  if (!waiting) out_fail(world, "no memory");
  *waiting = (zone_waiting){
      .to = link->zone, .number = ++link->numbered, .until = held_begin(world), .bytes = link->parcel.count};
  memcpy(waiting->parcel, link->parcel.bytes, waiting->bytes);
  TAILQ_INSERT_TAIL(&zone->waiting, waiting, link);
  link->parcel.count = 0;
}

static void out_note(hosted_world *world) {
  zone_waiting *waiting;
  TAILQ_FOREACH(waiting, &world->zone->waiting, link) {
    if (!waiting->noted && !zone_note_waiting(world, waiting)) out_fail(world, muster_last_error());
    waiting->noted = true;
  }
}

/* ------------------------------------------------------------------------------------------------------ departures */

/* A parcel of this frame for a neighbour; begun with its first item. */
struct parcel *zone_parcel(hosted_world *world, zone_link *link) {
  const struct zone *zone = world->zone;
  if (link->parcel.count > PARCEL_BYTES) out_close(world, link);
  if (!parcel_has_items(&link->parcel))
    parcel_begin(&link->parcel, zone->lease.epoch, link->numbered + 1, held_last_frame(world) + 1, zone_land_ns(world));
  return &link->parcel;
}

/* One that is in the middle of an update goes a little later: the next round finds it again. */
static void out_depart(hosted_world *world, zone_link *link, muster_agent agent) {
  struct parcel *parcel = zone_parcel(world, link);
  parcel_open(parcel, PARCEL_AGENT);
  if (muster_agent_depart(world->world, agent, link->zone, parcel_put, parcel) == MUSTER_OK) {
    parcel_close(parcel);
    world->zone->published.departed++;
  } else {
    parcel_undo(parcel);
  }
}

static void out_see(zone_link *link, muster_agent agent) {
  if (link->seen_count == link->seen_room) {
    uint32_t room = 2 * link->seen_room + 256;
    muster_agent *larger = realloc(link->seen, room * sizeof *larger);
    if (!larger) return; /* the neighbour does not see it this time */
    link->seen = larger;
    link->seen_room = room;
  }
  link->seen[link->seen_count++] = agent;
}

static void out_look_at(hosted_world *world, muster_agent agent, const muster_position *place, bool changed) {
  struct zone *zone = world->zone;
  zone_link *target = zone_link_of(zone, ground_target(&zone->lease.ground, place->x, place->y));
  if (target) {
    out_depart(world, target, agent);
    return;
  }
  for (uint32_t i = 0; i < zone->link_count; i++)
    if ((changed || zone_tells_all(zone, i)) &&
        ground_is_seen(&zone->lease.ground, &zone->lease.ground.neighbours[i], place->x, place->y))
      out_see(&zone->links[i], agent);
}

/* Looks at the next agents of the round, at most `most`; returns how many these were. */
static uint32_t out_look(hosted_world *world, const zone_rectangle *inner, uint32_t most) {
  struct zone *zone = world->zone;
  muster_agent agents[SCAN_AGENTS];
  muster_position places[SCAN_AGENTS];
  bool changed[SCAN_AGENTS];
  muster_view view = muster_view_default();
  uint32_t from = zone->next;
  view.x0 = inner->x0, view.y0 = inner->y0;
  view.x1 = inner->x1, view.y1 = inner->y1;
  view.looks_max = most;
  uint32_t count = muster_agents_outside(world->world, &view, agents, places, changed, SCAN_AGENTS, &zone->next);
  for (uint32_t i = 0; i < count; i++) out_look_at(world, agents[i], &places[i], changed[i]);
  return zone->next == MUSTER_VIEW_END ? most : zone->next - from;
}

/* A round looks at all agents once, in as many frames as there are between two tellings: so no frame has a spike. */
static void out_scan(hosted_world *world, uint32_t most) {
  struct zone *zone = world->zone;
  const zone_rectangle inner = ground_inner(&zone->lease.ground);
  while (most > 0 && zone->next != MUSTER_VIEW_END) {
    uint32_t looks = out_look(world, &inner, most);
    zone->looks += looks;
    most -= looks;
  }
  if (zone->next != MUSTER_VIEW_END) return;
  zone_tell_round(world);
  zone->next = 0;
  zone->looks_before = zone->looks;
  zone->looks = 0;
}

/* -------------------------------------------------------------------------------------------------------- messages */

static void out_letter(const muster_zone_message *message, void *user) {
  hosted_world *world = user;
  zone_link *link = zone_link_of(world->zone, message->zone);
  const parcel_letter letter = {.from = message->from.value,
                                .to = message->to.value,
                                .sequence = message->sequence,
                                .follows = muster_zone_message_follows(message),
                                .sent_ns = message->sent_ns};
  world->zone->published.lost += !link;
  if (!link) return;
  struct parcel *parcel = zone_parcel(world, link);
  parcel_open(parcel, PARCEL_MESSAGE);
  parcel_put(&letter, sizeof letter, parcel);
  parcel_put(message->bytes, message->size, parcel);
  parcel_close(parcel);
  world->zone->published.sent++;
}

/* ---------------------------------------------------------------------------------------------------------- sending */

static void out_send(hosted_world *world) {
  struct zone *zone = world->zone;
  zone_waiting *waiting;
  TAILQ_FOREACH(waiting, &zone->waiting, link) {
    if (waiting->sent) continue;
    if (!held_is_over(world, &waiting->until)) break;
    wire_put(&zone->wire,
             (wire_head){.kind = WIRE_PUBLISH, .zone = waiting->to, .number = waiting->number, .bytes = waiting->bytes},
             waiting->parcel);
    waiting->sent = true;
  }
}

void zone_number_again(struct zone *zone) {
  zone_waiting *waiting;
  for (uint32_t i = 0; i < zone->link_count; i++) zone->links[i].numbered = 0;
  TAILQ_FOREACH(waiting, &zone->waiting, link) {
    zone_link *link = zone_link_of(zone, waiting->to);
    if (!link) continue;
    waiting->number = ++link->numbered;
    waiting->sent = false;
    parcel_renumber(waiting->parcel, zone->lease.epoch, waiting->number);
  }
}

/* ----------------------------------------------------------------------------------------------------- after frames */

/* The snapshot that is complete now began behind these: so it has them, and the others get to know. */
static void tell_positions(struct zone *zone, uint64_t snapshots) {
  uint32_t count = 2 * zone->link_count;
  if (zone->told_snapshots)
    wire_put(&zone->wire, (wire_head){.kind = WIRE_POSITIONS, .bytes = count * sizeof *zone->positions},
             zone->positions);
  zone_positions(zone, zone->positions);
  zone->told_snapshots = snapshots;
}

/* Not what the frame had: less than the budget where the machine gives less, which must not make the zone lighter. */
static wire_load load_of(const hosted_world *world) {
  muster_frame_report report = muster_frame_report_default();
  muster_frame_report_read(world->world, &report);
  return (wire_load){.wants = (double)report.utilisation_nominal,
                     .has = (double)muster_world_workers(world->world) * (double)world->budget_ns /
                            (double)world->period_ns};
}

void zone_tell_frame(hosted_world *world) {
  struct zone *zone = world->zone;
  zone->told_ns = clock_system();
  muster_journal_status status = muster_journal_status_default();
  const wire_load load = load_of(world);
  if (world->journal) muster_journal_status_read(world->journal, &status);
  if (status.snapshots != zone->told_snapshots) {
    zone_tell_named(world);
    tell_positions(zone, status.snapshots);
  }
  wire_put(
      &zone->wire,
      (wire_head){
          .kind = WIRE_FRAME, .number = held_last_frame(world), .sequence = status.snapshots, .bytes = sizeof load},
      &load);
}

/* The rounds of two neighbours need not meet: each renews what the other sees as often as the settings say. */
static uint32_t part_of_round(const hosted_world *world) {
  const struct zone *zone = world->zone;
  muster_frame_report report = muster_frame_report_default();
  muster_frame_report_read(world->world, &report);
  uint64_t frames = zone->round_ns / world->period_ns;
  uint32_t all = report.agents > zone->looks_before ? report.agents : zone->looks_before;
  return (uint32_t)(all / (frames ? frames : 1)) + 64;
}

void zone_send_out(hosted_world *world) {
  struct zone *zone = world->zone;
  if (!zone) return;
  out_scan(world, part_of_round(world));
  zone_scan_herds(world);
  zone_scan_observers(world);
  muster_zone_messages(world->world, out_letter, world);
  for (uint32_t i = 0; i < zone->link_count; i++) out_close(world, &zone->links[i]);
  out_note(world);
  out_send(world);
  zone_look_at_ids(world);
  zone_draw_map(world);
  zone_tell_frame(world);
  zone_move_on(world);
  wire_flush(&zone->wire);
}

/* --------------------------------------------------------------------------------------------------------- takeover */

static void left(hosted_world *world, const zone_link *link, const void *bytes, size_t count) {
  muster_agent agent;
  uint32_t hop;
  if (muster_agent_packed(bytes, count, &agent, &hop) != MUSTER_OK) return;
  zone_gone_add(world->zone, (zone_gone){agent.value, hop, PARCEL_AGENT});
  muster_agent_left(world->world, agent, hop, link->zone);
}

/* It was put, perhaps under another number than it has now. Whether it has waited here: then the restored world has no
 * more who left with it. */
static bool drop_put(struct zone *zone, const parcel_head *head, uint32_t to) {
  zone_waiting *waiting;
  TAILQ_FOREACH(waiting, &zone->waiting, link) {
    parcel_head own;
    memcpy(&own, waiting->parcel, sizeof own);
    if (waiting->to != to || !place_equal(own.birth, head->birth)) continue;
    TAILQ_REMOVE(&zone->waiting, waiting, link);
    free(waiting);
    return true;
  }
  return false;
}

bool zone_take_sent(hosted_world *world, zone_link *link, zone_place place, const void *bytes, size_t count) {
  struct zone *zone = world->zone;
  parcel_head head;
  parcel_item item;
  const unsigned char *item_bytes;
  bool damaged = false;
  if (parcel_read_head(bytes, count, &head)) return false;
  if (!pair_takes(&link->out, place, head.epoch, head.number)) return true;
  bool known = drop_put(zone, &head, link->zone);
  for (size_t at = 0; !known && parcel_next(bytes, count, &at, &item, &item_bytes, &damaged);)
    if (item.kind == PARCEL_AGENT)
      left(world, link, item_bytes, item.bytes);
    else if (item.kind == PARCEL_HERD)
      zone_herd_left(world, link, item_bytes, item.bytes);
    else if (item.kind == PARCEL_OBSERVER)
      zone_observer_left(world, link, item_bytes, item.bytes);
  return !damaged;
}
