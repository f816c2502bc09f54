/* Random histories of herds: observers leap about, members are woken, named and taken, leaves and herds are removed,
 * pools are tiny, callbacks fail. No member moves in these worlds. So after every frame each herd must have the members
 * that it began with, except those that were taken; their centroid, momentum and totals must be what they were; and
 * every agent must stand for at least one member, and no member may be counted twice. */
#include "world/herd_fixture.h"

#include <sys/prctl.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { HISTORIES = 300 };
#else
enum { HISTORIES = 1000 }; /* in each of four tests */
#endif

enum { HERDS = 4, NAMED = 4, OBSERVERS = 2, FRAMES = 16, LEAVES = 64, TOTALS = 2 };

/* The published state of each member begins with these. */
struct face {
  float velocity_x, velocity_y, totals[TOTALS];
};

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

static uint64_t mix(uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
  value = (value ^ value >> 27) * 0x94d049bb133111ebu;
  return value ^ value >> 31;
}

static uint32_t draw(struct history *history, uint32_t below) {
  history->random = mix(history->random);
  return (uint32_t)(history->random >> 32) % below;
}

static double place_in(struct history *history, double half_m) {
  return (draw(history, 20001) / 10000.0 - 1.0) * half_m;
}

/* --------------------------------------------------------------------------------------------------- what leaves do */

/* Does not move, and notes for how many members it stands. */
static muster_atom_result stand(muster_update *update) {
  muster_flock flock;
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
  *(uint32_t *)update->state = flock.members; /* the state of a leaf */
  return MUSTER_ATOM_FINISH;
}

/* A leaf stood for members only if its removal was asked for: a leaf from which all members were taken leaves here,
 * too. */
static void leave(muster_update *update) {
  struct history *history = update->type_user;
  const struct face *face = update->published;
  struct ledger *ledger = history->pending_of;
  if (history->ending || !ledger || ledger->removed || !muster_agent_equal(update->agent, history->pending)) return;
  ledger->lost.members += *(const uint32_t *)update->state;
  for (uint32_t i = 0; i < TOTALS; i++) ledger->lost.totals[i] += (double)face->totals[i];
  ledger->shifted = true;
}

static bool fails(const struct history *history, const muster_herd_change *change) {
  return (mix(change->now_ns + change->node * 977u + muster_herd_index(change->herd)) & 255u) < history->failing;
}

/* What holds for every change. */
static void check_change(const muster_herd_change *change) {
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

static muster_result unfold(const muster_herd_change *change) {
  struct history *history = change->user;
  check_change(change);
  if (fails(history, change)) return MUSTER_E_STATE;
  for (uint32_t i = 0; i < change->child_count; i++) *(uint32_t *)change->child_states[i] = change->child_members[i];
  history->changes++;
  return MUSTER_OK;
}

static muster_result fold(const muster_herd_change *change) {
  struct history *history = change->user;
  check_change(change);
  if (fails(history, change)) return MUSTER_E_STATE;
  if (change->parent_state) *(uint32_t *)change->parent_state = change->members;
  history->changes++;
  return MUSTER_OK;
}

static void pass(muster_herd_block *block) {
  cr_assert_eq(block->count % 8, 0);
  cr_assert_eq((uintptr_t)block->x % 32, 0);
}

/* ------------------------------------------------------------------------------------------------------- the hunter */

static void take(struct history *history, muster_update *update, struct ledger *ledger) {
  float totals[MUSTER_HERD_TOTALS] = {0};
  uint32_t taken = muster_update_herd_take(update, ledger->herd, history->order_count, totals);
  cr_assert_leq(taken, history->order_count);
  ledger->lost.members += taken;
  for (uint32_t i = 0; i < TOTALS; i++) ledger->lost.totals[i] += (double)totals[i];
  ledger->shifted |= taken > 0;
  ledger->touched |= taken > 0;
}

static muster_atom_result hunt(muster_update *update) {
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

static void register_types(struct history *history) {
  const muster_atom stands = {.run = stand}, hunts = {.run = hunt, .role = MUSTER_ROLE_ACTION};
  muster_type_def hunter = CHANGED(type_with(&hunts, 1), it.user = history, it.period_ns = it.period_max_ns = FRAME_NS);
  add_type(&history->little, CHANGED(hunter, it.atoms = &stands, it.state_bytes = sizeof(uint32_t),
                                     it.published_bytes = sizeof(struct face), it.on_removed = leave));
  history->hunter_type = muster_type_register(history->little.world, &hunter);
  cr_assert_neq(history->hunter_type.index, 0);
}

/* Of these, a history chooses by its random numbers, in this order. */
static void register_herds(struct history *history) {
  static const uint32_t shapes[][2] = {{2, 1}, {2, 3}, {2, 5}, {3, 2}, {3, 3}, {4, 2}, {4, 3}, {7, 1}};
  static const uint64_t looks[] = {1000000, 10000000, 30000000};
  const uint32_t *shape = shapes[draw(history, COUNT_OF(shapes))];
  muster_herd_type_def def =
      WITH(muster_herd_type_def, it.member = history->little.type, it.branching = shape[0], it.depth = shape[1],
           it.visible_m = 5.0f, it.spread_m = 3.0f, it.totals = TOTALS, it.herds_max = HERDS, it.run_block = pass,
           it.unfold = unfold, it.fold = fold, it.user = history, it.retains = draw(history, 5) == 0,
           it.unfolded_max = draw(history, 3) == 0 ? 1 : HERDS,
           it.period_ns = it.period_max_ns = FRAME_NS * (1 + draw(history, 3)), it.look_ns = looks[draw(history, 3)],
           it.hold_ns = draw(history, 2) ? 20000000u : 0);
  for (uint32_t k = 0; k < MUSTER_HERD_DEPTHS; k++) def.zone_m[k] = 10.0f * (float)(k + 1);
  history->def = def;
  history->type = muster_herd_type_register(history->little.world, &def);
  cr_assert_neq(history->type.index, 0, "%s", muster_last_error());
}

static void add_herds(struct history *history) {
  muster_herd_def defs[HERDS] = {0};
  muster_herd herds[HERDS];
  uint32_t most = 1;
  for (uint32_t level = 0; level < history->def.depth; level++) most *= history->def.branching;
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

static void add_observer(struct history *history, uint32_t number) {
  muster_observer_def def = muster_observer_def_default();
  def.position.x = place_in(history, 150.0);
  def.partition = number % 2 && draw(history, 2);
  history->observers[number] = muster_observer_add(history->little.world, &def);
}

/* ----------------------------------------------------------------------------------------------------------- checks */

static void add_agent(struct sums *sums, const muster_agent_info *info, double members) {
  const struct face *face = info->published;
  sums->members += members;
  sums->x += members * info->position.x;
  sums->y += members * info->position.y;
  sums->velocity_x += members * (double)face->velocity_x;
  sums->velocity_y += members * (double)face->velocity_y;
  for (uint32_t i = 0; i < TOTALS; i++) sums->totals[i] += (double)face->totals[i];
}

/* Sums over the tree, from what the herd says, and over the named members, from their agents. */
static struct sums sums_of(const struct history *history, const struct ledger *ledger, const muster_herd_info *herd) {
  double members = herd->members;
  struct sums sums = {members,
                      members * herd->position.x,
                      members * herd->position.y,
                      members * (double)herd->velocity_x,
                      members * (double)herd->velocity_y,
                      {0}};
  for (uint32_t i = 0; i < TOTALS; i++) sums.totals[i] = (double)herd->totals[i];
  for (uint32_t i = 0; i < ledger->named_count; i++) {
    muster_agent_info info = info_of(&history->little, ledger->named[i]);
    add_agent(&sums, &info, 1.0);
  }
  return sums;
}

static void check_close(double a, double b, double tolerance, const char *what, const struct ledger *ledger) {
  cr_assert_leq(fabs(a - b), tolerance, "herd %u: %s was %.9g, is %.9g", muster_herd_index(ledger->herd), what, a, b);
}

/* Numbers of members must be exact; the rest may differ by the rounding of floats in some dozen changes. */
static void check_kept(struct ledger *ledger, const struct sums *now) {
  const struct sums *then = &ledger->now;
  double members = then->members;
  cr_assert_eq(now->members + ledger->lost.members, then->members, "herd %u: %g members and %g lost of %g",
               muster_herd_index(ledger->herd), now->members, ledger->lost.members, then->members);
  for (uint32_t i = 0; i < TOTALS; i++)
    check_close(then->totals[i], now->totals[i] + ledger->lost.totals[i], 1e-4 * (then->totals[i] + 1.0), "total",
                ledger);
  if (ledger->shifted) {
    ledger->now = *now;
    ledger->lost = (struct sums){0};
    ledger->shifted = false;
    return;
  }
  check_close(then->x / members, now->x / members, 2e-3, "x", ledger);
  check_close(then->y / members, now->y / members, 2e-3, "y", ledger);
  check_close(then->velocity_x / members, now->velocity_x / members, 2e-4, "velocity x", ledger);
  check_close(then->velocity_y / members, now->velocity_y / members, 2e-4, "velocity y", ledger);
}

static bool is_above(uint32_t branching, uint32_t node, uint32_t below) {
  while (below > node) below = (below - 1) / branching;
  return below == node;
}

/* Each leaf is an agent of this herd, no leaf stands above another, and together they are the whole herd. */
static uint32_t check_leaves(const struct history *history, const struct ledger *ledger, const muster_herd_info *herd) {
  muster_agent agents[LEAVES];
  uint32_t nodes[LEAVES], count, members = 0;
  struct sums sums = {0};
  count = muster_herd_leaves(history->little.world, ledger->herd, agents, nodes, LEAVES);
  cr_assert_eq(count, herd->leaves);
  for (uint32_t i = 0; i < count; i++) {
    muster_herd of = muster_herd_of(history->little.world, agents[i]);
    muster_agent_info info = info_of(&history->little, agents[i]);
    uint32_t own = *(const uint32_t *)info.state;
    cr_assert(info.active && muster_herd_index(of) == muster_herd_index(ledger->herd) &&
              muster_herd_generation(of) == muster_herd_generation(ledger->herd));
    cr_assert_gt(own, 0);
    for (uint32_t j = 0; j < i; j++) {
      cr_assert(nodes[j] != nodes[i] && muster_agent_index(agents[j]) != muster_agent_index(agents[i]));
      cr_assert(!is_above(history->def.branching, nodes[j], nodes[i]) &&
                !is_above(history->def.branching, nodes[i], nodes[j]));
    }
    members += own;
    add_agent(&sums, &info, own);
  }
  if (count == 0 || ledger->touched) return count;
  cr_assert_eq(members, herd->members);
  check_close(sums.x / members, herd->position.x, 2e-3, "x of leaves", ledger);
  check_close(sums.velocity_x / members, (double)herd->velocity_x, 2e-4, "velocity x of leaves", ledger);
  for (uint32_t i = 0; i < TOTALS; i++)
    check_close(sums.totals[i], (double)herd->totals[i], 1e-4 * (sums.totals[i] + 1.0), "total of leaves", ledger);
  return count;
}

static uint32_t check_herd(struct history *history, struct ledger *ledger, uint64_t *represented) {
  muster_herd_info info = muster_herd_info_default();
  for (uint32_t i = 0; i < ledger->named_count; i++) {
    muster_agent_info named = info_of(&history->little, ledger->named[i]);
    cr_assert(named.active);
    cr_assert(named.position.x == ledger->places[i].x && named.position.y == ledger->places[i].y);
  }
  *represented += ledger->named_count;
  muster_result result = muster_herd_read(history->little.world, ledger->herd, &info);
  bool left = ledger->gone || ledger->removed;
  if (left || result == MUSTER_E_STALE) { /* if nobody removed it, its last member was taken or removed */
    cr_assert_eq(result, MUSTER_E_STALE);
    if (!left) cr_assert_eq(ledger->now.members - ledger->lost.members, ledger->named_count);
    ledger->gone = true;
    return 0;
  }
  cr_assert_eq(info.named, ledger->named_count);
  struct sums now = sums_of(history, ledger, &info);
  check_kept(ledger, &now);
  *represented += info.members;
  return check_leaves(history, ledger, &info);
}

static void check_all(struct history *history, const muster_frame_report *report) {
  uint32_t leaves = 0, named = 0, unfolded = 0, members = 0;
  uint64_t represented = 1; /* the hunter */
  for (uint32_t i = 0; i < history->herd_count; i++) {
    uint32_t own = check_herd(history, &history->herds[i], &represented);
    leaves += own;
    unfolded += own > 0;
    named += history->herds[i].named_count;
  }
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(history->little.world, agent));)
    members += info_of(&history->little, agent).type.index == history->little.type.index;
  cr_assert_eq(members, leaves + named, "%u agents are %u leaves and %u named", members, leaves, named);
  cr_assert_leq(unfolded, history->def.unfolded_max);
  if (report) cr_assert_eq(report->represented, represented, "%lu and %lu", report->represented, represented);
}

/* ----------------------------------------------------------------------------------------------------------- events */

static void name_one(struct history *history, struct ledger *ledger) {
  muster_herd_info before = muster_herd_info_default();
  if (ledger->named_count == NAMED || ledger->touched || ledger->removed || history->pending_of) return;
  if (muster_herd_read(history->little.world, ledger->herd, &before) != MUSTER_OK) return;
  muster_agent agent = muster_herd_name(history->little.world, ledger->herd, draw(history, before.members + 1));
  if (muster_agent_is_null(agent)) return;
  muster_herd of = muster_herd_of(history->little.world, agent);
  muster_agent_info info = info_of(&history->little, agent);
  cr_assert(info.active && muster_herd_index(of) == muster_herd_index(ledger->herd));
  ledger->places[ledger->named_count] = info.position;
  ledger->named[ledger->named_count++] = agent;
  muster_herd_info after = read_herd(&history->little, ledger->herd);
  cr_assert(after.members == before.members - 1 && after.named == before.named + 1);
  struct sums now = sums_of(history, ledger, &after);
  check_kept(ledger, &now);
}

static void remove_leaf(struct history *history, struct ledger *ledger) {
  muster_agent agents[LEAVES];
  uint32_t count = muster_herd_leaves(history->little.world, ledger->herd, agents, NULL, LEAVES);
  if (count == 0 || ledger->touched || history->pending_of) return;
  history->pending = agents[draw(history, count)];
  history->pending_of = ledger;
  cr_assert_eq(muster_agent_remove(history->little.world, history->pending), MUSTER_OK);
}

static void leap(struct history *history) {
  muster_observer observer = history->observers[draw(history, OBSERVERS)];
  muster_herd_info info = muster_herd_info_default();
  const struct ledger *ledger = &history->herds[draw(history, history->herd_count)];
  muster_position to = {place_in(history, 150.0), place_in(history, 150.0), 0.0};
  if (draw(history, 2) && muster_herd_read(history->little.world, ledger->herd, &info) == MUSTER_OK)
    to = (muster_position){info.position.x + place_in(history, 15.0), info.position.y, 0.0};
  muster_observer_move(history->little.world, observer, to);
}

static void happen(struct history *history) {
  struct ledger *ledger = &history->herds[draw(history, history->herd_count)];
  muster_world *world = history->little.world;
  uint32_t what = draw(history, 40);
  if (what < 20) leap(history);
  if (what >= 20 && what < 25) muster_herd_wake(world, ledger->herd, draw(history, 3));
  if (what >= 25 && what < 29) name_one(history, ledger);
  if (what >= 29 && what < 36) {
    history->orders = true;
    history->deed = (enum deed)draw(history, DEEDS);
    history->order_herd = draw(history, history->herd_count);
    history->order_count = 1 + draw(history, 5);
  }
  if (what == 36) remove_leaf(history, ledger);
  if (what == 37) ledger->removed |= muster_herd_remove(world, ledger->herd) == MUSTER_OK;
  if (what == 38) {
    uint32_t number = draw(history, OBSERVERS);
    muster_observer_remove(world, history->observers[number]);
    add_observer(history, number);
  }
}

/* -------------------------------------------------------------------------------------------------------- histories */

static void end(struct history *history) {
  history->ending = true;
  little_world_destroy(&history->little);
}

static struct { uint64_t changes, unfolds_refused, folds_refused, named, gone; } events;

static void note_events(const struct history *history) {
  muster_statistics statistics = statistics_of(&history->little);
  cr_assert_eq(statistics.herds_refused, 0);
  cr_assert_geq(history->changes, statistics.unfolds + statistics.folds);
  events.changes += statistics.unfolds + statistics.folds;
  events.unfolds_refused += statistics.unfolds_refused;
  events.folds_refused += statistics.folds_refused;
  for (uint32_t i = 0; i < history->herd_count; i++) {
    events.named += history->herds[i].named_count;
    events.gone += history->herds[i].gone;
  }
}

static uint64_t live_through(uint64_t seed, muster_pool *pool) {
  SCOPED(end) struct history history = {0};
  history.random = mix(seed);
  history.herd_count = 1 + draw(&history, HERDS);
  history.failing = draw(&history, 3) == 0 ? 80 : 0;
  muster_world_def def =
      WITH(virtual_world_def, it.seed = seed,
           it.limits.agents_max = draw(&history, 3) ? 4 * LEAVES + 8 : 4 + draw(&history, 40),
           it.limits.commands_max = 64, it.limits.observers_max = 8, it.limits.types_max = 4, it.pool = pool);
  history.little.world = muster_world_create(&def);
  cr_assert_not_null(history.little.world, "%s", muster_last_error());
  register_types(&history);
  register_herds(&history);
  spawn_as(&history.little, WITH(muster_agent_def, it.type = history.hunter_type));
  add_herds(&history);
  for (uint32_t i = 0; i < OBSERVERS; i++) add_observer(&history, i);
  for (uint32_t i = 0; i < history.herd_count; i++) {
    muster_herd_info info = read_herd(&history.little, history.herds[i].herd);
    history.herds[i].now = sums_of(&history, &history.herds[i], &info);
  }
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    for (uint32_t left = draw(&history, 4); left > 0; left--) happen(&history);
    for (uint32_t i = 0; i < history.herd_count; i++) history.herds[i].touched = false;
    muster_frame_report report = run_frame(&history.little);
    check_all(&history, &report);
    history.pending_of = NULL;
  }
  note_events(&history);
  return muster_world_hash(history.little.world);
}

static void live_histories(uint64_t first) {
  /* Thousands of little worlds: most of their time would go into zeroing huge pages. */
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  muster_pool_def def = WITH(muster_pool_def, it.workers = 1);
  muster_pool *pool = muster_pool_create(&def);
  cr_assert_not_null(pool, "%s", muster_last_error());
  for (uint64_t i = 0; i < HISTORIES; i++) {
    uint64_t hash = live_through(first + i, pool);
    if (i % 8 == 0) cr_assert_eq(live_through(first + i, pool), hash, "history %lu", first + i);
  }
  muster_pool_destroy(pool);
  cr_assert_gt(events.changes, 20u * HISTORIES);
  cr_assert_gt(events.unfolds_refused, HISTORIES / 2);
  cr_assert_gt(events.folds_refused, HISTORIES / 20);
  cr_assert_gt(events.named, HISTORIES / 2);
  cr_assert_gt(events.gone, HISTORIES / 4);
}

Test(herd_history, nobody_is_lost_or_doubled_1) {
  live_histories(0);
}
Test(herd_history, nobody_is_lost_or_doubled_2) {
  live_histories(1000000);
}
Test(herd_history, nobody_is_lost_or_doubled_3) {
  live_histories(2000000);
}
Test(herd_history, nobody_is_lost_or_doubled_4) {
  live_histories(3000000);
}

/* The same herd unfolds into the same children at the same time, whatever happened to other herds and to it before. */
static void visit(struct history *history, double x) {
  muster_observer_move(history->little.world, history->observers[0], (muster_position){x, 0, 0});
}

static void begin_plain(struct history *history) {
  muster_herd_def herds[2] = {{.members = 21, .velocity_x = 1.0f}, {.members = 32, .position = {.x = 500.0}}};
  muster_herd ids[2];
  history->random = 5;
  history->herd_count = 2;
  history->little = little_world_create(1, NULL);
  register_types(history);
  history->def = WITH(muster_herd_type_def, it.member = history->little.type, it.run_block = pass, it.totals = TOTALS,
                      it.unfold = unfold, it.fold = fold, it.user = history);
  history->type = muster_herd_type_register(history->little.world, &history->def);
  cr_assert_eq(muster_herds_add(history->little.world, history->type, herds, 2, ids), 2);
  for (uint32_t i = 0; i < 2; i++) history->herds[i].herd = ids[i];
  history->observers[0] = observe_at(&history->little, -5000.0);
}

Test(herd_history, children_are_the_same_whatever_happened_before) {
  SCOPED(end) struct history one = {0}, other = {0};
  muster_agent agents[2][LEAVES];
  uint32_t nodes[2][LEAVES];
  begin_plain(&one);
  begin_plain(&other);
  for (uint32_t frame = 0; frame < 100; frame++) {
    if (frame == 20) visit(&other, 0.0);
    if (frame == 40) visit(&other, 500.0);
    if (frame == 60) visit(&other, -5000.0);
    if (frame == 90) visit(&one, 0.0), visit(&other, 0.0);
    run_frame(&one.little);
    run_frame(&other.little);
  }
  cr_assert_gt(other.changes, one.changes);
  uint32_t count = muster_herd_leaves(one.little.world, one.herds[0].herd, agents[0], nodes[0], LEAVES);
  cr_assert_eq(count, 21);
  cr_assert_eq(muster_herd_leaves(other.little.world, other.herds[0].herd, agents[1], nodes[1], LEAVES), 21);
  for (uint32_t i = 0; i < count; i++) {
    muster_agent_info a = info_of(&one.little, agents[0][i]), b = info_of(&other.little, agents[1][i]);
    const struct face *face = a.published, *of_other = b.published;
    cr_assert_eq(nodes[0][i], nodes[1][i]);
    cr_assert_float_eq(a.position.x, b.position.x, 1e-3);
    cr_assert_float_eq(a.position.y, b.position.y, 1e-3);
    cr_assert_float_eq((double)face->velocity_x, (double)of_other->velocity_x, 1e-4);
  }
}
