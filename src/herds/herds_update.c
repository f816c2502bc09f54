/* herds_update.c - herds in updates: how a block is brought forward, on any worker, and what an atom may ask of herds.
 * A block's update works in place; impossible values that it leaves are put back herd by herd. */
#include "base/assert.h"
#include "base/clones.h"
#include "base/error.h"
#include "base/random.h"
#include "herds/herds.h"
#include "run/callback.h"
#include "run/flight.h"
#include "run/runner.h"
#include "world/world_herds.h"

#include <muster/flight.h>
#include <muster/herd.h>

#include <string.h>

static const uint64_t block_stream = 0x6865726473u; /* apart from the random numbers of agents */

/* -------------------------------------------------------------------------------------------------- blocks in place */

VECTOR_CLONES static void tell_elapsed(const uint16_t *restrict members, float seconds, float *restrict elapsed_s,
                                       uint32_t count) {
  for (uint32_t i = 0; i < count; i++) elapsed_s[i] = members[i] ? seconds : 0.0f;
}

VECTOR_CLONES static void drift(float *restrict x, const float *restrict velocity, const float *restrict elapsed_s,
                                uint32_t count) {
  for (uint32_t i = 0; i < count; i++) x[i] += velocity[i] * elapsed_s[i];
}

/* ------------------------------------------------------------------------------------------------- a block's update */

VECTOR_CLONES static void number_herds(uint32_t *restrict herds, uint32_t first, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) herds[i] = first + i;
}

/* Herds with a time other than their block's are told their own elapsed time. */
static void tell_settling(const struct herd_type *type, const herd_block *block, herd_scratch *scratch,
                          uint64_t elapsed_ns) {
  for (uint32_t next = block->entry; next; next = herds_entry(type, next - 1)->next) {
    const herd_entry *entry = herds_entry(type, next - 1);
    if (entry->state != HERD_ENTRY_SETTLING) continue;
    int64_t own_ns = (int64_t)elapsed_ns - entry->ahead_ns;
    uint32_t slot = herds_home(type, entry->herd) % MUSTER_HERD_BLOCK;
    scratch->elapsed_s[slot] =
        type->members[herds_home(type, entry->herd)] && own_ns > 0 ? (float)((double)own_ns * 1e-9) : 0.0f;
  }
}

static muster_herd_block herds_update_show(const struct herd_type *type, uint32_t number, const herd_scratch *scratch) {
  uint32_t first = number * MUSTER_HERD_BLOCK;
  const herd_block *block = &type->blocks[number];
  muster_herd_block shown = {.count = (block->high + 7u) & ~7u,
                             .origin_x = block->origin_x,
                             .origin_y = block->origin_y,
                             .x = type->x + first,
                             .y = type->y + first,
                             .velocity_x = type->velocity_x + first,
                             .velocity_y = type->velocity_y + first,
                             .members = type->members + first,
                             .elapsed_s = scratch->elapsed_s,
                             .herds = scratch->herds,
                             .user = type->def.user};
  for (uint32_t t = 0; t < type->def.totals; t++) shown.totals[t] = type->totals[t] + first;
  return shown;
}

static void herds_update_save(const struct herd_type *type, const muster_herd_block *block, herd_scratch *scratch) {
  size_t bytes = block->count * sizeof(float);
  memcpy(scratch->x, block->x, bytes);
  memcpy(scratch->y, block->y, bytes);
  memcpy(scratch->velocity_x, block->velocity_x, bytes);
  memcpy(scratch->velocity_y, block->velocity_y, bytes);
  for (uint32_t t = 0; t < type->def.totals; t++) memcpy(scratch->totals[t], block->totals[t], bytes);
  memcpy(scratch->members, block->members, block->count * sizeof(uint16_t));
}

static void update(struct muster_world *world, struct herd_type *type, uint32_t number, herd_scratch *scratch,
                   uint64_t elapsed_ns, uint64_t now_ns) {
  const herd_block *block = &type->blocks[number];
  uint32_t first = type->first + number * MUSTER_HERD_BLOCK;
  ASSERT(number < type->block_count && block->high <= MUSTER_HERD_BLOCK);
  muster_herd_block shown = herds_update_show(type, number, scratch);
  shown.now_ns = now_ns;
  shown.random = random_at(world->def.seed, first, now_ns, block_stream);
  tell_elapsed(shown.members, (float)((double)elapsed_ns * 1e-9), scratch->elapsed_s, shown.count);
  if (block->entry) tell_settling(type, block, scratch, elapsed_ns);
  herds_update_save(type, &shown, scratch);
  number_herds(scratch->herds, first, shown.count);
  muster_herd_block given = shown;
  if (type->def.run_block) {
    type->def.run_block(&given);
  } else {
    drift(shown.x, shown.velocity_x, shown.elapsed_s, shown.count);
    drift(shown.y, shown.velocity_y, shown.elapsed_s, shown.count);
  }
  herds_check(type, number, &shown, scratch);
}

muster_atom_result herds_update_block(muster_update *given) {
  struct muster_world *world = given->world;
  const herd_link *link = &world->herds->table.links[((const update_context *)(const void *)given)->index];
  if (link->tie != HERD_TIE_BLOCK) return MUSTER_ATOM_NEXT; /* an agent that a host spawned: it has no herds */
  if (!given->elapsed_ns) return MUSTER_ATOM_NEXT; /* herds behind the block are told with its next time, and once */
  update(world, &world->herds->table.types[link->type], link->entry, &world->herds->table.scratch[given->worker],
         given->elapsed_ns, given->now_ns);
  return MUSTER_ATOM_NEXT;
}

void herds_bring_forward(struct muster_world *world, struct herd_type *type, uint32_t number, uint64_t now_ns) {
  agent_row *row = world_row(world, type->blocks[number].agent);
  ASSERT(world_is_active(world, type->blocks[number].agent));
  if (row->last_update_ns >= now_ns) return;
  flight_line *line = runner_caller(world->runner)->flight;
  flight_note before = flight_turn(line, world->frames, world_id(world, type->blocks[number].agent), MUSTER_FLIGHT_ATOM,
                                   (muster_type){row->type + 1u});
  update(world, type, number, &world->herds->table.scratch[world->runner->caller], now_ns - row->last_update_ns,
         now_ns);
  flight_return(line, before);
  row->last_update_ns = now_ns;
}

/* ----------------------------------------------------------------------------------------------- what atoms may ask */

static void show_entry(const struct herd_type *type, uint32_t number, muster_flock *flock) {
  herd_lanes lanes = herds_lanes(type, number);
  flock->count = lanes.entry->lanes;
  flock->origin_x = lanes.entry->origin_x;
  flock->origin_y = lanes.entry->origin_y;
  flock->x = lanes.x;
  flock->y = lanes.y;
  flock->velocity_x = lanes.velocity_x;
  flock->velocity_y = lanes.velocity_y;
  flock->leaf_members = lanes.members;
}

static bool show_to_leaf(const struct muster_world *world, const herd_link *link, muster_flock *flock) {
  const struct herd_type *type = &world->herds->table.types[link->type];
  herd_lanes lanes = herds_lanes(type, link->entry);
  const herd_entry *entry = lanes.entry;
  ASSERT(entry->state == HERD_ENTRY_OPEN && link->lane < entry->lanes);
  *flock = (muster_flock){.herd = herds_id(world, entry->herd),
                          .node = lanes.nodes[link->lane],
                          .depth = herd_tree_depth(&type->tree, lanes.nodes[link->lane]),
                          .members = lanes.members[link->lane],
                          .self = link->lane,
                          .herd_x = entry->x,
                          .herd_y = entry->y,
                          .herd_velocity_x = entry->velocity_x,
                          .herd_velocity_y = entry->velocity_y};
  show_entry(type, link->entry, flock);
  return true;
}

static bool show_to_named(const struct muster_world *world, const herd_link *link, muster_flock *flock) {
  ASSERT(link->entry < world->herds->table.named_high);
  const herd_named *named = &world->herds->table.named[link->entry];
  if (muster_herd_is_null(named->herd)) return false;
  const struct herd_type *type = &world->herds->table.types[link->type];
  *flock = (muster_flock){.herd = named->herd,
                          .depth = type->tree.depth,
                          .members = 1,
                          .self = UINT32_MAX,
                          .origin_x = named->x,
                          .origin_y = named->y,
                          .herd_velocity_x = named->velocity_x,
                          .herd_velocity_y = named->velocity_y};
  if (named->entry == HERD_NONE) return true;
  show_entry(type, named->entry, flock);
  flock->herd_x = (float)(named->x - flock->origin_x);
  flock->herd_y = (float)(named->y - flock->origin_y);
  return true;
}

bool muster_update_flock(const muster_update *given, muster_flock *flock) {
  if (callback_check(given, "flock") || (!flock && error_missing("flock", "flock"))) return false;
  const struct muster_world *world = given->world;
  if (!world->herds->table.count) return false;
  const herd_link *link = &world->herds->table.links[((const update_context *)(const void *)given)->index];
  if (link->tie == HERD_TIE_LEAF) return show_to_leaf(world, link, flock);
  return link->tie == HERD_TIE_NAMED && show_to_named(world, link, flock);
}
