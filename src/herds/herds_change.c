/* herds_change.c - one change of a membrane at a time: a node becomes its children, or siblings become their parent.
 * Nothing is taken away before everything that replaces it exists and the host has agreed. */
#include "base/assert.h"
#include "base/error.h"
#include "base/random.h"
#include "herds/herds.h"
#include "run/flight.h"
#include "run/runner.h"
#include "world/frame_state.h"
#include "world/herd_links.h"
#include "world/lifecycle.h"
#include "world/world_fold.h"
#include "world/world_herds.h"
#include "world/world_record.h"
#include "world/world_sums.h"

#include <muster/flight.h>
#include <muster/herd.h>

#include <math.h>
#include <string.h>

/* A parent and its children, on the way from one to the other. */
struct change {
  struct muster_world *world;
  struct herd_type *type;
  const agent_type *member;
  uint32_t herd, number, partition; /* its entry */
  uint64_t last_ns;                 /* the time that the agents that appear are brought to */
  herd_body parent;
  uint32_t parent_agent; /* HERD_NONE: the parent is the root, which is folded */
  uint32_t count;
  herd_body children[HERD_CHILDREN_MAX];
  uint32_t agents[HERD_CHILDREN_MAX];
};

/* ----------------------------------------------------------------------------------------------------------- agents */

/* Whether something waits for an agent, or the agent is in the middle of something. */
static bool is_busy(const struct muster_world *world, uint32_t index) {
  const agent_row *row = world_row(world, index);
  const agent_type *type = world_type(world, row->type);
  if (row->status != AGENT_WAITING && row->status != AGENT_READY) return true;
  if (row->atom_next || row->owes || row->woken || row->reacts || row->delayed || row->timed || row->removal_pending)
    return true;
  if (type->boxes.capacity && type->boxes.boxes[row->state_slot].count) return true;
  return world->agents.store.alarms[index].wake_at_ns != 0;
}

static void *state_of(const struct change *change, uint32_t index) {
  return index == HERD_NONE ? NULL : type_state(change->member, world_row(change->world, index)->state_slot);
}

/* What the designer and the host said of one agent holds for another one. */
static void inherit(struct muster_world *world, uint32_t index, uint32_t from) {
  agent_row *row = world_row(world, index);
  const agent_row *source = world_row(world, from);
  row->user = source->user;
  row->floor = source->floor;
  row->elasticity_step = source->elasticity_step;
  memcpy(row->factors, source->factors, sizeof row->factors);
  if (world->agents.store.ratings) world->agents.store.ratings[index] = world->agents.store.ratings[from];
}

/* Makes a pending agent that stands for a body, like another agent; HERD_NONE when no agent is left. */
static uint32_t make_agent(const struct change *change, uint32_t index, const herd_body *body, uint32_t like,
                           const void *state) {
  struct muster_world *world = change->world;
  _Alignas(8) unsigned char published[4096]; /* only the used part is written, and all of it */
  uint32_t bytes = change->member->def.published_bytes;
  if (index == IDENTITY_NONE) return HERD_NONE;
  ASSERT(body->members > 0 && body->members <= change->type->tree.below[0]);
  if (like != HERD_NONE) {
    const agent_row *row = world_row(world, like);
    memcpy(published, type_published(change->member, row->state_slot, row->front), bytes);
  } else {
    memset(published, 0, bytes);
  }
  muster_herd_body *flat = (muster_herd_body *)(void *)published;
  flat->velocity_x = (float)body->velocity_x;
  flat->velocity_y = (float)body->velocity_y;
  for (uint32_t t = 0; t < change->type->def.totals; t++) flat->totals[t] = (float)body->totals[t];
  muster_agent_def def = muster_agent_def_default();
  def.type = (muster_type){change->type->member_type + 1};
  def.partition = change->partition;
  def.position = (muster_position){fmax(-1e9, fmin(body->x, 1e9)), fmax(-1e9, fmin(body->y, 1e9)), body->z};
  def.state = state;
  def.published = published;
  if (muster_agent_is_null(lifecycle_make(world, index, &def))) {
    identity_give_back(&world->agents.ids, index);
    return HERD_NONE;
  }
  if (like != HERD_NONE) inherit(world, index, like);
  return index;
}

/* The body of a leaf, as exact as its agent knows it. */
static herd_body body_of(const struct change *change, const herd_lanes *lanes, uint32_t lane) {
  uint32_t index = lanes->agents[lane];
  ASSERT(lane < lanes->entry->lanes && lanes->entry->state == HERD_ENTRY_OPEN);
  herds_note(change->world, index);
  herd_body body = herds_leaf(change->type, lanes, lane);
  muster_position position = world_position(change->world, index);
  body.x = position.x;
  body.y = position.y;
  body.z = position.z;
  return body;
}

/* --------------------------------------------------------------------------------------------------------- retained */

static herd_kept *kept_of(const struct change *change, uint32_t node) {
  return (herd_kept *)(void *)(change->type->kept + change->number * change->type->kept_stride +
                               node * change->type->kept_each);
}

/* Notes from their parent what the children are like. */
static void keep_children(const struct change *change) {
  const herd_tree *tree = &change->type->tree;
  if (!change->type->kept) return;
  /* Members that died, or that have a name now, are not remembered either. */
  for (uint32_t k = 0; k < tree->branching; k++)
    kept_of(change, herd_tree_child(tree, change->parent.node, k))->is_kept = false;
  for (uint32_t i = 0; i < change->count; i++) {
    const herd_body *child = &change->children[i];
    herd_kept *kept = kept_of(change, child->node);
    *kept = (herd_kept){(float)(child->x - change->parent.x),
                        (float)(child->y - change->parent.y),
                        (float)(child->velocity_x - change->parent.velocity_x),
                        (float)(child->velocity_y - change->parent.velocity_y),
                        (uint16_t)child->members,
                        true};
    if (change->member->def.state_bytes)
      memcpy(kept + 1, state_of(change, change->agents[i]), change->member->def.state_bytes);
  }
}

/* Gives the members back to the children that had them, if no member was born or died since. */
static void deal_as_kept(struct change *change) {
  const herd_tree *tree = &change->type->tree;
  uint32_t members = 0;
  herd_body children[HERD_CHILDREN_MAX];
  uint32_t count = 0;
  for (uint32_t k = 0; k < tree->branching; k++) {
    uint32_t node = herd_tree_child(tree, change->parent.node, k);
    const herd_kept *kept = kept_of(change, node);
    if (!kept->is_kept) continue;
    children[count] = change->parent;
    children[count].node = node;
    children[count++].members = kept->members;
    members += kept->members;
  }
  if (members != change->parent.members) return;
  memcpy(change->children, children, count * sizeof *children);
  change->count = count;
  herd_deal_totals(&change->parent, change->children, count, change->type->def.totals);
}

/* Puts the children where they were, from their parent, when all of them were kept. */
static bool recall_children(struct change *change) {
  if (!change->type->kept) return false;
  deal_as_kept(change);
  for (uint32_t i = 0; i < change->count; i++)
    if (!kept_of(change, change->children[i].node)->is_kept) return false;
  for (uint32_t i = 0; i < change->count; i++) {
    const herd_kept *kept = kept_of(change, change->children[i].node);
    herd_body *child = &change->children[i];
    child->x = change->parent.x + (double)kept->x;
    child->y = change->parent.y + (double)kept->y;
    child->velocity_x = change->parent.velocity_x + (double)kept->velocity_x;
    child->velocity_y = change->parent.velocity_y + (double)kept->velocity_y;
  }
  herd_recentre(&change->parent, change->children, change->count);
  return true;
}

/* --------------------------------------------------------------------------------------------------------- the host */

/* Asks the host's callback, if it gave one. */
static muster_result herds_change_ask(const struct change *change,
                                      muster_result (*callback)(const muster_herd_change *)) {
  uint32_t nodes[HERD_CHILDREN_MAX];
  uint16_t members[HERD_CHILDREN_MAX];
  muster_agent agents[HERD_CHILDREN_MAX];
  void *states[HERD_CHILDREN_MAX];
  if (!callback) return MUSTER_OK;
  ASSERT(change->count > 0 && change->count <= HERD_CHILDREN_MAX);
  for (uint32_t i = 0; i < change->count; i++) {
    nodes[i] = change->children[i].node;
    members[i] = (uint16_t)change->children[i].members;
    agents[i] = world_id(change->world, change->agents[i]);
    states[i] = state_of(change, change->agents[i]);
  }
  muster_herd_change told = {.world = change->world,
                             .herd = herds_id(change->world, change->herd),
                             .node = change->parent.node,
                             .depth = herd_tree_depth(&change->type->tree, change->parent.node),
                             .members = change->parent.members,
                             .child_count = change->count,
                             .children = nodes,
                             .child_members = members,
                             .child_agents = agents,
                             .parent_state = state_of(change, change->parent_agent),
                             .child_states = states,
                             .now_ns = change->world->frame->now_ns,
                             .user = change->type->def.user};
  if (change->parent_agent != HERD_NONE) told.parent = world_id(change->world, change->parent_agent);
  flight_line *line = runner_caller(change->world->runner)->flight;
  flight_note before =
      flight_turn(line, change->world->frames, told.parent, MUSTER_FLIGHT_HERD_CHANGE, change->type->def.member);
  muster_result result = callback(&told);
  flight_return(line, before);
  return result;
}

/* Counts a change that an observer may see. */
static void note_sight(const struct change *change) {
  struct muster_world *world = change->world;
  const herd_body *parent = &change->parent;
  float visible_m = change->type->def.visible_m;
  double around_m = 0;
  for (uint32_t i = 0; i < change->count; i++) {
    around_m = fmax(around_m, fabs(change->children[i].x - parent->x));
    around_m = fmax(around_m, fabs(change->children[i].y - parent->y));
  }
  fold_near near = fold_near_of(&world->fold->board, change->partition, parent->x, parent->y, parent->x, parent->y,
                                (double)visible_m + around_m, parent->x, parent->y);
  for (uint32_t i = 0; near.count && i <= change->count; i++) {
    const herd_body *body = i < change->count ? &change->children[i] : parent;
    if (fold_distance(&near, (float)(body->x - parent->x), (float)(body->y - parent->y)) >= visible_m) continue;
    world->sums->statistics.changes_in_sight++;
    return;
  }
}

/* ------------------------------------------------------------------------------------------------------------
 * unfolding */

static muster_result refuse_unfolding(const struct change *change, uint32_t made, muster_result result) {
  for (uint32_t i = 0; i < made; i++) lifecycle_discard(change->world, change->agents[i]);
  change->world->sums->statistics.unfolds_refused++;
  return result;
}

/* The children appear as pending agents, and the host fills them; otherwise all is as it was. */
static muster_result make_children(struct change *change) {
  struct muster_world *world = change->world;
  herd_spread spread = {.radius_m = (double)change->type->def.spread_m,
                        .speed_mps = (double)change->type->def.spread_mps,
                        .totals = change->type->def.totals,
                        .seed = random_at(world->def.seed, change->herd,
                                          herd_ids_generation(&world->herds->ids, change->herd), world->frame->now_ns)};
  change->count = herd_split(&change->type->tree, &change->parent, &spread, change->children);
  bool recalled = recall_children(change), copies = !change->type->def.unfold;
  ASSERT(change->count > 0 && change->count <= change->type->tree.branching);
  for (uint32_t i = 0; i < change->count; i++) {
    const void *state = copies ? state_of(change, change->parent_agent) : NULL;
    if (recalled) state = kept_of(change, change->children[i].node) + 1;
    change->agents[i] = make_agent(change, world_record_id(world, identity_take(&world->agents.ids)),
                                   &change->children[i], change->parent_agent, state);
    if (change->agents[i] == HERD_NONE)
      return refuse_unfolding(change, i,
                              error_set(MUSTER_E_FULL, "agents_max = %u agents exist", world->def.limits.agents_max));
  }
  if (herds_change_ask(change, change->type->def.unfold) == MUSTER_OK) return MUSTER_OK;
  return refuse_unfolding(change, change->count,
                          error_set(MUSTER_E_FULL, "herd %u: the host's unfold refused", change->herd));
}

/* The children become active, in their lanes. */
static void enter_children(const struct change *change, uint32_t lane) {
  ASSERT(herds_entry(change->type, change->number)->state == HERD_ENTRY_OPEN);
  struct muster_world *world = change->world;
  herds_insert(&world->herds->table, change->type, change->number, lane, change->children, change->agents,
               change->count);
  for (uint32_t i = 0; i < change->count; i++) {
    herds_note(world, change->agents[i]);
    lifecycle_enter(world, change->agents[i], change->last_ns);
  }
  world->sums->report.unfolds += world_is_in_frame(world); /* otherwise a member was named */
  world->sums->statistics.unfolds++;
  note_sight(change);
}

/* The struct is mostly room for children, which is not cleared. */
static void herds_change_begin(struct change *change, struct muster_world *world, struct herd_type *type, uint32_t herd,
                               uint32_t number) {
  change->world = world;
  change->type = type;
  change->member = world_type(world, type->member_type);
  change->herd = herd;
  change->number = number;
  change->partition = herds_block_of(type, herds_home(type, herd))->partition;
  change->parent_agent = HERD_NONE;
}

uint64_t herds_reached(const struct muster_world *world, const struct herd_type *type, uint32_t herd) {
  const herd_block *block = herds_block_of(type, herds_home(type, herd));
  uint32_t number = herds_entry_of_folded(type, herd);
  uint64_t block_ns = world_row(world, block->agent)->last_update_ns;
  ASSERT(world_is_active(world, block->agent));
  if (number == HERD_NONE || herds_entry(type, number)->block_ns != block_ns) return block_ns;
  return block_ns + (uint64_t)herds_entry(type, number)->ahead_ns;
}

void herds_forget_settling(struct herd_type *type, uint32_t number) {
  ASSERT(herds_entry(type, number)->state == HERD_ENTRY_SETTLING);
  for (uint32_t i = 0; i < type->settling_count; i++)
    if (type->settling[i] == number) {
      type->settling[i] = type->settling[--type->settling_count];
      return;
    }
}

muster_result herds_unfold_root(struct muster_world *world, struct herd_type *type, uint32_t herd) {
  uint32_t home = herds_home(type, herd), number = herds_entry_of_folded(type, herd);
  herd_body body = herds_body(type, home);
  bool had = number != HERD_NONE;
  ASSERT(type->members[home] > 0 && (!had || herds_entry(type, number)->state != HERD_ENTRY_OPEN));
  if (!had) number = herds_take_entry(type, herd, body.x, body.y);
  if (number == HERD_NONE) {
    world->sums->statistics.unfolds_refused++;
    return error_set(MUSTER_E_FULL, "herd type '%s': unfolded_max = %u herds are unfolded", type->name,
                     type->def.unfolded_max);
  }
  struct change change;
  herds_change_begin(&change, world, type, herd, number);
  change.parent = body;
  change.last_ns = herds_reached(world, type, herd);
  muster_result result = make_children(&change);
  herd_entry *entry = herds_entry(type, number);
  if (result) {
    if (!had) herds_free_entry(type, number);
    return result;
  }
  if (had) herds_unchain(type, number);
  if (entry->state == HERD_ENTRY_SETTLING) herds_forget_settling(type, number);
  entry->state = HERD_ENTRY_OPEN;
  entry->ahead_ns = 0;
  entry->origin_x = body.x;
  entry->origin_y = body.y;
  entry->x = entry->y = 0.0f;
  entry->velocity_x = (float)body.velocity_x;
  entry->velocity_y = (float)body.velocity_y;
  herds_put_number(type, home, number);
  type->unfolded++;
  enter_children(&change, 0);
  return MUSTER_OK;
}

muster_result herds_unfold_lane(struct muster_world *world, struct herd_type *type, uint32_t number, uint32_t lane) {
  herd_lanes lanes = herds_lanes(type, number);
  uint32_t agent = lanes.agents[lane];
  ASSERT(lane < lanes.entry->lanes && world_is_active(world, agent));
  if (is_busy(world, agent) || lanes.members[lane] == 0)
    return error_set(MUSTER_E_STATE, "herd %u: a leaf is in the middle of an update", lanes.entry->herd);
  struct change change;
  herds_change_begin(&change, world, type, lanes.entry->herd, number);
  change.parent = body_of(&change, &lanes, lane);
  change.parent_agent = agent;
  change.last_ns = world_row(world, agent)->last_update_ns;
  muster_result result = make_children(&change);
  if (result) return result;
  herds_take_out(&world->herds->table, type, number, lane, 1);
  lifecycle_leave(world, agent);
  enter_children(&change, lane);
  return MUSTER_OK;
}

uint32_t herds_unfold_path(struct muster_world *world, struct herd_type *type, uint32_t herd, uint32_t member,
                           uint32_t *number, muster_result *result) {
  *number = herds_open_entry(type, herd);
  *result = MUSTER_OK;
  if (*number == HERD_NONE) {
    if ((*result = herds_unfold_root(world, type, herd))) return 0;
    *number = herds_open_entry(type, herd);
  }
  herd_lanes lanes = herds_lanes(type, *number);
  uint32_t alive = herds_count(&lanes), left = alive ? member % alive : 0, lane = 0;
  while (true) {
    while (lane + 1 < lanes.entry->lanes && left >= lanes.members[lane]) left -= lanes.members[lane++];
    ASSERT(lane < lanes.entry->lanes && lanes.entry->lanes <= type->tree.below[0]);
    if (herd_tree_depth(&type->tree, lanes.nodes[lane]) == type->tree.depth) return lane;
    if ((*result = herds_unfold_lane(world, type, *number, lane))) return lane;
  }
}

/* --------------------------------------------------------------------------------------------------------------
 * folding */

/* The time to which the children were brought, as the mean over their members. */
static uint64_t mean_time(const struct change *change) {
  const agent_row *rows = change->world->agents.store.rows;
  uint64_t first_ns = rows[change->agents[0]].last_update_ns;
  ASSERT(change->parent.members > 0);
  int64_t sum_ns = 0;
  for (uint32_t i = 0; i < change->count; i++)
    sum_ns += (int64_t)(rows[change->agents[i]].last_update_ns - first_ns) * (int64_t)change->children[i].members;
  return first_ns + (uint64_t)(sum_ns / (int64_t)change->parent.members);
}

/* Their parent appears as an agent; the index kept in reserve is used when no other is left. */
static bool make_parent(struct change *change) {
  struct muster_world *world = change->world;
  uint32_t index = world_record_id(world, identity_take(&world->agents.ids));
  if (index == IDENTITY_NONE) {
    index = world->herds->table.spare;
    world->herds->table.spare = HERD_NONE;
  }
  const void *state = change->type->def.fold ? NULL : state_of(change, change->agents[0]);
  change->parent_agent = make_agent(change, index, &change->parent, change->agents[0], state);
  return change->parent_agent != HERD_NONE;
}

static muster_result refuse_folding(const struct change *change, muster_result result) {
  change->world->sums->statistics.folds_refused++;
  if (change->parent_agent != HERD_NONE) lifecycle_discard(change->world, change->parent_agent);
  return result;
}

static void leave_children(const struct change *change, uint32_t lane) {
  struct muster_world *world = change->world;
  keep_children(change);
  herds_take_out(&world->herds->table, change->type, change->number, lane, change->count);
  for (uint32_t i = 0; i < change->count; i++) lifecycle_leave(world, change->agents[i]);
  if (world->herds->table.spare == HERD_NONE)
    world->herds->table.spare = world_record_id(world, identity_take(&world->agents.ids));
  world->sums->report.folds++;
  world->sums->statistics.folds++;
  note_sight(change);
}

/* The whole herd is folded. When its time is not its block's, its entry notes the difference until that is past. */
static void fold_root(const struct change *change) {
  struct herd_type *type = change->type;
  uint32_t home = herds_home(type, change->herd);
  herd_entry *entry = herds_entry(type, change->number);
  const herd_block *block = herds_block_of(type, home);
  uint64_t block_ns = world_row(change->world, block->agent)->last_update_ns;
  leave_children(change, 0);
  ASSERT(entry->lanes == 0 && type->unfolded > 0);
  herds_write(type, home, &change->parent);
  type->unfolded--;
  entry->ahead_ns = (int64_t)(change->last_ns - block_ns);
  entry->block_ns = block_ns;
  if (!entry->ahead_ns && !type->kept) {
    herds_free_entry(type, change->number);
    return;
  }
  entry->state = entry->ahead_ns ? HERD_ENTRY_SETTLING : HERD_ENTRY_KEPT;
  herds_chain(type, change->number);
  if (entry->ahead_ns) type->settling[type->settling_count++] = change->number;
}

muster_result herds_fold_lanes(struct muster_world *world, struct herd_type *type, uint32_t number, uint32_t first,
                               uint32_t count) {
  herd_lanes lanes = herds_lanes(type, number);
  struct change change;
  herds_change_begin(&change, world, type, lanes.entry->herd, number);
  change.count = count;
  ASSERT(count > 0 && count <= HERD_CHILDREN_MAX && first + count <= lanes.entry->lanes);
  for (uint32_t i = 0; i < count; i++) {
    change.agents[i] = lanes.agents[first + i];
    if (is_busy(world, change.agents[i]) || lanes.members[first + i] == 0)
      return error_set(MUSTER_E_STATE, "herd %u: a leaf is in the middle of an update", change.herd);
    change.children[i] = body_of(&change, &lanes, first + i);
  }
  change.parent = herd_merge(change.children, count, type->def.totals);
  change.parent.node = herd_tree_parent(&type->tree, change.children[0].node);
  change.last_ns = mean_time(&change);
  bool root = change.parent.node == 0;
  if (!root && !make_parent(&change))
    return refuse_folding(&change,
                          error_set(MUSTER_E_FULL, "agents_max = %u agents exist", world->def.limits.agents_max));
  muster_result result = herds_change_ask(&change, type->def.fold);
  if (result) return refuse_folding(&change, result);
  if (root) {
    fold_root(&change);
    return MUSTER_OK;
  }
  leave_children(&change, first);
  herds_insert(&world->herds->table, type, number, first, &change.parent, &change.parent_agent, 1);
  herds_note(world, change.parent_agent);
  lifecycle_enter(world, change.parent_agent, change.last_ns);
  return MUSTER_OK;
}
