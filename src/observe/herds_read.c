/* herds_read.c - what a host may ask about herds between two frames, members with names, and the hash. */
#include "base/sized.h"
#include "herds/herds.h"
#include "observe/report.h"
#include "world/guard.h"
#include "world/world_herds.h"

#include <muster/herd.h>

#include <string.h>
#include <xxhash.h>

/* ---------------------------------------------------------------------------------------------------------- reading */

static uint32_t count_named(const herd_table *table, muster_herd herd) {
  uint32_t count = 0;
  for (uint32_t i = 0; table->named_count && i < table->named_high; i++) {
    const herd_named *named = &table->named[i];
    count += named->agent != HERD_NONE && muster_herd_index(named->herd) == muster_herd_index(herd) &&
             muster_herd_generation(named->herd) == muster_herd_generation(herd);
  }
  return count;
}

/* The mean time of the leaves, weighted by members. */
static uint64_t leaves_reached(const struct muster_world *world, const herd_lanes *lanes) {
  uint64_t first_ns = world->agents.store.rows[lanes->agents[0]].last_update_ns;
  int64_t sum_ns = 0;
  uint32_t members = herds_count(lanes);
  for (uint32_t i = 0; i < lanes->entry->lanes; i++)
    sum_ns += (int64_t)(world->agents.store.rows[lanes->agents[i]].last_update_ns - first_ns) * lanes->members[i];
  return members ? first_ns + (uint64_t)(sum_ns / (int64_t)members) : first_ns;
}

static herd_body describe_leaves(const struct muster_world *world, const struct herd_type *type, uint32_t number,
                                 muster_herd_info *info) {
  herd_lanes lanes = herds_lanes(type, number);
  info->leaves = lanes.entry->lanes;
  for (uint32_t i = 0; i < info->leaves; i++) {
    uint32_t depth = herd_tree_depth(&type->tree, lanes.nodes[i]);
    if (depth > info->depth) info->depth = depth;
  }
  info->last_update_ns = leaves_reached(world, &lanes);
  return herds_whole(type, &lanes);
}

muster_result muster_herd_read(const muster_world *world, muster_herd herd, muster_herd_info *info) {
  muster_result result = guard_read(world, "herd");
  if (result) return result;
  const struct herd_type *type = herds_find(world, herd);
  if (!type) return MUSTER_E_STALE;
  uint32_t number = herds_open_entry(type, muster_herd_index(herd));
  muster_herd_info whole = {.type = {(uint32_t)(type - world->herds->table.types) + 1},
                            .partition = herds_block_of(type, herds_home(type, muster_herd_index(herd)))->partition,
                            .named = count_named(&world->herds->table, herd)};
  herd_body body;
  if (number == HERD_NONE) {
    body = herds_body(type, herds_home(type, muster_herd_index(herd)));
    whole.last_update_ns = herds_reached(world, type, muster_herd_index(herd));
  } else {
    body = describe_leaves(world, type, number, &whole);
  }
  whole.members = body.members;
  whole.position = (muster_position){body.x, body.y, 0.0};
  whole.velocity_x = (float)body.velocity_x;
  whole.velocity_y = (float)body.velocity_y;
  for (uint32_t t = 0; t < type->def.totals; t++) whole.totals[t] = (float)body.totals[t];
  return sized_write(SIZED(herd_info), &whole, info);
}

muster_herd muster_herd_next(const muster_world *world, muster_herd herd) {
  if (guard_read(world, "next herd")) return (muster_herd){0};
  uint32_t from = muster_herd_generation(herd) ? muster_herd_index(herd) + 1 : 0;
  for (uint32_t t = 0; t < world->herds->table.count; t++) {
    const struct herd_type *type = &world->herds->table.types[t];
    uint32_t end = type->first + type->block_count * MUSTER_HERD_BLOCK;
    for (uint32_t i = from > type->first ? from : type->first; i < end; i++) {
      uint32_t home = herds_home(type, i);
      if (home % MUSTER_HERD_BLOCK >= herds_block_of(type, home)->high) {
        i = type->first + (home / MUSTER_HERD_BLOCK + 1) * MUSTER_HERD_BLOCK - 1; /* its block has none behind it */
        continue;
      }
      if (type->members[home] || herds_number_in(type, home) < HERD_EMPTY) return herds_id(world, i);
    }
  }
  return (muster_herd){0};
}

uint32_t muster_herd_leaves(const muster_world *world, muster_herd herd, muster_agent *agents, uint32_t *nodes,
                            uint32_t capacity) {
  if (guard_read(world, "leaves of a herd")) return 0;
  const struct herd_type *type = herds_find(world, herd);
  uint32_t number = type ? herds_open_entry(type, muster_herd_index(herd)) : HERD_NONE;
  if (number == HERD_NONE) return 0;
  herd_lanes lanes = herds_lanes(type, number);
  for (uint32_t i = 0; i < lanes.entry->lanes && i < capacity; i++) {
    if (agents) agents[i] = world_id(world, lanes.agents[i]);
    if (nodes) nodes[i] = lanes.nodes[i];
  }
  return lanes.entry->lanes;
}

muster_herd muster_herd_of(const muster_world *world, muster_agent id) {
  const muster_herd none = {0};
  if (guard_read(world, "herd of an agent")) return none;
  muster_agent agent = world_find(world, id);
  if (!world->herds->table.count || !world_exists(world, agent)) return none;
  const herd_link *link = &world->herds->table.links[muster_agent_index(agent)];
  if (link->tie == HERD_TIE_LEAF)
    return herds_id(world, herds_entry(&world->herds->table.types[link->type], link->entry)->herd);
  if (link->tie != HERD_TIE_NAMED) return none;
  muster_herd herd = world->herds->table.named[link->entry].herd;
  return herd_ids_find(&world->herds->ids, herd) ? herd : none;
}

/* ------------------------------------------------------------------------------------------------------------- hash */

static uint64_t hash_block(const struct muster_world *world, const struct herd_type *type, uint32_t number,
                           uint64_t hash) {
  const herd_block *block = &type->blocks[number];
  uint32_t first = number * MUSTER_HERD_BLOCK;
  const float *columns[4] = {type->x + first, type->y + first, type->velocity_x + first, type->velocity_y + first};
  for (uint32_t i = 0; i < 4; i++) hash = XXH3_64bits_withSeed(columns[i], block->high * sizeof(float), hash);
  for (uint32_t t = 0; t < type->def.totals; t++)
    hash = XXH3_64bits_withSeed(type->totals[t] + first, block->high * sizeof(float), hash);
  hash = XXH3_64bits_withSeed(type->members + first, block->high * sizeof(uint16_t), hash);
  uint16_t generations[MUSTER_HERD_BLOCK];
  for (uint32_t i = 0; i < block->high; i++)
    generations[i] = (uint16_t)herd_ids_generation(&world->herds->ids, type->first + first + i);
  return XXH3_64bits_withSeed(generations, block->high * sizeof(uint16_t), hash);
}

static uint64_t hash_entry(const struct herd_type *type, uint32_t number, uint64_t hash) {
  herd_lanes lanes = herds_lanes(type, number);
  const herd_entry *entry = lanes.entry;
  uint64_t head[4] = {entry->herd, entry->state, (uint64_t)entry->ahead_ns, entry->lanes};
  hash = XXH3_64bits_withSeed(head, sizeof head, hash);
  hash = XXH3_64bits_withSeed(lanes.agents, entry->lanes * sizeof *lanes.agents, hash);
  hash = XXH3_64bits_withSeed(lanes.members, entry->lanes * sizeof *lanes.members, hash);
  return XXH3_64bits_withSeed(lanes.nodes, entry->lanes * sizeof *lanes.nodes, hash);
}

uint64_t herds_hash(const struct muster_world *world, uint64_t hash) {
  for (uint32_t t = 0; t < world->herds->table.count; t++) {
    const struct herd_type *type = &world->herds->table.types[t];
    for (uint32_t i = 0; i < type->block_count; i++) hash = hash_block(world, type, i, hash);
    for (uint32_t i = 0; i < type->entry_high; i++)
      if (herds_entry(type, i)->state != HERD_ENTRY_FREE) hash = hash_entry(type, i, hash);
  }
  return hash;
}

/* ------------------------------------------------------------------------------------------------------------ bytes */

void herds_bytes(const struct muster_world *world, uint64_t *folded, uint64_t *unfolded) {
  *folded = *unfolded = 0;
  for (uint32_t t = 0; t < world->herds->table.count; t++) {
    const struct herd_type *type = &world->herds->table.types[t];
    uint64_t slot = (4 + type->def.totals) * sizeof(float) + 2 * sizeof(uint16_t);
    *folded += (type->herds - type->unfolded) * slot + type->block_count * sizeof(herd_block);
    *unfolded += type->unfolded * slot + type->entry_used * (uint64_t)(type->stride + type->kept_stride);
  }
}
