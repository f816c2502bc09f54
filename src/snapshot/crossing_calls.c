/* crossing_calls.c - muster/zone.h: agents and ghosts that cross. */
#include "base/error.h"
#include "base/sized.h"
#include "record/recorder.h"
#include "snapshot/crossing.h"
#include "world/ghosts.h"
#include "world/guard.h"
#include "world/herd_links.h"
#include "world/lifecycle.h"
#include "world/saved_agent.h"
#include "world/world_commands.h"
#include "world/world_record.h"
#include "world/zone_delivery.h"

#include <string.h>
#include <xxhash.h>

enum { CROSSING_BUFFER_BYTES = 65536 };

/* --------------------------------------------------------------------------------------------------------- streams */

/* Writes a part as a whole stream. False when `put` refused some of it. */
static bool crossing_write_out(struct snapshot *snapshot, uint32_t section, snapshot_part *part, muster_zone_put put,
                               void *user) {
  unsigned char buffer[CROSSING_BUFFER_BYTES];
  const chunks_format format = crossing_format();
  enum occupation before = guard_hold(snapshot->world);
  snapshot->mode = SNAPSHOT_SAVES;
  chunks_write_to(&snapshot->writer, &format, put, user, buffer, sizeof buffer);
  chunks_begin(&snapshot->writer, section);
  snapshot_go_through(snapshot, part);
  bool written = chunks_finish(&snapshot->writer);
  guard_release(snapshot->world, before);
  return written;
}

/* Reads a part of a stream that is checked as a whole, in the snapshot's mode. */
static muster_result crossing_read(struct snapshot *snapshot, uint32_t section, snapshot_part *part, const char *what) {
  chunks_rewind(&snapshot->reader);
  if (!chunks_enter(&snapshot->reader, section))
    return error_set(MUSTER_E_INPUT, "%s: these bytes are of something else", what);
  bool whole = snapshot_go_through(snapshot, part);
  if (!whole) return error_set(MUSTER_E_INPUT, "%s: %s", what, snapshot->trouble);
  if (!chunks_is_read(&snapshot->reader))
    return error_set(MUSTER_E_INPUT, "%s: offset %zu: there is more than there should be", what, snapshot->reader.at);
  return MUSTER_OK;
}

/* Opens a stream, and checks its parts against a world without changing it. */
static muster_result crossing_open(struct snapshot *snapshot, struct muster_world *world, const chunks_format *format,
                                   const void *bytes, size_t count) {
  snapshot->world = world;
  snapshot->mode = SNAPSHOT_CHECKS;
  snapshot->info.sim_now_ns = world->last_now_ns;
  snapshot->rows = world->agents.store.rows;
  if (!bytes) return error_missing("crossing", "bytes");
  return chunks_read_from(&snapshot->reader, format, bytes, count);
}

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
  uint32_t taken = IDENTITY_NONE;
  if (crossing_needs_index(world, head->id) && (taken = identity_take(&world->agents.ids)) == IDENTITY_NONE)
    return error_set(MUSTER_E_FULL, "arrival: agents_max = %u agents and ghosts exist", world->def.limits.agents_max);
  const zone_call call = {.kind = ZONE_CALL_ARRIVE, .one = head->id};
  world_record_zone(world, &call, bytes, count);
  muster_agent come = take_agent_alone(&crossing, taken);
  if (agent) *agent = come;
  return MUSTER_OK;
}

muster_result muster_agent_packed(const void *bytes, size_t count, muster_agent *agent, uint32_t *hop) {
  const chunks_format format = crossing_format();
  chunk_reader reader;
  crossing_head head;
  if (!bytes) return error_missing("packed agent", "bytes");
  muster_result result = chunks_read_from(&reader, &format, bytes, count);
  if (result) return result;
  bool entered = chunks_enter(&reader, SNAPSHOT_OF_AGENT);
  if (entered) chunks_take(&reader, &head, sizeof head);
  if (!entered || reader.failed) return error_set(MUSTER_E_INPUT, "packed agent: these bytes are of something else");
  if (agent) *agent = head.id;
  if (hop) *hop = head.hop;
  return MUSTER_OK;
}

/* ------------------------------------------------------------------------------------------------------------- left */

/* An agent is here that has left: it goes, in whatever it was, without its callbacks. */
static void apply_absence(struct muster_world *world, uint32_t index) {
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

/* ----------------------------------------------------------------------------------------------------------- ghosts */

/* Ghosts in a stream: how many there are, and each. */
typedef struct crossing_of_ghosts {
  struct snapshot snapshot; /* first */
  const muster_agent *agents;
  uint32_t count; /* of the agents; or of the ghosts that were read */
  uint32_t from;
  bool full;
} crossing_of_ghosts;

/* Of all types: what their agents publish. */
static uint64_t shape_of_table(const struct muster_world *world) {
  uint64_t hash = 0;
  for (uint32_t i = 0; i < world->agents.types.count; i++) {
    const agent_type *type = world_type(world, i);
    hash = XXH3_64bits_withSeed(type->name, strlen(type->name), hash + type->def.published_bytes);
  }
  return hash;
}

static void put_ghosts(crossing_of_ghosts *ghosts) {
  struct snapshot *snapshot = &ghosts->snapshot;
  const struct muster_world *world = snapshot->world;
  uint32_t index, named = 0;
  for (uint32_t i = 0; i < ghosts->count; i++) {
    muster_agent agent = world_find(world, ghosts->agents[i]);
    index = muster_agent_index(agent);
    named += world_is_live(world, agent) && world_is_active(world, index);
  }
  snapshot_number(snapshot, named);
  for (uint32_t i = 0; i < ghosts->count; i++) {
    muster_agent agent = world_find(world, ghosts->agents[i]);
    index = muster_agent_index(agent);
    if (!world_is_live(world, agent) || !world_is_active(world, index)) continue;
    ghost_def def = ghosts_describe(world, index);
    const agent_row *row = world_row(world, index);
    const agent_type *type = world_type(world, row->type);
    snapshot_exchange(snapshot, &def, sizeof def);
    if (type->published)
      snapshot_exchange(snapshot, type_published(type, row->state_slot, row->front), type->def.published_bytes);
  }
}

static void take_ghosts(crossing_of_ghosts *ghosts) {
  unsigned char published[4096];
  struct snapshot *snapshot = &ghosts->snapshot;
  struct muster_world *world = snapshot->world;
  ghosts->count = snapshot_number(snapshot, 0);
  for (uint32_t i = 0; i < ghosts->count; i++) {
    ghost_def def;
    snapshot_exchange(snapshot, &def, sizeof def);
    snapshot_expect(snapshot, !snapshot->reader.failed && ghosts_is_possible(world, &def), "ghost %u is none", i);
    const agent_type *type = world_type(world, def.place.type);
    if (type->published) snapshot_exchange(snapshot, published, type->def.published_bytes);
    if (!snapshot_loads(snapshot)) continue;
    int64_t index = ghosts_put(world, ghosts->from, &def, published);
    ghosts->full |= index == GHOST_NO_ROOM;
    if (index >= 0) bits_set(world->agents.seen, (uint32_t)index);
  }
}

static void exchange_ghosts(struct snapshot *snapshot) {
  uint64_t shape = shape_of_table(snapshot->world), own = shape;
  float cell_m = snapshot->world->def.cell_m;
  snapshot_exchange(snapshot, &shape, sizeof shape);
  snapshot_exchange(snapshot, &cell_m, sizeof cell_m);
  bool same = shape == own && memcmp(&cell_m, &snapshot->world->def.cell_m, sizeof cell_m) == 0;
  snapshot_expect(snapshot, same, "they are of a world with other types, or another cell_m");
  if (snapshot_saves(snapshot))
    put_ghosts((crossing_of_ghosts *)(void *)snapshot);
  else
    take_ghosts((crossing_of_ghosts *)(void *)snapshot);
}

/* A const world is only read while it packs. */
static struct muster_world *world_to_read(const struct muster_world *world) {
  return (struct muster_world *)(uintptr_t)world;
}

muster_result muster_ghosts_pack(const muster_world *world, const muster_agent *agents, uint32_t count,
                                 muster_zone_put put, void *user) {
  muster_result result = zone_check(world, "ghosts", true);
  if (!result && (!put || (count && !agents))) result = error_missing("ghosts", put ? "array" : "put");
  if (result) return result;
  crossing_of_ghosts ghosts = {
      .snapshot = {.world = world_to_read(world), .rows = world->agents.store.rows}, .agents = agents, .count = count};
  if (crossing_write_out(&ghosts.snapshot, SNAPSHOT_OF_GHOSTS, exchange_ghosts, put, user)) return MUSTER_OK;
  return error_set(MUSTER_E_SYSTEM, "ghosts: put refused the bytes");
}

/* Takes ghosts that were checked; null bytes are none. */
static muster_result apply_ghosts(crossing_of_ghosts *ghosts, const void *bytes, bool whole) {
  struct muster_world *world = ghosts->snapshot.world;
  ghosts->snapshot.mode = SNAPSHOT_LOADS;
  if (bytes) crossing_read(&ghosts->snapshot, SNAPSHOT_OF_GHOSTS, exchange_ghosts, "ghosts");
  if (whole) ghosts_drop_unseen(world, ghosts->from);
  memset(world->agents.seen, 0, bits_words(world->agents.store.maximum) * sizeof *world->agents.seen);
  if (!ghosts->full) return MUSTER_OK;
  return error_set(MUSTER_E_FULL, "ghosts: agents_max = %u agents and ghosts exist", world->def.limits.agents_max);
}

static muster_result check_ghosts(crossing_of_ghosts *ghosts, struct muster_world *world, const chunks_format *format,
                                  const void *bytes, size_t count) {
  ghosts->snapshot.world = world;
  if (!bytes && !count) return MUSTER_OK;
  muster_result result = crossing_open(&ghosts->snapshot, world, format, bytes, count);
  return result ? result : crossing_read(&ghosts->snapshot, SNAPSHOT_OF_GHOSTS, exchange_ghosts, "ghosts");
}

muster_result muster_ghosts_set(muster_world *world, uint32_t from, const void *bytes, size_t count, bool whole) {
  const chunks_format format = crossing_format();
  crossing_of_ghosts ghosts = {.from = from};
  muster_result result = zone_check(world, "ghosts", false);
  if (!result) result = zone_check_other(world, "ghosts", from);
  if (result || recorder_replays(world->recorder)) return result;
  result = check_ghosts(&ghosts, world, &format, bytes, count);
  if (result) return result;
  crossing_settle(world);
  const zone_call call = {.kind = ZONE_CALL_GHOSTS, .number = from, .whole = whole};
  world_record_zone(world, &call, bytes, count);
  return apply_ghosts(&ghosts, bytes, whole);
}

bool muster_agent_is_ghost(const muster_world *world, muster_agent agent) {
  if (guard_any(world, "ghost") || !world->zone) return false;
  muster_agent found = zone_ids_find(&world->zone->ids, agent);
  return !muster_agent_is_null(found) && zone_ids_is_ghost(&world->zone->ids, muster_agent_index(found));
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

static bool repeat_ghosts(struct muster_world *world, const zone_call *call, const void *bytes, size_t count) {
  const chunks_format format = crossing_format();
  crossing_of_ghosts ghosts = {.from = call->number};
  if (zone_check_other(world, "ghosts", call->number)) return false;
  if (check_ghosts(&ghosts, world, &format, count ? bytes : NULL, count)) return false;
  apply_ghosts(&ghosts, count ? bytes : NULL, call->whole);
  return true;
}

static bool repeat_delivery(struct muster_world *world, const zone_call *call, const void *bytes, size_t count) {
  const muster_zone_message message = {.from = call->one,
                                       .to = call->other,
                                       .sequence = call->sequence,
                                       .sent_ns = call->sent_ns,
                                       .size = (uint32_t)count,
                                       .bytes = bytes};
  if (count > MUSTER_MESSAGE_BYTES_MAX || zone_check_delivery(world, &message)) return false;
  zone_deliver(world, &message);
  return true;
}

bool crossing_repeat(struct muster_world *world, const zone_call *call, const void *bytes, size_t count) {
  if (!world->zone) return false;
  switch ((zone_call_kind)call->kind) {
  case ZONE_CALL_EPOCH:
    if (call->number <= world->def.zone.epoch || call->number > MUSTER_EPOCHS_MAX) return false;
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
    return repeat_ghosts(world, call, bytes, count);
  case ZONE_CALL_TAKEN:
    world->zone->queued = 0;
    return true;
  case ZONE_CALL_DELIVER:
    return repeat_delivery(world, call, bytes, count);
  case ZONE_CALL_HERD_DEPART:
  case ZONE_CALL_HERD_ARRIVE:
    return crossing_repeat_herd(world, call, bytes, count);
  }
  return false;
}
