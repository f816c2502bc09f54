/* snapshot_herds.c - what a snapshot says of herds: their types, where each herd is at home, and members with names.
 * Their pools are in src/snapshot/snapshot_pool.c. */
#include "agents/observers.h"
#include "base/assert.h"
#include "snapshot/snapshot.h"
#include "world/world_herds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ types
 */

/* What must be as it was for saved herds and nodes to mean the same. */
#define SAME(name, kind, member)                                                                                       \
  { name, offsetof(struct herd_type, member), 0, FIELD_##kind, 0, 0, FIELD_SAME }

static const field_row herd_shape[] = {
    SAME("branching", COUNT, tree.branching),
    SAME("depth", COUNT, tree.depth),
    SAME("number of totals", COUNT, def.totals),
    SAME("retains", SWITCH, def.retains),
    SAME("member type", COUNT, def.member.index),
    SAME("type of blocks", COUNT, block_type),
    {0},
};

static void snapshot_herds_exchange_shape(struct snapshot *snapshot, uint32_t number) {
  const struct herd_type *type = &snapshot->world->herds->table.types[number];
  if (!snapshot_shape(snapshot, "herd type", number, type->name, sizeof type->name, herd_shape, type)) return;
  uint32_t first = snapshot_number(snapshot, type->first);
  snapshot_expect(snapshot, first == type->first,
                  "herd type '%s': its herds are counted from %u, in the snapshot from %u: herds_max of the herd types "
                  "before it must be as it was",
                  type->name, type->first, first);
  for (uint32_t k = 0; k < type->tree.depth; k++) {
    char zone[24];
    snprintf(zone, sizeof zone, "zone_m[%u]", k);
    const field_row field = {.name = zone, .kind = FIELD_FLOAT};
    if (!snapshot_same(snapshot, &field, &type->def.zone_m[k], "herd type", type->name)) return;
  }
}

/* ------------------------------------------------------------------------------------------------------------ homes
 */

/* Slots of a block. */
typedef struct saved_slots {
  float x[MUSTER_HERD_BLOCK], y[MUSTER_HERD_BLOCK];
  uint16_t members[MUSTER_HERD_BLOCK], generations[MUSTER_HERD_BLOCK];
} saved_slots;

typedef struct saved_block {
  double origin_x, origin_y;
  float low_x, low_y, high_x, high_y;
  uint32_t agent, gap;
  uint16_t partition, high, zero[2];
} saved_block;

static uint32_t number_in(const saved_slots *slots, uint32_t slot) {
  uint32_t number;
  memcpy(&number, &slots->x[slot], sizeof number);
  return number;
}

/* What a slot says of its herd's kind. */
static uint8_t kind_of(const saved_slots *slots, uint32_t slot) {
  if (slots->members[slot]) return HOME_IS_FOLDED;
  uint32_t number = number_in(slots, slot);
  return number == HERD_EMPTY ? HOME_IS_EMPTY : number == HERD_DYING ? HOME_IS_DYING : HOME_IS_UNFOLDED;
}

/* Checks values that updates may write only within limits, and values that decide what else is read. */
static void check_slot(struct snapshot *snapshot, uint32_t type_number, uint32_t home, const saved_slots *slots) {
  const struct herd_type *type = &snapshot->world->herds->table.types[type_number];
  const snapshot_herd_pool *pool = &snapshot->pools[type_number];
  uint32_t slot = home % MUSTER_HERD_BLOCK, herd = type->first + home, number = number_in(slots, slot);
  ASSERT(home < pool->block_count * MUSTER_HERD_BLOCK);
  uint8_t kind = kind_of(slots, slot);
  bool live = slots->generations[slot] & 1;
  snapshot_expect(snapshot, live == (kind != HOME_IS_EMPTY), "herd %u has an id that is %s", herd,
                  live ? "live, and is gone" : "gone");
  if (kind == HOME_IS_FOLDED)
    snapshot_expect(snapshot,
                    slots->members[slot] <= type->tree.below[0] &&
                        snapshot_is_ground((double)slots->x[slot], (double)slots->y[slot]),
                    "herd %u has %u members, or is where none can be", herd, slots->members[slot]);
  pool->homes[home] = kind;
  if (kind != HOME_IS_UNFOLDED) return;
  if (!snapshot_expect(snapshot, number < pool->entry_high && !pool->claims[number],
                       "herd %u is unfolded as none can be", herd))
    return;
  pool->claims[number] = home + 1;
}

static void check_block(struct snapshot *snapshot, uint32_t type_number, uint32_t number, const saved_block *saved,
                        const saved_slots *slots) {
  const struct herd_type *type = &snapshot->world->herds->table.types[type_number];
  if (!snapshot_tie(snapshot, saved->agent, type->block_type, "a block of herds")) return;
  snapshot_expect(snapshot,
                  snapshot_is_ground(saved->origin_x, saved->origin_y) && fabsf(saved->low_x) <= HERD_NOWHERE &&
                      fabsf(saved->low_y) <= HERD_NOWHERE && fabsf(saved->high_x) <= HERD_NOWHERE &&
                      fabsf(saved->high_y) <= HERD_NOWHERE && saved->gap <= saved->high,
                  "block %u of herds is where none can be", number);
  for (uint32_t i = 0; i < saved->high && !snapshot->failed; i++) {
    check_slot(snapshot, type_number, number * MUSTER_HERD_BLOCK + i, slots);
    snapshot_expect(snapshot, i >= saved->gap || kind_of(slots, i) != HOME_IS_EMPTY,
                    "block %u of herds has a gap where it knows of none", number);
  }
}

static void take_slot(struct muster_world *world, struct herd_type *type, uint32_t home, const saved_slots *slots) {
  ASSERT(home < type->block_count * MUSTER_HERD_BLOCK);
  herd_block *block = herds_block_of(type, home);
  uint32_t slot = home % MUSTER_HERD_BLOCK;
  uint8_t kind = kind_of(slots, slot);
  herd_ids_assign(&world->herds->ids, type->first + home, slots->generations[slot]);
  memcpy(&type->x[home], &slots->x[slot], sizeof(float)); /* as bits, not as numbers */
  type->y[home] = slots->y[slot];
  type->members[home] = slots->members[slot];
  world->herds->table.members += slots->members[slot];
  type->gaps += kind == HOME_IS_EMPTY;
  if (kind == HOME_IS_EMPTY) return;
  ASSERT(block->live < MUSTER_HERD_BLOCK);
  type->herds++;
  block->live++;
  type->unfolded += kind == HOME_IS_UNFOLDED;
  block->dying = (uint16_t)(block->dying + (kind == HOME_IS_DYING));
}

static void snapshot_herds_take_block(struct muster_world *world, uint32_t type_number, uint32_t number,
                                      const saved_block *saved, const saved_slots *slots) {
  struct herd_type *type = &world->herds->table.types[type_number];
  type->blocks[number] = (herd_block){.origin_x = saved->origin_x,
                                      .origin_y = saved->origin_y,
                                      .low_x = saved->low_x,
                                      .low_y = saved->low_y,
                                      .high_x = saved->high_x,
                                      .high_y = saved->high_y,
                                      .agent = saved->agent,
                                      .partition = saved->partition,
                                      .high = saved->high,
                                      .gap = saved->gap};
  type->block_count = number + 1;
  ASSERT(world->herds->table.links[saved->agent].tie == HERD_TIE_NONE);
  world->herds->table.links[saved->agent] =
      (herd_link){.entry = number, .type = (uint8_t)type_number, .tie = HERD_TIE_BLOCK};
  for (uint32_t i = 0; i < saved->high; i++) take_slot(world, type, number * MUSTER_HERD_BLOCK + i, slots);
}

static saved_block describe_block(const struct muster_world *world, const struct herd_type *type, uint32_t number,
                                  saved_slots *slots) {
  const herd_block *block = &type->blocks[number];
  ASSERT(number < type->block_count && block->high <= MUSTER_HERD_BLOCK);
  uint32_t first = number * MUSTER_HERD_BLOCK;
  memcpy(slots->x, type->x + first, block->high * sizeof(float));
  memcpy(slots->y, type->y + first, block->high * sizeof(float));
  memcpy(slots->members, type->members + first, block->high * sizeof(uint16_t));
  for (uint32_t i = 0; i < block->high; i++)
    slots->generations[i] = (uint16_t)herd_ids_generation(&world->herds->ids, type->first + first + i);
  return (saved_block){.origin_x = block->origin_x,
                       .origin_y = block->origin_y,
                       .low_x = block->low_x,
                       .low_y = block->low_y,
                       .high_x = block->high_x,
                       .high_y = block->high_y,
                       .agent = block->agent,
                       .gap = block->gap,
                       .partition = block->partition,
                       .high = block->high};
}

/* Velocities and totals are taken as they are: a host made them. */
static void exchange_block(struct snapshot *snapshot, uint32_t type_number, uint32_t number) {
  struct muster_world *world = snapshot->world;
  const struct herd_type *type = &world->herds->table.types[type_number];
  uint32_t first = number * MUSTER_HERD_BLOCK;
  saved_slots slots;
  saved_block saved = {0};
  if (snapshot_saves(snapshot)) saved = describe_block(world, type, number, &slots);
  snapshot_exchange(snapshot, &saved, sizeof saved);
  if (!snapshot_expect(snapshot, saved.high <= MUSTER_HERD_BLOCK, "block %u of herds has %u slots", number, saved.high))
    return;
  size_t bytes = saved.high * sizeof(float);
  snapshot_exchange(snapshot, slots.x, bytes);
  snapshot_exchange(snapshot, slots.y, bytes);
  snapshot_exchange(snapshot, slots.members, saved.high * sizeof *slots.members);
  snapshot_exchange(snapshot, slots.generations, saved.high * sizeof *slots.generations);
  snapshot_exchange_own(snapshot, type->velocity_x + first, bytes);
  snapshot_exchange_own(snapshot, type->velocity_y + first, bytes);
  for (uint32_t t = 0; t < type->def.totals; t++) snapshot_exchange_own(snapshot, type->totals[t] + first, bytes);
  if (snapshot_checks(snapshot)) check_block(snapshot, type_number, number, &saved, &slots);
  if (snapshot_loads(snapshot)) snapshot_herds_take_block(world, type_number, number, &saved, &slots);
}

/* The block that took the last herd of each partition, in the order of partitions. */
static void exchange_open(struct snapshot *snapshot, struct herd_type *type, uint32_t blocks) {
  uint32_t count = 0, partition = 0;
  for (uint32_t i = 0; snapshot_saves(snapshot) && i < PARTITIONS; i++) count += type->open[i] > 0;
  count = snapshot_count(snapshot, count, PARTITIONS, "partitions with herds");
  for (uint32_t i = 0; i < count && !snapshot->failed; i++, partition++) {
    uint32_t least = partition;
    while (snapshot_saves(snapshot) && !type->open[partition]) partition++;
    partition = snapshot_number(snapshot, partition);
    uint32_t block = snapshot_number(snapshot, snapshot_saves(snapshot) ? type->open[partition] : 0);
    if (!snapshot_expect(snapshot, partition >= least && partition < PARTITIONS && block > 0 && block <= blocks,
                         "herds of partition %u are put into block %u", partition, block))
      return;
    if (snapshot_loads(snapshot)) type->open[partition] = block;
  }
}

static void exchange_type(struct snapshot *snapshot, uint32_t number) {
  ASSERT(number < snapshot->world->herds->table.count);
  struct herd_type *type = &snapshot->world->herds->table.types[number];
  snapshot_herd_pool *pool = &snapshot->pools[number];
  snapshot_herds_exchange_shape(snapshot, number);
  uint32_t blocks = snapshot_count(snapshot, type->block_count, type->blocks_max, "blocks of herds");
  uint32_t fresh = snapshot_count(snapshot, type->fresh, blocks, "blocks of herds that have begun");
  pool->entry_high = snapshot_count(snapshot, type->entry_high, type->def.unfolded_max, "unfolded herds at once");
  pool->block_count = blocks;
  if (snapshot_loads(snapshot)) type->fresh = fresh;
  for (uint32_t i = 0; i < blocks && !snapshot->failed; i++) exchange_block(snapshot, number, i);
  uint64_t herds = 0;
  for (uint64_t i = 0; snapshot_checks(snapshot) && i < (uint64_t)blocks * MUSTER_HERD_BLOCK; i++)
    herds += pool->homes[i] > HOME_IS_EMPTY;
  snapshot_expect(snapshot, herds <= type->def.herds_max, "herd type '%s': %llu herds; there is room for %u",
                  type->name, (unsigned long long)herds, type->def.herds_max);
  if (!snapshot->failed) exchange_open(snapshot, type, blocks);
  if (!snapshot->failed) snapshot_pool(snapshot, number);
}

/* ------------------------------------------------------------------------------------------------------------ names
 */

typedef struct saved_named {
  double x, y;
  muster_herd herd;
  uint32_t agent, entry;
  float velocity_x, velocity_y;
  uint32_t type, zero;
} saved_named;

static saved_named describe_named(const herd_table *table, uint32_t number) {
  const herd_named *named = &table->named[number];
  if (named->agent == HERD_NONE) return (saved_named){.agent = HERD_NONE};
  return (saved_named){.x = named->x,
                       .y = named->y,
                       .herd = named->herd,
                       .agent = named->agent,
                       .entry = named->entry,
                       .velocity_x = named->velocity_x,
                       .velocity_y = named->velocity_y,
                       .type = table->links[named->agent].type};
}

static void check_named(struct snapshot *snapshot, const saved_named *saved) {
  const herd_table *table = &snapshot->world->herds->table;
  if (!snapshot_expect(snapshot, saved->type < table->count, "a member with a name is of herd type %u",
                       saved->type + 1))
    return;
  const struct herd_type *type = &table->types[saved->type];
  if (!snapshot_tie(snapshot, saved->agent, type->member_type, "a member with a name")) return;
  snapshot_expect(snapshot,
                  (!saved->herd.generation || herds_type_of(table, saved->herd.index) == type) &&
                      (saved->entry == HERD_NONE || saved->entry < snapshot->pools[saved->type].entry_high) &&
                      snapshot_is_ground(saved->x, saved->y),
                  "agent %u has a name in a herd where none can be", saved->agent);
}

static void take_named(herd_table *table, uint32_t number, const saved_named *saved) {
  table->named[number] = (herd_named){.herd = saved->herd,
                                      .agent = saved->agent,
                                      .entry = saved->entry,
                                      .velocity_x = saved->velocity_x,
                                      .velocity_y = saved->velocity_y,
                                      .x = saved->x,
                                      .y = saved->y};
  table->named_high = number + 1;
  if (saved->agent == HERD_NONE) return;
  table->named_count++;
  table->links[saved->agent] = (herd_link){.entry = number, .type = (uint8_t)saved->type, .tie = HERD_TIE_NAMED};
}

static void exchange_named(struct snapshot *snapshot) {
  herd_table *table = &snapshot->world->herds->table;
  uint32_t count = snapshot_count(snapshot, table->named_high, table->named_max, "members had names");
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) {
    saved_named saved = {0};
    if (snapshot_saves(snapshot)) saved = describe_named(table, i);
    snapshot_exchange(snapshot, &saved, sizeof saved);
    if (snapshot_checks(snapshot) && saved.agent != HERD_NONE) check_named(snapshot, &saved);
    if (snapshot_loads(snapshot)) take_named(table, i, &saved);
  }
}

/* The agent index that is kept in reserve for folds. */
static void exchange_spare(struct snapshot *snapshot) {
  herd_table *table = &snapshot->world->herds->table;
  uint32_t spare = snapshot_number(snapshot, table->spare);
  if (snapshot_checks(snapshot) && spare != HERD_NONE) {
    if (!snapshot_mark(snapshot, spare, SNAPSHOT_TAKEN, "the ids set aside")) return;
    snapshot_expect(snapshot, !(snapshot->rows[spare].generation & 1), "id %u is set aside and an agent's", spare);
  }
  if (snapshot_loads(snapshot)) table->spare = spare;
}

/* Herds that died out are removed by the next intake, which must know that it has to look. */
static void exchange_dying(struct snapshot *snapshot) {
  herd_table *table = &snapshot->world->herds->table;
  uint32_t dying = snapshot_count(snapshot, table->dying, 1, "times herds died out");
  for (uint32_t i = 0; snapshot_checks(snapshot) && i < table->count; i++) {
    const snapshot_herd_pool *pool = &snapshot->pools[i];
    for (uint64_t k = 0; k < (uint64_t)pool->block_count * MUSTER_HERD_BLOCK; k++)
      snapshot_expect(snapshot, dying || (pool->homes[k] & HOME_KINDS) != HOME_IS_DYING,
                      "herd %llu died out and is not to be removed", table->types[i].first + (unsigned long long)k);
  }
  if (snapshot_loads(snapshot)) table->dying = dying;
}

void snapshot_herds(struct snapshot *snapshot) {
  herd_table *table = &snapshot->world->herds->table;
  uint32_t count = snapshot_number(snapshot, table->count);
  snapshot_expect(snapshot, count == table->count, "%u herd types are registered, in the snapshot there were %u",
                  table->count, count);
  if (snapshot->failed || !table->count) return;
  for (uint32_t i = 0; i < table->count && !snapshot->failed; i++) exchange_type(snapshot, i);
  if (!snapshot->failed) exchange_named(snapshot);
  if (!snapshot->failed) exchange_spare(snapshot);
  if (!snapshot->failed) exchange_dying(snapshot);
}
