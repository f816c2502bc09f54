#include "service/zones/etcd.h"

#include "service/curl_loop.h"

#include "base/assert.h"
#include "base/error.h"

#include <gnutls/gnutls.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <xxhash.h>

enum {
  TRY_MS = 2000,    /* so that a dead server does not eat a lease */
  SILENT_MS = 5000, /* when nothing was asked for so long, servers are asked whether they are there */
  SERVERS_MAX = 8,
  IDLE_HANDLES_MAX = 16,
  ETCD_ANSWER_BYTES = 16 << 20,
  TOKEN_MAX = 256,
  URL_BYTES = 256
};

typedef struct etcd_request {
  TAILQ_ENTRY(etcd_request) link;
  struct etcd *etcd;
  CURL *curl;
  struct curl_slist *headers;
  char path[64];
  char *body;
  etcd_take take;
  void *user;
  uint32_t server, tries;        /* which is asked; how many were */
  bool signing_in, signed_again; /* what is asked now is a token; one was asked for because the last was refused */
  char *bytes;
  size_t count;
  char problem[CURL_ERROR_SIZE];
} etcd_request;

struct etcd {
  uv_loop_t *loop;
  const broker_settings *settings;
  const char *password;
  struct complaints *complaints;
  etcd_changed changed;
  void *user;
  struct curl_loop *curls;
  uint32_t server_count, good; /* servers; which answered last */
  char servers[SERVERS_MAX][URL_BYTES];
  TAILQ_HEAD(, etcd_request) requests;
  uint32_t idle_count;
  CURL *idle[IDLE_HANDLES_MAX];
  char token[TOKEN_MAX]; /* "" = none yet */
  char address[BROKER_HOST_BYTES];
  bool answers, probing, closing;
  uint64_t seen_ms; /* when a call was last answered, or has failed */
  int64_t revision; /* that the last answer told */
};

/* ------------------------------------------------------------------------------------------------------------- JSON */

void etcd_write_text(json_writer *writer, const char *name, const char *text) {
  etcd_write_bytes(writer, name, text, strlen(text));
}

void etcd_write_bytes(json_writer *writer, const char *name, const void *bytes, size_t count) {
  gnutls_datum_t plain = {(unsigned char *)bytes, (unsigned)count}, coded = {NULL, 0};
  if (gnutls_base64_encode2(&plain, &coded)) abort(); /* no memory */
  json_string(writer, name, (const char *)coded.data);
  gnutls_free(coded.data);
}

void etcd_write_number(json_writer *writer, const char *name, int64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%" PRId64, value);
  json_string(writer, name, text);
}

int64_t etcd_read_number(const struct document *object, const char *name) {
  return document_number(document_member(object, name));
}

/* False: it is none. An empty value is left out by etcd. */
static bool etcd_decode(const struct document *object, const char *name, gnutls_datum_t *plain) {
  const char *coded = document_text(document_member(object, name));
  gnutls_datum_t from = {(unsigned char *)coded, coded ? (unsigned)strlen(coded) : 0};
  *plain = (gnutls_datum_t){NULL, 0};
  return coded && (!*coded || gnutls_base64_decode2(&from, plain) == 0);
}

bool etcd_read_text(const struct document *object, const char *name, char *text, size_t bytes) {
  gnutls_datum_t plain;
  *text = '\0';
  if (!etcd_decode(object, name, &plain)) return false;
  size_t count = plain.size < bytes - 1 ? plain.size : bytes - 1;
  if (count) memcpy(text, plain.data, count);
  text[count] = '\0';
  gnutls_free(plain.data);
  return true;
}

void *etcd_read_bytes(const struct document *object, const char *name, size_t *count) {
  gnutls_datum_t plain = {NULL, 0};
  if (document_member(object, name) && !etcd_decode(object, name, &plain)) return NULL;
  void *bytes = malloc(plain.size + 1);
  if (bytes && plain.size) memcpy(bytes, plain.data, plain.size);
  gnutls_free(plain.data);
  *count = plain.size;
  return bytes;
}

/* ---------------------------------------------------------------------------------------------------------- answers */

static void set_answers(struct etcd *etcd, bool answers) {
  etcd->seen_ms = uv_now(etcd->loop);
  if (etcd->answers == answers || etcd->closing) return;
  etcd->answers = answers;
  etcd->changed(answers, etcd->user);
}

static void free_request(etcd_request *request) {
  struct etcd *etcd = request->etcd;
  TAILQ_REMOVE(&etcd->requests, request, link);
  curl_loop_remove(etcd->curls, request->curl);
  if (etcd->idle_count < IDLE_HANDLES_MAX)
    etcd->idle[etcd->idle_count++] = request->curl;
  else
    curl_easy_cleanup(request->curl);
  curl_slist_free_all(request->headers);
  free(request->body);
  free(request->bytes);
  free(request);
}

static void note_revision(struct etcd *etcd, const struct document *answer) {
  int64_t revision = etcd_read_number(document_member(answer, "header"), "revision");
  if (revision > 0) etcd->revision = revision;
}

int64_t etcd_revision(const struct etcd *etcd) {
  return etcd->revision;
}

static void give_request(etcd_request *request, muster_result result, const struct document *answer) {
  etcd_take take = request->take;
  void *user = request->user;
  free_request(request);
  take(result, answer, user);
}

static size_t keep_etcd_answer(char *bytes, size_t each, size_t count, void *user) {
  etcd_request *request = user;
  count *= each;
  if (request->count + count > ETCD_ANSWER_BYTES) return 0;
  char *more = realloc(request->bytes, request->count + count + 1);
  if (!more) return 0;
  request->bytes = more;
  memcpy(more + request->count, bytes, count);
  request->count += count;
  more[request->count] = '\0';
  return count;
}

/* ------------------------------------------------------------------------------------------------------------ tries */

static void set_up_handle(const struct etcd *etcd, CURL *curl) {
  const broker_settings *settings = etcd->settings;
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep_etcd_answer);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* none, whatever the environment says */
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)TRY_MS);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)TRY_MS / 2);
  if (*settings->tls_ca) curl_easy_setopt(curl, CURLOPT_CAINFO, settings->tls_ca);
  if (*settings->tls_certificate) curl_easy_setopt(curl, CURLOPT_SSLCERT, settings->tls_certificate);
  if (*settings->tls_key) curl_easy_setopt(curl, CURLOPT_SSLKEY, settings->tls_key);
}

static CURL *take_idle_handle(struct etcd *etcd) {
  if (etcd->idle_count) return etcd->idle[--etcd->idle_count];
  CURL *curl = curl_easy_init();
  if (curl) set_up_handle(etcd, curl);
  return curl;
}

/* The request's headers: the token, where there are users. */
static bool set_headers(etcd_request *request) {
  char line[TOKEN_MAX + 32];
  curl_slist_free_all(request->headers);
  request->headers = curl_slist_append(NULL, "Content-Type: application/json");
  if (request->headers && *request->etcd->token && !request->signing_in) {
    snprintf(line, sizeof line, "Authorization: %s", request->etcd->token);
    if (!curl_slist_append(request->headers, line)) return false;
  }
  return request->headers && curl_easy_setopt(request->curl, CURLOPT_HTTPHEADER, request->headers) == CURLE_OK;
}

static bool set_signing_in(etcd_request *request) {
  char body[1024];
  json_writer writer;
  json_start(&writer, body, sizeof body);
  json_begin_object(&writer, NULL);
  json_string(&writer, "name", request->etcd->settings->etcd_user);
  json_string(&writer, "password", request->etcd->password);
  json_end_object(&writer);
  return json_finish(&writer) && curl_easy_setopt(request->curl, CURLOPT_COPYPOSTFIELDS, body) == CURLE_OK;
}

/* Sends the request to its server; first one for a token, where it needs one. */
static bool begin_try(etcd_request *request) {
  struct etcd *etcd = request->etcd;
  char url[URL_BYTES + 64];
  request->signing_in = *etcd->settings->etcd_user && !*etcd->token;
  snprintf(url, sizeof url, "%s%s", etcd->servers[request->server],
           request->signing_in ? "/v3/auth/authenticate" : request->path);
  request->count = 0;
  *request->problem = '\0';
  return curl_easy_setopt(request->curl, CURLOPT_URL, url) == CURLE_OK && set_headers(request) &&
         (request->signing_in ? set_signing_in(request)
                              : curl_easy_setopt(request->curl, CURLOPT_COPYPOSTFIELDS, request->body) == CURLE_OK) &&
         curl_loop_add(etcd->curls, request->curl);
}

/* Asks the next server, or gives up after the last. The reason is that of the last. */
static void try_next(etcd_request *request, const char *reason) {
  struct etcd *etcd = request->etcd;
  char words[URL_BYTES + 16];
  snprintf(words, sizeof words, "etcd %s", etcd->servers[request->server]);
  complaints_add(etcd->complaints, words, "%s", reason);
  curl_loop_remove(etcd->curls, request->curl);
  request->signed_again = false;
  if (++request->tries < etcd->server_count) {
    request->server = (request->server + 1) % etcd->server_count;
    if (begin_try(request)) return;
    reason = "no memory";
  }
  etcd->good = (request->server + 1) % etcd->server_count; /* the next call begins elsewhere */
  set_answers(etcd, false);
  give_request(request, error_set(MUSTER_E_SYSTEM, "%s: %s", words, reason), NULL);
}

static const char *reason_of_answer(const struct document *answer, long status, char *words, size_t bytes) {
  const struct document *error = document_member(answer, "error");
  const char *message = document_text(document_is_object(error) ? document_member(error, "message") : error);
  if (message)
    snprintf(words, bytes, "%s", message);
  else
    snprintf(words, bytes, "it answers with status %ld", status);
  return words;
}

/* A token has come, or none. */
static void end_signing_in(etcd_request *request, const struct document *answer, const char *reason) {
  const char *token = document_text(document_member(answer, "token"));
  if (!token || strlen(token) >= TOKEN_MAX) {
    try_next(request, token ? "its token is too long" : reason);
    return;
  }
  snprintf(request->etcd->token, sizeof request->etcd->token, "%s", token);
  curl_loop_remove(request->etcd->curls, request->curl);
  if (!begin_try(request)) try_next(request, "no memory");
}

static void note_address(const etcd_request *request) {
  char *address = NULL;
  if (curl_easy_getinfo(request->curl, CURLINFO_LOCAL_IP, &address) || !address || !*address) return;
  snprintf(request->etcd->address, BROKER_HOST_BYTES, "%s", address);
}

const char *etcd_local_address(const struct etcd *etcd) {
  return etcd->address;
}

static void end_answered(etcd_request *request, const struct document *answer, long status) {
  struct etcd *etcd = request->etcd;
  char words[256];
  const char *reason = reason_of_answer(answer, status, words, sizeof words);
  bool good = status == 200 && document_is_object(answer) && !document_member(answer, "error");
  if (request->signing_in) {
    end_signing_in(request, good ? answer : NULL, reason);
  } else if (status == 401 && *etcd->settings->etcd_user && !request->signed_again) {
    *etcd->token = '\0'; /* it has ended: tokens do after some minutes, and with the server */
    request->signed_again = true;
    curl_loop_remove(etcd->curls, request->curl);
    if (!begin_try(request)) try_next(request, "no memory");
  } else if (good || (status == 404 && document_member(answer, "error"))) {
    char cause[URL_BYTES + 16];
    snprintf(cause, sizeof cause, "etcd %s", etcd->servers[request->server]);
    complaints_forget(etcd->complaints, cause);
    etcd->good = request->server;
    note_address(request);
    set_answers(etcd, true);
    note_revision(etcd, answer);
    give_request(request, good ? MUSTER_OK : error_set(MUSTER_E_STALE, "%s: %s", cause, reason), answer);
  } else {
    try_next(request, reason);
  }
}

static void end_try(void *ended, CURLcode result) {
  etcd_request *request = ended;
  long status = 0;
  if (result) {
    try_next(request, *request->problem ? request->problem : curl_easy_strerror(result));
    return;
  }
  curl_easy_getinfo(request->curl, CURLINFO_RESPONSE_CODE, &status);
  struct document *answer = request->count ? document_read(request->bytes, request->count) : NULL;
  end_answered(request, answer, status);
  document_free(answer);
}

/* ------------------------------------------------------------------------------------------------------------ calls */

muster_result etcd_call(struct etcd *etcd, const char *path, const char *body, etcd_take take, void *user) {
  ASSERT(!etcd->closing);
  etcd_request *request = calloc(1, sizeof *request);
  if (request) request->body = strdup(body);
  if (request && request->body) request->curl = take_idle_handle(etcd);
  if (!request || !request->curl) {
    if (request) free(request->body);
    free(request);
    return error_set(MUSTER_E_MEMORY, "no memory for a call of etcd");
  }
  request->etcd = etcd;
  request->take = take;
  request->user = user;
  request->server = etcd->good;
  snprintf(request->path, sizeof request->path, "%s", path);
  TAILQ_INSERT_TAIL(&etcd->requests, request, link);
  curl_easy_setopt(request->curl, CURLOPT_WRITEDATA, request);
  curl_easy_setopt(request->curl, CURLOPT_PRIVATE, request);
  curl_easy_setopt(request->curl, CURLOPT_ERRORBUFFER, request->problem);
  if (begin_try(request)) return MUSTER_OK;
  free_request(request);
  return error_set(MUSTER_E_MEMORY, "no memory for a call of etcd");
}

static void take_probe(muster_result result, const struct document *answer, void *user) {
  struct etcd *etcd = user;
  (void)result;
  (void)answer; /* that one came was noted */
  etcd->probing = false;
}

/* A reading that the servers have to agree on. */
void etcd_look_after(struct etcd *etcd) {
  char body[256], key[NAME_BYTES + 32];
  json_writer writer;
  if (etcd->probing || (etcd->seen_ms && uv_now(etcd->loop) - etcd->seen_ms < (etcd->answers ? SILENT_MS : 500)))
    return;
  snprintf(key, sizeof key, "muster/%s/clock", etcd->settings->world);
  json_start(&writer, body, sizeof body);
  json_begin_object(&writer, NULL);
  etcd_write_text(&writer, "key", key);
  json_end_object(&writer);
  json_finish(&writer);
  etcd->probing = etcd_call(etcd, "/v3/kv/range", body, take_probe, etcd) == MUSTER_OK;
}

/* ------------------------------------------------------------------------------------------------------------- life */

static bool split_servers(struct etcd *etcd, const char *list) {
  char urls[HOSTS_BYTES], *rest = NULL;
  snprintf(urls, sizeof urls, "%s", list);
  for (char *url = strtok_r(urls, ", ", &rest); url; url = strtok_r(NULL, ", ", &rest)) {
    size_t length = strlen(url);
    if (etcd->server_count == SERVERS_MAX || length >= URL_BYTES ||
        (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)) {
      error_set(MUSTER_E_ARGUMENT,
                "etcd servers: give 1 to %d URLs, http://HOST:PORT or https://HOST:PORT, with commas",
                (int)SERVERS_MAX);
      return false;
    }
    while (url[length - 1] == '/') url[--length] = '\0';
    snprintf(etcd->servers[etcd->server_count++], URL_BYTES, "%s", url);
  }
  if (etcd->server_count) return true;
  error_set(MUSTER_E_ARGUMENT, "no etcd server is named");
  return false;
}

/* Nodes do not all begin with the same one: each has a part of the work. */
static uint32_t first_server(const struct etcd *etcd) {
  const char *node = etcd->settings->node;
  return (uint32_t)(XXH3_64bits(node, strlen(node)) % etcd->server_count);
}

struct etcd *etcd_open(uv_loop_t *loop, const broker_settings *settings, const char *password,
                       struct complaints *complaints, etcd_changed changed, void *user) {
  struct etcd *etcd = calloc(1, sizeof *etcd);
  if (!etcd) {
    error_set(MUSTER_E_MEMORY, "no memory for the calls of etcd");
    return NULL;
  }
  *etcd = (struct etcd){.loop = loop,
                        .settings = settings,
                        .password = password,
                        .complaints = complaints,
                        .changed = changed,
                        .user = user};
  TAILQ_INIT(&etcd->requests);
  if (split_servers(etcd, settings->etcd)) etcd->curls = curl_loop_open(loop, end_try);
  if (etcd->curls) etcd->good = first_server(etcd);
  if (etcd->curls) return etcd;
  free(etcd);
  return NULL;
}

void etcd_close(struct etcd *etcd) {
  if (!etcd) return;
  etcd->closing = true;
  for (etcd_request *request; (request = TAILQ_FIRST(&etcd->requests)) != NULL;)
    give_request(request, error_set(MUSTER_E_SYSTEM, "the broker is closed"), NULL);
  while (etcd->idle_count) curl_easy_cleanup(etcd->idle[--etcd->idle_count]);
  curl_loop_free(etcd->curls);
  free(etcd);
}
