/* ctl_client.c - HTTP to the daemon: libcurl speaks it over unix sockets and TCP alike. */
#include "complaint.h"
#include "ctl.h"

#include <curl/curl.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { TIMEOUT_S = 30, ANSWER_BYTES_MAX = 64 << 20, PAUSE_MS = 200, PATIENCE_MS = 10000, KEY_WORDS = 4 };

struct answer {
  char *text;
  size_t bytes;
  long status;
  curl_off_t retry_after_s; /* 0 = the daemon did not say that */
};

/* Pieces are counted in bytes: `size` is 1. */
static size_t take(char *piece, size_t size, size_t count, void *stream) {
  return (size_t)ftell(stream) + count < ANSWER_BYTES_MAX ? fwrite(piece, size, count, stream) : 0;
}

static const char of_json[] = "Content-Type: application/json", of_text[] = "Content-Type: text/plain";

/* "Authorization: Bearer ..." of the token's file. False after a complaint. */
static bool add_token(const ctl_options *options, struct curl_slist **headers) {
  char line[512], header[600];
  if (!options->token_file) return true;
  FILE *file = fopen(options->token_file, "re");
  bool read = file && fgets(line, sizeof line, file);
  if (read) line[strcspn(line, "\r\n")] = '\0';
  const char *trouble = read || (file && feof(file)) ? "it is empty" : strerror(errno);
  if (file) fclose(file);
  if (!read || !*line) return complain_failure("--token-file %s: %s", options->token_file, trouble), false;
  snprintf(header, sizeof header, "Authorization: Bearer %s", line);
  *headers = curl_slist_append(*headers, header);
  return true;
}

static void prepare(CURL *curl, const ctl_options *options, const char *method, const char *path, const char *body,
                    FILE *answer) {
  char url[2048];
  snprintf(url, sizeof url, "%s%s", options->url ? options->url : "http://localhost", path);
  curl_easy_setopt(curl, CURLOPT_URL, url);
  if (!options->url) curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, options->socket);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)TIMEOUT_S);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
  if (body) curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
}

/* One that no other request has. False after a complaint. */
static bool add_key(struct curl_slist **headers) {
  uint32_t random[KEY_WORDS];
  char header[96];
  if (getrandom(random, sizeof random, 0) != sizeof random)
    return complain_failure("no random numbers: %s", strerror(errno)), false;
  snprintf(header, sizeof header, "Idempotency-Key: %08x%08x%08x%08x", random[0], random[1], random[2], random[3]);
  *headers = curl_slist_append(*headers, header);
  return true;
}

/* A change that a world knows by its key. */
static bool has_key(const char *method, const char *path) {
  return strcmp(method, "GET") != 0 && strncmp(path, "/v1/worlds/", 11) == 0;
}

static CURLcode try_once(const ctl_options *options, const char *method, const char *path, const char *body,
                         struct curl_slist *headers, struct answer *answer) {
  CURL *curl = curl_easy_init();
  FILE *stream = open_memstream(&answer->text, &answer->bytes);
  CURLcode result = CURLE_OUT_OF_MEMORY;
  if (curl && stream) {
    prepare(curl, options, method, path, body, stream);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    result = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer->status);
    curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &answer->retry_after_s);
  }
  if (curl) curl_easy_cleanup(curl);
  if (stream) fclose(stream);
  return result;
}

/* How long to wait before a change is sent again; 0 = it is not. Where nobody listened from the beginning, nobody will;
 * where somebody did, the daemon may be starting again. */
static uint64_t pause_ms(CURLcode result, const struct answer *answer, bool first) {
  bool broken = result == CURLE_GOT_NOTHING || result == CURLE_RECV_ERROR || result == CURLE_SEND_ERROR ||
                result == CURLE_PARTIAL_FILE || (result == CURLE_COULDNT_CONNECT && !first);
  bool asked_to = result == CURLE_OK && (answer->status == 503 || answer->status == 409) && answer->retry_after_s > 0;
  return broken ? PAUSE_MS : asked_to ? (uint64_t)answer->retry_after_s * 1000u : 0;
}

static CURLcode try_often(const ctl_options *options, const char *method, const char *path, const char *body,
                          struct curl_slist *headers, struct answer *answer) {
  uint64_t waited_ms = 0;
  for (bool first = true;; first = false) {
    CURLcode result = try_once(options, method, path, body, headers, answer);
    uint64_t wait_ms = pause_ms(result, answer, first);
    waited_ms += wait_ms;
    if (!wait_ms || waited_ms > PATIENCE_MS || options->no_retry || !has_key(method, path)) return result;
    free(answer->text);
    *answer = (struct answer){0};
    nanosleep(&(struct timespec){(time_t)(wait_ms / 1000), (long)(wait_ms % 1000) * 1000000}, NULL);
  }
}

/* `type` is that of the body. False after a complaint. */
static bool exchange(const ctl_options *options, const char *method, const char *path, const char *body,
                     const char *type, struct answer *answer) {
  struct curl_slist *headers = NULL;
  if (body) headers = curl_slist_append(headers, type);
  bool well = add_token(options, &headers) && (!has_key(method, path) || add_key(&headers));
  CURLcode result = well ? try_often(options, method, path, body, headers, answer) : CURLE_OK;
  if (result != CURLE_OK)
    complain_failure("no musterd answers at %s (%s); start it, or give --socket or --url",
                     options->url ? options->url : options->socket, curl_easy_strerror(result));
  curl_slist_free_all(headers);
  return well && result == CURLE_OK;
}

/* What to do next, where the daemon cannot know how it is asked. */
static const char *next_step(const char *code) {
  static const struct {
    const char *code, *step;
  } steps[] = {{"gone", "; `muster ctl agents` and `muster ctl observers` list those that are there"},
               {"token", "; give --token-file FILE"},
               {"unknown_path", " (`muster ctl get /v1`)"}};
  for (size_t i = 0; code && i < sizeof steps / sizeof *steps; i++)
    if (strcmp(steps[i].code, code) == 0) return steps[i].step;
  return "";
}

static void complain_of(const json_t *document, long status) {
  const char *message = NULL, *field = NULL, *code = NULL;
  json_unpack((json_t *)document, "{s:{s:s, s?s, s?s}}", "error", "message", &message, "field", &field, "code", &code);
  if (message && field && !strstr(message, field))
    complain_failure("%s (%s)%s", message, field, next_step(code));
  else if (message)
    complain_failure("%s%s", message, next_step(code));
  else
    complain_failure("the daemon refused with HTTP status %ld and says no reason; its log may", status);
}

bool ctl_look(const ctl_options *options, const char *path, json_t **document) {
  struct answer answer = {0};
  bool asked = exchange(options, "GET", path, NULL, NULL, &answer);
  *document = asked && answer.bytes ? json_loadb(answer.text, answer.bytes, 0, NULL) : NULL;
  bool well = *document && !json_object_get(*document, "error");
  if (asked && !well) complain_of(*document, answer.status);
  free(answer.text);
  if (well) return true;
  json_decref(*document);
  *document = NULL;
  return false;
}

bool ctl_ask(const ctl_options *options, const char *method, const char *path, json_t *body, json_t **document) {
  struct answer answer = {0};
  json_error_t error;
  char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
  json_decref(body);
  bool asked = exchange(options, method, path, text, of_json, &answer);
  free(text);
  json_t *parsed = asked && answer.bytes ? json_loadb(answer.text, answer.bytes, 0, &error) : NULL;
  bool well = asked && answer.status >= 200 && answer.status < 300;
  if (asked && !well) complain_of(parsed, answer.status);
  if (well && answer.bytes && !parsed) complain_failure("the daemon's answer is no JSON: %s", error.text);
  well = well && (parsed || !answer.bytes);
  free(answer.text);
  if (!well) json_decref(parsed);
  *document = well ? parsed : NULL;
  return well;
}

bool ctl_tell(const ctl_options *options, const char *path, const char *body) {
  struct answer answer = {0};
  json_t *parsed = body ? json_loads(body, 0, NULL) : NULL;
  bool told = exchange(options, body ? "POST" : "GET", path, body, parsed ? of_json : of_text, &answer);
  json_decref(parsed);
  if (!told) {
    free(answer.text);
    return false;
  }
  bool well = answer.status >= 200 && answer.status < 300;
  parsed = json_loadb(answer.text, answer.bytes, 0, NULL);
  if (!well && !json_object_get(parsed, "error") && answer.bytes)
    complain_failure("%s", answer.text);
  else if (!well)
    complain_of(parsed, answer.status);
  else if (parsed && body && !options->json && json_is_object(parsed))
    ctl_show_members(parsed);
  else if (parsed)
    ctl_show_json(parsed);
  else
    printf("%s%s", answer.text, answer.bytes && answer.text[answer.bytes - 1] == '\n' ? "" : "\n");
  json_decref(parsed);
  free(answer.text);
  return well;
}

bool ctl_world(const ctl_options *options, char *name, size_t bytes) {
  json_t *document;
  if (options->world) return snprintf(name, bytes, "%s", options->world) < (int)bytes;
  if (!ctl_ask(options, "GET", "/v1/worlds", NULL, &document)) return false;
  const json_t *worlds = json_object_get(document, "processes"); /* also those that do not run */
  if (json_array_size(worlds) == 0) worlds = json_object_get(document, "worlds");
  const char *only = json_string_value(json_object_get(json_array_get(worlds, 0), "world"));
  bool one = json_array_size(worlds) == 1 && only;
  if (one)
    snprintf(name, bytes, "%s", only);
  else
    complain_usage("there are %zu worlds: say which by --world NAME; `muster ctl worlds` lists them",
                   json_array_size(worlds));
  json_decref(document);
  return one;
}
