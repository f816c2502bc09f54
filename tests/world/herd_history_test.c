/* Random histories of herds: observers leap about, members are woken, named and taken, leaves and herds are removed,
 * pools are tiny, callbacks fail. No member moves in these worlds. So after every frame each herd must have the members
 * that it began with, except those that were taken; their centroid, momentum and totals must be what they were; and
 * every agent must stand for at least one member, and no member may be counted twice. */
#include "world/herd_history.h"

#include <muster/herd.h>

#include <sys/prctl.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { HISTORIES = 300 };
#else
enum { HISTORIES = 1000 }; /* in each of four tests */
#endif

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
  struct sums sums = {.members = members,
                      .x = members * herd->position.x,
                      .y = members * herd->position.y,
                      .velocity_x = members * (double)herd->velocity_x,
                      .velocity_y = members * (double)herd->velocity_y};
  for (uint32_t i = 0; i < TOTALS; i++) sums.totals[i] = (double)herd->totals[i];
  for (uint32_t i = 0; i < ledger->named_count; i++) {
    muster_agent_info info = info_of(&history->little, ledger->named[i]);
    add_agent(&sums, &info, 1.0);
  }
  return sums;
}

static void check_close(double a, double b, double tolerance, const char *what, const struct ledger *ledger) {
  cr_assert_leq(fabs(a - b), tolerance, "herd %u: %s was %.9g and is %.9g", muster_herd_index(ledger->herd), what, a,
                b);
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
  if (!ledger->shifted) {
    check_close(then->x / members, now->x / members, 2e-3, "x", ledger);
    check_close(then->y / members, now->y / members, 2e-3, "y", ledger);
    check_close(then->velocity_x / members, now->velocity_x / members, 2e-4, "velocity x", ledger);
    check_close(then->velocity_y / members, now->velocity_y / members, 2e-4, "velocity y", ledger);
    return;
  }
  ledger->now.x = now->x;
  ledger->now.y = now->y;
  ledger->now.velocity_x = now->velocity_x;
  ledger->now.velocity_y = now->velocity_y;
  ledger->now.members = now->members;
  ledger->lost.members = 0;
  for (uint32_t i = 0; i < TOTALS; i++) {
    ledger->now.totals[i] = now->totals[i];
    ledger->lost.totals[i] = 0;
  }
  ledger->shifted = false;
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
    uint32_t own = ((const leaf_state *)info.state)->members;
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

static void check_named(const struct history *history, const struct ledger *ledger) {
  for (uint32_t i = 0; i < ledger->named_count; i++) {
    muster_agent_info info = info_of(&history->little, ledger->named[i]);
    cr_assert(info.active);
    cr_assert(info.position.x == ledger->places[i].x && info.position.y == ledger->places[i].y);
  }
}

/* Every agent of the member type is a leaf or a named member. */
static void check_agents(const struct history *history, uint32_t leaves, uint32_t named) {
  uint32_t found = 0;
  muster_agent_info info = muster_agent_info_default();
  const muster_world *world = history->little.world;
  for (muster_agent agent = muster_agent_next(world, (muster_agent){0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(world, agent)) {
    cr_assert_eq(muster_agent_read(world, agent, &info), MUSTER_OK);
    found += info.type.index == history->little.type.index;
  }
  cr_assert_eq(found, leaves + named, "%u agents are %u leaves and %u named", found, leaves, named);
}

/* Returns the number of leaves of the herd. */
static uint32_t check_herd(struct history *history, struct ledger *ledger, uint64_t *represented) {
  muster_herd_info info = muster_herd_info_default();
  check_named(history, ledger);
  *represented += ledger->named_count;
  muster_result result = muster_herd_read(history->little.world, ledger->herd, &info);
  if (ledger->gone || ledger->removed) {
    cr_assert_eq(result, MUSTER_E_STALE);
    ledger->gone = true;
    return 0;
  }
  if (result == MUSTER_E_STALE) { /* its last member was taken or removed */
    cr_assert_eq(ledger->now.members - ledger->lost.members, ledger->named_count);
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
  uint32_t leaves = 0, named = 0, unfolded = 0;
  uint64_t represented = 1; /* the hunter */
  for (uint32_t i = 0; i < history->herd_count; i++) {
    uint32_t own = check_herd(history, &history->herds[i], &represented);
    leaves += own;
    unfolded += own > 0;
    named += history->herds[i].named_count;
  }
  check_agents(history, leaves, named);
  cr_assert_leq(unfolded, history->def.unfolded_max);
  if (report)
    cr_assert_eq(report->represented, represented, "%llu and %llu", (unsigned long long)report->represented,
                 (unsigned long long)represented);
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
  muster_herd_info after = muster_herd_info_default();
  cr_assert_eq(muster_herd_read(history->little.world, ledger->herd, &after), MUSTER_OK);
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

static void replace_observer(struct history *history) {
  uint32_t number = draw(history, OBSERVERS);
  muster_observer_remove(history->little.world, history->observers[number]);
  add_observer(history, number);
}

static void give_order(struct history *history) {
  history->orders = true;
  history->deed = (enum deed)draw(history, DEEDS);
  history->order_herd = draw(history, history->herd_count);
  history->order_count = 1 + draw(history, 5);
}

static void happen(struct history *history) {
  struct ledger *ledger = &history->herds[draw(history, history->herd_count)];
  muster_world *world = history->little.world;
  uint32_t what = draw(history, 40);
  if (what < 20) leap(history);
  if (what >= 20 && what < 25) muster_herd_wake(world, ledger->herd, draw(history, 3));
  if (what >= 25 && what < 29) name_one(history, ledger);
  if (what >= 29 && what < 36) give_order(history);
  if (what == 36) remove_leaf(history, ledger);
  if (what == 37) ledger->removed |= muster_herd_remove(world, ledger->herd) == MUSTER_OK;
  if (what == 38) replace_observer(history);
}

/* -------------------------------------------------------------------------------------------------------- histories */

static void begin(struct history *history, uint64_t seed, muster_pool *pool) {
  muster_world_def def = muster_world_def_default();
  history->random = mix(seed);
  history->herd_count = 1 + draw(history, HERDS);
  history->failing = draw(history, 3) == 0 ? 80 : 0;
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.seed = seed;
  def.limits.agents_max = draw(history, 3) ? 4 * LEAVES + 8 : 4 + draw(history, 40);
  def.limits.commands_max = 64;
  def.limits.observers_max = 8;
  def.limits.types_max = 4;
  def.pool = pool;
  history->little.world = muster_world_create(&def);
  cr_assert_not_null(history->little.world, "%s", muster_last_error());
  register_types(history);
  register_herds(history);
  add_hunter(history);
  add_herds(history);
  for (uint32_t i = 0; i < OBSERVERS; i++) add_observer(history, i);
}

static void end(struct history *history) {
  history->ending = true;
  little_world_destroy(&history->little);
}

static void note_beginning(struct history *history) {
  muster_herd_info info = muster_herd_info_default();
  for (uint32_t i = 0; i < history->herd_count; i++) {
    cr_assert_eq(muster_herd_read(history->little.world, history->herds[i].herd, &info), MUSTER_OK);
    history->herds[i].now = sums_of(history, &history->herds[i], &info);
  }
}

/* What happened in many histories. */
struct events {
  uint64_t changes, unfolds_refused, folds_refused, named, gone;
};

static void note_events(const struct history *history, struct events *events) {
  muster_statistics statistics = muster_statistics_default();
  muster_statistics_read(history->little.world, &statistics);
  cr_assert_eq(statistics.herds_refused, 0);
  cr_assert_geq(history->changes, statistics.unfolds + statistics.folds);
  events->changes += statistics.unfolds + statistics.folds;
  events->unfolds_refused += statistics.unfolds_refused;
  events->folds_refused += statistics.folds_refused;
  for (uint32_t i = 0; i < history->herd_count; i++) {
    events->named += history->herds[i].named_count;
    events->gone += history->herds[i].gone;
  }
}

/* Returns the hash of the world at the end. */
static uint64_t live_through(uint64_t seed, muster_pool *pool, struct events *events) {
  struct history history = {0};
  begin(&history, seed, pool);
  note_beginning(&history);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    for (uint32_t left = draw(&history, 4); left > 0; left--) happen(&history);
    for (uint32_t i = 0; i < history.herd_count; i++) history.herds[i].touched = false;
    muster_frame_report report = run_frame(&history.little);
    check_all(&history, &report);
    history.pending_of = NULL;
  }
  uint64_t hash = muster_world_hash(history.little.world);
  note_events(&history, events);
  end(&history);
  return hash;
}

static void live_histories(uint64_t first) {
  struct events events = {0};
  prctl(PR_SET_THP_DISABLE, 1, 0, 0,
        0); /* thousands of little worlds: most of their time would go into zeroing huge pages */
  muster_pool_def def = muster_pool_def_default();
  def.workers = 1;
  muster_pool *pool = muster_pool_create(&def);
  cr_assert_not_null(pool, "%s", muster_last_error());
  for (uint64_t i = 0; i < HISTORIES; i++) {
    uint64_t hash = live_through(first + i, pool, &events);
    if (i % 8 == 0)
      cr_assert_eq(live_through(first + i, pool, &events), hash, "history %llu", (unsigned long long)(first + i));
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
  muster_world_def def = muster_world_def_default();
  muster_herd_def herds[2] = {{.members = 21, .velocity_x = 1.0f}, {.members = 32}};
  muster_herd ids[2];
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  history->random = 5;
  history->herd_count = 2;
  herds[1].position.x = 500.0;
  history->little = little_world_create(1, &def);
  register_types(history);
  history->def = muster_herd_type_def_default();
  history->def.member = history->little.type;
  history->def.run_block = pass;
  history->def.totals = TOTALS;
  history->def.unfold = unfold;
  history->def.fold = fold;
  history->def.user = history;
  history->type = muster_herd_type_register(history->little.world, &history->def);
  cr_assert_eq(muster_herds_add(history->little.world, history->type, herds, 2, ids), 2);
  history->herds[0].herd = ids[0];
  history->herds[1].herd = ids[1];
  muster_observer_def observer = muster_observer_def_default();
  observer.position.x = -5000.0;
  history->observers[0] = muster_observer_add(history->little.world, &observer);
}

Test(herd_history, children_are_the_same_whatever_happened_before) {
  struct history one = {0}, other = {0};
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
    cr_assert_eq(nodes[0][i], nodes[1][i]);
    cr_assert_float_eq(a.position.x, b.position.x, 1e-3);
    cr_assert_float_eq(a.position.y, b.position.y, 1e-3);
    cr_assert_float_eq((double)((const struct face *)a.published)->velocity_x,
                       (double)((const struct face *)b.published)->velocity_x, 1e-4);
  }
  end(&one);
  end(&other);
}
