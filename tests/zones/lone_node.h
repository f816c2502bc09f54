/* lone_node.h - daemons of one node name, north, which run the one zone of a land with real brokers. */
#ifndef LONE_NODE_H
#define LONE_NODE_H

#include "brokers.h"

#include "daemon.h"

#include <jansson.h>

enum { TRIES = 600, PAUSE_US = 100000, LOOKS = 30 }; /* LOOKS: as long as nothing is to happen */

/* Each in a folder of its own, as on two machines. */
static inline void lone_begin(musterd *service, const brokers *servers) {
  daemon_prepare(service);
  daemon_write(
      service, "conf",
      formed("[server]\ncluster = land\nnode = north\nnats = %s\nnats_user = %s\nnats_password_file = %s/password\n"
             "etcd = %s\nlease_ttl = 15s\nbalance = no\nsnapshot_file = %s/snapshot\nworkers = 1\ncrash_limit = 0\n"
             "[world west]\nzone = 1\nrectangle = 0 0 100 100\nbudget = 5ms\nhz = 10\nmodule = nomads\nagents = 10\n"
             "module.ground = 0 0 100 100\nmodule.speed = 1\nmodule.life = 1000\nmodule.books = 0\n",
             brokers_urls(servers, BROKERS_NATS), BROKERS_USER, service->folder, brokers_urls(servers, BROKERS_ETCD),
             service->folder));
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
  json_auto_t *document = lone_ask(service, "/v1/zones");
  json_t *zone = json_array_get(json_object_get(document, "zones"), 0);
  const char *state = json_string_value(json_object_get(zone, "state"));
  if (!state || strcmp(state, "runs") != 0) return 0;
  return (uint32_t)json_integer_value(json_object_get(zone, "epoch"));
}

static inline uint32_t lone_await(const musterd *service) {
  uint32_t epoch = 0;
  for (int tries = 0; !epoch && tries < TRIES; tries++, usleep(PAUSE_US)) epoch = lone_epoch(service);
  cr_assert(epoch, "the zone does not run");
  return epoch;
}

/* All of that for the first time. */
static inline void lone_start(musterd *service, const brokers *servers) {
  lone_begin(service, servers);
  lone_launch(service);
  cr_expect_eq(lone_await(service), 1);
}

/* Ends whatever still runs of it. */
static inline void lone_end(musterd *service) {
  daemon_kill(service);
  daemon_clear(service);
}

#endif
