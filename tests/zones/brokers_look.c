/* What brokers say of themselves, and the ways to them. */
#include "brokers_parts.h"

#include <curl/curl.h>
#include <jansson.h>
#include <sys/wait.h>
#include <time.h>

enum { PATIENCE_MS = 120000, GLANCE_MS = 50, ANSWER_MS = 1000 };

const char *brokers_urls(const brokers *all, brokers_kind kind) {
  return all->urls[kind];
}

const char *brokers_url(const brokers *all, brokers_kind kind, uint32_t which) {
  return all->of[kind][which].url;
}

const char *brokers_folder(const brokers *all, brokers_kind kind, uint32_t which) {
  return all->of[kind][which].folder;
}

pid_t brokers_process(const brokers *all, brokers_kind kind, uint32_t which) {
  return all->of[kind][which].process;
}

/* ------------------------------------------------------------------------------------------------------------- HTTP */

typedef struct growing {
  char *bytes;
  size_t length;
} growing;

static size_t take_answer(char *bytes, size_t size, size_t count, void *user) {
  growing *to = user;
  char *more = realloc(to->bytes, to->length + size * count + 1);
  if (!more) return 0;
  to->bytes = more;
  memcpy(more + to->length, bytes, size * count);
  to->length += size * count;
  more[to->length] = '\0';
  return size * count;
}

static brokers_answer ask_within(long ms, const brokers *all, brokers_kind kind, uint32_t which, const char *path,
                                 const char *token, const char *body) {
  growing text = {.bytes = calloc(1, 1)};
  brokers_answer answer = {0};
  struct curl_slist *headers = NULL;
  CURL *curl = curl_easy_init();
  cr_assert(curl && text.bytes);
  const char *url = formed("http://127.0.0.1:%u%s", all->of[kind][which].web, path);
  if (token) headers = curl_slist_append(headers, formed("Authorization: %s", token ? token : ""));
  curl_easy_setopt(curl, CURLOPT_URL, url);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, ms);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_answer);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &text);
  if (body) curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
  if (curl_easy_perform(curl) == CURLE_OK) curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
  curl_easy_cleanup(curl);
  curl_slist_free_all(headers);
  answer.body = text.bytes;
  return answer;
}

brokers_answer brokers_ask(const brokers *all, brokers_kind kind, uint32_t which, const char *path, const char *token,
                           const char *body) {
  return ask_within(PATIENCE_MS, all, kind, which, path, token, body);
}

void brokers_tell_etcd(const brokers *all, const char *path, const char *body) {
  brokers_answer answer = brokers_ask(all, BROKERS_ETCD, 0, path, NULL, body);
  cr_assert_eq(answer.status, 200, "%s: %ld: %s", path, answer.status, answer.body);
  free(answer.body);
}

/* The same as a document with all numbers as reals, since nats-server says 2^64 - 1 where it has no limit. The caller
 * releases it; null = no answer, or one that refuses. */
static json_t *ask_broker(const brokers *all, brokers_kind kind, uint32_t which, const char *path, const char *body) {
  json_error_t error;
  if (all->of[kind][which].process == 0 || all->of[kind][which].is_paused) return NULL;
  brokers_answer answer = ask_within(ANSWER_MS, all, kind, which, path, NULL, body);
  json_t *document = answer.status == 200 ? json_loads(answer.body, JSON_DECODE_INT_AS_REAL, &error) : NULL;
  free(answer.body);
  return document;
}

/* ---------------------------------------------------------------------------------------------------------- leaders */

/* A member by its path, such as "cluster.leader"; null when there is none. */
static json_t *member_of(json_t *document, const char *path) {
  char names[128];
  snprintf(names, sizeof names, "%s", path);
  for (char *name = strtok(names, "."); name && document; name = strtok(NULL, "."))
    document = json_object_get(document, name);
  return document;
}

/* Which broker has a name of ours, such as n2; -1 = none. */
static int named(const json_t *name) {
  const char *text = json_string_value(name);
  return text && (text[0] == 'n' || text[0] == 'e') && text[1] >= '0' && text[1] <= '2' && !text[2] ? text[1] - '0'
                                                                                                    : -1;
}

static json_t *find_stream(json_t *jsz, const char *stream) {
  size_t i, j;
  json_t *account, *detail;
  json_array_foreach(json_object_get(jsz, "account_details"), i, account) json_array_foreach(
      json_object_get(account, "stream_detail"), j,
      detail) if (strcmp(json_string_value(json_object_get(detail, "name")), stream) == 0) return detail;
  return NULL;
}

/* Which broker a nats-server takes for the leader of a stream, or of all (null); -1 = it knows of none. */
static int leader_seen(const brokers *all, uint32_t which, const char *stream) {
  json_auto_t *jsz = ask_broker(all, BROKERS_NATS, which, "/jsz?accounts=true&streams=true", NULL);
  return named(stream ? member_of(find_stream(jsz, stream), "cluster.leader") : member_of(jsz, "meta_cluster.leader"));
}

/* Who has more than half of the votes. */
static int majority(const uint32_t votes[BROKERS_MAX], uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (2 * votes[i] > count) return (int)i;
  return -1;
}

static int nats_leader(const brokers *all, const char *stream) {
  uint32_t votes[BROKERS_MAX] = {0}, count = all->counts[BROKERS_NATS];
  if (!all->options.cluster) return 0; /* they do not speak of leaders */
  for (uint32_t i = 0; i < count; i++) {
    int seen = leader_seen(all, i, stream);
    if (seen >= 0) votes[seen]++;
  }
  return majority(votes, count);
}

int brokers_stream_leader(const brokers *all, const char *stream) {
  return nats_leader(all, stream);
}

int brokers_meta_leader(const brokers *all) {
  return nats_leader(all, NULL);
}

int brokers_etcd_leader(const brokers *all) {
  uint32_t votes[BROKERS_MAX] = {0}, count = all->counts[BROKERS_ETCD];
  char ids[BROKERS_MAX][32] = {0}, leaders[BROKERS_MAX][32] = {0};
  for (uint32_t i = 0; i < count; i++) {
    json_auto_t *status = ask_broker(all, BROKERS_ETCD, i, "/v3/maintenance/status", "{}");
    const char *id = json_string_value(member_of(status, "header.member_id"));
    const char *leader = json_string_value(member_of(status, "leader"));
    snprintf(ids[i], sizeof ids[i], "%s", id ? id : "");
    snprintf(leaders[i], sizeof leaders[i], "%s", leader ? leader : "");
  }
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t j = 0; j < count; j++) votes[j] += *ids[j] && strcmp(leaders[i], ids[j]) == 0;
  return majority(votes, count);
}

/* ------------------------------------------------------------------------------------------------------------ ready */

static bool is_ready(const brokers *all, brokers_kind kind, uint32_t which) {
  bool is_etcd = kind == BROKERS_ETCD;
  json_auto_t *health = ask_broker(all, kind, which, is_etcd ? "/health" : "/healthz", NULL);
  const char *status = json_string_value(json_object_get(health, is_etcd ? "health" : "status"));
  if (!status || strcmp(status, is_etcd ? "true" : "ok") != 0) return false;
  return is_etcd || !all->options.cluster || leader_seen(all, which, NULL) >= 0;
}

/* The meta leader knows how many servers are in the cluster; before all are, no stream can have that many replicas. */
static bool nats_is_whole(const brokers *all) {
  int leader = brokers_meta_leader(all);
  if (!all->options.cluster) return true;
  if (leader < 0) return false;
  json_auto_t *jsz = ask_broker(all, BROKERS_NATS, (uint32_t)leader, "/jsz", NULL);
  return json_number_value(member_of(jsz, "meta_cluster.cluster_size")) == all->counts[BROKERS_NATS];
}

static bool are_ready(const brokers *all) {
  for (brokers_kind kind = 0; kind < BROKERS_KINDS; kind++)
    for (uint32_t i = 0; i < all->counts[kind]; i++) {
      bool is_away = all->of[kind][i].process == 0 || all->of[kind][i].is_paused;
      if (!is_away && !is_ready(all, kind, i)) return false;
    }
  return nats_is_whole(all) && (all->counts[BROKERS_ETCD] == 0 || brokers_etcd_leader(all) >= 0);
}

/* Whether one that was started has ended by itself. */
static bool has_lost_one(const brokers *all) {
  for (brokers_kind kind = 0; kind < BROKERS_KINDS; kind++)
    for (uint32_t i = 0; i < all->counts[kind]; i++) {
      siginfo_t info = {0};
      pid_t process = all->of[kind][i].process;
      if (process > 0 && waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid)
        return true;
    }
  return false;
}

bool brokers_become_ready(const brokers *all) {
  const struct timespec pause = {.tv_nsec = GLANCE_MS * 1000000};
  for (int waited = 0; waited < PATIENCE_MS; waited += GLANCE_MS) {
    if (are_ready(all)) return true;
    if (has_lost_one(all)) return false;
    nanosleep(&pause, NULL);
  }
  cr_assert(false, "the brokers in %s do not become ready", all->folder);
  return false;
}

void brokers_await(const brokers *all) {
  cr_assert(brokers_become_ready(all), "a broker has ended by itself");
}

void brokers_name_users(const brokers *all) {
  static const char *const steps[][2] = {
      {"user/add", "{\"name\": \"root\", \"password\": \"" BROKERS_PASSWORD "-too\"}"},
      {"role/add", "{\"name\": \"root\"}"},
      {"user/grant", "{\"user\": \"root\", \"role\": \"root\"}"},
      {"user/add", "{\"name\": \"" BROKERS_USER "\", \"password\": \"" BROKERS_PASSWORD "\"}"},
      {"role/add", "{\"name\": \"keys\"}"},
      /* from "muster/" up to "muster0", in base64 */
      {"role/grant", "{\"name\": \"keys\", \"perm\": "
                     "{\"permType\": \"READWRITE\", \"key\": \"bXVzdGVyLw==\", \"range_end\": \"bXVzdGVyMA==\"}}"},
      {"user/grant", "{\"user\": \"" BROKERS_USER "\", \"role\": \"keys\"}"},
      {"enable", "{}"},
  };
  for (size_t i = 0; i < COUNT_OF(steps); i++) {
    brokers_tell_etcd(all, formed("/v3/auth/%s", steps[i][0]), steps[i][1]);
  }
}

/* ------------------------------------------------------------------------------------------------------------- ways */

void brokers_cut_off(brokers *all, brokers_kind kind, uint32_t which, bool is_cut) {
  for (uint32_t i = 0; i < all->counts[kind]; i++) {
    if (i == which) continue;
    cr_assert(all->options.between, "nothing lies between the brokers");
    proxy_cut(&all->ways, party_of_broker(kind, which), party_of_broker(kind, i), is_cut);
  }
}

uint32_t brokers_open_door(brokers *all) {
  uint32_t number = all->door_count++;
  cr_assert(number < BROKERS_DOORS_MAX);
  for (brokers_kind kind = 0; kind < BROKERS_KINDS; kind++)
    for (uint32_t i = 0; i < all->counts[kind]; i++) {
      uint16_t port = proxy_listen(&all->ways, all->of[kind][i].port, party_of_broker(kind, i), party_of_door(number));
      append_text(all->doors[number][kind], BROKERS_URLS_BYTES, "%s%s://127.0.0.1:%u", i ? "," : "",
                  kind == BROKERS_ETCD ? "http" : "nats", port);
    }
  return number;
}

const char *brokers_door(const brokers *all, uint32_t door, brokers_kind kind) {
  return all->doors[door][kind];
}

void brokers_cut_door(brokers *all, uint32_t door, brokers_kind kind, uint32_t which, bool is_cut) {
  cr_assert(door < all->door_count);
  proxy_cut(&all->ways, party_of_door(door), party_of_broker(kind, which), is_cut);
}

void brokers_cut_door_whole(brokers *all, uint32_t door, bool is_cut) {
  for (brokers_kind kind = 0; kind < BROKERS_KINDS; kind++)
    for (uint32_t i = 0; i < all->counts[kind]; i++) brokers_cut_door(all, door, kind, i, is_cut);
}

void brokers_door_passed(brokers *all, uint32_t door, brokers_kind kind, uint32_t which, uint64_t *to, uint64_t *from) {
  *to = proxy_bytes(&all->ways, party_of_door(door), party_of_broker(kind, which));
  *from = proxy_bytes(&all->ways, party_of_broker(kind, which), party_of_door(door));
}
