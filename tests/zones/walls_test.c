/* A land on nodes whose wall clocks are an hour ahead, and jump, beside one whose clock is right: nobody notices. */
#include "land.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(walls, .timeout = 600);

enum { AGENTS = 60, HZ = 10, CROSSINGS = 200, LOOKS = 40 };

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
  for (uint32_t node = 0; node < LAND_NODES; node++) {
    daemon_ask(&all->nodes[node], "GET", "/v1/nodes", NULL, &reply);
    cr_expect(strstr(reply.body, "wall clock of node b is "), "node %u: %s", node, reply.body);
    daemon_ask(&all->nodes[node], "GET", "/readyz", NULL, &reply);
    cr_expect(strstr(reply.body, "\"code\": \"clock\""), "node %u: %s", node, reply.body);
    char *log = daemon_log(&all->nodes[node]);
    cr_expect(strstr(log, "wall clock of node b is "), "node %u does not log it", node);
    free(log);
  }
}

Test(walls, have_no_say_in_what_a_land_does) {
  static const char *const walls[LAND_NODES] = {"0", "3600", "jumps"};
  land *all = land_start(&(land_options){.brokers = {.nats = 1, .etcd = 1},
                                         .journal_stream = true,
                                         .agents = AGENTS,
                                         .hz = HZ,
                                         .speed = 20,
                                         .life = 60,
                                         .walls = walls});
  land_await_crossings(all, CROSSINGS);
  expect_level(all, "at first");
  expect_named(all);
  uint32_t node = land_busy_node(all, 0); /* the one whose clock is right */
  cr_expect_eq(node, 0);
  land_note_owned(all, node);
  land_kill(all, node);
  land_await_takeover(all, "the death of the node whose clock is right");
  expect_level(all, "after the takeover");
  land_await_crossings(all, all->arrived + CROSSINGS);
  land_revive(all, node);
  for (int i = 0; i < LOOKS; i++) land_watch(all);
  land_rest(all); /* else what waits would be missed */
  expect_level(all, "in the end");
  ledger_verdict verdict = land_judge(all, stderr);
  cr_expect(ledger_is_strong(&verdict));
  land_end(all);
}
