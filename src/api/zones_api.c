/* zones_api.c - muster/zone.h: what a zone is, and its messages to others. */
#include "base/error.h"
#include "base/sized.h"
#include "record/recorder.h"
#include "world/guard.h"
#include "world/world_observers.h"
#include "world/world_record.h"
#include "world/world_zone.h"
#include "world/zone_mail.h"

#include <muster/zone.h>

muster_result muster_zone_read(const muster_world *world, muster_zone_def *zone) {
  if (!world || !zone) return error_missing("zone", world ? "zone" : "world");
  if (!world->zone) return error_set(MUSTER_E_STATE, "zone: this world is none: set zone.number in its definition");
  *zone = world->def.zone;
  zone->epoch = zone_ids_epoch(&world->zone->ids);
  return MUSTER_OK;
}

muster_result muster_zone_set_epoch(muster_world *world, uint32_t epoch) {
  muster_result result = zone_check(world, "zone epoch", false);
  if (result || recorder_replays(world->recorder)) return result;
  if (epoch == world->def.zone.epoch || epoch > MUSTER_EPOCHS_MAX)
    return error_set(MUSTER_E_ARGUMENT, "zone epoch: %u must be another than the one in force, and at most %u", epoch,
                     MUSTER_EPOCHS_MAX);
  const zone_call call = {.kind = ZONE_CALL_EPOCH, .number = epoch};
  world_record_zone(world, &call, NULL, 0);
  zone_set_epoch(world, epoch);
  return MUSTER_OK;
}

uint32_t muster_zone_spaces(muster_world *world, uint32_t *found, uint32_t room) {
  if (zone_check(world, "zone spaces", false)) return 0;
  if (!found && room) return error_missing("zone spaces", "spaces"), 0;
  struct zone_spaces *spaces = &world->zone->spaces;
  uint32_t count = 0;
  zone_spaces_look(world);
  for (uint32_t i = 0; i < ZONE_SPACES_SLOTS && count < room; i++)
    if (spaces->slots[i]) found[count++] = spaces->slots[i];
  count = spaces->many ? UINT32_MAX : spaces->count;
  zone_spaces_clear(spaces);
  return count;
}

muster_result muster_zone_set_offset(muster_world *world, int64_t offset_ns) {
  muster_result result = zone_check(world, "zone offset", false);
  if (result || recorder_replays(world->recorder)) return result;
  if (offset_ns > ZONE_OFFSET_MOST || offset_ns < -ZONE_OFFSET_MOST)
    return error_set(MUSTER_E_ARGUMENT, "zone offset: %ld ns is more than 2^61", offset_ns);
  const zone_call call = {.kind = ZONE_CALL_OFFSET, .sent_ns = (uint64_t)offset_ns};
  world_record_zone(world, &call, NULL, 0);
  world->zone->offset_ns = offset_ns;
  return MUSTER_OK;
}

muster_result muster_zone_status_read(const muster_world *world, muster_zone_status *status) {
  muster_result result = zone_check(world, "zone status", true);
  if (result) return result;
  const struct world_zone *zone = world->zone;
  muster_zone_status whole = zone->counts;
  whole.ghosts = world->agents.store.ghost_count;
  whole.marks = zone->ids.marks.count;
  whole.marks_dropped = zone->ids.marks.dropped;
  whole.messages = zone->queued;
  whole.messages_held = zone->early_count;
  whole.ids_resting = zone_ids_resting(&zone->ids);
  whole.ids_free = identity_available(&world->agents.ids);
  whole.observer_ids_resting = zone_ids_resting(&zone->observer_ids);
  whole.observer_ids_free = identity_available(&world->observers->ids);
  whole.offset_ns = zone->offset_ns;
  return sized_write(SIZED(zone_status), &whole, status);
}

/* A message as it is handed over, and what it follows. */
typedef struct given_message {
  muster_zone_message message; /* first */
  uint64_t follows;
} given_message;

uint64_t muster_zone_message_follows(const muster_zone_message *message) {
  return message ? ((const given_message *)(const void *)message)->follows : 0;
}

uint32_t muster_zone_messages(muster_world *world, void (*take)(const muster_zone_message *message, void *user),
                              void *user) {
  if (zone_check(world, "messages to other zones", false)) return 0;
  if (!take) return error_missing("messages to other zones", "take"), 0;
  struct world_zone *zone = world->zone;
  uint32_t count = zone->queued;
  if (recorder_replays(world->recorder) || !count) return 0;
  const zone_call call = {.kind = ZONE_CALL_TAKEN};
  world_record_zone(world, &call, NULL, 0);
  enum occupation before = guard_hold(world);
  for (uint32_t i = 0; i < count; i++) {
    const zone_outgoing *from = &zone->queue[i];
    const given_message given = {.message = {.from = from->from,
                                             .to = from->to,
                                             .sequence = from->sequence,
                                             .sent_ns = zone_time_of_all(world, from->sent_ns),
                                             .zone = from->zone,
                                             .size = from->size,
                                             .bytes = from->size ? from->bytes : NULL},
                                 .follows = zone_follows_of(from)};
    take(&given.message, user);
  }
  guard_release(world, before);
  zone->queued = 0;
  return count;
}
