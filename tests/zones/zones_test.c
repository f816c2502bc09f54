/* What zones promise, with real brokers and three nodes: nomads walk across three zones while nodes and brokers die,
 * stop and are cut off; a ledger judges. MUSTER_CROSSINGS says how many crossings there are to be, and MUSTER_TROUBLES
 * how often each kind of trouble comes, else a few; MUSTER_LAND_SEED, which come when. In chaos there is no plan:
 * trouble of any kind comes at any moment, for MUSTER_CHAOS_S seconds at least, and neither memory nor files grow. */
#include "growth.h"

#include "base/clock.h"
#include "base/random.h"

TestSuite(zones, .timeout = 14400);

/* The seed is printed, so that a run can be had again. */
static uint64_t seed_of_land(void) {
  uint64_t seed = from_environment("MUSTER_LAND_SEED", clock_system());
  fprintf(stderr, "MUSTER_LAND_SEED=%" PRIu64 "\n", seed);
  return seed;
}

/* --------------------------------------------------------------------------------------------------------- troubles */

/* A server of NATS, or the leader of etcd, dies and comes back once the land has gone on without it. */
static void kill_broker(land *all, uint64_t random) {
  brokers_kind kind = random % 2 ? BROKERS_NATS : BROKERS_ETCD;
  int which = kind == BROKERS_NATS ? (int)(random / 2 % BROKERS_MAX) : -1;
  while (which < 0) which = brokers_etcd_leader(all->brokers);
  fprintf(stderr, "%s %d dies\n", kind == BROKERS_ETCD ? "the leader of etcd," : "NATS", which);
  brokers_kill(all->brokers, kind, (uint32_t)which);
  land_await_crossings(all, all->arrived + 20);
  brokers_revive(all->brokers, kind, (uint32_t)which);
  brokers_await(all->brokers);
}

/* A node is lost, and comes back once others have taken over what it ran. */
static void lose_node(land *all, uint64_t random, void (*lose)(land *all, uint32_t node, bool is_lost),
                      const char *how) {
  uint32_t node = land_busy_node(all, (uint32_t)(random % LAND_NODES));
  land_note_owned(all, node);
  lose(all, node, true);
  land_await_takeover(all, how);
  lose(all, node, false);
}

static void kill_node(land *all, uint64_t random) {
  lose_node(all, random, land_kill_or_revive, "a node's death");
}

static void pause_node(land *all, uint64_t random) {
  lose_node(all, random, land_pause, "a pause");
}

static void cut_node(land *all, uint64_t random) {
  lose_node(all, random, land_cut, "a partition");
}

typedef struct trouble {
  void (*make)(land *all, uint64_t random);
  uint32_t share; /* of MUSTER_TROUBLES, in halves */
} trouble;

static const trouble troubles[] = {{kill_broker, 2}, {kill_node, 2}, {pause_node, 1}, {cut_node, 1}};
enum { KINDS = COUNT_OF(troubles), TROUBLES_MAX = 128 };

/* All troubles that are to come, in an order by the seed. */
static uint32_t plan_troubles(uint64_t seed, const trouble *plan[TROUBLES_MAX]) {
  uint32_t count = 0;
  uint64_t each = from_environment("MUSTER_TROUBLES", 2);
  for (uint32_t kind = 0; kind < KINDS; kind++)
    for (uint64_t i = 0; i < each * troubles[kind].share / 2 && count < TROUBLES_MAX; i++)
      plan[count++] = &troubles[kind];
  for (uint32_t i = count; i > 1; i--) {
    uint32_t other = (uint32_t)(muster_random_mix(seed + i) % i);
    const trouble *kept = plan[i - 1];
    plan[i - 1] = plan[other];
    plan[other] = kept;
  }
  return count;
}

/* Many troubles one behind the other, without the stream of journals: each zone that comes back to an old state bears
 * its children again, and the land fills up. So some time passes between two, in which zones are stored. */
enum { FEW = 8, LOOKS = 25 };

/* Lives through all troubles and crossings. */
static land *live_through(bool journal_stream) {
  const trouble *plan[TROUBLES_MAX];
  uint64_t seed = seed_of_land(), crossings = from_environment("MUSTER_CROSSINGS", 1000);
  uint32_t count = plan_troubles(seed, plan);
  land *all = land_start(
      &(land_options){.three = true, .journal_stream = journal_stream, .agents = 60, .speed = 20, .life = 20});
  for (uint32_t i = 0; i < count; i++) {
    for (int looks = 0; !journal_stream && count > FEW && looks < LOOKS; looks++) land_watch(all);
    land_await_crossings(all, crossings * (i + 1) / (count + 1));
    plan[i]->make(all, muster_random_mix(seed - i));
  }
  land_await_crossings(all, crossings);
  return all;
}

Test(zones, lose_nothing_with_the_stream_of_their_journals) {
  land_end_with_all(live_through(true));
}

Test(zones, keep_everybody_in_one_place_without_it) {
  land *all = live_through(false);
  land_rest(all);
  ledger_verdict verdict = land_judge(all, stderr);
  fprintf(stderr, "%" PRIu64 " crossings were seen\n", all->arrived);
  if (!ledger_is_weak(&verdict)) land_show(all);
  cr_expect(ledger_is_weak(&verdict));
  land_end(all);
}

/* ------------------------------------------------------------------------------------------------------------ chaos */

/* The processes of a node's zones die, all at once. */
static void crash_zones(land *all, uint64_t random) {
  uint32_t node = land_busy_node(all, (uint32_t)(random % LAND_NODES));
  fprintf(stderr, "the processes of node %c die\n", 'a' + (int)node);
  land_crash(all, node);
  land_await(all);
}

/* A zone is to be moved, to any node: to the one that has it, or to one that is about to be lost. It is not waited for,
 * so that anything may come meanwhile; nor is what was ordered before. */
static void move_zone(land *all, uint64_t random) {
  uint32_t zone = (uint32_t)(random % all->zones), node = (uint32_t)(random / all->zones % LAND_NODES);
  fprintf(stderr, "zone %s is to be moved to node %c\n", land_name(zone), 'a' + (int)node);
  land_move(all, zone, (int)node);
}

/* All that a node runs is to be moved to the others, at once. */
static void empty_node(land *all, uint64_t random) {
  uint32_t node = land_busy_node(all, (uint32_t)(random % LAND_NODES));
  fprintf(stderr, "node %c is to be emptied\n", 'a' + (int)node);
  for (uint32_t zone = 0; zone < all->zones; zone++, random = muster_random_mix(random))
    if (land_owner(all, zone) == (int)node)
      land_move(all, zone, (int)((node + 1 + random % (LAND_NODES - 1)) % LAND_NODES));
}

static void (*const chaos[])(land *all, uint64_t random) = {kill_broker, kill_node, pause_node, cut_node,
                                                            crash_zones, move_zone, move_zone,  empty_node};
enum { CHAOS_KINDS = COUNT_OF(chaos), CHAOS_GAP_LEAST = 20, CHAOS_GAP_MOST = 300 };

/* Trouble upon trouble, with 20 to 300 crossings in between, or a tenth of that where there are few to be. */
static void live_in_chaos(land *all, uint64_t seed, uint64_t crossings) {
  uint64_t random = seed, most = crossings < 10 * CHAOS_GAP_MOST ? CHAOS_GAP_MOST / 10 : CHAOS_GAP_MOST;
  uint64_t end_ns = clock_system() + from_environment("MUSTER_CHAOS_S", 0) * 1000000000;
  for (uint32_t count = 0; all->arrived < crossings || clock_system() < end_ns; count++) {
    random = muster_random_mix(random + 1);
    land_await_crossings(all, all->arrived + CHAOS_GAP_LEAST + random % most);
    fprintf(stderr, "%u, after %" PRIu64 " crossings: ", count, all->arrived);
    chaos[random / most % CHAOS_KINDS](all, random / most / CHAOS_KINDS);
  }
}

Test(zones, lose_nothing_in_chaos_and_let_nothing_grow) {
  uint64_t seed = seed_of_land(), crossings = from_environment("MUSTER_CROSSINGS", 300);
  double life = crossings < 10000 ? 120 : 1800; /* in hours the books of all births stay small beside files */
  land *all = land_start(&(land_options){
      .three = true, .brokers.short_history = true, .journal_stream = true, .agents = 120, .speed = 20, .life = life});
  growth *sizes = all->sizes = growth_open();
  live_in_chaos(all, seed, crossings);
  land_end_with_all(all);
  cr_expect(growth_judge(sizes, stderr));
  growth_close(sizes);
}

/* -------------------------------------------------------------------------------------------------- without trouble */

Test(zones, lose_nothing_where_nothing_happens) {
  land *all = land_start(&(land_options){.agents = 60, .speed = 20, .life = 8});
  land_await_crossings(all, 300);
  cr_expect_gt(land_end_with_all(all).died, 0);
}

/* Node c comes to NATS by leaf nodes. What it stores is found by the others when it dies, and what it told is heard. */
Test(zones, lose_nothing_where_a_node_comes_by_leaf_nodes) {
  land *all = land_start(&(land_options){.brokers = {.nats = BROKERS_MAX, .etcd = 1, .leaves = true},
                                         .journal_stream = true,
                                         .agents = 60,
                                         .speed = 20,
                                         .life = 20});
  land_await_crossings(all, 200);
  land_note_owned(all, LAND_NODES - 1);
  land_kill(all, LAND_NODES - 1);
  land_await_takeover(all, "the death of the node behind leaf nodes");
  land_revive(all, LAND_NODES - 1);
  land_await_crossings(all, 400);
  land_kill(all, 0);
  land_kill(all, 1);
  land_await(all); /* node c runs all of them, from what it finds over its leaf nodes */
  land_revive(all, 0);
  land_revive(all, 1);
  land_await_crossings(all, 500);
  land_end_with_all(all);
}
