/* A store that has no room: etcd says NOSPACE and takes nothing more, until an operator has made some. */
#include "lone_node.h"

TestSuite(zones_store, .timeout = 300);

/* As etcd does itself where its quota is used up. */
static void set_full(const brokers *servers, bool full) {
  char *member;
  brokers_answer status = brokers_ask(servers, BROKERS_ETCD, 0, "/v3/maintenance/status", NULL, "{}");
  cr_assert(status.status == 200 && (member = strstr(status.body, "\"member_id\":\"")), "%s", status.body);
  brokers_tell_etcd(servers, "/v3/maintenance/alarm",
                    formed("{\"action\": \"%s\", \"memberID\": \"%.*s\", \"alarm\": \"NOSPACE\"}",
                           full ? "ACTIVATE" : "DEACTIVATE", (int)strspn(member + 13, "0123456789"), member + 13));
  brokers_answer answer =
      brokers_ask(servers, BROKERS_ETCD, 0, "/v3/kv/put", NULL, "{\"key\": \"YQ==\", \"value\": \"YQ==\"}");
  cr_assert_eq(answer.status == 200, !full, "%s", answer.body);
  free(answer.body);
  free(status.body);
}

static long long frames_of_zone(const musterd *service) {
  json_auto_t *world = lone_ask(service, "/v1/worlds/west");
  return json_integer_value(json_object_get(json_object_get(world, "frame"), "number"));
}

Test(zones_store, without_room_costs_no_zone_that_runs_and_what_waits_goes_on_afterwards) {
  static musterd service;
  brokers *servers = brokers_start(&(brokers_options){.nats = 1, .etcd = 1});
  lone_start(&service, servers);
  set_full(servers, true);
  long long frames = frames_of_zone(&service);
  for (int i = 0; i < LOOKS; i++, usleep(PAUSE_US)) cr_assert_eq(lone_epoch(&service), 1, "%s", daemon_log(&service));
  cr_expect_gt(frames_of_zone(&service), frames);
  daemon_kill(&service); /* what it needs a new epoch for waits for room */
  lone_launch(&service);
  for (int i = 0; i < LOOKS; i++, usleep(PAUSE_US)) cr_assert_eq(lone_epoch(&service), 0);
  set_full(servers, false);
  cr_expect_eq(lone_await(&service), 2);
  long long now = frames_of_zone(&service);
  for (int tries = 0; !now && tries < TRIES; tries++, usleep(PAUSE_US)) now = frames_of_zone(&service); /* its first */
  cr_expect_gt(now, frames, "it does not go on where it was: %s", daemon_log(&service));
  daemon_stop(&service);
  brokers_end(servers);
}
