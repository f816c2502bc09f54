/* crossing_herds.c - a folded herd as bytes, and back, with its named members. */
#include "base/assert.h"
#include "base/error.h"
#include "base/fields.h"
#include "frame/frame.h"
#include "herds/herds.h"
#include "pool/pool.h"
#include "record/recorder.h"
#include "run/runner.h"
#include "snapshot/crossing.h"
#include "world/guard.h"
#include "world/herd_links.h"
#include "world/saved_agent.h"
#include "world/world_record.h"

#include <string.h>
#include <xxhash.h>

/* A herd outside of any world. */
typedef struct herd_head {
  uint64_t shape; /* of its type */
  uint64_t reached_ns;
  uint64_t now_ns; /* as of an agent: crossing_head */
  int64_t offset_ns;
  herd_body body;
  uint32_t type, partition, named, zero;
} herd_head;

/* What a part works on besides the snapshot. */
typedef struct crossing_of_herd {
  struct snapshot snapshot; /* first */
  herd_head head;
  uint32_t herd;                             /* that is packed, or that came of it */
  uint32_t members[MUSTER_HERD_MEMBERS_MAX]; /* named ones that are packed; or indices that were taken for them */
  muster_agent ids[MUSTER_HERD_MEMBERS_MAX]; /* of those that were read, */
  uint32_t hops[MUSTER_HERD_MEMBERS_MAX];    /* and how often they crossed */
  uint32_t taken_for_block;
} crossing_of_herd;

static uint64_t shape_of_herds(const struct muster_world *world, const struct herd_type *type) {
  uint64_t hash = crossing_shape_of(world_type(world, type->member_type));
  hash = XXH3_64bits_withSeed(type->name, strlen(type->name), hash);
  for (const field_row *field = fields_herd_type; field->name; field++)
    if (field->uses & FIELD_SAME)
      hash = XXH3_64bits_withSeed((const unsigned char *)&type->def + field->offset, field_bytes(field), hash);
  return hash;
}

static struct herd_type *type_of_head(const struct muster_world *world, const herd_head *head) {
  return &world->herds->table.types[head->type];
}

/* --------------------------------------------------------------------------------------------------------- leaving */

/* Lists the named members of a herd; false when they are too many. */
static bool list_named(crossing_of_herd *crossing, muster_herd herd) {
  const herd_table *table = &crossing->snapshot.world->herds->table;
  crossing->head.named = 0;
  for (uint32_t i = 0; i < table->named_high; i++) {
    const herd_named *named = &table->named[i];
    if (named->agent == HERD_NONE || !muster_herd_equal(named->herd, herd)) continue;
    if (crossing->head.named == MUSTER_HERD_MEMBERS_MAX) return false;
    crossing->members[crossing->head.named++] = named->agent;
  }
  return true;
}

static muster_result check_herd_leaving(crossing_of_herd *crossing, muster_herd herd) {
  struct muster_world *world = crossing->snapshot.world;
  const struct herd_type *type = world->herds->table.count ? herds_find(world, herd) : NULL;
  if (!type) return world->herds->table.count ? MUSTER_E_STALE : error_set(MUSTER_E_STALE, "departure: no such herd");
  uint32_t index = muster_herd_index(herd), entry = herds_entry_of_folded(type, index);
  bool folded = herds_open_entry(type, index) == HERD_NONE;
  if (!folded || (entry != HERD_NONE && herds_entry(type, entry)->state == HERD_ENTRY_KEPT))
    return error_set(MUSTER_E_STATE, "departure: herd %u cannot leave now: it is %s", index,
                     folded ? "retained" : "unfolded");
  if (!list_named(crossing, herd))
    return error_set(MUSTER_E_STATE, "departure: herd %u has more than %u named members", index,
                     MUSTER_HERD_MEMBERS_MAX);
  for (uint32_t i = 0; i < crossing->head.named; i++) {
    muster_result result = crossing_check_leaving(world, crossing->members[i], true);
    if (result) return result;
  }
  crossing->herd = index;
  return MUSTER_OK;
}

/* What there is to say of a herd that may leave. */
static void describe_herd(crossing_of_herd *crossing) {
  const struct muster_world *world = crossing->snapshot.world;
  const struct herd_type *type = herds_type_of(&world->herds->table, crossing->herd);
  herd_head *head = &crossing->head;
  uint32_t home = herds_home(type, crossing->herd);
  herd_body body = herds_body(type, home);
  ASSERT(type->members[home] > 0);
  head->shape = shape_of_herds(world, type);
  head->reached_ns = herds_reached(world, type, crossing->herd);
  head->now_ns = world->last_now_ns;
  head->offset_ns = world->zone->offset_ns;
  head->type = (uint32_t)(type - world->herds->table.types);
  head->partition = herds_block_of(type, home)->partition;
  memset(&head->body, 0, sizeof head->body);
  head->body.x = body.x;
  head->body.y = body.y;
  head->body.velocity_x = body.velocity_x;
  head->body.velocity_y = body.velocity_y;
  head->body.members = body.members;
  for (uint32_t t = 0; t < type->def.totals; t++) head->body.totals[t] = body.totals[t];
}

static void leave_with_herd(crossing_of_herd *crossing, uint32_t to) {
  struct muster_world *world = crossing->snapshot.world;
  for (uint32_t i = 0; i < crossing->head.named; i++) {
    herds_forget(world, crossing->members[i]);
    crossing_leave(world, crossing->members[i], to);
  }
  herds_remove(world, crossing->herd);
}

/* --------------------------------------------------------------------------------------------------------- the part */

static void check_herd_head(struct snapshot *snapshot, const herd_head *head) {
  const struct muster_world *world = snapshot->world;
  snapshot_expect(snapshot, head->type < world->herds->table.count, "it is of herd type %u", head->type + 1);
  const struct herd_type *type = type_of_head(world, head);
  snapshot_expect(snapshot, head->shape == shape_of_herds(world, type), "its type is not '%s' as it is here",
                  type->name);
  const herd_body *body = &head->body;
  bool whole = snapshot_is_ground(body->x, body->y) && isfinite(body->velocity_x) && isfinite(body->velocity_y) &&
               body->members > 0 && body->members <= type->tree.below[0] && head->partition <= PARTITION_MOST &&
               head->named <= MUSTER_HERD_MEMBERS_MAX && head->reached_ns <= (uint64_t)INT64_MAX / 2 &&
               head->now_ns <= (uint64_t)INT64_MAX / 2 && head->offset_ns <= ZONE_OFFSET_MOST &&
               head->offset_ns >= -ZONE_OFFSET_MOST;
  for (uint32_t t = 0; t < MUSTER_HERD_TOTALS; t++) whole = whole && isfinite(body->totals[t]);
  snapshot_expect(snapshot, whole, "it is what no herd can be");
}

/* A named member: checked, or taken. */
static void exchange_member(crossing_of_herd *crossing, uint32_t number) {
  struct snapshot *snapshot = &crossing->snapshot;
  saved_agent saved;
  crossing_agent member = {.index = crossing->members[number], .saved = &saved};
  if (snapshot_loads(snapshot))
    member.index = crossing_index_for(snapshot->world, crossing->ids[number], crossing->members[number]);
  crossing_exchange(snapshot, &member);
  if (snapshot_loads(snapshot)) crossing->members[number] = member.index;
  if (!snapshot_checks(snapshot)) return;
  snapshot_expect(snapshot, saved.row.type == type_of_head(snapshot->world, &crossing->head)->member_type,
                  "member %u is of another type", number);
  for (uint32_t i = 0; i < number; i++)
    snapshot_expect(snapshot, !muster_agent_equal(crossing->ids[i], member.head.id), "member %u is there twice",
                    number);
  crossing->ids[number] = member.head.id;
  crossing->hops[number] = member.head.hop;
}

static void exchange_herd_alone(struct snapshot *snapshot) {
  crossing_of_herd *crossing = (crossing_of_herd *)(void *)snapshot;
  snapshot_exchange(snapshot, &crossing->head, sizeof crossing->head);
  if (snapshot_checks(snapshot)) check_herd_head(snapshot, &crossing->head);
  for (uint32_t i = 0; i < crossing->head.named; i++) exchange_member(crossing, i);
}

/* --------------------------------------------------------------------------------------------------------- coming */

/* Whether a herd that was checked may come; takes the indices that it needs when `takes`. */
static muster_result check_herd_coming(crossing_of_herd *crossing, bool *opens) {
  struct muster_world *world = crossing->snapshot.world;
  struct herd_type *type = type_of_head(world, &crossing->head);
  const herd_table *table = &world->herds->table;
  muster_result result = herds_check_room(type, crossing->head.partition, opens);
  if (!result && !type->entry_free && type->entry_high == type->def.unfolded_max)
    result = error_set(MUSTER_E_FULL, "arrival: unfolded_max = %u herds of type '%s' are unfolded",
                       type->def.unfolded_max, type->name);
  if (!result && table->named_max - table->named_count < crossing->head.named)
    result = error_set(MUSTER_E_FULL, "arrival: %u members have names already", table->named_count);
  for (uint32_t i = 0; i < crossing->head.named && !result; i++)
    result = crossing_check_coming(world, crossing->ids[i], crossing->hops[i]);
  return result;
}

/* Takes an index for each member that needs one, and for a new block; none when they are not to be had. */
static muster_result take_indices(crossing_of_herd *crossing, bool opens) {
  struct muster_world *world = crossing->snapshot.world;
  struct identity *ids = &world->agents.ids;
  uint32_t count = 0, aside = 0;
  crossing->taken_for_block = IDENTITY_NONE;
  bool found = !opens || crossing_take_index(world, &crossing->taken_for_block, &aside);
  for (; found && count < crossing->head.named; count++) {
    crossing->members[count] = IDENTITY_NONE;
    if (!crossing_needs_index(world, crossing->ids[count])) continue;
    found = crossing_take_index(world, &crossing->members[count], &aside);
  }
  if (found) return MUSTER_OK;
  for (uint32_t i = 0; i < count; i++)
    if (crossing->members[i] != IDENTITY_NONE) identity_give_back(ids, crossing->members[i]);
  if (crossing->taken_for_block != IDENTITY_NONE) identity_give_back(ids, crossing->taken_for_block);
  return error_set(MUSTER_E_FULL, "arrival: agents_max = %u agents and ghosts exist", world->def.limits.agents_max);
}

static void name_members(crossing_of_herd *crossing, struct herd_type *type) {
  struct muster_world *world = crossing->snapshot.world;
  const herd_body *body = &crossing->head.body;
  for (uint32_t i = 0; i < crossing->head.named; i++) {
    const herd_named named = {.herd = herds_id(world, crossing->herd),
                              .agent = crossing->members[i],
                              .entry = HERD_NONE,
                              .velocity_x = (float)body->velocity_x,
                              .velocity_y = (float)body->velocity_y,
                              .x = body->x,
                              .y = body->y};
    uint32_t place = herds_find_name(&world->herds->table);
    ASSERT(place != HERD_NONE);
    herds_give_name(world, type, place, crossing->members[i], &named);
  }
}

/* The herd of a stream that was checked comes in. */
static bool take_herd(crossing_of_herd *crossing, bool opens) {
  struct snapshot *snapshot = &crossing->snapshot;
  struct muster_world *world = snapshot->world;
  struct herd_type *type = type_of_head(world, &crossing->head);
  struct pool_entry entered;
  uint32_t index = opens ? world_record_any_id(world, crossing->taken_for_block) : IDENTITY_NONE;
  if (opens && index == IDENTITY_NONE) return false;
  world->runner->caller = pool_index_of(pool_enter(&entered, world->pool));
  crossing->herd = herds_add(world, type, crossing->head.partition, &crossing->head.body, index);
  const crossing_way way = crossing_way_from(world, crossing->head.now_ns, crossing->head.offset_ns);
  herds_set_back(world, type, crossing->herd, crossing_time(&way, crossing->head.reached_ns));
  pool_leave(&entered);
  snapshot->mode = SNAPSHOT_LOADS;
  if (crossing_read(snapshot, SNAPSHOT_OF_HERD, exchange_herd_alone, "arrival")) return false;
  name_members(crossing, type);
  return true;
}

/* ------------------------------------------------------------------------------------------------------------ calls */

muster_result muster_herd_depart(muster_world *world, muster_herd herd, uint32_t to, muster_zone_put put, void *user) {
  muster_result result = zone_check(world, "departure", false);
  if (!result && !put) result = error_missing("departure", "put");
  if (!result) result = zone_check_other(world, "departure", to);
  if (result || recorder_replays(world->recorder)) return result;
  crossing_settle(world);
  crossing_of_herd crossing = {.snapshot = {.world = world, .rows = world->agents.store.rows}};
  result = check_herd_leaving(&crossing, herd);
  if (result) return result;
  describe_herd(&crossing);
  if (!crossing_write_out(&crossing.snapshot, SNAPSHOT_OF_HERD, exchange_herd_alone, put, user))
    return error_set(MUSTER_E_SYSTEM, "departure: put refused the bytes");
  const zone_call call = {.kind = ZONE_CALL_HERD_DEPART, .number = to, .one = {herd.value}};
  world_record_zone(world, &call, NULL, 0);
  leave_with_herd(&crossing, to);
  return MUSTER_OK;
}

static muster_result check_herd_alone(crossing_of_herd *crossing, struct muster_world *world,
                                      const chunks_format *format, const void *bytes, size_t count) {
  muster_result result = crossing_open(&crossing->snapshot, world, format, bytes, count);
  return result ? result : crossing_read(&crossing->snapshot, SNAPSHOT_OF_HERD, exchange_herd_alone, "arrival");
}

muster_result muster_herd_arrive(muster_world *world, const void *bytes, size_t count, muster_herd *herd) {
  const chunks_format format = crossing_format();
  crossing_of_herd crossing = {.herd = HERD_NONE};
  bool opens = false;
  muster_result result = zone_check(world, "arrival", false);
  if (!result && !bytes) result = error_missing("arrival", "bytes");
  if (result) return result;
  if (herd) *herd = (muster_herd){0};
  if (recorder_replays(world->recorder)) return MUSTER_OK;
  result = check_herd_alone(&crossing, world, &format, bytes, count);
  if (!result) result = check_herd_coming(&crossing, &opens);
  if (result) return result;
  crossing_settle(world);
  result = take_indices(&crossing, opens);
  if (result) return result;
  const zone_call call = {.kind = ZONE_CALL_HERD_ARRIVE};
  world_record_zone(world, &call, bytes, count);
  if (take_herd(&crossing, opens) && herd) *herd = herds_id(world, crossing.herd);
  return MUSTER_OK;
}

bool crossing_repeat_herd(struct muster_world *world, const zone_call *call, const void *bytes, size_t count) {
  const chunks_format format = crossing_format();
  crossing_of_herd crossing = {.snapshot = {.world = world, .rows = world->agents.store.rows}};
  bool opens = false;
  if (call->kind == ZONE_CALL_HERD_DEPART) {
    if (zone_check_other(world, "departure", call->number)) return false;
    if (check_herd_leaving(&crossing, (muster_herd){call->one.value})) return false;
    leave_with_herd(&crossing, call->number);
    return true;
  }
  if (check_herd_alone(&crossing, world, &format, bytes, count) || check_herd_coming(&crossing, &opens)) return false;
  crossing.taken_for_block = IDENTITY_NONE;
  for (uint32_t i = 0; i < crossing.head.named; i++) crossing.members[i] = IDENTITY_NONE;
  return take_herd(&crossing, opens);
}
