/* herds_act.c - what actions, and the host between frames, do with herds: search, take, scare, wake, remove. */
#include "api/calls.h"
#include "herds/herds.h"
#include "run/callback.h"
#include "world/guard.h"
#include "world/lifecycle.h"
#include "world/world_acts.h"
#include "world/world_commands.h"
#include "world/world_herds.h"

#include <muster/herd.h>

#include <math.h>

/* Only an agent that acts alone may ask what herds look like at the moment. */
static muster_result check_serial(const muster_update *update, const char *what) {
  muster_result result = callback_check(update, what);
  if (result) return result;
  const update_context *context = (const update_context *)(const void *)update;
  if (context->phase == PHASE_ACT && context->act == MUSTER_ACT_SERIAL) return MUSTER_OK;
  return error_set(MUSTER_E_STATE, "%s: in serial action atoms only", what);
}

/* ----------------------------------------------------------------------------------------------------------- search */

struct search {
  const struct muster_world *world;
  muster_position position;
  float radius_m;
  muster_herd_near *out;
  uint32_t count, capacity;
};

static void herds_act_offer(struct search *search, const struct herd_type *type, uint32_t herd, double x, double y,
                            uint32_t members, uint32_t leaves) {
  double dx = x - search->position.x, dy = y - search->position.y;
  float distance_m = (float)sqrt(dx * dx + dy * dy);
  if (!(distance_m <= search->radius_m)) return;
  uint32_t at = search->count;
  while (at > 0 &&
         (search->out[at - 1].distance_m > distance_m ||
          (search->out[at - 1].distance_m >= distance_m && muster_herd_index(search->out[at - 1].herd) > herd)))
    at--;
  if (at == search->capacity) return;
  if (search->count < search->capacity) search->count++;
  for (uint32_t i = search->count - 1; i > at; i--) search->out[i] = search->out[i - 1];
  search->out[at] = (muster_herd_near){.herd = herds_id(search->world, herd),
                                       .type = {(uint32_t)(type - search->world->herds->table.types) + 1},
                                       .distance_m = distance_m,
                                       .position = {x, y, 0.0},
                                       .members = members,
                                       .leaves = leaves};
}

static void search_block(struct search *search, const struct herd_type *type, uint32_t number) {
  const herd_block *block = &type->blocks[number];
  uint32_t first = number * MUSTER_HERD_BLOCK;
  float x = (float)(search->position.x - block->origin_x), y = (float)(search->position.y - block->origin_y);
  /* A little more than the radius: the exact distance decides which members are taken. */
  float reach_m = search->radius_m * 1.0001f + 1.0f, square = reach_m * reach_m;
  if (x < block->low_x - reach_m || x > block->high_x + reach_m || y < block->low_y - reach_m ||
      y > block->high_y + reach_m)
    return;
  for (uint32_t i = first; i < first + block->high; i++) {
    float dx = type->x[i] - x, dy = type->y[i] - y;
    if (!(dx * dx + dy * dy <= square) || !type->members[i]) continue;
    herds_act_offer(search, type, type->first + i, block->origin_x + (double)type->x[i],
                    block->origin_y + (double)type->y[i], type->members[i], 0);
  }
}

static void search_unfolded(struct search *search, const struct herd_type *type, uint32_t partition) {
  for (uint32_t i = 0; i < type->entry_high; i++) {
    herd_lanes lanes = herds_lanes(type, i);
    if (lanes.entry->state != HERD_ENTRY_OPEN) continue;
    if (herds_block_of(type, herds_home(type, lanes.entry->herd))->partition != partition) continue;
    herd_body whole = herds_whole(type, &lanes);
    if (whole.members)
      herds_act_offer(search, type, lanes.entry->herd, whole.x, whole.y, whole.members, lanes.entry->lanes);
  }
}

static uint32_t search_all(const struct muster_world *world, muster_position position, uint32_t partition,
                           float radius_m, muster_herd_near *out, uint32_t capacity) {
  struct search search = {world, position, radius_m,
                          out,   0,        capacity < MUSTER_NEIGHBOURS_MAX ? capacity : MUSTER_NEIGHBOURS_MAX};
  if (!(radius_m >= 0.0f) || !search.capacity || !out) return 0;
  for (uint32_t t = 0; t < world->herds->table.count; t++) {
    const struct herd_type *type = &world->herds->table.types[t];
    for (uint32_t i = 0; i < type->block_count; i++)
      if (type->blocks[i].partition == partition) search_block(&search, type, i);
    if (type->unfolded) search_unfolded(&search, type, partition);
  }
  return search.count;
}

uint32_t muster_herds_nearby(const muster_world *world, muster_position position, uint32_t partition, float radius_m,
                             muster_herd_near *out, uint32_t capacity) {
  if (guard_read(world, "herds nearby") || (capacity && !out && error_missing("herds nearby", "array"))) return 0;
  return search_all(world, position, partition, radius_m, out, capacity);
}

uint32_t muster_update_herds_nearby(const muster_update *update, float radius_m, muster_herd_near *out,
                                    uint32_t capacity) {
  if (check_serial(update, "herds nearby") || (capacity && !out && error_missing("herds nearby", "array"))) return 0;
  uint32_t index = ((const update_context *)(const void *)update)->index;
  return search_all(update->world, world_position(update->world, index),
                    update->world->agents.store.places[index].partition, radius_m, out, capacity);
}

/* ------------------------------------------------------------------------------------------------------------- take */

static uint32_t take_from_folded(struct muster_world *world, struct herd_type *type, uint32_t herd, uint32_t wanted,
                                 float *totals) {
  uint32_t home = herds_home(type, herd), have = type->members[home], taken = wanted < have ? wanted : have;
  for (uint32_t t = 0; t < type->def.totals; t++) {
    totals[t] = taken == have ? type->totals[t][home] : type->totals[t][home] * ((float)taken / (float)have);
    type->totals[t][home] -= totals[t];
  }
  if (taken == have) {
    herds_remove(world, herd);
    return taken;
  }
  type->members[home] = (uint16_t)(have - taken);
  world->herds->table.members -= taken;
  return taken;
}

/* The nearest leaf that still stands for members; HERD_NONE when there is none. */
static uint32_t nearest_leaf(const struct muster_world *world, const herd_lanes *lanes, muster_position position) {
  float x = (float)(position.x - lanes->entry->origin_x), y = (float)(position.y - lanes->entry->origin_y), best = 0;
  uint32_t found = HERD_NONE;
  for (uint32_t i = 0; i < lanes->entry->lanes; i++) {
    float dx = lanes->x[i] - x, dy = lanes->y[i] - y, square = dx * dx + dy * dy;
    if (!lanes->members[i] || world_row(world, lanes->agents[i])->removal_pending) continue;
    if (found != HERD_NONE && square >= best) continue;
    found = i;
    best = square;
  }
  return found;
}

static uint32_t take_from_leaf(struct muster_world *world, struct herd_type *type, const herd_lanes *lanes,
                               uint32_t lane, uint32_t wanted, float *totals) {
  uint32_t have = lanes->members[lane], taken = wanted < have ? wanted : have, agent = lanes->agents[lane];
  agent_row *row = world_row(world, agent);
  struct command removal = command_about(COMMAND_REMOVE, world_agent(world, agent));
  if (taken == have && !lifecycle_defer(world, &removal)) return 0;
  if (taken == have) row->removal_pending = 1;
  const agent_type *member = world_type(world, type->member_type);
  for (uint32_t t = 0; t < type->def.totals; t++) {
    float total = lanes->totals[t][lane];
    totals[t] = taken == have ? total : total * ((float)taken / (float)have);
    lanes->totals[t][lane] -= totals[t];
    /* In both buffers: an update that waits for its actions is not published yet. */
    for (uint32_t k = 0; k < 2; k++)
      ((muster_herd_body *)type_published(member, row->state_slot, k))->totals[t] -= totals[t];
  }
  lanes->members[lane] = (uint16_t)(have - taken);
  world->herds->table.members -= taken;
  return taken;
}

/* Beside other actions: out of the acting leaf itself. Others read its lane meanwhile: it stands for fewer when all
 * have acted, and what it publishes becomes its lane's totals. */
static uint32_t take_from_self(muster_update *update, const struct herd_type *type, muster_herd herd, uint32_t wanted,
                               float *totals) {
  struct muster_world *world = update->world;
  const update_context *context = (const update_context *)(const void *)update;
  const herd_link *link = &world->herds->table.links[context->index];
  act_entry *entry = &world->acts->beside.entries[context->entry];
  if (link->tie != HERD_TIE_LEAF || herds_lanes(type, link->entry).entry->herd != muster_herd_index(herd)) {
    error_set(MUSTER_E_STATE, "herd take: beside other actions a leaf takes out of itself alone");
    return 0;
  }
  herd_lanes lanes = herds_lanes(type, link->entry);
  uint32_t all = lanes.members[link->lane], have = all - entry->taken, taken = wanted < have ? wanted : have;
  if (!taken || (taken == have && muster_update_remove(update, update->agent) != MUSTER_OK)) return 0;
  muster_herd_body *body = update->published;
  for (uint32_t t = 0; t < type->def.totals; t++) {
    float total = lanes.totals[t][link->lane], each = total / (float)all;
    totals[t] = taken == have ? total - each * (float)entry->taken : each * (float)taken;
    body->totals[t] -= totals[t];
  }
  entry->taken = (uint16_t)(entry->taken + taken);
  return taken;
}

uint32_t muster_update_herd_take(muster_update *update, muster_herd herd, uint32_t members, float *out) {
  float unwanted[MUSTER_HERD_TOTALS], *totals = out ? out : unwanted;
  if (callback_check(update, "herd take")) return 0;
  bool beside = acts_beside((const update_context *)(const void *)update);
  if (!beside && check_serial(update, "herd take")) return 0;
  struct muster_world *world = update->world;
  struct herd_type *type = herds_find(world, herd);
  if (!type) return 0;
  for (uint32_t t = 0; t < type->def.totals; t++) totals[t] = 0.0f;
  if (!members) return 0;
  if (beside) return take_from_self(update, type, herd, members, totals);
  uint32_t number = herds_open_entry(type, muster_herd_index(herd));
  if (number == HERD_NONE) return take_from_folded(world, type, muster_herd_index(herd), members, totals);
  herd_lanes lanes = herds_lanes(type, number);
  uint32_t lane =
      nearest_leaf(world, &lanes, world_position(world, ((const update_context *)(const void *)update)->index));
  return lane == HERD_NONE ? 0 : take_from_leaf(world, type, &lanes, lane, members, totals);
}

muster_result muster_update_herd_push(muster_update *update, muster_herd herd, float velocity_x, float velocity_y) {
  muster_result result = check_serial(update, "herd push");
  if (result) return result;
  struct herd_type *type = herds_find(update->world, herd);
  if (!type)
    return error_set(MUSTER_E_STALE, "herd %u (generation %u) is gone", muster_herd_index(herd),
                     muster_herd_generation(herd));
  uint32_t home = herds_home(type, muster_herd_index(herd));
  if (!type->members[home])
    return error_set(MUSTER_E_STATE, "herd %u is unfolded: its leaves see for themselves", muster_herd_index(herd));
  float x = type->velocity_x[home] + velocity_x, y = type->velocity_y[home] + velocity_y;
  if (!isfinite(x) || !isfinite(y))
    return error_set(MUSTER_E_ARGUMENT, "herd push: velocity (%g, %g) must be finite", (double)velocity_x,
                     (double)velocity_y);
  type->velocity_x[home] = x;
  type->velocity_y[home] = y;
  return MUSTER_OK;
}

/* -------------------------------------------------------------------------------------------------------------
 * commands */

/* A checked command about a live herd. */
static muster_result make_command(const struct muster_world *world, muster_herd herd, command_kind kind,
                                  uint32_t member, struct command *command) {
  const herd_id_range *range = herd_ids_find(&world->herds->ids, herd);
  if (!range)
    return error_set(MUSTER_E_STALE, "herd %u (generation %u) is gone", muster_herd_index(herd),
                     muster_herd_generation(herd));
  if (member >= range->members_max)
    return error_set(MUSTER_E_ARGUMENT, "herd %u: member %u must be below b^D = %u", muster_herd_index(herd), member,
                     range->members_max);
  *command = (struct command){
      .kind = kind, .index = muster_herd_index(herd), .generation = muster_herd_generation(herd), .partition = member};
  return MUSTER_OK;
}

static muster_result push_command(struct muster_world *world, muster_herd herd, command_kind kind, uint32_t member) {
  const char *call = kind == COMMAND_HERD_WAKE ? "muster_herd_wake" : "muster_herd_remove";
  struct command command;
  muster_result result;
  if (!guard_asks(world, call, &result)) return result;
  result = make_command(world, herd, kind, member, &command);
  return result ? result : guard_queue(world, &command);
}

muster_result muster_herd_remove(muster_world *world, muster_herd herd) {
  return push_command(world, herd, COMMAND_HERD_REMOVE, 0);
}

muster_result muster_herd_wake(muster_world *world, muster_herd herd, uint32_t member) {
  return push_command(world, herd, COMMAND_HERD_WAKE, member);
}

static muster_result send_command(muster_update *update, muster_herd herd, command_kind kind, uint32_t member) {
  struct command command;
  muster_result result = callback_check(update, "herd");
  if (!result) result = make_command(update->world, herd, kind, member, &command);
  return result ? result : update_send(update, &command);
}

muster_result muster_update_herd_wake(muster_update *update, muster_herd herd, uint32_t member) {
  return send_command(update, herd, COMMAND_HERD_WAKE, member);
}

muster_result muster_update_herd_remove(muster_update *update, muster_herd herd) {
  return send_command(update, herd, COMMAND_HERD_REMOVE, 0);
}
