/* Two writers race for a key of etcd with three members, by transactions that compare its mod_revision (race.h), over
 * the HTTP gateway. Leases rest on this: there must never be two winners, and the key's version, which etcd raises by
 * one with each change, must tell the same. */
#include "race.h"

#include <curl/curl.h>
#include <jansson.h>

TestSuite(race_etcd, .timeout = 14000);

enum { RACES_IN_CI = 300, ANSWER_MS = 3000, PATIENCE = 100, BODY_BYTES = 512, ANSWER_BYTES = 4096 };

#define KEY "cmFjZS9sZWFzZQ==" /* race/lease */

typedef struct asker {
  CURL *curl;
  size_t length;
  char url[64], body[BODY_BYTES], answer[ANSWER_BYTES];
} asker;

typedef struct key_state {
  uint64_t revision, version; /* mod_revision, 0 = there is no such key */
} key_state;

static brokers *all;
static asker askers[2], reader;
static CURLM *both;

static size_t take_piece(char *bytes, size_t size, size_t count, void *user) {
  asker *to = user;
  if (to->length + size * count >= sizeof to->answer) return 0;
  memcpy(to->answer + to->length, bytes, size * count);
  to->length += size * count;
  to->answer[to->length] = '\0';
  return size * count;
}

static void prepare_request(asker *from, uint32_t member, const char *path) {
  from->length = 0;
  *from->answer = '\0';
  if (!from->curl) from->curl = curl_easy_init();
  snprintf(from->url, sizeof from->url, "%s%s", brokers_url(all, BROKERS_ETCD, member), path);
  curl_easy_setopt(from->curl, CURLOPT_URL, from->url);
  curl_easy_setopt(from->curl, CURLOPT_POSTFIELDS, from->body);
  curl_easy_setopt(from->curl, CURLOPT_TIMEOUT_MS, (long)ANSWER_MS);
  curl_easy_setopt(from->curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(from->curl, CURLOPT_WRITEFUNCTION, take_piece);
  curl_easy_setopt(from->curl, CURLOPT_WRITEDATA, from);
}

static uint64_t number_at(const json_t *object, const char *name) {
  const char *text = json_string_value(json_object_get(object, name));
  return text ? strtoull(text, NULL, 10) : 0; /* the gateway writes 64 bits as texts, and leaves out zero */
}

/* The key, as the cluster agrees on it: reads of etcd are linearizable. Asks until one answers. */
static key_state look_at_key(void) {
  for (uint32_t i = 0; i < PATIENCE; i++) {
    uint32_t member = i % BROKERS_MAX;
    if (!brokers_runs(all, BROKERS_ETCD, member)) continue;
    snprintf(reader.body, sizeof reader.body, "{\"key\": \"%s\"}", KEY);
    prepare_request(&reader, member, "/v3/kv/range");
    if (curl_easy_perform(reader.curl) != CURLE_OK) continue;
    json_auto_t *answer = json_loads(reader.answer, 0, NULL);
    json_t *key = json_array_get(json_object_get(answer, "kvs"), 0);
    if (json_object_get(answer, "header"))
      return (key_state){number_at(key, "mod_revision"), number_at(key, "version")};
  }
  cr_assert(false, "etcd does not answer: %s", reader.answer);
  return (key_state){0};
}

static race_answer read_txn(const asker *from) {
  json_auto_t *answer = json_loads(from->answer, 0, NULL);
  if (*from->answer == '\0') return RACE_NONE;
  if (!json_object_get(answer, "header")) return RACE_FAILED;
  return json_is_true(json_object_get(answer, "succeeded")) ? RACE_WON : RACE_REFUSED;
}

static void begin_requests(uint64_t race, uint64_t revision) {
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t which = (uint32_t)(race + i) % 2, member = (uint32_t)(race / 2 + which) % BROKERS_MAX;
    asker *from = &askers[which];
    snprintf(from->body, sizeof from->body,
             "{\"compare\": [{\"key\": \"%s\", \"target\": \"MOD\", \"result\": \"EQUAL\", \"mod_revision\": \"%" PRIu64
             "\"}], \"success\": [{\"request_put\": {\"key\": \"%s\", \"value\": \"%s\"}}]}",
             KEY, revision, KEY, which ? "MQ==" : "MA==");
    prepare_request(from, member, "/v3/kv/txn");
    cr_assert_eq(curl_multi_add_handle(both, from->curl), CURLM_OK);
  }
}

static void finish_requests(void) {
  for (int running = 1; running > 0;) {
    cr_assert_eq(curl_multi_perform(both, &running), CURLM_OK);
    if (running) cr_assert_eq(curl_multi_poll(both, NULL, 0, 100, NULL), CURLM_OK);
  }
  for (uint32_t i = 0; i < 2; i++) curl_multi_remove_handle(both, askers[i].curl);
}

/* Runs a race from a state, and returns the state after it. */
static key_state race_for_key(race_tally *tally, key_state before) {
  race_answer answers[2];
  int running, leader = race_kills_now(tally) ? brokers_etcd_leader(all) : -1;
  begin_requests(tally->races, before.revision);
  if (leader >= 0) {
    curl_multi_perform(both, &running); /* they are on their way, or as good as that */
    race_kill(tally, all, BROKERS_ETCD, leader);
  }
  finish_requests();
  for (uint32_t i = 0; i < 2; i++) answers[i] = read_txn(&askers[i]);
  race_count_answers(tally, answers);
  if (leader >= 0) race_await_leader(all, BROKERS_ETCD, NULL, leader);
  key_state after = look_at_key();
  uint32_t winners = (answers[0] == RACE_WON) + (answers[1] == RACE_WON);
  cr_assert_leq(winners, 1, "race %" PRIu64 ": two winners", tally->races);
  cr_assert_leq(after.version, before.version + 1, "race %" PRIu64 ": two changes", tally->races);
  cr_assert_geq(after.version, before.version + winners, "race %" PRIu64 ": a change is lost", tally->races);
  return after;
}

Test(race_etcd, transactions_that_compare_a_revision_have_one_winner) {
  race_tally tally;
  all = brokers_start(&(brokers_options){.etcd = BROKERS_MAX});
  both = curl_multi_init();
  race_begin(&tally, RACES_IN_CI);
  key_state key = look_at_key();
  while (tally.races < tally.wanted) key = race_for_key(&tally, key);
  race_print(&tally, "transactions of etcd that compare the same revision");
  cr_expect_eq(tally.won[2], 0);
  cr_expect_gt(tally.won[1], tally.races / 2, "nearly all races have a winner");
  cr_expect_gt(tally.kills, 0);
  for (uint32_t i = 0; i < 2; i++) curl_easy_cleanup(askers[i].curl);
  curl_easy_cleanup(reader.curl);
  curl_multi_cleanup(both);
  brokers_end(all);
}
