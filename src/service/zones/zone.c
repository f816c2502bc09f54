#include "service/zones/zone.h"

#include "service/log.h"
#include "service/service.h"
#include "service/supervise/orders.h"
#include "service/zones/zone_parts.h"

#include "base/clock.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Of the lease's time. Its owner stands still before another can have it. */
enum {
  LEASE_PARTS = 3,
  LEASE_PARTS_USED = 2,
  SHORTEST_STEP_PART = 8,
  SLOW_STEP_PART = 2, /* of a zone that is ahead */
  LOOK_GAP_NS = 20000000,
  SIGN_GAP_NS = 200000000 /* of a zone that runs no frames */
};

zone_link *zone_link_of(struct zone *zone, uint32_t number) {
  for (uint32_t i = 0; number && i < zone->link_count; i++)
    if (zone->links[i].zone == number) return &zone->links[i];
  return NULL;
}

/* ------------------------------------------------------------------------------------------------------------- open */

muster_result zone_supervisor_is_gone(const hosted_world *world) {
  return error_set(MUSTER_E_SYSTEM, "world %s: its supervisor, which holds the lease of the zone, is gone",
                   world->name);
}

static bool take_begin(struct zone *zone, const wire_message *message) {
  if (message->head.kind != WIRE_BEGIN || message->head.bytes != sizeof zone->lease) return false;
  memcpy(&zone->lease, message->bytes, sizeof zone->lease);
  zone->follows = zone->lease.follows;
  zone->revision = zone->lease.revision;
  zone->has_followed = zone->has_followed || zone->follows;
  return true;
}

static muster_result await_begin(hosted_world *world) {
  wire_message message;
  struct zone *zone = world->zone;
  while (wire_wait(&zone->wire, -1, &message))
    if (take_begin(zone, &message)) return MUSTER_OK;
  return zone_supervisor_is_gone(world);
}

muster_result zone_open(struct service *service, hosted_world *world) {
  const struct settings *settings = &service->settings;
  if (!world->settings.zone) return MUSTER_OK;
  struct zone *zone = calloc(1, sizeof *zone);
  if (!zone) return error_set(MUSTER_E_MEMORY, "world %s: no memory for the zone", world->name);
  world->zone = zone;
  zone->service = service;
  TAILQ_INIT(&zone->waiting);
  wire_open(&zone->wire, ORDERS_ZONE);
  zone->round_ns = settings_period_ns(settings->ghost_rate);
  zone->safe_frames = zone->stored_snapshots = settings->journal_stream ? 0 : UINT64_MAX;
  muster_result result = await_begin(world);
  zone->link_count = zone->lease.ground.neighbour_count;
  for (uint32_t i = 0; i < zone->link_count; i++) {
    zone->links[i].zone = zone->lease.ground.neighbours[i].number;
    STAILQ_INIT(&zone->links[i].held);
  }
  if (!result && !zone_begin_births(world)) result = zone_supervisor_is_gone(world);
  return result;
}

void zone_close(hosted_world *world) {
  struct zone *zone = world->zone;
  if (!zone) return;
  for (zone_waiting *waiting; (waiting = TAILQ_FIRST(&zone->waiting)) != NULL;) {
    TAILQ_REMOVE(&zone->waiting, waiting, link);
    free(waiting);
  }
  for (uint32_t i = 0; i < zone->link_count; i++) {
    parcel_free(&zone->links[i].parcel);
    free(zone->links[i].seen);
    free(zone->links[i].watchers);
    for (zone_held *held; (held = STAILQ_FIRST(&zone->links[i].held)) != NULL;) {
      STAILQ_REMOVE_HEAD(&zone->links[i].held, link);
      free(held);
    }
    free(zone->links[i].telling.bytes);
  }
  wire_close(&zone->wire);
  parcel_free(&zone->pack);
  free(zone->herds);
  zone_gone_free(zone);
  free(zone);
  world->zone = NULL;
}

bool zone_must_restore(const hosted_world *world) {
  return world->zone && world->zone->lease.restores;
}

void zone_define(const struct zone *zone, muster_world_def *def) {
  if (!zone) return;
  def->zone.number = zone->lease.ground.number;
  def->zone.epoch = zone->space;
  def->zone.x_min = zone->lease.ground.rectangle.x0;
  def->zone.y_min = zone->lease.ground.rectangle.y0;
  def->zone.x_max = zone->lease.ground.rectangle.x1;
  def->zone.y_max = zone->lease.ground.rectangle.y1;
}

/* ----------------------------------------------------------------------------------------------------------- follow */

bool zone_follows(const hosted_world *world) {
  return world->zone && world->zone->follows;
}

bool zone_has_followed(const hosted_world *world) {
  return world->zone && world->zone->has_followed;
}

uint64_t zone_follow_on(hosted_world *world, uint64_t frame) {
  struct zone *zone = world->zone;
  wire_message message;
  wire_put(&zone->wire, (wire_head){.kind = WIRE_FOLLOWED, .number = frame}, NULL);
  while (wire_wait(&zone->wire, -1, &message)) {
    zone_end_if_over(zone, &message.head);
    if (message.head.kind == WIRE_RECORD) return message.head.number;
    if (take_begin(zone, &message)) return 0;
  }
  return 0;
}

/* --------------------------------------------------------------------------------------------------------- takeover */

uint32_t zone_positions(const struct zone *zone, wire_position positions[2 * NEIGHBOURS_MAX]) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < zone->link_count; i++) {
    const zone_link *link = &zone->links[i];
    positions[count++] = (wire_position){.zone = link->zone, .outgoing = 1, .place = link->kept.seen};
    positions[count++] = (wire_position){.zone = link->zone, .outgoing = 0, .place = link->in.seen};
  }
  return count;
}

void zone_take_between(hosted_world *world, const wire_message *message) {
  struct zone *zone = world->zone;
  const wire_head *head = &message->head;
  if (head->kind == WIRE_LEASE) {
    if (head->number > zone->lease.leased_ns) zone->lease.leased_ns = head->number;
    zone->revision = (int64_t)head->sequence;
  } else if (head->kind == WIRE_CLOCK && head->bytes == sizeof zone->lease.clock) {
    memcpy(&zone->lease.clock, message->bytes, head->bytes);
  } else if (head->kind == WIRE_SPACE) {
    zone_take_space(world, head);
  }
}

/* False: it cannot be read. */
static bool zone_take_one(hosted_world *world, const wire_message *message) {
  struct zone *zone = world->zone;
  zone_link *link = zone_link_of(zone, message->head.zone);
  const wire_head *head = &message->head;
  switch (head->kind) {
  case WIRE_OUTGOING:
    return !link || zone_take_sent(world, link, wire_place(head), message->bytes, head->bytes);
  case WIRE_INCOMING:
    return !link || zone_take_parcel(world, link, wire_place(head), message->bytes, head->bytes);
  case WIRE_LEASE:
  case WIRE_CLOCK:
  case WIRE_SPACE:
    zone_take_between(world, message);
    return true;
  case WIRE_STORED:
    if (link) {
      link->out = (zone_pair){.epoch = zone->lease.epoch, .number = head->number, .seen = wire_place(head)};
      zone_drop_stored(zone, link);
      if (zone->caught_up) zone_note_stored(world, link);
    }
    return true;
  case WIRE_ALL_CAME:
    zone_note_all_came(zone);
    return true;
  case WIRE_TOLD:
    if (link) zone_take_telling(world, link, message->bytes, head->bytes);
    return true;
  case WIRE_WANTED:
    journals_snapshot(world); /* the next one that is wanted comes soon when this one fails */
    return true;
  case WIRE_DRAW:
    zone_begin_map(zone);
    return true;
  case WIRE_SAFE:
    if (zone->safe_frames == UINT64_MAX) return true;
    zone->safe_frames = head->number;
    zone->stored_snapshots = head->sequence;
    return true;
  case WIRE_MOVE:
    zone_take_move(world, head);
    return true;
  default:
    return true;
  }
}

muster_result zone_take_over(hosted_world *world) {
  struct zone *zone = world->zone;
  wire_message message;
  if (!zone) return MUSTER_OK;
  muster_result result = zone_go_on_with_births(world);
  muster_zone_status status = muster_zone_status_default();
  if (!result) result = muster_zone_status_read(world->world, &status);
  if (result) return result;
  zone->offset_ns = status.offset_ns;
  for (uint32_t i = 0; i < zone->link_count; i++) zone_drop_observers(world, &zone->links[i]); /* told anew */
  uint32_t count = zone_positions(zone, zone->positions);
  wire_put(&zone->wire, (wire_head){.kind = WIRE_POSITIONS, .bytes = count * sizeof *zone->positions}, zone->positions);
  while (wire_wait(&zone->wire, -1, &message)) {
    if (message.head.kind == WIRE_CAUGHT_UP) {
      zone_gone_sort(zone);
      zone_number_again(zone);
      zone->runs = true;
      zone_tell_named(world);
      log_line(MUSTER_LOG_INFO, "world %s: zone %u, epoch %lu: %lu agents came meanwhile", world->name,
               zone->lease.ground.number, zone->lease.epoch, zone->published.arrived);
      return MUSTER_OK;
    }
    if (!zone_take_one(world, &message))
      return error_set(MUSTER_E_INPUT, "world %s: message %lu.%lu between zones %u and %u cannot be read: %s",
                       world->name, message.head.epoch, message.head.number, zone->lease.ground.number,
                       message.head.zone, muster_last_error());
  }
  return zone_supervisor_is_gone(world);
}

/* ----------------------------------------------------------------------------------------------------------- frames */

static bool has_lease(const struct zone *zone) {
  return clock_boot() - zone->lease.leased_ns < zone->lease.ttl_ns / LEASE_PARTS * LEASE_PARTS_USED;
}

const char *zone_standstill(const hosted_world *world) {
  const struct zone *zone = world->zone;
  if (!zone) return NULL;
  if (zone->stands) return "it is being moved to another node";
  return has_lease(zone) ? NULL : "its lease was not renewed in time";
}

/* One that runs no frames gives signs of life all the same, so that its lease is renewed; it stops, if it is to be
 * moved. */
static void tell_without_frames(hosted_world *world) {
  struct zone *zone = world->zone;
  bool paused = world->paused && !world->steps_left;
  if (!paused && !zone->stands) return;
  zone_move_on(world);
  if (clock_system() - zone->told_ns >= SIGN_GAP_NS) zone_tell_frame(world);
}

void zone_take_in(hosted_world *world) {
  struct zone *zone = world->zone;
  wire_message message;
  if (!zone) return;
  while (wire_next(&zone->wire, &message))
    if (!zone_take_one(world, &message))
      log_line(MUSTER_LOG_ERROR, "world %s: message %lu.%lu of zone %u cannot be read, and is passed over: %s",
               world->name, message.head.epoch, message.head.number, message.head.zone, muster_last_error());
  tell_without_frames(world);
  wire_flush(&zone->wire);
  zone_take_held(world);
  zone_catch_up(world);
  zone_expire_ghosts(world);
  const char *why = zone_standstill(world);
  if (!why != !zone->published.frozen)
    log_line(why && !zone->stands ? MUSTER_LOG_ERROR : MUSTER_LOG_INFO, "world %s: %s%s", world->name,
             why ? "it stands still: " : "it goes on", why ? why : "");
  zone->published.frozen = why != NULL;
}

bool zone_is_safe(const hosted_world *world, uint64_t frame) {
  return !world->zone || (has_lease(world->zone) && world->zone->safe_frames >= frame);
}

bool zone_is_stored(const hosted_world *world, uint64_t snapshots) {
  return !world->zone || (has_lease(world->zone) && world->zone->stored_snapshots >= snapshots);
}

uint64_t zone_next_look_ns(const hosted_world *world, uint64_t until_ns) {
  uint64_t next_ns = clock_system() + LOOK_GAP_NS;
  bool runs = !world->zone || (zone_may_run(world) && !(world->paused && !world->steps_left));
  return runs || until_ns < next_ns ? until_ns : next_ns;
}

uint64_t zone_land_ns(const hosted_world *world) {
  int64_t land_ns = (int64_t)world->sim_now_ns - world->zone->offset_ns;
  return land_ns > 0 ? (uint64_t)land_ns : 0;
}

/* It is so far ahead that it would have to run slower for too long: as a world of another land's brokers, or of brokers
 * whose note is old. */
static int64_t keep_offset(const hosted_world *world, int64_t gap_ns) {
  struct zone *zone = world->zone;
  if (muster_zone_set_offset(world->world, zone->offset_ns - gap_ns) != MUSTER_OK) return gap_ns;
  zone->offset_ns -= gap_ns;
  return 0;
}

static const int64_t ahead_most_ns = 10000000000;

/* Behind a restore: how long ago the last frame began. */
static int64_t begin_to_go_on(const hosted_world *world, int64_t gap_ns) {
  struct zone *zone = world->zone;
  if (zone->goes_on) return gap_ns;
  zone->goes_on = true;
  if (gap_ns <= -ahead_most_ns) {
    int64_t rest_ns = keep_offset(world, gap_ns);
    log_line(MUSTER_LOG_WARNING, "world %s: zone %u, epoch %lu, is %.1f s ahead of land time, and stays that",
             world->name, zone->lease.ground.number, zone->lease.epoch, (double)zone->offset_ns * 1e-9);
    return rest_ns;
  }
  if (gap_ns < -(int64_t)world->period_ns)
    log_line(MUSTER_LOG_INFO,
             "world %s: zone %u, epoch %lu, is %.1f s ahead of land time: it runs slower until it is level",
             world->name, zone->lease.ground.number, zone->lease.epoch, (double)-gap_ns * 1e-9);
  else if (world->kept.goes_on)
    log_line(MUSTER_LOG_INFO, "world %s: zone %u, epoch %lu, goes on with frame %lu: it stood still for %.0f ms",
             world->name, zone->lease.ground.number, zone->lease.epoch, held_last_frame(world) + 1,
             (double)gap_ns * 1e-6);
  return gap_ns;
}

/* By halves: a zone that stood still for a minute is there again after ten frames. */
uint64_t zone_step_ns(const hosted_world *world) {
  const struct zone *zone = world->zone;
  if (!zone) return world->period_ns;
  int64_t gap_ns =
      (int64_t)land_reading_at(&zone->lease.clock, clock_boot()) + zone->offset_ns - (int64_t)world->sim_now_ns;
  uint64_t least_ns = world->period_ns / SHORTEST_STEP_PART;
  gap_ns = begin_to_go_on(world, gap_ns);
  if (gap_ns < -(int64_t)world->period_ns) return world->period_ns / SLOW_STEP_PART;
  if (gap_ns <= (int64_t)least_ns) return least_ns;
  uint64_t step_ns = (uint64_t)gap_ns, most_ns = 2 * world->period_ns;
  if (step_ns <= most_ns) return step_ns;
  return step_ns / 2 > most_ns ? step_ns / 2 : most_ns;
}

void zone_publish(const struct hosted_world *world, zone_published *published) {
  const struct zone *zone = world->zone;
  muster_zone_status status = muster_zone_status_default();
  *published = (zone_published){.number = 0};
  if (!zone) return;
  *published = zone->published;
  published->number = zone->lease.ground.number;
  published->epoch = zone->lease.epoch;
  published->space = zone->space;
  published->spaces_used = zone->lease.spaces_used;
  if (world->world && muster_zone_status_read(world->world, &status) == MUSTER_OK) {
    published->ghosts = status.ghosts;
    published->ids_resting = status.ids_resting;
  }
  const zone_waiting *waiting;
  TAILQ_FOREACH(waiting, &zone->waiting, link) published->waiting++;
}
