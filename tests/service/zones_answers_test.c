/* What a node of a cluster tells of itself and of the others: metrics, GET /v1/nodes and POST /v1/drain, of a holder
 * that this test has made up. Each number has a value that no other one has, and the node tells little to nobody. */
#include "own_server.h"
#include "rows.h"
#include "support/log_lines.h"

#include "base/clock.h"

#ifdef MUSTER_HAS_ZONES

#include "service/zones/balancer.h"

TestSuite(zones_answers, .timeout = 60);

enum { NODES = 3, ZONES = 4, RUNS_HERE = 2 };

static own_server server;
static struct processes processes;
static struct holder *holder;
static bool has_broker; /* one that nobody answers */

/* Node "a" is this one. */
static const struct {
  const char *name;
  double capacity;
  bool drains, balances;
  int64_t wall_ns;
  uint32_t zones[RUNS_HERE];
  double loads[RUNS_HERE];
} nodes[NODES] = {
    {"a", 8, true, false, 1000000000000, {1, 2}, {1.5, 2.5}},
    {"b", 16, false, true, 1000000000000, {3, 4}, {5, 7}},
    {"c", 4, false, false, 1007000000000, {0}, {0}},
};

static void hear_nodes(void) {
  char text[NODES_TEXT_BYTES];
  for (uint32_t i = 0; i < NODES; i++) {
    node_told told = {.life = 1,
                      .count = 1,
                      .capacity = nodes[i].capacity,
                      .drains = nodes[i].drains,
                      .balances = nodes[i].balances,
                      .has_wall = true,
                      .wall_ns = nodes[i].wall_ns};
    snprintf(told.name, sizeof told.name, "%s", nodes[i].name);
    for (uint32_t k = 0; k < RUNS_HERE && nodes[i].zones[k]; k++)
      told.zones[told.zone_count++] = (node_zone){nodes[i].zones[k], 20 + k, nodes[i].loads[k]};
    size_t bytes = nodes_write(&told, text);
    cr_assert(nodes_hear(&holder->balancer->nodes, text, bytes, clock_boot()));
  }
}

/* Its zones run, but for the last two, of which one is being stored and one is idle: they have loads of before. */
static void make_zones(void) {
  static const holding_stage stages[ZONES] = {HOLDING_RUNNING, HOLDING_RUNNING, HOLDING_STORING, HOLDING_IDLE};
  static const double loads[ZONES] = {1.5, 2.5, 16, 32};
  processes.count = holder->count = ZONES;
  for (uint32_t i = 0; i < ZONES; i++) {
    struct holding *holding = &holder->holdings[i];
    const char *name = formed("world%u", i + 1);
    world_settings *world = settings_add_world(&holder->settings, name);
    cr_assert_not_null(world);
    world->zone = i + 1;
    snprintf(world->nodes, sizeof world->nodes, "%s", i == 0 ? "a" : "");
    snprintf(processes.worlds[i].name, sizeof processes.worlds[i].name, "%s", name);
    holding->holder = holder;
    holding->process = &processes.worlds[i];
    holding->ground.number = i + 1;
    holding->stage = stages[i];
    holding->leased = stages[i] != HOLDING_IDLE;
    holding->load = loads[i];
  }
}

static void list_nodes(http_request *request) {
  holder_list_nodes(holder, request);
}

static void drain(http_request *request) {
  holder_drain(holder, request, true);
}

static void undo_drain(http_request *request) {
  holder_drain(holder, request, false);
}

static void move(http_request *request) {
  holder_move_zone(holder, request, processes_find(&processes, http_path_value(request, "world")),
                   http_path_value(request, "node"));
}

static void close_broker(void) {
  broker_close(holder->broker, NULL, NULL);
  http_destroy(server.http, NULL, NULL);
  server.http = NULL;
}

static void start(void) {
  static const http_route routes[] = {{.method = "GET", .pattern = "/v1/nodes", .handle = list_nodes},
                                      {.method = "POST", .pattern = "/drain", .handle = drain},
                                      {.method = "POST", .pattern = "/undo", .handle = undo_drain},
                                      {.method = "POST", .pattern = "/move/{world}/{node}", .handle = move},
                                      {0}};
  static const http_route *const tables[] = {routes, NULL};
  holder = calloc(1, sizeof *holder);
  cr_assert(holder && (holder->balancer = calloc(1, sizeof *holder->balancer)));
  settings_default(&holder->settings);
  strcpy(holder->settings.cluster, "land");
  strcpy(holder->settings.node, "a");
  holder->processes = &processes;
  holder->balancer->holder = holder;
  holder->balancer->capacity = nodes[0].capacity;
  holder->balancer->moves_named = 41;
  holder->balancer->moves_failed = 17;
  nodes_open(&holder->balancer->nodes, clock_boot());
  make_zones();
  hear_nodes();
  own_server_prepare(&server);
  static const broker_settings nowhere = {
      .world = "land", .node = "a", .nats = "nats://127.0.0.1:1", .etcd = "http://127.0.0.1:1"};
  if (has_broker)
    cr_assert(holder->broker = broker_open(&server.loop, &nowhere, NULL, NULL), "%s", muster_last_error());
  server.end = has_broker ? close_broker : NULL;
  http_options options = http_default_options();
  options.tables = tables;
  server.http = http_create(&server.loop, &options);
  cr_assert_eq(http_listen_unix(server.http, server.descriptor), MUSTER_OK, "%s", muster_last_error());
  own_server_begin(&server);
}

static void stop(void) {
  own_server_stop(&server);
  free(holder->balancer);
  free(holder);
}

/* --------------------------------------------------------------------------------------------------------- metrics */

/* A holder that is null has none. */
static char *write_metrics(const struct holder *of) {
  char *text = NULL;
  size_t bytes;
  FILE *out = open_memstream(&text, &bytes);
  cr_assert_not_null(out);
  holder_write_metrics(of, out);
  cr_assert_eq(fclose(out), 0);
  return text;
}

static const char *const names[] = {"muster_nodes", "muster_node_capacity",
                                    /* of those that run */
                                    "muster_node_load", "muster_node_pressure", "muster_node_drains", "muster_balancer",
                                    "muster_balancer_moves_total", "muster_balancer_moves_failed_total"};

Test(zones_answers, metrics_tell_each_number_by_its_name, .init = start, .fini = stop) {
  static const double values[] = {NODES, 8, 4, 0.5, 0, 0, 41, 17};
  SCOPED(free_memory) char *text = write_metrics(holder);
  for (size_t i = 0; i < COUNT_OF(names); i++) expect_sample(text, values[i], names[i]);
  holder->balancer->drains = true;
  SCOPED(free_memory) char *draining = write_metrics(holder);
  expect_sample(draining, 1, "muster_node_drains");
  expect_sample(draining, 0, "muster_balancer");
  holder->balancer->drains = false;
  holder->balancer->leased = true;
  holder->balancer->leased_ns = clock_boot();
  holder->settings.lease_ttl_ns = UINT64_MAX;
  SCOPED(free_memory) char *leading = write_metrics(holder);
  expect_sample(leading, 0, "muster_node_drains");
  expect_sample(leading, 1, "muster_balancer");
}

Test(zones_answers, metrics_of_no_cluster_are_zero) {
  SCOPED(free_memory) char *text = write_metrics(NULL);
  for (size_t i = 0; i < COUNT_OF(names); i++) expect_sample(text, 0, names[i]);
}

/* ------------------------------------------------------------------------------------------------------------ nodes */

Test(zones_answers, nodes_tell_each_number_by_its_name, .init = start, .fini = stop) {
  json_auto_t *all = control_get(&server.asked, "/v1/nodes");
  control_expect(all,
                 "{'cluster': 'land', 'node': 'a', 'problem': null, 'balancer.node': 'b', 'balancer.words': null}");
  cr_assert_eq(control_size(all, "nodes"), NODES);
  for (uint32_t i = 0; i < NODES; i++) {
    json_t *row = json_array_get(control_member(all, "nodes"), i);
    double load = nodes[i].loads[0] + nodes[i].loads[1];
    control_expect(row, formed("{'node': '%s', 'capacity': %g, 'load': %g, 'pressure': %g, 'drains': %s, "
                               "'balances': %s, 'clock_off_s': %g}",
                               nodes[i].name, nodes[i].capacity, load, load / nodes[i].capacity,
                               nodes[i].drains ? "true" : "false", nodes[i].balances ? "true" : "false",
                               (double)(nodes[i].wall_ns - nodes[0].wall_ns) / 1e9));
    cr_expect_eq(json_is_string(control_member(row, "clock")), i == 2, "c is off");
    cr_expect_geq(control_count(row, "heard_ns"), 0);
    cr_expect_lt(control_count(row, "heard_ns"), 3600000000000);
    for (uint32_t k = 0; k < RUNS_HERE && nodes[i].zones[k]; k++) {
      cr_expect_eq(control_count(row, formed("zones.%u.zone", k)), nodes[i].zones[k]);
      cr_expect_eq(control_number(row, formed("zones.%u.load", k)), nodes[i].loads[k]);
      cr_expect_str_eq(control_text(row, formed("zones.%u.world", k)), formed("world%u", nodes[i].zones[k]));
    }
  }
}

/* World1 may run here alone, and so it stays; of the others there is a node for each. */
Test(zones_answers, a_drain_tells_what_leaves_and_what_stays, .init = start, .fini = stop) {
  json_auto_t *answer = control_ask(&server.asked, "POST", "/drain", NULL, 200);
  cr_expect(holder->balancer->drains);
  cr_expect_eq(control_size(answer, "zones"), 3, "an idle one is not this node's");
  control_expect(answer, "{'node': 'a', 'drains': true, 'zones.0': 'world1', 'zones.2': 'world3', "
                         "'staying': ['world1']}");
  json_auto_t *undone = control_ask(&server.asked, "POST", "/undo", NULL, 200);
  cr_expect(!control_is_true(undone, "drains") && !holder->balancer->drains);
}

/* Each change once, which is no trouble. */
Test(zones_answers, a_drain_and_its_end_are_logged, .init = start, .fini = stop) {
  static const char *const paths[] = {"/undo", "/drain", "/drain", "/undo"};
  errors_begin();
  for (size_t i = 0; i < COUNT_OF(paths); i++) json_decref(control_ask(&server.asked, "POST", paths[i], NULL, 200));
  const char *lines = errors_end(), *drains = strstr(lines, "musterd: cluster land: this node drains, as asked: "),
             *over = strstr(lines, "musterd: cluster land: this node drains no longer, as asked\n");
  cr_assert(drains && over && drains < over, "%s", lines);
  cr_expect_null(strstr(strchr(over, '\n'), "this node"), "%s", lines);
  cr_expect_eq(strstr(strchr(drains, '\n'), "this node"), strstr(over, "this node"), "%s", lines);
}

/* ------------------------------------------------------------------------------------------------------------ moves */

static void start_with_broker(void) {
  has_broker = true;
  start();
  holder->holdings[1].ground.number = 99; /* a zone that no node tells of */
}

Test(zones_answers, a_zone_is_moved_to_where_it_may_be_and_is_not, .init = start_with_broker, .fini = stop) {
  static const struct {
    const char *path, *code, *words;
    int status;
  } all[] = {{"/move/world1/b", "state", "node b may not run world world1: its nodes are a", 409},
             {"/move/world3/d", "state", "node d is not heard", 409},
             {"/move/world3/a", "state", "node a drains, and gets no zone", 409},
             {"/move/world3/b", "state", "world world3 runs on node b already", 409},
             {"/move/world3/c", "brokers", "etcd does not take that zone 3 is to move", 503},
             {"/move/world2/b", "brokers", "etcd does not take that zone 99 is to move", 503}};
  for (size_t i = 0; i < COUNT_OF(all); i++) {
    json_auto_t *answer = control_ask(&server.asked, "POST", all[i].path, NULL, all[i].status);
    cr_expect_str_eq(control_text(answer, "error.code"), all[i].code);
    const char *words = control_text(answer, "error.message");
    cr_expect_eq(strncmp(words, all[i].words, strlen(all[i].words)), 0, "%s: %s", all[i].path, words);
  }
}

/* ------------------------------------------------------------------------------------------------------- standstill */

/* A renewal that was sent so long ago may not be the last one that etcd knows: another node may have the lease when all
 * of its time is over, and this one stands still well before. */
Test(zones_answers, a_zone_stands_still_after_two_thirds_of_its_lease, .init = start, .fini = stop) {
  const uint64_t hour_ns = 3600000000000u;
  struct holding *holding = &holder->holdings[0];
  cr_assert_gt(clock_boot(), 0);
  holder->settings.lease_ttl_ns = 3 * hour_ns;
  holding->leased_ns = clock_boot() - 3 * hour_ns / 2; /* half of it is over; before the machine began, maybe */
  cr_expect(!holding_stands_still(holding));
  holding->leased_ns = clock_boot() - 2 * hour_ns - 1;
  cr_expect(holding_stands_still(holding));
  holding->leased_ns = clock_boot();
  cr_expect(!holding_stands_still(holding));
}

#endif
