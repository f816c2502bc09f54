/* zone_births.c - in which birth space the ids are that a zone gives, and which spaces it names (spaces.h). */
#include "service/log.h"
#include "service/service.h"
#include "service/zones/zone_parts.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t ask_again_ns = 5000000000u;

/* ------------------------------------------------------------------------------------------------------------ space */

static void zone_ask_for_space(struct zone *zone, uint32_t own, bool rests) {
  zone->asks_space = true;
  zone->space_asked_ns = clock_system();
  wire_put(&zone->wire, (wire_head){.kind = WIRE_SPACE, .number = own, .sequence = rests}, NULL);
}

/* The space is there before anybody is born. */
static bool await_space(hosted_world *world, uint32_t own) {
  struct zone *zone = world->zone;
  wire_message message;
  zone_ask_for_space(zone, own, false);
  while (zone->asks_space && wire_wait(&zone->wire, -1, &message)) {
    zone_end_if_over(zone, &message.head);
    zone_take_between(world, &message);
  }
  return !zone->asks_space;
}

bool zone_begin_births(hosted_world *world) {
  const struct zone *zone = world->zone;
  return zone->lease.restores || zone->lease.follows || await_space(world, 0);
}

muster_result zone_go_on_with_births(hosted_world *world) {
  struct zone *zone = world->zone;
  muster_zone_def now;
  muster_result result = muster_zone_read(world->world, &now);
  if (result || (zone->space && now.epoch == zone->space)) return result; /* it has begun */
  uint64_t frame = world->kept.goes_on ? world->kept.recovered_frame : held_last_frame(world);
  bool same = zone->lease.space && now.epoch == zone->lease.space && frame == zone->lease.space_frame;
  if (same) {
    zone->space = now.epoch;
    return MUSTER_OK;
  }
  if (!await_space(world, now.epoch)) return zone_supervisor_is_gone(world);
  log_line(MUSTER_LOG_INFO, "world %s: zone %u, epoch %lu, goes on behind frame %lu in birth space %u, before in %u",
           world->name, zone->lease.ground.number, zone->lease.epoch, frame, zone->space, now.epoch);
  return now.epoch == zone->space ? MUSTER_OK : muster_zone_set_epoch(world->world, zone->space);
}

void zone_take_space(hosted_world *world, const wire_head *head) {
  struct zone *zone = world->zone;
  zone->lease.spaces_used = (uint32_t)head->sequence;
  if (!zone->asks_space || head->number == 0 || head->number > MUSTER_EPOCHS_MAX || head->number == zone->space) return;
  zone->asks_space = false;
  zone->space = (uint32_t)head->number;
  if (!zone->runs || muster_zone_set_epoch(world->world, zone->space) != MUSTER_OK) return;
  log_line(MUSTER_LOG_INFO, "world %s: ids that were used up come back: zone %u gives them in birth space %u",
           world->name, zone->lease.ground.number, zone->space);
}

/* Half of what could be taken rests: the other half lasts until another space is there. */
static bool ids_run_out(const muster_zone_status *status) {
  bool agents = status->ids_resting && status->ids_resting >= status->ids_free,
       observers = status->observer_ids_resting && status->observer_ids_resting >= status->observer_ids_free;
  return agents || observers;
}

void zone_look_at_ids(hosted_world *world) {
  struct zone *zone = world->zone;
  muster_zone_status status = muster_zone_status_default();
  if (muster_zone_status_read(world->world, &status) || !ids_run_out(&status)) return;
  bool waits = zone->asks_space && clock_system() - zone->space_asked_ns < ask_again_ns;
  if (!waits) zone_ask_for_space(zone, zone->space, true);
}

/* ------------------------------------------------------------------------------------------------------------ names */

static int compare_names(const void *left, const void *right) {
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

/* What left waits to be put, and was seen by more looks than are told together: then nobody knows what it names. */
static bool parcels_wait_long(struct zone *zone) {
  bool any = false;
  zone_waiting *waiting;
  TAILQ_FOREACH(waiting, &zone->waiting, link) any = waiting->looks++ >= ZONE_LOOKS - 1 || any;
  return any;
}

/* What was named since the look before the last: all that a snapshot has that was complete behind the last one. */
void zone_tell_named(hosted_world *world) {
  struct zone *zone = world->zone;
  zone_look *look = &zone->looks_named[zone->look_count++ % ZONE_LOOKS];
  uint32_t *all = malloc(ZONE_LOOKS * sizeof look->names), count = 0, kept = 0;
  uint32_t found = muster_zone_spaces(world->world, look->names, SPACES_NAMED_MAX);
  look->many = parcels_wait_long(zone) || found > SPACES_NAMED_MAX;
  look->count = look->many ? 0 : found;
  bool many = !all || !zone->caught_up; /* until then it knows who left in earlier lives */
  for (uint32_t i = 0; i < ZONE_LOOKS && i < zone->look_count; i++) {
    const zone_look *one = &zone->looks_named[i];
    many = many || one->many;
    if (!many) memcpy(all + count, one->names, one->count * sizeof *all);
    count += many ? 0 : one->count;
  }
  if (!many && count) qsort(all, count, sizeof *all, compare_names);
  for (uint32_t i = 0; !many && i < count; i++)
    if (i == 0 || all[i] != all[i - 1]) all[kept++] = all[i];
  many = many || kept > SPACES_NAMED_MAX;
  wire_put(&zone->wire,
           (wire_head){.kind = WIRE_NAMED,
                       .number = (uint64_t)zone->revision,
                       .sequence = many,
                       .bytes = many ? 0 : kept * sizeof *all},
           all);
  free(all);
}
