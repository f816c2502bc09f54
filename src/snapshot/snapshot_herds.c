/* snapshot_herds.c - what a snapshot says of herds: their types, where each herd is at home, and members with names.
 * Their pools are in src/snapshot/snapshot_pool.c. */
#include "agents/observers.h"
#include "base/assert.h"
#include "snapshot/snapshot.h"
#include "world/world_herds.h"

#include <muster/herd.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ types */

/* What must be as it was for saved herds and nodes to mean the same. */
#define SAME(name, kind, member)                                                                                       \
  { name, NULL, offsetof(struct herd_type, member), 0, FIELD_##kind, 0, 0, FIELD_SAME }

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
  snapshot_shape(snapshot, "herd type", number, type->name, sizeof type->name, herd_shape, type);
  uint32_t first = snapshot_number(snapshot, type->first);
  snapshot_expect(snapshot, first == type->first,
                  "herd type '%s': its herds are counted from %u, in the snapshot from %u: herds_max of the herd types "
                  "before it must be as it was",
                  type->name, type->first, first);
  for (uint32_t k = 0; k < type->tree.depth; k++) {
    char zone[24];
    snprintf(zone, sizeof zone, "zone_m[%u]", k);
    const field_row field = {.name = zone, .kind = FIELD_FLOAT};
    snapshot_same(snapshot, &field, &type->def.zone_m[k], "herd type", type->name);
  }
}

/* ------------------------------------------------------------------------------------------------------------ homes */

/* Slots of a block: those of the world, or substitutes. Positions are bits, not numbers. */
typedef struct saved_slots {
  float *x, *y;
  uint16_t *members;
  uint16_t generations[MUSTER_HERD_BLOCK];
} saved_slots;

static const snapshot_column block_columns[] = {GROUND_DOUBLE(herd_block, origin_x),
                                                GROUND_DOUBLE(herd_block, origin_y),
                                                FLOAT(herd_block, low_x, -HERD_NOWHERE, HERD_NOWHERE),
                                                FLOAT(herd_block, low_y, -HERD_NOWHERE, HERD_NOWHERE),
                                                FLOAT(herd_block, high_x, -HERD_NOWHERE, HERD_NOWHERE),
                                                FLOAT(herd_block, high_y, -HERD_NOWHERE, HERD_NOWHERE),
                                                SPAN(herd_block, agent, partition),
                                                COUNT(herd_block, high, MUSTER_HERD_BLOCK),
                                                ANY(herd_block, gap),
                                                COLUMNS_END};

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
static void check_slot(struct snapshot *snapshot, const snapshot_herd_pool *pool, uint32_t home,
                       const saved_slots *slots) {
  const struct herd_type *type = pool->type;
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
  snapshot_expect(snapshot, number < pool->entry_high && !pool->claims[number], "herd %u is unfolded as none can be",
                  herd);
  pool->claims[number] = home + 1;
}

static void check_block(struct snapshot *snapshot, const snapshot_herd_pool *pool, uint32_t number,
                        const herd_block *saved, const saved_slots *slots) {
  snapshot_tie(snapshot, saved->agent, pool->type->block_type, "a block of herds");
  pool->firsts[number] = saved->entry;
  for (uint32_t i = 0; i < saved->high; i++) {
    check_slot(snapshot, pool, number * MUSTER_HERD_BLOCK + i, slots);
    snapshot_expect(snapshot, i >= saved->gap || kind_of(slots, i) != HOME_IS_EMPTY,
                    "block %u of herds has a gap where it knows of none", number);
  }
}

/* What follows from a slot that was read. */
static void take_slot(struct muster_world *world, struct herd_type *type, uint32_t home, const saved_slots *slots) {
  ASSERT(home < type->block_count * MUSTER_HERD_BLOCK);
  herd_block *block = herds_block_of(type, home);
  uint32_t slot = home % MUSTER_HERD_BLOCK;
  uint8_t kind = kind_of(slots, slot);
  herd_ids_assign(&world->herds->ids, type->first + home, slots->generations[slot]);
  world->herds->table.members += slots->members[slot];
  type->gaps += kind == HOME_IS_EMPTY;
  if (kind == HOME_IS_EMPTY) return;
  ASSERT(block->live < MUSTER_HERD_BLOCK);
  type->herds++;
  block->live++;
  type->unfolded += kind == HOME_IS_UNFOLDED;
  block->dying = (uint16_t)(block->dying + (kind == HOME_IS_DYING));
}

static void snapshot_herds_take_block(struct muster_world *world, const snapshot_herd_pool *pool, uint32_t number,
                                      const saved_slots *slots) {
  struct herd_type *type = pool->type;
  const herd_block *block = &type->blocks[number];
  uint32_t first = number * MUSTER_HERD_BLOCK;
  type->block_count = number + 1;
  ASSERT(world->herds->table.links[block->agent].tie == HERD_TIE_NONE);
  world->herds->table.links[block->agent] = (herd_link){.entry = number, .type = pool->number, .tie = HERD_TIE_BLOCK};
  for (uint32_t i = 0; i < block->high; i++) take_slot(world, type, first + i, slots);
}

/* Velocities and totals are taken as they are: a host made them. */
static void exchange_block(struct snapshot *snapshot, const snapshot_herd_pool *pool, uint32_t number) {
  struct muster_world *world = snapshot->world;
  const struct herd_type *type = pool->type;
  uint32_t first = number * MUSTER_HERD_BLOCK;
  float x[MUSTER_HERD_BLOCK], y[MUSTER_HERD_BLOCK];
  uint16_t members[MUSTER_HERD_BLOCK];
  saved_slots slots = {.x = snapshot_object(snapshot, type->x + first, x),
                       .y = snapshot_object(snapshot, type->y + first, y),
                       .members = snapshot_object(snapshot, type->members + first, members)};
  herd_block checked, *block = snapshot_object(snapshot, &type->blocks[number], &checked);
  snapshot_columns(snapshot, block_columns, block);
  snapshot_expect(snapshot, block->gap <= block->high, "block %u of herds is where none can be", number);
  for (uint32_t i = 0; i < block->high && snapshot_saves(snapshot); i++)
    slots.generations[i] = (uint16_t)herd_ids_generation(&world->herds->ids, type->first + first + i);
  size_t bytes = block->high * sizeof(float);
  snapshot_exchange(snapshot, slots.x, bytes);
  snapshot_exchange(snapshot, slots.y, bytes);
  snapshot_exchange(snapshot, slots.members, bytes / 2);
  snapshot_exchange(snapshot, slots.generations, bytes / 2);
  snapshot_exchange_own(snapshot, type->velocity_x + first, bytes);
  snapshot_exchange_own(snapshot, type->velocity_y + first, bytes);
  for (uint32_t t = 0; t < type->def.totals; t++) snapshot_exchange_own(snapshot, type->totals[t] + first, bytes);
  if (snapshot_checks(snapshot)) check_block(snapshot, pool, number, block, &slots);
  if (snapshot_loads(snapshot)) snapshot_herds_take_block(world, pool, number, &slots);
}

/* The block that took the last herd of each partition, in the order of partitions. */
static void exchange_open(struct snapshot *snapshot, struct herd_type *type, uint32_t blocks) {
  uint32_t count = 0, partition = 0;
  for (uint32_t i = 0; snapshot_saves(snapshot) && i < PARTITIONS; i++) count += type->open[i] > 0;
  count = snapshot_count(snapshot, count, PARTITIONS, "partitions with herds");
  for (uint32_t i = 0; i < count; i++, partition++) {
    uint32_t least = partition;
    while (snapshot_saves(snapshot) && !type->open[partition]) partition++;
    partition = snapshot_number(snapshot, partition);
    uint32_t block = snapshot_number(snapshot, snapshot_saves(snapshot) ? type->open[partition] : 0);
    snapshot_expect(snapshot, partition >= least && partition < PARTITIONS && block > 0 && block <= blocks,
                    "herds of partition %u are put into block %u", partition, block);
    if (snapshot_loads(snapshot)) type->open[partition] = block;
  }
}

static void exchange_type(struct snapshot *snapshot, uint32_t number) {
  ASSERT(number < snapshot->world->herds->table.count);
  struct herd_type *type = &snapshot->world->herds->table.types[number];
  snapshot_herd_pool *pool = &snapshot->pools[number];
  pool->type = type;
  pool->number = (uint8_t)number;
  snapshot_herds_exchange_shape(snapshot, number);
  uint32_t blocks = snapshot_count(snapshot, type->block_count, type->blocks_max, "blocks of herds");
  snapshot_count_own(snapshot, &type->fresh, blocks, "blocks of herds that have begun");
  pool->entry_high = snapshot_count(snapshot, type->entry_high, type->def.unfolded_max, "unfolded herds at once");
  pool->block_count = blocks;
  for (uint32_t i = 0; i < blocks; i++) exchange_block(snapshot, pool, i);
  uint64_t herds = 0;
  for (uint64_t i = 0; snapshot_checks(snapshot) && i < (uint64_t)blocks * MUSTER_HERD_BLOCK; i++)
    herds += pool->homes[i] > HOME_IS_EMPTY;
  snapshot_expect(snapshot, herds <= type->def.herds_max, "herd type '%s': %llu herds; there is room for %u",
                  type->name, (unsigned long long)herds, type->def.herds_max);
  exchange_open(snapshot, type, blocks);
  snapshot_pool(snapshot, pool);
}

/* ------------------------------------------------------------------------------------------------------------ names */

static const snapshot_column named_columns[] = {GROUND_DOUBLE(herd_named, x), GROUND_DOUBLE(herd_named, y),
                                                SPAN(herd_named, herd, velocity_y), COLUMNS_END};

static void check_named(struct snapshot *snapshot, const herd_named *saved, uint32_t type_number) {
  const herd_table *table = &snapshot->world->herds->table;
  snapshot_expect(snapshot, type_number < table->count, "a member with a name is of herd type %u", type_number + 1);
  const struct herd_type *type = &table->types[type_number];
  snapshot_tie(snapshot, saved->agent, type->member_type, "a member with a name");
  snapshot_expect(snapshot,
                  (muster_herd_is_null(saved->herd) || herds_type_of(table, muster_herd_index(saved->herd)) == type) &&
                      (saved->entry == HERD_NONE || saved->entry < snapshot->pools[type_number].entry_high),
                  "agent %u has a name in a herd where none can be", saved->agent);
}

static void exchange_named(struct snapshot *snapshot) {
  herd_table *table = &snapshot->world->herds->table;
  uint32_t count = snapshot_count(snapshot, table->named_high, table->named_max, "members had names");
  for (uint32_t i = 0; i < count; i++) {
    herd_named free_place = {.agent = HERD_NONE}, *named = snapshot_object(snapshot, &table->named[i], &free_place);
    if (snapshot_saves(snapshot) && named->agent == HERD_NONE) named = &free_place;
    snapshot_columns(snapshot, named_columns, named);
    bool is_free = named->agent == HERD_NONE;
    if (is_free) snapshot->column = NULL; /* nothing is refused for what stands in a free place */
    uint32_t type =
        snapshot_number(snapshot, snapshot_saves(snapshot) && !is_free ? table->links[named->agent].type : 0);
    if (snapshot_checks(snapshot) && !is_free) check_named(snapshot, named, type);
    if (!snapshot_loads(snapshot)) continue;
    table->named_high = i + 1;
    if (is_free) continue;
    table->named_count++;
    table->links[named->agent] = (herd_link){.entry = i, .type = (uint8_t)type, .tie = HERD_TIE_NAMED};
  }
}

/* The agent index that is kept in reserve for folds. */
static void exchange_spare(struct snapshot *snapshot) {
  herd_table *table = &snapshot->world->herds->table;
  uint32_t spare = snapshot_number(snapshot, table->spare);
  if (snapshot_checks(snapshot) && spare != HERD_NONE) {
    snapshot_mark(snapshot, spare, SNAPSHOT_TAKEN, "the ids set aside");
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
  if (!table->count) return;
  for (uint32_t i = 0; i < table->count; i++) exchange_type(snapshot, i);
  exchange_named(snapshot);
  exchange_spare(snapshot);
  exchange_dying(snapshot);
}
