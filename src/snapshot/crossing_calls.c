/* crossing_calls.c - muster/zone.h: agents and messages that come from other zones, and the calls of a record. */
#include "base/assert.h"
#include "base/error.h"
#include "base/sized.h"
#include "record/recorder.h"
#include "snapshot/crossing.h"
#include "world/guard.h"
#include "world/herd_links.h"
#include "world/lifecycle.h"
#include "world/saved_agent.h"
#include "world/world_commands.h"
#include "world/world_record.h"
#include "world/zone_delivery.h"

/* ---------------------------------------------------------------------------------------------------------- agents */

/* What a part works on, besides the snapshot: it stands behind it. */
typedef struct crossing_of_agent {
  struct snapshot snapshot; /* first */
  crossing_agent crosser;
  saved_agent saved;
} crossing_of_agent;

static void exchange_agent_alone(struct snapshot *snapshot) {
  crossing_of_agent *crossing = (crossing_of_agent *)(void *)snapshot;
  crossing->crosser.saved = &crossing->saved;
  crossing_exchange(snapshot, &crossing->crosser);
}

/* An agent that may be named in a call: here, and no ghost. */
static muster_result crossing_find(const struct muster_world *world, muster_agent id, uint32_t *index) {
  muster_agent agent = world_find(world, id);
  *index = muster_agent_index(agent);
  return world_is_live(world, agent) ? MUSTER_OK : guard_gone(id);
}

muster_result muster_agent_depart(muster_world *world, muster_agent agent, uint32_t to, muster_zone_put put,
                                  void *user) {
  uint32_t index;
  muster_result result = zone_check(world, "departure", false);
  if (!result && !put) result = error_missing("departure", "put");
  if (!result) result = zone_check_other(world, "departure", to);
  if (result || recorder_replays(world->recorder)) return result;
  crossing_settle(world);
  result = crossing_find(world, agent, &index);
  if (!result) result = crossing_check_leaving(world, index, false);
  if (result) return result;
  crossing_of_agent crossing = {.snapshot = {.world = world, .rows = world->agents.store.rows},
                                .crosser = {.index = index}};
  if (!crossing_write_out(&crossing.snapshot, SNAPSHOT_OF_AGENT, exchange_agent_alone, put, user))
    return error_set(MUSTER_E_SYSTEM, "departure: put refused the bytes");
  const zone_call call = {.kind = ZONE_CALL_DEPART, .number = to, .one = agent};
  world_record_zone(world, &call, NULL, 0);
  crossing_leave(world, index, to);
  return MUSTER_OK;
}

/* The agent of a stream that was checked comes in; `taken` as in crossing_index_for(). */
static muster_agent take_agent_alone(crossing_of_agent *crossing, uint32_t taken) {
  struct snapshot *snapshot = &crossing->snapshot;
  muster_agent id = crossing->crosser.head.id;
  crossing->crosser.index = crossing_index_for(snapshot->world, id, taken);
  if (crossing->crosser.index == IDENTITY_NONE) return (muster_agent){0};
  snapshot->mode = SNAPSHOT_LOADS;
  return crossing_read(snapshot, SNAPSHOT_OF_AGENT, exchange_agent_alone, "arrival") ? (muster_agent){0} : id;
}

static muster_result check_agent_alone(crossing_of_agent *crossing, struct muster_world *world,
                                       const chunks_format *format, const void *bytes, size_t count) {
  muster_result result = crossing_open(&crossing->snapshot, world, format, bytes, count);
  if (!result) result = crossing_read(&crossing->snapshot, SNAPSHOT_OF_AGENT, exchange_agent_alone, "arrival");
  return result;
}

muster_result muster_agent_arrive(muster_world *world, const void *bytes, size_t count, muster_agent *agent) {
  const chunks_format format = crossing_format();
  crossing_of_agent crossing = {.crosser = {.index = IDENTITY_NONE}};
  muster_result result = zone_check(world, "arrival", false);
  if (!result && !bytes) result = error_missing("arrival", "bytes");
  if (result) return result;
  if (recorder_replays(world->recorder)) return agent ? muster_agent_packed(bytes, count, agent, NULL) : MUSTER_OK;
  result = check_agent_alone(&crossing, world, &format, bytes, count);
  const crossing_head *head = &crossing.crosser.head;
  if (!result) result = crossing_check_coming(world, head->id, head->hop);
  if (result) return result;
  crossing_settle(world);
  uint32_t taken = IDENTITY_NONE, aside = 0;
  if (crossing_needs_index(world, head->id) && !crossing_take_index(world, &taken, &aside))
    return error_set(MUSTER_E_FULL, "arrival: agents_max = %u agents and ghosts exist", world->def.limits.agents_max);
  const zone_call call = {.kind = ZONE_CALL_ARRIVE, .one = head->id};
  world_record_zone(world, &call, bytes, count);
  muster_agent come = take_agent_alone(&crossing, taken);
  if (agent) *agent = come;
  return MUSTER_OK;
}

muster_result muster_agent_packed(const void *bytes, size_t count, muster_agent *agent, uint32_t *hop) {
  crossing_head head;
  muster_result result = crossing_peek(bytes, count, SNAPSHOT_OF_AGENT, &head, sizeof head, "packed agent");
  if (result) return result;
  if (agent) *agent = head.id;
  if (hop) *hop = head.hop;
  return MUSTER_OK;
}

/* ------------------------------------------------------------------------------------------------------------- left */

/* An agent is here that has left: it goes, in whatever it was, without its callbacks. */
static void apply_absence(struct muster_world *world, uint32_t index) {
  ASSERT(identity_generation(&world->agents.ids, index) & 1);
  world->zone->rows[index] = (zone_row){0};
  if (!world_is_active(world, index)) {
    spawn_queue_take_out(&world->commands->queues.spawns, index);
    lifecycle_discard(world, index);
    return;
  }
  if (world_type_of(world, index)->herded) herds_forget(world, index);
  lifecycle_leave(world, index);
}

static void apply_left(struct muster_world *world, muster_agent id, zone_mark mark) {
  muster_agent agent = world_find(world, id);
  zone_mark known = {0, 0};
  bool here = world_is_live(world, agent);
  if (here && world->zone->rows[muster_agent_index(agent)].hop >= mark.hop) return;
  if (here) apply_absence(world, muster_agent_index(agent));
  if (!zone_ids_left(&world->zone->ids, id, &known) || known.hop < mark.hop) zone_ids_mark(&world->zone->ids, id, mark);
}

muster_result muster_agent_left(muster_world *world, muster_agent agent, uint32_t hop, uint32_t to) {
  muster_result result = zone_check(world, "departure", false);
  if (!result) result = zone_check_other(world, "departure", to);
  if (!result && (!zone_ids_is_id(agent) || !hop))
    result = error_set(MUSTER_E_ARGUMENT, "departure: agent %u.%u with hop %u has left no zone",
                       muster_agent_index(agent), muster_agent_generation(agent), hop);
  if (result || recorder_replays(world->recorder)) return result;
  crossing_settle(world);
  const zone_call call = {.kind = ZONE_CALL_LEFT, .number = to, .hop = hop, .one = agent};
  world_record_zone(world, &call, NULL, 0);
  apply_left(world, agent, (zone_mark){to, hop});
  return MUSTER_OK;
}

muster_result muster_agent_hop(const muster_world *world, muster_agent agent, uint32_t *hop) {
  uint32_t index;
  muster_result result = zone_check(world, "hop", true);
  if (!result && !hop) result = error_missing("hop", "hop");
  if (!result) result = crossing_find(world, agent, &index);
  if (!result) *hop = world->zone->rows[index].hop;
  return result;
}

/* -------------------------------------------------------------------------------------------------------- messages */

muster_result muster_zone_deliver(muster_world *world, const muster_zone_message *message) {
  return muster_zone_deliver_after(world, message, 0);
}

/* An update that was run and is not settled takes out of its box all that it finds there when it is, also what it has
 * not read. */
muster_result muster_zone_deliver_after(muster_world *world, const muster_zone_message *message, uint64_t follows) {
  muster_result result = zone_check(world, "message", false);
  if (!result && !message) result = error_missing("message", "message");
  if (result || recorder_replays(world->recorder)) return result;
  crossing_settle(world);
  result = zone_check_delivery(world, message, follows);
  if (result) {
    world->zone->counts.messages_twice += zone_came_before(world, message);
    return result;
  }
  const zone_call call = {.kind = ZONE_CALL_DELIVER,
                          .one = message->from,
                          .other = message->to,
                          .sequence = message->sequence,
                          .follows = follows,
                          .sent_ns = message->sent_ns};
  world_record_zone(world, &call, message->bytes, message->size);
  zone_deliver(world, message, follows);
  return MUSTER_OK;
}

/* ---------------------------------------------------------------------------------------------------------- replays */

static bool repeat_depart(struct muster_world *world, const zone_call *call) {
  uint32_t index;
  if (zone_check_other(world, "departure", call->number) || crossing_find(world, call->one, &index)) return false;
  if (crossing_check_leaving(world, index, false)) return false;
  crossing_leave(world, index, call->number);
  return true;
}

static bool repeat_arrive(struct muster_world *world, const void *bytes, size_t count) {
  const chunks_format format = crossing_format();
  crossing_of_agent crossing = {.crosser = {.index = IDENTITY_NONE}};
  if (check_agent_alone(&crossing, world, &format, bytes, count)) return false;
  if (crossing_check_coming(world, crossing.crosser.head.id, crossing.crosser.head.hop)) return false;
  return !muster_agent_is_null(take_agent_alone(&crossing, IDENTITY_NONE));
}

static bool repeat_delivery(struct muster_world *world, const zone_call *call, const void *bytes, size_t count) {
  const muster_zone_message message = {.from = call->one,
                                       .to = call->other,
                                       .sequence = call->sequence,
                                       .sent_ns = call->sent_ns,
                                       .size = (uint32_t)count,
                                       .bytes = bytes};
  if (count > MUSTER_MESSAGE_BYTES_MAX || zone_check_delivery(world, &message, call->follows)) return false;
  zone_deliver(world, &message, call->follows);
  return true;
}

bool crossing_repeat(struct muster_world *world, const zone_call *call, const void *bytes, size_t count) {
  if (!world->zone) return false;
  switch ((zone_call_kind)call->kind) {
  case ZONE_CALL_EPOCH:
    if (call->number == world->def.zone.epoch || call->number > MUSTER_EPOCHS_MAX) return false;
    zone_set_epoch(world, call->number);
    return true;
  case ZONE_CALL_DEPART:
    return repeat_depart(world, call);
  case ZONE_CALL_ARRIVE:
    return repeat_arrive(world, bytes, count);
  case ZONE_CALL_LEFT:
    if (zone_check_other(world, "departure", call->number) || !zone_ids_is_id(call->one) || !call->hop) return false;
    apply_left(world, call->one, (zone_mark){call->number, call->hop});
    return true;
  case ZONE_CALL_GHOSTS:
    return crossing_repeat_ghosts(world, call, bytes, count);
  case ZONE_CALL_TAKEN:
    world->zone->queued = 0;
    return true;
  case ZONE_CALL_DELIVER:
    return repeat_delivery(world, call, bytes, count);
  case ZONE_CALL_HERD_DEPART:
  case ZONE_CALL_HERD_ARRIVE:
    return crossing_repeat_herd(world, call, bytes, count);
  case ZONE_CALL_OFFSET:
    if ((int64_t)call->sent_ns > ZONE_OFFSET_MOST || (int64_t)call->sent_ns < -ZONE_OFFSET_MOST) return false;
    world->zone->offset_ns = (int64_t)call->sent_ns;
    return true;
  case ZONE_CALL_OBSERVER_DEPART:
  case ZONE_CALL_OBSERVER_ARRIVE:
  case ZONE_CALL_OBSERVER_LEFT:
    return crossing_repeat_observer(world, call, bytes, count);
  }
  return false;
}
