/* `muster ctl zones`: who has which zone, what it is on a node, and what of it is stored; and `zones restore`, when the
 * brokers have lost everything. With real brokers and three nodes. */
#include "land.h"
#include "tools/program.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 300, PAUSE_US = 200000, LOST_BYTES = 600 };

TestSuite(zones_ctl, .timeout = 600);

/* `muster ctl` with these words at a node. */
static program_run *ctl(const land *all, uint32_t node, const char *words) {
  char line[512];
  snprintf(line, sizeof line, "ctl --socket %s %s", all->nodes[node].socket, words);
  return program_start(line);
}

/* What it prints, and its exit status; each text must be there. */
static void expect_ctl(const land *all, uint32_t node, const char *words, int status, const char *first,
                       const char *second) {
  program_run *run = ctl(all, node, words);
  cr_expect_eq(run->status, status, "ctl %s: %d: %s%s", words, run->status, run->output, run->errors);
  cr_expect(strstr(run->output, first) || strstr(run->errors, first), "ctl %s, without '%s': %s%s", words, first,
            run->output, run->errors);
  cr_expect(strstr(run->output, second) || strstr(run->errors, second), "ctl %s, without '%s': %s%s", words, second,
            run->output, run->errors);
  free(run);
}

/* The entry of a zone, which the caller releases; null: the node does not answer. */
static json_t *zone_of(const land *all, uint32_t node, uint32_t zone) {
  json_error_t error;
  program_run *run = ctl(all, node, "--json zones");
  json_t *document = json_loads(run->output, 0, &error);
  json_t *entry = json_incref(json_array_get(json_object_get(document, "zones"), zone));
  json_decref(document);
  free(run);
  return entry;
}

static const char *text_of(const json_t *entry, const char *name) {
  const char *text = json_string_value(json_object_get(entry, name));
  return text ? text : "";
}

static void await_state(land *all, uint32_t node, uint32_t zone, const char *state, bool stored) {
  char last[64] = "";
  for (int tries = 0; tries < TRIES; tries++) {
    json_t *entry = zone_of(all, node, zone);
    snprintf(last, sizeof last, "%s", text_of(entry, "state"));
    bool is_there = strcmp(last, state) == 0 && (!stored || json_is_object(json_object_get(entry, "stored")));
    json_decref(entry);
    if (is_there) return;
    usleep(PAUSE_US);
  }
  cr_assert(false, "zone %u is '%s' on node %u, and not '%s'", zone + 1, last, node, state);
}

/* All that the brokers had is gone. */
static void lose_everything(land *all) {
  char line[LOST_BYTES];
  for (uint32_t kind = 0; kind <= BROKERS_ETCD; kind++) {
    brokers_kill(all->brokers, (brokers_kind)kind, 0);
    snprintf(line, sizeof line, "cd '%s' && rm -rf data jetstream",
             brokers_folder(all->brokers, (brokers_kind)kind, 0));
    cr_assert_eq(system(line), 0);
    brokers_revive(all->brokers, (brokers_kind)kind, 0);
  }
  brokers_await(all->brokers);
}

Test(zones_ctl, shows_who_has_which_zone_and_restores_one_that_was_lost) {
  land *all = land_start(&(land_options){.brokers = {.nats = 1, .etcd = 1}, .agents = 10, .speed = 5});
  await_state(all, 0, 0, "runs", true);
  await_state(all, 1, 0, "elsewhere", true);
  expect_ctl(all, 0, "zones", 0, "west    a         1", "runs");
  expect_ctl(all, 1, "zones", 0, "s ago", "elsewhere: ");
  json_t *entry = zone_of(all, 2, 0);
  cr_expect_str_eq(text_of(entry, "world"), "west");
  cr_expect_str_eq(text_of(entry, "node"), "a");
  cr_expect_eq(json_integer_value(json_object_get(entry, "zone")), 1);
  cr_expect_eq(json_integer_value(json_object_get(entry, "epoch")), 1);
  cr_expect(json_is_false(json_object_get(entry, "free")) && json_is_false(json_object_get(entry, "restorable")));
  json_decref(entry);
  expect_ctl(all, 0, "zones restore west", 1, "no zone that the brokers have lost", "muster ctl zones");
  expect_ctl(all, 0, "zones restore nowhere", 1, "nowhere", "");
  expect_ctl(all, 0, "zones restart west", 2, "muster ctl zones [restore WORLD]", "");
  expect_ctl(all, 0, "zones restore", 2, "muster ctl zones [restore WORLD]", "");
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
