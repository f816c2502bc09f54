/* tests/world/herd_history.h - worlds of herds in which no member moves, and what can happen in them. */
#ifndef HERD_HISTORY_H
#define HERD_HISTORY_H

#include "support/little_world.h"

#include <muster/herd.h>

#include <math.h>

enum { HERDS = 4, NAMED = 4, OBSERVERS = 2, FRAMES = 16, LEAVES = 64, TOTALS = 2 };

/* The published state of each member begins with these. */
struct face {
  float velocity_x, velocity_y;
  float totals[TOTALS];
};

typedef struct leaf_state {
  uint32_t members;
} leaf_state;

/* Sums over some members. */
struct sums {
  double members, x, y, velocity_x, velocity_y, totals[TOTALS];
};

/* What became of a herd. */
struct ledger {
  muster_herd herd;
  struct sums now, lost; /* in the tree and named; taken or removed (members and totals only) */
  bool shifted;          /* a member was taken or the herd was pushed: the mean of the rest is not known beforehand */
  bool touched;          /* a member was taken in the last commit */
  bool removed, gone;
  uint32_t named_count;
  muster_agent named[NAMED];
  muster_position places[NAMED];
};

enum deed { TAKE = 0, PUSH, WAKE, DEEDS };

struct history {
  little_world little;
  uint64_t random;
  muster_herd_type_def def;
  muster_herd_type type;
  muster_type hunter_type;
  uint32_t herd_count, failing; /* of 256 callbacks, so many fail */
  bool orders, ending;          /* the hunter has an order; the world is being destroyed */
  enum deed deed;
  uint32_t order_herd, order_count;
  struct ledger herds[HERDS];
  muster_observer observers[OBSERVERS];
  muster_agent pending; /* a leaf whose removal is queued, and its herd's ledger */
  struct ledger *pending_of;
  uint64_t changes;
};

static inline uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

static inline uint32_t draw(struct history *history, uint32_t below) {
  history->random = mix(history->random);
  return (uint32_t)(history->random >> 32) % below;
}

static inline double place_in(struct history *history, double half_m) {
  return (draw(history, 20001) / 10000.0 - 1.0) * half_m;
}

/* --------------------------------------------------------------------------------------------------- what leaves do */

/* Does not move, and notes for how many members it stands. */
static inline muster_atom_result stand(muster_update *update) {
  muster_flock flock;
  leaf_state *state = update->state;
  if (!muster_update_flock(update, &flock)) { /* a named member, and its herd is gone */
    cr_assert_eq(muster_herd_generation(muster_herd_of(update->world, update->agent)), 0);
    return MUSTER_ATOM_FINISH;
  }
  cr_assert_eq((uintptr_t)flock.x % 32, 0);
  for (uint32_t i = flock.count; i % 8; i++) cr_assert(flock.x[i] > 1e17f && flock.leaf_members[i] == 0);
  if (flock.self == UINT32_MAX) return MUSTER_ATOM_FINISH;
  cr_assert_lt(flock.self, flock.count);
  cr_assert_eq(flock.leaf_members[flock.self], flock.members);
  cr_assert_lt(fabs(flock.origin_x + (double)flock.x[flock.self] - update->position.x), 1e-2);
  cr_assert_lt(fabs(flock.origin_y + (double)flock.y[flock.self] - update->position.y), 1e-2);
  cr_assert_gt(flock.members, 0);
  state->members = flock.members;
  return MUSTER_ATOM_FINISH;
}

/* A leaf stood for members only if its removal was asked for: a leaf from which all members were taken leaves here,
 * too. */
static inline void leave(muster_update *update) {
  struct history *history = update->type_user;
  const leaf_state *state = update->state;
  const struct face *face = update->published;
  struct ledger *ledger = history->pending_of;
  if (history->ending || !ledger || ledger->removed || !muster_agent_equal(update->agent, history->pending)) return;
  ledger->lost.members += state->members;
  for (uint32_t i = 0; i < TOTALS; i++) ledger->lost.totals[i] += (double)face->totals[i];
  ledger->shifted = true;
}

static inline bool fails(const struct history *history, const muster_herd_change *change) {
  return (mix(change->now_ns + change->node * 977u + muster_herd_index(change->herd)) & 255u) < history->failing;
}

/* What holds for every change. */
static inline void check_change(const muster_herd_change *change) {
  struct history *history = change->user;
  uint32_t members = 0, branching = history->def.branching;
  cr_assert(change->child_count > 0 && change->child_count <= branching);
  for (uint32_t i = 0; i < change->child_count; i++) {
    cr_assert_gt(change->child_members[i], 0);
    cr_assert(change->children[i] > change->node * branching && change->children[i] <= (change->node + 1) * branching);
    cr_assert(i == 0 || change->children[i] > change->children[i - 1]);
    cr_assert(!muster_agent_is_null(change->child_agents[i]));
    members += change->child_members[i];
  }
  cr_assert_eq(members, change->members);
  cr_assert_eq(muster_agent_is_null(change->parent), change->node == 0);
  cr_assert_eq(change->parent_state == NULL, change->node == 0);
}

static inline muster_result unfold(const muster_herd_change *change) {
  struct history *history = change->user;
  check_change(change);
  if (fails(history, change)) return MUSTER_E_STATE;
  for (uint32_t i = 0; i < change->child_count; i++)
    ((leaf_state *)change->child_states[i])->members = change->child_members[i];
  history->changes++;
  return MUSTER_OK;
}

static inline muster_result fold(const muster_herd_change *change) {
  struct history *history = change->user;
  check_change(change);
  if (fails(history, change)) return MUSTER_E_STATE;
  if (change->parent_state) ((leaf_state *)change->parent_state)->members = change->members;
  history->changes++;
  return MUSTER_OK;
}

/* A block's update that changes nothing. */
static inline void pass(muster_herd_block *block) {
  cr_assert_eq(block->count % 8, 0);
  cr_assert_eq((uintptr_t)block->x % 32, 0);
}

/* ------------------------------------------------------------------------------------------------------- the hunter */

static inline void take(struct history *history, muster_update *update, struct ledger *ledger) {
  float totals[MUSTER_HERD_TOTALS] = {0};
  uint32_t taken = muster_update_herd_take(update, ledger->herd, history->order_count, totals);
  cr_assert_leq(taken, history->order_count);
  ledger->lost.members += taken;
  for (uint32_t i = 0; i < TOTALS; i++) ledger->lost.totals[i] += (double)totals[i];
  ledger->shifted |= taken > 0;
  ledger->touched |= taken > 0;
}

static inline muster_atom_result hunt(muster_update *update) {
  struct history *history = update->type_user;
  if (!history->orders) return MUSTER_ATOM_FINISH;
  struct ledger *ledger = &history->herds[history->order_herd];
  muster_herd_near near[8];
  uint32_t count = muster_update_herds_nearby(update, 1000.0f, near, 8);
  cr_assert_leq(count, history->herd_count);
  for (uint32_t i = 1; i < count; i++) cr_assert_leq(near[i - 1].distance_m, near[i].distance_m);
  if (history->deed == TAKE) take(history, update, ledger);
  if (history->deed == PUSH && muster_update_herd_push(update, ledger->herd, 1.0f, -2.0f) == MUSTER_OK)
    ledger->shifted = true;
  if (history->deed == WAKE) muster_update_herd_wake(update, ledger->herd, history->order_count % 2);
  history->orders = false;
  return MUSTER_ATOM_FINISH;
}

/* -------------------------------------------------------------------------------------------------------- the world */

static inline uint32_t capacity_of(uint32_t branching, uint32_t depth) {
  uint32_t members = 1;
  while (depth-- > 0) members *= branching;
  return members;
}

static inline void register_types(struct history *history) {
  const muster_atom stands = {.run = stand}, hunts = {.run = hunt, .role = MUSTER_ROLE_ACTION};
  muster_type_def leaf = muster_type_def_default(), hunter = muster_type_def_default();
  leaf.atoms = &stands;
  hunter.atoms = &hunts;
  leaf.atom_count = hunter.atom_count = 1;
  leaf.user = hunter.user = history;
  leaf.state_bytes = sizeof(leaf_state);
  leaf.published_bytes = sizeof(struct face);
  leaf.on_removed = leave;
  leaf.period_ns = leaf.period_max_ns = hunter.period_ns = hunter.period_max_ns = FRAME_NS;
  register_type(&history->little, &leaf);
  history->hunter_type = muster_type_register(history->little.world, &hunter);
  cr_assert_neq(history->hunter_type.index, 0);
}

static inline void register_herds(struct history *history) {
  static const uint32_t shapes[][2] = {{2, 1}, {2, 3}, {2, 5}, {3, 2}, {3, 3}, {4, 2}, {4, 3}, {7, 1}};
  static const uint64_t looks[] = {1000000, 10000000, 30000000};
  const uint32_t *shape = shapes[draw(history, sizeof shapes / sizeof *shapes)];
  muster_herd_type_def def = muster_herd_type_def_default();
  def.member = history->little.type;
  def.branching = shape[0];
  def.depth = shape[1];
  for (uint32_t k = 0; k < MUSTER_HERD_DEPTHS; k++) def.zone_m[k] = 10.0f * (float)(k + 1);
  def.visible_m = 5.0f;
  def.spread_m = 3.0f;
  def.totals = TOTALS;
  def.retains = draw(history, 5) == 0;
  def.herds_max = HERDS;
  def.unfolded_max = draw(history, 3) == 0 ? 1 : HERDS;
  def.period_ns = def.period_max_ns = FRAME_NS * (1 + draw(history, 3));
  def.look_ns = looks[draw(history, 3)];
  def.hold_ns = draw(history, 2) ? 20000000u : 0;
  def.run_block = pass;
  def.unfold = unfold;
  def.fold = fold;
  def.user = history;
  history->def = def;
  history->type = muster_herd_type_register(history->little.world, &def);
  cr_assert_neq(history->type.index, 0, "%s", muster_last_error());
}

static inline void add_herds(struct history *history) {
  muster_herd_def defs[HERDS] = {0};
  muster_herd herds[HERDS];
  uint32_t most = capacity_of(history->def.branching, history->def.depth);
  bool apart = draw(history, 4) == 0;
  for (uint32_t i = 0; i < history->herd_count; i++) {
    defs[i].position = (muster_position){place_in(history, 60.0), place_in(history, 60.0), 0.0};
    defs[i].velocity_x = (float)place_in(history, 5.0);
    defs[i].velocity_y = (float)place_in(history, 5.0);
    defs[i].partition = apart ? i % 2 : 0;
    defs[i].members = 1 + draw(history, most);
    for (uint32_t k = 0; k < TOTALS; k++) defs[i].totals[k] = (float)draw(history, 1000);
  }
  uint32_t added = muster_herds_add(history->little.world, history->type, defs, history->herd_count, herds);
  cr_assert_eq(added, history->herd_count, "%s", muster_last_error());
  for (uint32_t i = 0; i < history->herd_count; i++) history->herds[i].herd = herds[i];
}

static inline void add_hunter(const struct history *history) {
  muster_agent_def def = muster_agent_def_default();
  def.type = history->hunter_type;
  cr_assert(!muster_agent_is_null(muster_agent_spawn(history->little.world, &def)));
}

static inline void add_observer(struct history *history, uint32_t number) {
  muster_observer_def def = muster_observer_def_default();
  def.position.x = place_in(history, 150.0);
  def.partition = number % 2 && draw(history, 2);
  history->observers[number] = muster_observer_add(history->little.world, &def);
}

#endif
