/* GET /v1/zones/map: each node shows all zones of the cluster, also while their owners die, and nobody draws a zone
 * while nobody looks. With real brokers and three nodes. */
#include "broker_lab.h"
#include "land.h"

#include <gnutls/gnutls.h>
#include <jansson.h>

enum { AGENTS = 200, SIDE = 32, TRIES = 500, GHOSTS = 60 };

#define SILENT_NS 2000000000

TestSuite(atlas, .timeout = 600);

/* ---------------------------------------------------------------------------------------------------------- looking */

typedef struct seen {
  char node[32], state[32];
  int64_t epoch, heard_ns, agents, stand; /* heard_ns -1: never; stand: the sum of the counts */
  double x0, x1;
} seen;

static daemon_reply reply;

static int64_t sum_counts(const char *text) {
  gnutls_datum_t coded = {(unsigned char *)text, (unsigned)strlen(text)}, plain = {NULL, 0};
  int64_t sum = 0;
  cr_assert_eq(gnutls_base64_decode2(&coded, &plain), 0);
  cr_assert_eq(plain.size, 2 * SIDE * SIDE);
  for (unsigned i = 0; i < plain.size; i += 2) sum += plain.data[i] | plain.data[i + 1] << 8;
  gnutls_free(plain.data);
  return sum;
}

static void copy_text(char to[32], const json_t *entry, const char *name) {
  const char *text = json_string_value(json_object_get(entry, name));
  snprintf(to, 32, "%s", text ? text : "");
}

/* What a node shows of a zone. */
static seen look(const land *all, uint32_t node, uint32_t zone) {
  seen it = {.heard_ns = -1};
  daemon_ask(&all->nodes[node], "GET", "/v1/zones/map", NULL, &reply);
  cr_assert_eq(reply.status, 200, "%s", reply.body);
  json_auto_t *whole = json_loads(reply.body, 0, NULL);
  cr_assert_eq(json_integer_value(json_object_get(whole, "side")), SIDE);
  const json_t *entry = json_array_get(json_object_get(whole, "zones"), zone),
               *heard = json_object_get(entry, "heard_ns");
  const json_t *ground = json_object_get(entry, "rectangle");
  cr_assert_eq(json_integer_value(json_object_get(entry, "zone")), zone + 1);
  copy_text(it.node, entry, "node");
  copy_text(it.state, entry, "state");
  it.epoch = json_integer_value(json_object_get(entry, "epoch"));
  it.agents = json_integer_value(json_object_get(entry, "agents"));
  it.stand = sum_counts(json_string_value(json_object_get(entry, "counts")));
  it.x0 = json_real_value(json_array_get(ground, 0));
  it.x1 = json_real_value(json_array_get(ground, 2));
  if (json_is_integer(heard)) it.heard_ns = json_integer_value(heard);
  return it;
}

/* Looks until the owner has told that the zone runs, under that epoch or a later one, and how many are in it. */
static seen await_running(land *all, uint32_t node, uint32_t zone, int64_t epoch) {
  seen it = {0};
  for (int tries = 0; tries < TRIES; tries++) {
    it = look(all, node, zone);
    if (strcmp(it.state, "runs") == 0 && it.heard_ns < SILENT_NS && it.epoch >= epoch && it.stand > 0) return it;
    land_watch(all);
  }
  cr_assert(false, "node %u shows zone %u on '%s', '%s', epoch %ld", node, zone, it.node, it.state, it.epoch);
  return it;
}

static void expect_all(land *all, uint32_t node) {
  for (uint32_t zone = 0; zone < LAND_ZONES; zone++) {
    seen it = await_running(all, node, zone, 1);
    int owner = land_owner(all, zone);
    cr_expect(owner >= 0 && *it.node == 'a' + owner && it.node[1] == '\0', "zone %u: '%s', owner %d", zone, it.node,
              owner);
    cr_expect_eq(it.agents, AGENTS);
    cr_expect_eq(it.stand, AGENTS);
    cr_expect_float_eq(it.x0, 100.0 * zone, 1e-9);
    cr_expect_float_eq(it.x1, 100.0 * (zone + 1), 1e-9);
  }
}

/* ------------------------------------------------------------------------------------------------------------ tests */

Test(atlas, each_node_shows_all_zones_and_those_of_a_dead_one_until_others_have_them) {
  land *all = land_start(&(land_options){.brokers = {.nats = 3, .etcd = 3}, .agents = AGENTS});
  for (uint32_t node = 0; node < LAND_NODES; node++) expect_all(all, node);
  int dead = land_owner(all, 1);
  uint32_t witness = (uint32_t)(dead + 1) % LAND_NODES;
  seen before = await_running(all, witness, 1, 1), after = before;
  land_kill(all, (uint32_t)dead);
  bool was_silent = false;
  for (int tries = 0; tries < TRIES && after.epoch == before.epoch; tries++) {
    after = look(all, witness, 1);
    if (after.epoch == before.epoch && after.heard_ns > SILENT_NS) {
      was_silent = true;
      cr_expect_str_eq(after.node, before.node);
      cr_expect_eq(after.stand, AGENTS, "its last sheet is shown");
    }
    land_watch(all);
  }
  cr_expect(was_silent, "nobody is told that it is silent before another has the zone");
  after = await_running(all, witness, 1, before.epoch + 1);
  cr_expect_str_neq(after.node, before.node);
  cr_expect_eq(after.agents, AGENTS);
  cr_expect_eq(after.stand, AGENTS);
  land_end(all);
}

static struct lab lab;
static uint32_t ghosts, sheets;

static void count_one(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count;
  ++*(uint32_t *)user;
}

/* Waits until zones have told each other so many times what they see, and returns how many sheets were told meanwhile.
 */
static uint32_t count_sheets(void) {
  uint32_t before = sheets, enough = ghosts + GHOSTS;
  LAB_AWAIT(&lab, ghosts >= enough);
  return sheets - before;
}

static void open_ear(const land *all) {
  broker_settings settings = {.world = "land", .node = "ear", .nats_user = BROKERS_USER};
  snprintf(settings.nats, sizeof settings.nats, "%s", brokers_urls(all->brokers, BROKERS_NATS));
  snprintf(settings.etcd, sizeof settings.etcd, "%s", brokers_urls(all->brokers, BROKERS_ETCD));
  snprintf(settings.nats_password_file, sizeof settings.nats_password_file, "%s/password", all->nodes[0].folder);
  cr_assert_eq(uv_loop_init(&lab.loop), 0);
  struct broker *broker = lab_open(&lab, 0, &settings, true);
  cr_assert_not_null(broker_listen(broker, "muster.land.ghosts.>", count_one, &ghosts));
  cr_assert_not_null(broker_listen(broker, "muster.land.atlas.sheet", count_one, &sheets));
}

Test(atlas, nobody_draws_a_zone_while_nobody_looks) {
  land *all = land_start(&(land_options){.agents = 20});
  open_ear(all);
  cr_expect_eq(count_sheets(), 0, "nobody has looked yet");
  await_running(all, 2, 0, 1);
  cr_expect_gt(count_sheets(), 0);
  int tries = 0;
  while (count_sheets() > 0 && tries < TRIES) tries++;
  cr_expect_lt(tries, TRIES, "sheets are told for ever");
  cr_expect_lt(look(all, 2, 0).heard_ns, SILENT_NS, "who did not listen has heard no silence");
  lab_leave(&lab);
  land_end(all);
}
