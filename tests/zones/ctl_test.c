/* `muster ctl zones`: who has which zone, what it is on a node, and what of it is stored; and `zones restore`, when the
 * brokers have lost everything. `muster ctl nodes`, `zones move` and `drain`. With real brokers and three nodes. */
#include "land.h"
#include "tools/program.h"

#include <fcntl.h>
#include <jansson.h>
#include <sys/file.h>

enum { TRIES = 300, MOVE_TRIES = 900, PAUSE_US = 200000, LOST_BYTES = 600 };

TestSuite(zones_ctl, .timeout = 600);

/* `muster ctl` with these words at a node. */
static program_run *ctl(const land *all, uint32_t node, const char *words) {
  return program_start(formed("ctl --socket %s %s", all->nodes[node].socket, words));
}

/* What it prints, and its exit status; each text must be there. */
static void expect_ctl(const land *all, uint32_t node, const char *words, int status, const char *first,
                       const char *second) {
  SCOPED_RUN *run = ctl(all, node, words);
  cr_expect_eq(run->status, status, "ctl %s: %d: %s%s", words, run->status, run->output, run->errors);
  const char *const texts[] = {first, second};
  for (size_t i = 0; i < 2; i++)
    cr_expect(strstr(run->output, texts[i]) || strstr(run->errors, texts[i]), "ctl %s, without '%s': %s%s", words,
              texts[i], run->output, run->errors);
}

/* The entry of a zone, which the caller releases; null: the node does not answer. */
static json_t *zone_of(const land *all, uint32_t node, uint32_t zone) {
  SCOPED_RUN *run = ctl(all, node, "--json zones");
  json_auto_t *document = json_loads(run->output, 0, NULL);
  return json_incref(json_array_get(json_object_get(document, "zones"), zone));
}

static const char *text_of(const json_t *entry, const char *name) {
  const char *text = json_string_value(json_object_get(entry, name));
  return text ? text : "";
}

static void await_state(land *all, uint32_t node, uint32_t zone, const char *state, bool stored) {
  char last[64] = "";
  for (int tries = 0; tries < TRIES; tries++, usleep(PAUSE_US)) {
    json_auto_t *entry = zone_of(all, node, zone);
    snprintf(last, sizeof last, "%s", text_of(entry, "state"));
    if (strcmp(last, state) == 0 && (!stored || json_is_object(json_object_get(entry, "stored")))) return;
  }
  cr_assert(false, "zone %u is '%s' on node %u, and not '%s'", zone + 1, last, node, state);
}

/* All that the brokers had is gone. */
static void lose_everything(land *all) {
  for (uint32_t kind = 0; kind <= BROKERS_ETCD; kind++) {
    brokers_kill(all->brokers, (brokers_kind)kind, 0);
    cr_assert_eq(
        system(formed("cd '%s' && rm -rf data jetstream", brokers_folder(all->brokers, (brokers_kind)kind, 0))), 0);
    brokers_revive(all->brokers, (brokers_kind)kind, 0);
  }
  brokers_await(all->brokers);
}

Test(zones_ctl, shows_who_has_which_zone_and_restores_one_that_was_lost) {
  land *all = land_start(&(land_options){.agents = 10, .speed = 5});
  await_state(all, 0, 0, "runs", true);
  await_state(all, 1, 0, "elsewhere", true);
  expect_ctl(all, 0, "zones", 0, "west    a         1", "runs");
  expect_ctl(all, 1, "zones", 0, "s ago", "elsewhere: ");
  json_auto_t *entry = zone_of(all, 2, 0);
  cr_expect_str_eq(text_of(entry, "world"), "west");
  cr_expect_str_eq(text_of(entry, "node"), "a");
  cr_expect_eq(json_integer_value(json_object_get(entry, "zone")), 1);
  cr_expect_eq(json_integer_value(json_object_get(entry, "epoch")), 1);
  cr_expect(json_is_false(json_object_get(entry, "free")) && json_is_false(json_object_get(entry, "restorable")));
  expect_ctl(all, 0, "zones restore west", 1, "no zone that the brokers have lost", "muster ctl zones");
  expect_ctl(all, 0, "zones restore nowhere", 1, "nowhere", "");
  expect_ctl(all, 0, "zones restart west", 2, "muster ctl zones [restore WORLD|move WORLD NODE]", "");
  expect_ctl(all, 0, "zones restore", 2, "muster ctl zones [restore WORLD|move WORLD NODE]", "");
  brokers_kill(all->brokers, BROKERS_ETCD, 0);
  expect_ctl(all, 0, "zones", 1, "the brokers do not tell", "not known");
  for (uint32_t i = 0; i < LAND_NODES; i++) land_kill(all, i);
  brokers_revive(all->brokers, BROKERS_ETCD, 0);
  lose_everything(all);
  land_revive(all, 0);
  await_state(all, 0, 0, "stands_by", false);
  expect_ctl(all, 0, "zones", 0, "stands by: the brokers have lost its zone", "`muster ctl zones restore west`");
  expect_ctl(all, 0, "zones restore west", 0, "world west starts again now", "");
  await_state(all, 0, 0, "runs", false);
  land_end(all);
}

/* Until `muster ctl health` says this at a node. */
static void await_health(const land *all, uint32_t node, int status, const char *text) {
  char last[1024] = "";
  for (int tries = 0; tries < TRIES; tries++, usleep(PAUSE_US)) {
    SCOPED_RUN *run = ctl(all, node, "health");
    snprintf(last, sizeof last, "%d: %.900s", run->status, run->output);
    if (run->status == status && strstr(run->output, text)) return;
  }
  cr_assert(false, "node %u is never %d: '%s', but %s", node, status, text, last);
}

/* Each node has the other zones in its settings, too, and waits for their leases: that is how it should be. */
Test(zones_ctl, a_node_is_ready_while_others_have_their_zones) {
  land *all = land_start(&(land_options){.agents = 10, .speed = 5});
  for (uint32_t i = 0; i < LAND_NODES; i++) {
    await_health(all, i, 0, "all worlds run");
    expect_ctl(all, i, "get /readyz", 0, "\"ready\": true", "\"reasons\": []");
  }
  brokers_kill(all->brokers, BROKERS_ETCD, 0); /* then nobody knows that another node runs it */
  await_health(all, 1, 1, "does not run here: no lease for its zone");
  land_end(all);
}

/* ------------------------------------------------------------------------------------------------------------ nodes */

/* What a node knows of all, which the caller releases; null: it does not answer. */
static json_t *nodes_of(const land *all, uint32_t node) {
  SCOPED_RUN *run = ctl(all, node, "--json nodes");
  return json_loads(run->output, 0, NULL);
}

/* The row of a node in it; null: it is not heard. */
static json_t *row_of_node(const json_t *document, uint32_t node) {
  const char name[] = {(char)('a' + node), '\0'};
  size_t i;
  json_t *row;
  json_array_foreach(json_object_get(document, "nodes"), i, row) {
    if (strcmp(text_of(row, "node"), name) == 0) return row;
  }
  return NULL;
}

/* Waits until each of some nodes, by their bits, hears them all with so many zones, and one of them balances. */
static uint32_t await_nodes(const land *all, uint32_t nodes, size_t zones) {
  for (int tries = 0; tries < TRIES; tries++, usleep(PAUSE_US)) {
    uint32_t agree = 0, balancers = 0;
    for (uint32_t node = 0; node < LAND_NODES; node++) {
      if (!(nodes >> node & 1)) continue;
      json_auto_t *document = nodes_of(all, node);
      uint32_t heard = 0;
      size_t count = 0;
      for (uint32_t other = 0; other < LAND_NODES; other++) {
        const json_t *row = row_of_node(document, other);
        if (row) heard |= 1u << other;
        count += json_array_size(json_object_get(row, "zones"));
      }
      const char *name = text_of(json_object_get(document, "balancer"), "node");
      if (*name) balancers |= 1u << (*name - 'a');
      if (heard == nodes && count == zones && *name) agree |= 1u << node;
    }
    for (uint32_t node = 0; agree == nodes && node < LAND_NODES; node++)
      if (balancers == 1u << node) return node;
  }
  cr_assert(false, "the nodes do not agree who they are");
  return 0;
}

Test(zones_ctl, nodes_hear_each_other_and_refuse_moves_that_cannot_be) {
  land *all = land_start(&(land_options){.agents = 10, .speed = 5});
  uint32_t balancer = await_nodes(all, 7, LAND_ZONES);
  const char *line = formed("balancer: %c", 'a' + (int)balancer);
  for (uint32_t i = 0; i < LAND_NODES; i++) expect_ctl(all, i, "nodes", 0, "heard  capacity  pressure", line);
  json_auto_t *document = nodes_of(all, 1);
  const json_t *row = row_of_node(document, 0), *zone = json_array_get(json_object_get(row, "zones"), 0);
  cr_expect_str_eq(text_of(document, "cluster"), "land");
  cr_expect_str_eq(text_of(document, "node"), "b");
  cr_expect_str_eq(text_of(zone, "world"), "west");
  cr_expect_gt(json_number_value(json_object_get(row, "capacity")), 0);
  cr_expect_gt(json_number_value(json_object_get(zone, "load")), 0);
  cr_expect_lt(json_number_value(json_object_get(zone, "load")), 0.0501, "its budget is 5 ms ten times a second");
  cr_expect_lt(json_integer_value(json_object_get(row, "heard_ns")), 5000000000);

  expect_ctl(all, 1, "zones move west a", 1, "world west runs on node a already", "");
  expect_ctl(all, 1, "zones move west d", 1, "node d may not run world west", "a b c");
  expect_ctl(all, 1, "zones move nowhere a", 1, "nowhere", "");
  expect_ctl(all, 1, "zones go west b", 2, "muster ctl zones [restore WORLD|move WORLD NODE]", "");
  expect_ctl(all, 1, "drain", 0, "node b drains: others get middle", "");
  expect_ctl(all, 0, "zones move west b", 1, "node b drains, and gets no zone", "");
  expect_ctl(all, 0, "nodes", 0, "yes", "west 0.0");
  expect_ctl(all, 1, "drain --undo", 0, "node b gets zones again", "");
  expect_ctl(all, 1, "get /metrics", 0, "muster_nodes 3\n", "muster_node_drains 0\n");
  land_end(all);
}

/* Its death changes nothing but that another one balances; what it was told to drain is forgotten with it. */
Test(zones_ctl, another_node_balances_when_one_dies) {
  land *all = land_start(&(land_options){.agents = 10, .speed = 5});
  uint32_t balancer = await_nodes(all, 7, LAND_ZONES), other = (balancer + 1) % LAND_NODES;
  expect_ctl(all, balancer, "drain", 0, "drains", "");
  land_kill(all, balancer);
  uint32_t next = await_nodes(all, 7 & ~(1u << balancer), LAND_ZONES);
  cr_expect_neq(next, balancer);
  expect_ctl(all, other, formed("zones move west %c", 'a' + (int)balancer), 1, "is not heard", "muster ctl nodes");
  land_revive(all, balancer);
  cr_expect_eq(await_nodes(all, 7, LAND_ZONES), next, "it stays where it is");
  json_auto_t *document = nodes_of(all, other);
  cr_expect(json_is_false(json_object_get(row_of_node(document, balancer), "drains")));
  cr_expect_eq(*text_of(json_object_get(document, "balancer"), "node"), 'a' + (int)next);
  land_end(all);
}

/* Another process has the files of its world, as in a trouble that lasts. It is tried there again and again, and does
 * not keep the zone from those that could run it. */
Test(zones_ctl, a_zone_that_does_not_start_on_its_node_is_run_by_another) {
  land *all = land_start(&(land_options){.agents = 10, .speed = 5});
  int owner = land_owner(all, 0);
  cr_assert_geq(owner, 0);
  await_state(all, (uint32_t)owner, 0, "runs", true);
  const char *path = formed("%s/west/snapshot.lock", all->nodes[owner].folder);
  int lock = open(path, O_RDWR | O_CLOEXEC);
  cr_assert(lock >= 0, "%s", path);
  land_crash(all, (uint32_t)owner);
  cr_assert_eq(flock(lock, LOCK_EX), 0);
  for (int tries = 0; land_owner(all, 0) == owner || land_owner(all, 0) < 0; tries++) {
    cr_assert_lt(tries, TRIES, "the zone is not left to others: %s", daemon_log(&all->nodes[owner]));
    usleep(PAUSE_US);
  }
  close(lock);
  land_await(all);
  land_end(all);
}

/* ---------------------------------------------------------------------------------------------------- drains, moves */

/* Waits until a node runs so many zones; the land is watched meanwhile. */
static void await_zones_of(land *all, uint32_t asked, uint32_t node, size_t count) {
  for (int tries = 0;; tries++, land_watch(all)) {
    json_auto_t *document = nodes_of(all, asked);
    if (json_array_size(json_object_get(row_of_node(document, node), "zones")) == count) break;
    cr_assert_lt(tries, MOVE_TRIES, "node %u does not run %zu zones", node, count);
  }
  land_await(all);
}

/* While the node that is to have a zone takes nothing, all of them tell that it is wanted there, and where it is. */
static void expect_wanted(land *all, uint32_t asked, uint32_t zone, const char *wanted, const char *at) {
  char last[64] = "";
  for (int tries = 0; tries < TRIES; tries++, usleep(PAUSE_US)) {
    json_auto_t *entry = zone_of(all, asked, zone);
    snprintf(last, sizeof last, "%s", text_of(entry, "wanted"));
    if (strcmp(last, wanted)) continue;
    cr_expect_str_eq(text_of(entry, "node"), at);
    return;
  }
  cr_assert_fail("zone %u is wanted on '%s', and not on '%s'", zone + 1, last, wanted);
}

/* What the brokers know of a zone is what its process knows. */
static void expect_numbers(const land *all, uint32_t owner, uint32_t zone, const char *world) {
  static const char *const numbers[][2] = {{"zone", "muster_zone"},
                                           {"epoch", "muster_zone_epoch"},
                                           {"space", "muster_zone_birth_space"},
                                           {"spaces_used", "muster_zone_birth_spaces_used"}};
  json_auto_t *entry = zone_of(all, owner, zone);
  for (size_t i = 0; i < COUNT_OF(numbers); i++) {
    cr_expect_eq(json_integer_value(json_object_get(entry, numbers[i][0])),
                 (json_int_t)daemon_metric(&all->nodes[owner], formed("%s{world=\"%s\"}", numbers[i][1], world)),
                 "%s: %s", world, numbers[i][0]);
  }
}

/* A node that drains loses its zones by moves that nobody notices, and gets none: also not from one that dies. */
Test(zones_ctl, drain_empties_a_node_by_moves_that_lose_nothing) {
  enum { A, B, C, MIDDLE = 1, EAST };
  land *all = land_start(&(land_options){.journal_stream = true, .agents = 60, .speed = 10, .life = 20});
  uint32_t balancer = await_nodes(all, 7, LAND_ZONES), epoch = all->epoch[MIDDLE];
  expect_ctl(all, B, "drain", 0, "node b drains: others get middle", "");
  await_zones_of(all, A, B, 0);
  cr_expect_eq(all->epoch[MIDDLE], epoch + 1, "one move, and no death");
  cr_expect(land_owner(all, MIDDLE) == A || land_owner(all, MIDDLE) == C);
  expect_ctl(all, C, "nodes", 0, "yes     nothing", "balancer: ");
  expect_ctl(all, balancer, "get /metrics", 0, "muster_balancer_moves_total 1\n",
             "muster_balancer_moves_failed_total 0\n"); /* as the balancer it has named them */
  expect_ctl(all, B, "drain", 0, "node b drains: it has no zone", "");

  land_note_owned(all, C);
  land_kill(all, C);
  land_await_takeover(all, "a death beside a node that drains");
  for (uint32_t zone = 0; zone < LAND_ZONES; zone++) cr_expect_eq(land_owner(all, zone), A);
  land_revive(all, C);
  await_nodes(all, 7, LAND_ZONES);

  expect_ctl(all, B, "drain --undo", 0, "node b gets zones again", "");
  epoch = all->epoch[EAST];
  expect_numbers(all, A, EAST, "east");
  daemon_signal(&all->nodes[B], SIGSTOP);
  expect_ctl(all, C, "zones move east b", 0, "world east goes from node a to node b", "muster ctl zones");
  expect_wanted(all, A, EAST, "b", "a");
  expect_wanted(all, A, MIDDLE, "", "a");
  daemon_signal(&all->nodes[B], SIGCONT);
  await_zones_of(all, C, B, 1);
  cr_expect_eq(land_owner(all, EAST), B);
  cr_expect_eq(all->epoch[EAST], epoch + 1);
  await_state(all, A, EAST, "elsewhere", false);
  expect_ctl(all, A, "zones move east b", 1, "world east runs on node b already", "");
  land_end_with_all(all);
}
