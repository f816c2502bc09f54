/* lone_node.h - daemons of one node name, north, which run the one zone of a land with real brokers. */
#ifndef LONE_NODE_H
#define LONE_NODE_H

#include "brokers.h"

#include "daemon.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 600, PAUSE_US = 100000, LOOKS = 30 }; /* LOOKS: as long as nothing is to happen */

/* Each in a folder of its own, as on two machines. */
static inline void lone_begin(musterd *service, const brokers *servers) {
  char text[4096];
  daemon_prepare(service);
  snprintf(text, sizeof text,
           "[server]\ncluster = land\nnode = north\nnats = %s\nnats_user = %s\nnats_password_file = %s/password\n"
           "etcd = %s\nlease_ttl = 15s\nbalance = no\nsnapshot_file = %s/snapshot\nworkers = 1\ncrash_limit = 0\n"
           "[world west]\nzone = 1\nrectangle = 0 0 100 100\nbudget = 5ms\nhz = 10\nmodule = nomads\nagents = 10\n"
           "module.ground = 0 0 100 100\nmodule.speed = 1\nmodule.life = 1000\nmodule.books = 0\n",
           brokers_nats(servers), BROKERS_USER, service->folder, brokers_etcd(servers), service->folder);
  daemon_write(service, "conf", text);
  daemon_write(service, "password", BROKERS_PASSWORD "\n");
}

static inline void lone_launch(musterd *service) {
  daemon_launch(service, "--isolation process --config @/conf --modules " MUSTER_TEST_MODULES);
  for (int tries = 0; !daemon_listens(service); tries++, usleep(PAUSE_US)) cr_assert_lt(tries, TRIES, "nobody listens");
}

static inline json_t *lone_ask(const musterd *service, const char *path) {
  static daemon_reply reply;
  json_error_t error;
  daemon_ask(service, "GET", path, NULL, &reply);
  json_t *document = json_loads(reply.body, 0, &error);
  cr_assert_not_null(document, "%s: %s", path, reply.body);
  return document;
}

/* The epoch in which a daemon runs its zone; 0 = it does not. */
static inline uint32_t lone_epoch(const musterd *service) {
  json_t *document = lone_ask(service, "/v1/zones"), *zone = json_array_get(json_object_get(document, "zones"), 0);
  const char *state = json_string_value(json_object_get(zone, "state"));
  uint32_t epoch = (uint32_t)json_integer_value(json_object_get(zone, "epoch"));
  bool runs = state && strcmp(state, "runs") == 0;
  json_decref(document);
  return runs ? epoch : 0;
}

static inline uint32_t lone_await(const musterd *service) {
  for (int tries = 0; tries < TRIES; tries++, usleep(PAUSE_US)) {
    uint32_t epoch = lone_epoch(service);
    if (epoch) return epoch;
  }
  cr_assert(false, "the zone does not run");
  return 0;
}

#endif
