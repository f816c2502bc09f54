/* The brokers of the tests themselves: ready when they say so, let in nobody without a name, and can be cut. */
#include "brokers.h"

#include <nats/nats.h>
#include <time.h>

TestSuite(brokers, .timeout = 240);

static natsStatus connect_with(const char *urls, const char *user, const char *password, natsConnection **made) {
  natsOptions *options = NULL;
  const char *list[BROKERS_MAX];
  char copy[BROKERS_URLS_BYTES];
  int count = 0;
  strcpy(copy, urls);
  for (char *url = strtok(copy, ","); url; url = strtok(NULL, ",")) list[count++] = url;
  cr_assert_eq(natsOptions_Create(&options), NATS_OK);
  cr_assert_eq(natsOptions_SetServers(options, list, count), NATS_OK);
  if (user) cr_assert_eq(natsOptions_SetUserInfo(options, user, password), NATS_OK);
  natsOptions_SetTimeout(options, 1000);
  natsStatus status = natsConnection_Connect(made, options);
  natsOptions_Destroy(options);
  return status;
}

/* Puts a key by the gateway and returns the status of HTTP. */
static long put_key(const brokers *all, uint32_t which, const char *token) {
  brokers_answer answer =
      brokers_ask(all, BROKERS_ETCD, which, "/v3/kv/put", token, "{\"key\": \"bXVzdGVyL2E=\", \"value\": \"MQ==\"}");
  free(answer.body);
  return answer.status;
}

Test(brokers, let_in_nobody_without_a_name) {
  brokers *all = brokers_start(&(brokers_options){.nats = 1, .etcd = 1, .etcd_users = true});
  natsConnection *connection = NULL;
  cr_expect_neq(connect_with(brokers_urls(all, BROKERS_NATS), NULL, NULL, &connection), NATS_OK);
  cr_expect_neq(connect_with(brokers_urls(all, BROKERS_NATS), BROKERS_USER, "another", &connection), NATS_OK);
  cr_expect_eq(connect_with(brokers_urls(all, BROKERS_NATS), BROKERS_USER, BROKERS_PASSWORD, &connection), NATS_OK);
  natsConnection_Destroy(connection);
  cr_expect_neq(put_key(all, 0, NULL), 200);
  brokers_answer answer = brokers_ask(all, BROKERS_ETCD, 0, "/v3/auth/authenticate", NULL,
                                      "{\"name\": \"" BROKERS_USER "\", \"password\": \"" BROKERS_PASSWORD "\"}");
  char *token = strstr(answer.body, "\"token\":\"");
  cr_assert(token, "%s", answer.body);
  token = strtok(token + strlen("\"token\":\""), "\"");
  cr_expect_eq(put_key(all, 0, token), 200);
  free(answer.body);
  brokers_end(all);
  nats_Close();
}

static void await_leader_but(const brokers *all, int but, int (*leader)(const brokers *)) {
  const struct timespec pause = {.tv_nsec = 50000000};
  for (int now = -1; now < 0 || now == but; now = leader(all)) nanosleep(&pause, NULL);
}

Test(brokers, have_another_leader_when_theirs_is_killed_or_cut_off) {
  brokers *all = brokers_start(&(brokers_options){.nats = 3, .etcd = 3, .cluster = true, .between = true});
  int leader = brokers_etcd_leader(all);
  cr_assert(leader >= 0);
  brokers_cut_off(all, BROKERS_ETCD, (uint32_t)leader, true);
  cr_expect_neq(put_key(all, (uint32_t)leader, NULL), 200, "it does not know that it is cut off");
  await_leader_but(all, leader, brokers_etcd_leader);
  cr_expect_eq(put_key(all, (uint32_t)brokers_etcd_leader(all), NULL), 200);
  brokers_cut_off(all, BROKERS_ETCD, (uint32_t)leader, false);
  brokers_await(all);

  leader = brokers_meta_leader(all);
  brokers_kill(all, BROKERS_NATS, (uint32_t)leader);
  cr_expect(!brokers_runs(all, BROKERS_NATS, (uint32_t)leader));
  await_leader_but(all, leader, brokers_meta_leader);
  brokers_revive(all, BROKERS_NATS, (uint32_t)leader);
  brokers_await(all);
  int paused = brokers_meta_leader(all);
  brokers_pause(all, BROKERS_NATS, (uint32_t)paused);
  await_leader_but(all, paused, brokers_meta_leader);
  brokers_resume(all, BROKERS_NATS, (uint32_t)paused);
  brokers_await(all);
  brokers_end(all);
}

Test(brokers, hold_back_what_a_door_that_is_cut_sends) {
  brokers *all = brokers_start(&(brokers_options){.nats = 1, .etcd = 1});
  natsConnection *inside = NULL, *outside = NULL;
  natsSubscription *heard = NULL;
  natsMsg *message = NULL;
  uint32_t door = brokers_open_door(all);
  cr_assert_eq(connect_with(brokers_door(all, door, BROKERS_NATS), BROKERS_USER, BROKERS_PASSWORD, &outside), NATS_OK);
  cr_assert_eq(connect_with(brokers_urls(all, BROKERS_NATS), BROKERS_USER, BROKERS_PASSWORD, &inside), NATS_OK);
  cr_assert_eq(natsConnection_SubscribeSync(&heard, inside, "told"), NATS_OK);
  cr_assert_eq(natsConnection_Flush(inside), NATS_OK);
  brokers_cut_door_whole(all, door, true);
  cr_assert_eq(natsConnection_PublishString(outside, "told", "late"), NATS_OK);
  cr_expect_eq(natsConnection_FlushTimeout(outside, 300), NATS_TIMEOUT);
  cr_expect_eq(natsSubscription_NextMsg(&message, heard, 1), NATS_TIMEOUT);
  brokers_cut_door_whole(all, door, false);
  cr_assert_eq(natsSubscription_NextMsg(&message, heard, 60000), NATS_OK);
  cr_expect_str_eq(natsMsg_GetData(message), "late");
  natsMsg_Destroy(message);
  natsSubscription_Destroy(heard);
  natsConnection_Destroy(inside);
  natsConnection_Destroy(outside);
  nats_Close();
  brokers_end(all);
}
