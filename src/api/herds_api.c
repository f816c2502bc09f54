/* herds_api.c - the calls of a host about herds, between frames: types, adding, naming, reading. */
#include "base/fields.h"
#include "base/sized.h"
#include "frame/frame.h"
#include "herds/herds.h"
#include "record/recorder.h"
#include "run/runner.h"
#include "world/guard.h"
#include "world/lifecycle.h"
#include "world/world_fold.h"
#include "world/world_herds.h"

#include <muster/herd.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------
 * definitions */

static muster_result check_zones(const muster_herd_type_def *def) {
  float before_m = 0.0f;
  for (uint32_t k = 0; k < def->depth; k++) {
    if (!(def->zone_m[k] > before_m && def->zone_m[k] <= 1e6f))
      return error_set(MUSTER_E_ARGUMENT, "herd type '%s': zone_m[%u] = %g must be above %g, and at most 1e6",
                       def->name, k, (double)def->zone_m[k], (double)before_m);
    before_m = def->zone_m[k];
  }
  if (!(def->visible_m >= 0.0f && def->zone_m[0] >= def->visible_m + def->spread_m))
    return error_set(MUSTER_E_ARGUMENT,
                     "herd type '%s': zone_m[0] %g must be at least visible_m (%g) + spread_m (%g), or members would "
                     "appear in sight",
                     def->name, (double)def->zone_m[0], (double)def->visible_m, (double)def->spread_m);
  return MUSTER_OK;
}

static muster_result check_tree(const muster_herd_type_def *def, herd_tree *tree) {
  if (!herd_tree_make(tree, def->branching, def->depth))
    return error_set(MUSTER_E_ARGUMENT, "herd type '%s': branching %u to the power of depth %u must be at most %u",
                     def->name, def->branching, def->depth, MUSTER_HERD_MEMBERS_MAX);
  return MUSTER_OK;
}

static muster_result check_member(const struct muster_world *world, const muster_herd_type_def *def) {
  if (def->member.index == 0 || def->member.index > world->agents.types.count)
    return error_set(MUSTER_E_ARGUMENT, "herd type '%s': member type %u is not registered", def->name,
                     def->member.index);
  const agent_type *member = world_type(world, def->member.index - 1);
  size_t least = sizeof(muster_herd_body) + def->totals * sizeof(float);
  if (member->blocks)
    return error_set(MUSTER_E_ARGUMENT, "herd type '%s': type '%s' is of blocks of herds", def->name, member->name);
  if (member->def.published_bytes < least)
    return error_set(MUSTER_E_ARGUMENT,
                     "herd type '%s': published_bytes %u of its member type '%s' must be at least %zu: they begin with "
                     "a muster_herd_body and %u totals",
                     def->name, member->def.published_bytes, member->name, least, def->totals);
  return MUSTER_OK;
}

/* What the host does to herds between frames is not in a record. */
static bool is_recorded(const struct muster_world *world) {
  return recorder_records(world->recorder) || recorder_replays(world->recorder);
}

static muster_result herds_api_check_host(const struct muster_world *world, const char *what) {
  muster_result result = guard_between(world, what);
  if (result || !is_recorded(world)) return result;
  return error_set(MUSTER_E_STATE, "%s: not in a world that is recorded or replayed", what);
}

static muster_result herds_api_check_world(const struct muster_world *world, const muster_herd_type_def *def) {
  if (world_is_planned(world))
    return error_set(MUSTER_E_STATE, "herd type '%s': not in a planner world: Muster runs its blocks", def->name);
  bool waits = recorder_replays(world->recorder) && world->recorder->snapshot; /* with herds of this type in it */
  if (is_recorded(world) && !waits)
    return error_set(MUSTER_E_STATE, "herd type '%s': this world is recorded: register it before that begins",
                     def->name);
  if (world->herds->table.count == MUSTER_HERD_TYPES_MAX)
    return error_set(MUSTER_E_FULL, "herd type '%s': %u herd types are registered already", def->name,
                     MUSTER_HERD_TYPES_MAX);
  return MUSTER_OK;
}

/* ---------------------------------------------------------------------------------------------------------
 * registration */

/* What the first herd type needs. */
static void reserve_table(struct muster_world *world) {
  enum { NAMED_MAX = 65536 };
  herd_table *table = &world->herds->table;
  if (table->links) return;
  table->spare = HERD_NONE;
  table->named_max = world->def.limits.agents_max < NAMED_MAX ? world->def.limits.agents_max : NAMED_MAX;
  ARENA_ARRAY(&world->arena, table->types, MUSTER_HERD_TYPES_MAX);
  ARENA_ARRAY(&world->arena, table->named, table->named_max);
  ARENA_ARRAY(&world->arena, table->scratch, world->runner->state_count);
  fold_create(&world->fold->board, world->def.limits.observers_max, world->runner->state_count, &world->arena);
  herd_link *links = arena_reserve(&world->arena, world->def.limits.agents_max, sizeof *links);
  if (world->arena.failed) return;
  table->links = links;
  world->runner->herds = table;
}

static void reserve_type(struct muster_world *world, struct herd_type *type) {
  enum { PARTITIONS_EXPECTED = 256 };
  const muster_herd_type_def *def = &type->def;
  uint32_t partitions = def->herds_max < PARTITIONS_EXPECTED ? def->herds_max : PARTITIONS_EXPECTED;
  type->blocks_max = (def->herds_max + MUSTER_HERD_BLOCK - 1) / MUSTER_HERD_BLOCK + partitions;
  size_t herds = (size_t)type->blocks_max * MUSTER_HERD_BLOCK;
  struct arena *arena = &world->arena;
  ARENA_ARRAY(arena, type->x, herds);
  ARENA_ARRAY(arena, type->y, herds);
  ARENA_ARRAY(arena, type->velocity_x, herds);
  ARENA_ARRAY(arena, type->velocity_y, herds);
  for (uint32_t t = 0; t < def->totals; t++) type->totals[t] = arena_reserve(arena, herds, sizeof(float));
  ARENA_ARRAY(arena, type->members, herds);
  ARENA_ARRAY(arena, type->blocks, type->blocks_max);
  ARENA_ARRAY(arena, type->open, PARTITIONS);
  type->pool = arena_reserve(arena, def->unfolded_max, type->stride);
  ARENA_ARRAY(arena, type->settling, def->unfolded_max);
  if (def->retains) {
    const agent_type *member = world_type(world, type->member_type);
    type->kept_each = sizeof(herd_kept) + ((member->def.state_bytes + 7u) & ~7u);
    type->kept_stride = type->kept_each * type->tree.first[def->depth + 1];
    type->kept = arena_reserve(arena, def->unfolded_max, type->kept_stride);
  }
  herd_ids_reserve(&world->herds->ids, type->first, (uint32_t)herds, type->tree.below[0], arena);
}

/* The agent type of the blocks. */
static muster_type register_blocks(struct muster_world *world, const struct herd_type *type) {
  char name[32];
  snprintf(name, sizeof name, "%s blocks", type->name);
  muster_atom atom = {.role = MUSTER_ROLE_BEHAVIOUR, .run = herds_update_block, .model_ns = type->def.model_ns};
  muster_type_def def = muster_type_def_default();
  def.name = name;
  def.atoms = &atom;
  def.atom_count = 1;
  def.period_ns = type->def.period_ns;
  def.period_max_ns = type->def.period_max_ns;
  def.limit_ns = type->def.limit_ns;
  def.levels.count = 1;
  def.overruns.demote = def.overruns.quarantine = 0;
  return muster_type_register(world, &def);
}

/* Leaves appear and go by the thousand in a frame, so the memory that the member type keeps for its agents is committed
 * before. */
static void make_members_ready(struct muster_world *world, uint32_t number) {
  const agent_type *member = world_type(world, number);
  size_t agents = world->def.limits.agents_max;
  identity_make_ready(&world->agents.slots[number], &world->arena);
  if (member->states) arena_make_ready(&world->arena, member->states, agents * member->state_stride);
  if (member->published)
    arena_make_ready(&world->arena, member->published, agents * (size_t)member->published_stride * 2);
}

static uint32_t next_first(const herd_table *table) {
  if (!table->count) return 0;
  const struct herd_type *last = &table->types[table->count - 1];
  return last->first + last->blocks_max * MUSTER_HERD_BLOCK;
}

static muster_herd_type register_checked(struct muster_world *world, const muster_herd_type_def *def,
                                         const herd_tree *tree) {
  const muster_herd_type none = {0};
  herd_table *table = &world->herds->table;
  reserve_table(world);
  if (world->arena.failed) {
    world->arena.failed = false;
    return none;
  }
  uint32_t number = table->count;
  struct herd_type *type = &table->types[number];
  *type =
      (struct herd_type){.def = *def, .tree = *tree, .member_type = def->member.index - 1, .first = next_first(table)};
  strncpy(type->name, def->name, sizeof type->name - 1);
  type->def.name = type->name;
  herds_lay_out(type);
  reserve_type(world, type);
  fold_reserve(&world->fold->board, number, &world->arena);
  if (world->arena.failed) {
    world->arena.failed = false;
    return none;
  }
  muster_type blocks = register_blocks(world, type);
  if (!blocks.index) return none;
  type->block_type = blocks.index - 1;
  world_type(world, type->block_type)->herded = world_type(world, type->block_type)->blocks = true;
  world_type(world, type->member_type)->herded = true;
  make_members_ready(world, type->member_type);
  herd_ids_announce(&world->herds->ids);
  table->count++;
  return (muster_herd_type){table->count};
}

muster_herd_type muster_herd_type_register(muster_world *world, const muster_herd_type_def *given) {
  const muster_herd_type none = {0};
  herd_tree tree;
  if (guard_between(world, "herd type")) return none;
  muster_herd_type_def def = muster_herd_type_def_default();
  if (sized_read(SIZED(herd_type_def), given, &def)) return none;
  if (!def.name) def.name = "herd";
  if (herds_api_check_world(world, &def) || fields_check(fields_herd_type, "herd type", def.name, &def, 0) ||
      check_tree(&def, &tree) || check_zones(&def) || check_member(world, &def))
    return none;
  world->arena.ready = (double)world->def.limits.agents_ready / world->def.limits.agents_max;
  const muster_herd_type type = register_checked(world, &def, &tree);
  world->arena.ready = 0.0;
  return type;
}

/* ----------------------------------------------------------------------------------------------------------- adding */

static muster_result check_herd(const struct herd_type *type, const muster_herd_def *def, uint32_t number) {
  if (!space_accepts(def->position))
    return error_set(MUSTER_E_ARGUMENT,
                     "herd %u of the array: position (%.17g, %.17g, %.17g) must be finite and within +-1e9 m", number,
                     def->position.x, def->position.y, def->position.z);
  if (!isfinite(def->velocity_x) || !isfinite(def->velocity_y))
    return error_set(MUSTER_E_ARGUMENT, "herd %u of the array: velocity (%g, %g) must be finite", number,
                     (double)def->velocity_x, (double)def->velocity_y);
  if (def->partition >= PARTITIONS)
    return error_set(MUSTER_E_ARGUMENT, "herd %u of the array: partition %u must be 0..65535", number, def->partition);
  if (def->members > type->tree.below[0])
    return error_set(MUSTER_E_ARGUMENT, "herd %u of the array: members %u must be at most b^D = %u", number,
                     def->members, type->tree.below[0]);
  for (uint32_t t = 0; t < type->def.totals; t++)
    if (!isfinite(def->totals[t]))
      return error_set(MUSTER_E_ARGUMENT, "herd %u of the array: totals[%u] = %g must be finite", number, t,
                       (double)def->totals[t]);
  return MUSTER_OK;
}

static muster_result herds_api_add(struct muster_world *world, struct herd_type *type, const muster_herd_def *def,
                                   uint32_t number, muster_herd *herd) {
  muster_result result = check_herd(type, def, number);
  if (result) return result;
  bool opens;
  result = herds_check_room(type, def->partition, &opens);
  uint32_t index = !result && opens ? identity_take(&world->agents.ids) : IDENTITY_NONE;
  if (!result && opens && index == IDENTITY_NONE) result = herds_refuse_block(world);
  if (result) return result;
  herd_body body = {.x = def->position.x,
                    .y = def->position.y,
                    .velocity_x = (double)def->velocity_x,
                    .velocity_y = (double)def->velocity_y,
                    .members = def->members ? def->members : type->tree.below[0]};
  for (uint32_t t = 0; t < type->def.totals; t++) body.totals[t] = (double)def->totals[t];
  uint32_t added = herds_add(world, type, def->partition, &body, index);
  if (herd) *herd = herds_id(world, added);
  return MUSTER_OK;
}

/* Settles first what the last commit left over. */
static void begin(struct muster_world *world, struct pool_entry *entered) {
  world->runner->caller = pool_index_of(pool_enter(entered, world->pool));
  frame_settle(world);
}

uint32_t muster_herds_add(muster_world *world, muster_herd_type type, const muster_herd_def *defs, uint32_t count,
                          muster_herd *herds) {
  struct pool_entry entered;
  uint32_t added = 0;
  if (herds_api_check_host(world, "herds")) return 0;
  if ((count && !defs) || type.index == 0 || type.index > world->herds->table.count)
    return error_missing("herds", "array and a registered herd type"), 0;
  enum occupation before = guard_hold(world);
  begin(world, &entered);
  for (; added < count; added++)
    if (herds_api_add(world, &world->herds->table.types[type.index - 1], &defs[added], added,
                      herds ? &herds[added] : NULL))
      break;
  pool_leave(&entered);
  guard_release(world, before);
  return added;
}

/* ----------------------------------------------------------------------------------------------------------- naming */

/* The leaf becomes an agent of its own. */
static muster_agent name_leaf(struct muster_world *world, struct herd_type *type, uint32_t number, uint32_t lane,
                              uint32_t place) {
  herd_table *table = &world->herds->table;
  herd_lanes lanes = herds_lanes(type, number);
  uint32_t agent = lanes.agents[lane];
  herd_body whole = herds_whole(type, &lanes);
  const herd_named named = {.herd = herds_id(world, lanes.entry->herd),
                            .agent = agent,
                            .entry = number,
                            .velocity_x = (float)whole.velocity_x,
                            .velocity_y = (float)whole.velocity_y,
                            .x = whole.x,
                            .y = whole.y};
  table->members -= lanes.members[lane];
  herds_take_out(table, type, number, lane, 1);
  herds_give_name(world, type, place, agent, &named);
  return world_id(world, agent);
}

static muster_agent name_member(struct muster_world *world, struct herd_type *type, uint32_t herd, uint32_t member) {
  const muster_agent none = {0};
  muster_result result;
  uint32_t place = herds_find_name(&world->herds->table), number, lane;
  if (place == HERD_NONE) {
    error_set(MUSTER_E_FULL, "herds: %u members have names already", world->herds->table.named_max);
    return none;
  }
  world->herds->table.named[place].agent = HERD_NONE;
  lane = herds_unfold_path(world, type, herd, member, &number, &result);
  return result ? none : name_leaf(world, type, number, lane, place);
}

static uint32_t members_of(const struct herd_type *type, uint32_t herd) {
  uint32_t number = herds_open_entry(type, herd);
  if (number == HERD_NONE) return type->members[herds_home(type, herd)];
  herd_lanes lanes = herds_lanes(type, number);
  return herds_count(&lanes);
}

muster_agent muster_herd_name(muster_world *world, muster_herd herd, uint32_t member) {
  muster_agent named = {0};
  if (herds_api_check_host(world, "herd name")) return named;
  enum occupation before = guard_hold(world);
  struct pool_entry entered;
  begin(world, &entered);
  struct herd_type *type = herds_find(world, herd);
  if (type && member >= type->tree.below[0])
    error_set(MUSTER_E_ARGUMENT, "herd %u: member %u must be below b^D = %u", muster_herd_index(herd), member,
              type->tree.below[0]);
  else if (type && members_of(type, muster_herd_index(herd)) < 2)
    error_set(MUSTER_E_STATE, "herd %u: its last member without a name cannot leave it", muster_herd_index(herd));
  else if (type)
    named = name_member(world, type, muster_herd_index(herd), member);
  pool_leave(&entered);
  guard_release(world, before);
  return named;
}
