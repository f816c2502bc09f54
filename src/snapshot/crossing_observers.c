/* crossing_observers.c - muster/zone.h: observers that cross. */
#include "base/assert.h"
#include "base/error.h"
#include "record/recorder.h"
#include "snapshot/crossing.h"
#include "world/guard.h"
#include "world/observer_ids.h"
#include "world/world_commands.h"
#include "world/world_record.h"

#include <math.h>

/* An observer outside of any world. */
typedef struct packed_observer {
  muster_observer id;
  muster_position position;
  float near_m, far_m;
  uint32_t partition, hop;
} packed_observer;

_Static_assert(sizeof(packed_observer) == 48, "it has no gaps");

typedef struct crossing_of_observer {
  struct snapshot snapshot; /* first */
  packed_observer packed;
} crossing_of_observer;

static bool is_observer(const packed_observer *packed) {
  return zone_ids_is_id((muster_agent){packed->id.value}) && packed->hop > 0 && space_accepts(packed->position) &&
         packed->near_m >= 0.0f && packed->far_m > packed->near_m && isfinite(packed->far_m) &&
         packed->partition < PARTITIONS;
}

static void exchange_observer_alone(struct snapshot *snapshot) {
  packed_observer *packed = &((crossing_of_observer *)(void *)snapshot)->packed;
  snapshot_exchange(snapshot, packed, sizeof *packed);
  snapshot_expect(snapshot, is_observer(packed), "it is what none can be");
}

/* ---------------------------------------------------------------------------------------------------------- leaving */

/* Whether something was asked of an observer that only the next intake can do. */
static bool is_asked_for(const struct muster_world *world, uint32_t index) {
  struct command command;
  for (uint32_t i = 0; ring_peek(&world->commands->queues.commands, i, &command); i++)
    if (command.kind >= COMMAND_OBSERVER_ADD && command.kind <= COMMAND_OBSERVER_REMOVE && command.index == index)
      return true;
  return false;
}

static muster_result check_observer_leaving(const struct muster_world *world, muster_observer id, uint32_t *index) {
  muster_observer found = observer_ids_find(world, id);
  *index = muster_observer_index(found);
  if (!observer_ids_is_live(world, found)) return observer_ids_gone(world, id);
  if (world->observers->table.rows[*index].present && !is_asked_for(world, *index)) return MUSTER_OK;
  return error_set(MUSTER_E_STATE,
                   "departure: observer %u.%u cannot leave now: the next intake has something to do "
                   "with it",
                   muster_observer_index(id), muster_observer_generation(id));
}

static void observer_leaves(struct muster_world *world, uint32_t index, zone_mark mark) {
  struct world_zone *zone = world->zone;
  ASSERT(mark.zone != world->def.zone.number);
  zone_ids_mark(&zone->observer_ids, (muster_agent){observer_ids_at(world, index).value}, mark);
  if (world->observers->table.rows[index].present) observers_remove(&world->observers->table, index);
  observer_ids_close(world, index);
}

static void observer_departs(struct muster_world *world, uint32_t index, uint32_t to) {
  observer_leaves(world, index, (zone_mark){to, world->zone->observer_hops[index] + 1});
  world->zone->counts.observers_departed++;
}

muster_result muster_observer_depart(muster_world *world, muster_observer observer, uint32_t to, muster_zone_put put,
                                     void *user) {
  uint32_t index;
  muster_result result = zone_check(world, "departure", false);
  if (!result && !put) result = error_missing("departure", "put");
  if (!result) result = zone_check_other(world, "departure", to);
  if (result || recorder_replays(world->recorder)) return result;
  result = check_observer_leaving(world, observer, &index);
  if (result) return result;
  const observer_row *row = &world->observers->table.rows[index];
  crossing_of_observer crossing = {.snapshot = {.world = world},
                                   .packed = {.id = observer,
                                              .position = row->position,
                                              .near_m = row->near_m,
                                              .far_m = row->far_m,
                                              .partition = row->partition,
                                              .hop = world->zone->observer_hops[index] + 1}};
  if (!crossing_write_out(&crossing.snapshot, SNAPSHOT_OF_OBSERVER, exchange_observer_alone, put, user))
    return error_set(MUSTER_E_SYSTEM, "departure: put refused the bytes");
  const zone_call call = {.kind = ZONE_CALL_OBSERVER_DEPART, .number = to, .one = {observer.value}};
  world_record_zone(world, &call, NULL, 0);
  observer_departs(world, index, to);
  return MUSTER_OK;
}

/* ----------------------------------------------------------------------------------------------------------- coming */

static muster_result check_observer_coming(crossing_of_observer *crossing, struct muster_world *world,
                                           const void *bytes, size_t count) {
  zone_mark mark;
  const chunks_format format = crossing_format();
  const packed_observer *packed = &crossing->packed;
  muster_result result = crossing_open(&crossing->snapshot, world, &format, bytes, count);
  if (!result) result = crossing_read(&crossing->snapshot, SNAPSHOT_OF_OBSERVER, exchange_observer_alone, "arrival");
  if (result) return result;
  muster_agent id = {packed->id.value};
  if (observer_ids_is_live(world, observer_ids_find(world, packed->id)))
    return error_set(MUSTER_E_STALE, "arrival: observer %u.%u is here", muster_agent_index(id),
                     muster_agent_generation(id));
  if (!zone_ids_left(&world->zone->observer_ids, id, &mark) || mark.hop < packed->hop) return MUSTER_OK;
  return error_set(MUSTER_E_STALE, "arrival: observer %u.%u left from here with hop %u, and comes with %u",
                   muster_agent_index(id), muster_agent_generation(id), mark.hop, packed->hop);
}

static void observer_comes(struct muster_world *world, const packed_observer *packed, uint32_t index,
                           uint32_t generation) {
  const muster_observer_def def = {
      .position = packed->position, .near_m = packed->near_m, .far_m = packed->far_m, .partition = packed->partition};
  muster_agent id = {packed->id.value};
  observer_ids_assign(world, index, generation, id);
  world->zone->observer_hops[index] = packed->hop;
  zone_ids_unmark(&world->zone->observer_ids, id);
  zone_spaces_note(&world->zone->spaces, id);
  observers_add(&world->observers->table, index, &def);
  world->zone->counts.observers_arrived++;
}

muster_result muster_observer_arrive(muster_world *world, const void *bytes, size_t count, muster_observer *observer) {
  crossing_of_observer crossing = {.packed = {.hop = 0}};
  muster_result result = zone_check(world, "arrival", false);
  if (!result && !bytes) result = error_missing("arrival", "bytes");
  if (result) return result;
  if (recorder_replays(world->recorder))
    return observer ? muster_observer_packed(bytes, count, observer, NULL) : MUSTER_OK;
  result = check_observer_coming(&crossing, world, bytes, count);
  if (result) return result;
  uint32_t index = identity_take(&world->observers->ids);
  if (index == IDENTITY_NONE)
    return error_set(MUSTER_E_FULL, "arrival: observers_max = %u observers exist", world->def.limits.observers_max);
  const zone_call call = {.kind = ZONE_CALL_OBSERVER_ARRIVE,
                          .number = index,
                          .hop = identity_generation(&world->observers->ids, index) + 1,
                          .one = {crossing.packed.id.value}};
  world_record_zone(world, &call, bytes, count);
  observer_comes(world, &crossing.packed, index, call.hop);
  if (observer) *observer = crossing.packed.id;
  return MUSTER_OK;
}

muster_result muster_observer_packed(const void *bytes, size_t count, muster_observer *observer, uint32_t *hop) {
  packed_observer packed;
  muster_result result = crossing_peek(bytes, count, SNAPSHOT_OF_OBSERVER, &packed, sizeof packed, "packed observer");
  if (result) return result;
  if (observer) *observer = packed.id;
  if (hop) *hop = packed.hop;
  return MUSTER_OK;
}

/* ----------------------------------------------------------------------------------------------------------- absent */

static void apply_observer_left(struct muster_world *world, muster_observer id, zone_mark mark) {
  struct world_zone *zone = world->zone;
  zone_mark known = {0, 0};
  muster_observer found = observer_ids_find(world, id);
  uint32_t index = muster_observer_index(found);
  if (observer_ids_is_live(world, found)) {
    if (zone->observer_hops[index] < mark.hop) observer_leaves(world, index, mark);
    return;
  }
  if (!zone_ids_left(&zone->observer_ids, (muster_agent){id.value}, &known) || known.hop < mark.hop)
    zone_ids_mark(&zone->observer_ids, (muster_agent){id.value}, mark);
}

muster_result muster_observer_left(muster_world *world, muster_observer observer, uint32_t hop, uint32_t to) {
  muster_result result = zone_check(world, "departure", false);
  if (!result) result = zone_check_other(world, "departure", to);
  if (!result && (!zone_ids_is_id((muster_agent){observer.value}) || !hop))
    result = error_set(MUSTER_E_ARGUMENT, "departure: observer %u.%u with hop %u has left no zone",
                       muster_observer_index(observer), muster_observer_generation(observer), hop);
  if (result || recorder_replays(world->recorder)) return result;
  const zone_call call = {.kind = ZONE_CALL_OBSERVER_LEFT, .number = to, .hop = hop, .one = {observer.value}};
  world_record_zone(world, &call, NULL, 0);
  apply_observer_left(world, observer, (zone_mark){to, hop});
  return MUSTER_OK;
}

muster_result muster_observer_zone(const muster_world *world, muster_observer observer, uint32_t *zone) {
  zone_mark mark;
  muster_result result = guard_any(world, "zone of an observer");
  if (!result && !zone) result = error_missing("zone of an observer", "zone");
  if (!result && !world->zone)
    result = error_set(MUSTER_E_STATE, "zone of an observer: this world is no zone: set zone.number in its definition");
  if (result) return result;
  *zone = world->def.zone.number;
  if (observer_ids_is_live(world, observer_ids_find(world, observer))) return MUSTER_OK;
  if (!zone_ids_left(&world->zone->observer_ids, (muster_agent){observer.value}, &mark))
    return observer_ids_gone(world, observer);
  *zone = mark.zone;
  return MUSTER_OK;
}

/* ---------------------------------------------------------------------------------------------------------- replays */

bool crossing_repeat_observer(struct muster_world *world, const zone_call *call, const void *bytes, size_t count) {
  crossing_of_observer crossing = {.packed = {.hop = 0}};
  const muster_observer id = {call->one.value};
  uint32_t index;
  if (call->kind == ZONE_CALL_OBSERVER_ARRIVE) {
    if (check_observer_coming(&crossing, world, bytes, count) || !(call->hop & 1)) return false;
    if (!identity_claim(&world->observers->ids, call->number)) return false;
    observer_comes(world, &crossing.packed, call->number, call->hop);
    return true;
  }
  if (zone_check_other(world, "departure", call->number)) return false;
  if (call->kind == ZONE_CALL_OBSERVER_LEFT) {
    if (!zone_ids_is_id((muster_agent){id.value}) || !call->hop) return false;
    apply_observer_left(world, id, (zone_mark){call->number, call->hop});
    return true;
  }
  if (check_observer_leaving(world, id, &index)) return false;
  observer_departs(world, index, call->number);
  return true;
}
