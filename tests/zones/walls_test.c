/* A land on nodes whose wall clocks are an hour ahead, an hour behind, and jump, beside one whose clock is right:
 * nobody notices, nor that the node dies whose boot clock is land time. */
#include "land.h"

TestSuite(walls, .timeout = 600);

enum { AGENTS = 60, HZ = 3, CROSSINGS = 40, LOOKS = 40, WATCHED_S = 30, LEAST_PERCENT = 95 };

static daemon_reply reply;

static uint64_t number_of(const char *text, const char *name) {
  const char *at = strstr(text, name);
  return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static uint64_t sim_now(land *all, uint32_t zone) {
  cr_assert(land_ask(all, zone, "GET", "", NULL, &reply), "zone %u runs nowhere", zone);
  return number_of(reply.body, "\"sim_now_ns\": ");
}

/* No zone is ahead of the others by as much as one of the clocks is. */
static void expect_level(land *all, const char *when) {
  uint64_t least_ns = UINT64_MAX, most_ns = 0;
  for (uint32_t zone = 0; zone < LAND_ZONES; zone++) {
    uint64_t now_ns = sim_now(all, zone);
    if (now_ns < least_ns) least_ns = now_ns;
    if (now_ns > most_ns) most_ns = now_ns;
  }
  cr_expect_lt(most_ns - least_ns, 60000000000u, "%s: %.0f s apart", when, (double)(most_ns - least_ns) * 1e-9);
}

/* By each node, also the one whose clock it is; and nothing is the worse for it. */
static void expect_named(land *all) {
  for (uint32_t node = 0; node < all->node_count; node++) {
    daemon_ask(&all->nodes[node], "GET", "/v1/nodes", NULL, &reply);
    cr_expect(strstr(reply.body, "wall clock of node b is "), "node %u: %s", node, reply.body);
    daemon_ask(&all->nodes[node], "GET", "/readyz", NULL, &reply);
    cr_expect(strstr(reply.body, "\"code\": \"clock\""), "node %u: %s", node, reply.body);
    cr_expect(land_has_logged(all, node, "wall clock of node b is "), "node %u does not log it", node);
  }
}

/* Which node leads: land time is its boot clock. As another one says that lives. */
static uint32_t leader_of(land *all, uint32_t asked) {
  char leader = 0;
  for (int i = 0; i < LOOKS * 5 && !leader; i++, land_watch(all)) {
    daemon_ask(&all->nodes[asked], "GET", "/v1/nodes", NULL, &reply);
    const char *at = strstr(reply.body, "\"balancer\":"), *name = at ? strstr(at, "\"node\": \"") : NULL;
    if (name && name[9] >= 'a' && name[9] < 'a' + (char)all->node_count) leader = name[9];
  }
  cr_assert(leader, "nobody leads: %s", reply.body);
  return (uint32_t)(leader - 'a');
}

/* The zones of a node go to the one that has none. */
static void empty_node(land *all, uint32_t node, uint32_t idle) {
  for (uint32_t zone = 0; zone < all->zones; zone++)
    if (land_owner(all, zone) == (int)node) land_move(all, zone, (int)idle);
  for (bool has = true; has;) {
    has = false;
    land_watch(all);
    for (uint32_t zone = 0; zone < all->zones; zone++) has |= land_owner(all, zone) == (int)node;
  }
  land_await(all);
}

static uint32_t idle_node(land *all) {
  uint32_t busy = 0, node = 0;
  for (uint32_t zone = 0; zone < all->zones; zone++) busy |= 1u << land_owner(all, zone);
  while (busy >> node & 1) node++;
  cr_assert_lt(node, all->node_count);
  return node;
}

/* How far the zones are: frames since the zone began, over all its processes; and simulation time, which is land
 * time. */
typedef struct progress {
  uint64_t frames[LAND_ZONES], sim_ns[LAND_ZONES];
} progress;

static progress progress_of(land *all) {
  progress now;
  for (uint32_t zone = 0; zone < LAND_ZONES; zone++) {
    now.sim_ns[zone] = sim_now(all, zone);
    const char *frame = strstr(reply.body, "\"frame\":");
    now.frames[zone] = frame ? number_of(frame, "\"number\": ") : 0;
    cr_assert_gt(now.frames[zone], 0, "%s", reply.body);
  }
  return now;
}

/* Of the frames that fit into the land time that has passed, each zone has run nearly all: what stands still, or takes
 * longer steps, has run fewer. Nothing is left out of account. */
static void expect_frames(const progress *from, const progress *to) {
  uint64_t land_ns = 0;
  for (uint32_t zone = 0; zone < LAND_ZONES; zone++) {
    uint64_t gone_ns = to->sim_ns[zone] - from->sim_ns[zone];
    if (gone_ns > land_ns) land_ns = gone_ns;
  }
  uint64_t all = land_ns / (1000000000u / HZ);
  for (uint32_t zone = 0; zone < LAND_ZONES; zone++) {
    uint64_t run = to->frames[zone] - from->frames[zone];
    fprintf(stderr, "%s: %lu of %lu frames\n", land_name(zone), run, all);
    cr_expect_geq(run * 100, all * LEAST_PERCENT, "zone %u ran %lu of %lu frames", zone, run, all);
  }
}

Test(walls, have_no_say_in_what_a_land_does) {
  static const char *const walls[] = {"0", "3600", "-3600", "jumps"};
  land *all = land_start(&(land_options){
      .journal_stream = true, .nodes = 4, .agents = AGENTS, .hz = HZ, .speed = 15, .life = 60, .walls = walls});
  land_await_crossings(all, CROSSINGS);
  expect_level(all, "at first");
  expect_named(all);
  uint32_t leader = leader_of(all, 0), idle = idle_node(all);
  if (leader != idle) empty_node(all, leader, idle);
  cr_assert_eq(leader_of(all, leader), leader, "who gives zones away still leads");
  const progress before = progress_of(all);
  land_kill(all, leader);
  while (sim_now(all, 0) < before.sim_ns[0] + WATCHED_S * 1000000000ull) land_watch(all);
  const progress after = progress_of(all);
  expect_frames(&before, &after);
  expect_level(all, "behind the leader's death");
  cr_expect_neq(leader_of(all, (leader + 1) % all->node_count), leader, "another one leads");
  land_revive(all, leader);
  uint32_t node = land_busy_node(all, 0);
  land_note_owned(all, node);
  land_kill(all, node);
  land_await_takeover(all, "the death of a node with zones");
  expect_level(all, "after the takeover");
  land_await_crossings(all, all->arrived + CROSSINGS);
  land_revive(all, node);
  land_rest(all); /* else what waits would be missed */
  expect_level(all, "in the end");
  ledger_verdict verdict = land_judge(all, stderr);
  cr_expect(ledger_is_strong(&verdict));
  land_end(all);
}
