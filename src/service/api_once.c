#include "service/api_once.h"

#include "service/poison.h"

#include "base/assert.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ----------------------------------------------------------------------------------------------------------- digest */

/* With its length, so that what follows cannot be taken for a part of it. */
static void add_part(gnutls_hash_hd_t hash, const void *bytes, size_t count) {
  uint64_t length = count;
  gnutls_hash(hash, &length, sizeof length);
  if (count) gnutls_hash(hash, bytes, count);
}

static void add_text(gnutls_hash_hd_t hash, const char *text) {
  add_part(hash, text ? text : "", text ? strlen(text) : 0);
}

/* Calls for each name of a pattern or of a list of queries. */
static void add_values(gnutls_hash_hd_t hash, const http_request *request, const char *names, const char *breaks,
                       const char *(*value_of)(const http_request *request, const char *name)) {
  for (const char *at = names; at && *(at += strspn(at, breaks)); at += strcspn(at, breaks)) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at, breaks), at);
    add_text(hash, value_of(request, name));
  }
}

static const char *path_value(const http_request *request, const char *name) {
  return http_has_path_value(request, name) ? http_path_value(request, name) : name;
}

/* What the client asked for, however it wrote that. */
static bool make_digest(const http_request *request, unsigned char digest[KEYS_DIGEST_BYTES]) {
  gnutls_hash_hd_t hash;
  const http_route *route = http_route_of(request);
  const char *type = http_header_value(request, "Content-Type");
  size_t bytes;
  const void *body = http_body(request, &bytes);
  ASSERT(gnutls_hash_get_len(GNUTLS_DIG_SHA256) == KEYS_DIGEST_BYTES);
  if (gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) != 0) return false;
  add_text(hash, route->method);
  add_text(hash, route->pattern);
  add_values(hash, request, route->pattern, "/{}", path_value);
  add_values(hash, request, route->queries, " ", http_query_value);
  add_part(hash, type && bytes ? type : "", type && bytes ? strcspn(type, "; \t") : 0);
  add_part(hash, body, bytes);
  gnutls_hash_deinit(hash, digest);
  return true;
}

bool once_read(api_call *call) {
  const char *key = http_header_value(call->request, ONCE_KEY);
  api_once *once = &call->once;
  once->changes = call->world && !call->order->at_once && strcmp(http_route_of(call->request)->method, "GET") != 0;
  if (!key || strcmp(http_route_of(call->request)->method, "GET") == 0) return true;
  if (!keys_is_key(key))
    return api_complain(&call->problem, 400, "bad_key", ONCE_KEY,
                        ONCE_KEY " must be 1 .. %d visible ASCII characters, and has %zu", KEY_BYTES_MAX, strlen(key));
  if (!once->changes) return true;
  snprintf(once->key, sizeof once->key, "%s", key);
  const char *insists = http_header_value(call->request, POISON_INSIST);
  once->insists = insists && strcasecmp(insists, "true") == 0;
  return make_digest(call->request, once->digest) ||
         api_complain(&call->problem, 429, "busy", NULL, "no memory for the request now");
}

/* ---------------------------------------------------------------------------------------------------- known answers */

static void give_kept(api_call *call, const key_entry *known) {
  free(call->text);
  call->text = malloc(known->bytes + 1u);
  if (!call->text) {
    api_complain(&call->problem, 429, "busy", NULL, "no memory for the answer now");
    return;
  }
  if (known->bytes) memcpy(call->text, known->body, known->bytes);
  call->whole_bytes = known->bytes;
  call->status = known->status;
  call->type = known->body_kind == KEY_BODY_TEXT ? HTTP_TEXT : HTTP_JSON;
  call->once.replayed = true;
  call->once.frame = known->frame;
}

/* Whether it ended the process, and is to be carried out once more all the same. */
static bool once_is_insisted_on(const api_once *once, const key_entry *known) {
  return once->insists && known->body_kind == KEY_BODY_ENDED &&
         memcmp(known->digest, once->digest, sizeof once->digest) == 0;
}

bool once_is_answered(api_call *call) {
  api_once *once = &call->once;
  if (!*once->key) return false;
  const key_entry *known = keys_find(&call->world->keys, once->key);
  if (known && once_is_insisted_on(once, known)) {
    keys_forget(&call->world->keys, once->key);
    known = NULL;
  }
  if (!known && keys_begin(&call->world->keys)) return false;
  if (!known)
    api_complain(&call->problem, 429, "busy", NULL, "no memory for the keys of requests now");
  else if (memcmp(known->digest, once->digest, sizeof once->digest) != 0)
    api_complain(&call->problem, 422, "key_reused", ONCE_KEY,
                 "another request was carried out with this " ONCE_KEY ": give each request a key of its own");
  else if (known->held)
    api_complain(&call->problem, 409, "under_way", ONCE_KEY,
                 "the request with this " ONCE_KEY " is under way: ask again later for its answer");
  else
    give_kept(call, known);
  return true;
}

/* ------------------------------------------------------------------------------------------------------ new answers */

/* A problem of a request that was carried out all the same, as it will be answered. */
static size_t write_problem(const api_problem *problem, char text[HTTP_ERROR_BYTES]) {
  return http_write_error(text, problem->code, *problem->field ? problem->field : NULL, problem->message);
}

static void keep_answer(api_call *call) {
  char problem[HTTP_ERROR_BYTES];
  const api_once *once = &call->once;
  bool refused = call->problem.status != 0;
  key_entry entry = {.status = (uint16_t)(refused ? call->problem.status : call->status),
                     .body_kind =
                         !refused && call->type && strcmp(call->type, HTTP_TEXT) == 0 ? KEY_BODY_TEXT : KEY_BODY_JSON,
                     .held = true,
                     .frame = once->frame,
                     .body = refused ? problem : call->text,
                     .bytes = (uint32_t)(refused ? write_problem(&call->problem, problem) : call->whole_bytes)};
  memcpy(entry.key, once->key, sizeof entry.key);
  memcpy(entry.digest, once->digest, sizeof entry.digest);
  keys_finish(&call->world->keys, &entry); /* it is noted with its frame: service/journals_host.c */
}

void once_work(api_call *call, void (*work)(api_call *call)) {
  const api_once *once = &call->once;
  if (*once->key) flight_request_begin(call->world->name, once->key, once->digest);
  work(call);
  if (*once->key) flight_request_end();
}

void once_end(api_call *call) {
  api_once *once = &call->once;
  if (once->replayed || !call->world) return;
  once->frame = held_last_frame(call->world);
  if (!once->changes || (call->problem.status && !call->acted)) return;
  once->until = held_begin(call->world);
  once->frame = once->until.frame;
  once->holds = true;
  if (*once->key) keep_answer(call);
}

bool once_may_go(mailbox_request *request) {
  api_call *call = (api_call *)request;
  api_once *once = &call->once;
  if (!once->holds) return true;
  uint64_t asked = once->until.snapshot;
  bool over = held_is_over(call->world, &once->until);
  if (over && *once->key) keys_hand_out(&call->world->keys, once->key);
  /* The thread may be about to sleep until a frame that does not come. */
  if (once->until.snapshot != asked) frame_mailbox_wake(&call->service->mailbox);
  return over;
}

void once_add_headers(const api_call *call) {
  char frame[24];
  const api_once *once = &call->once;
  if (call->problem.code[0] && strcmp(call->problem.code, "under_way") == 0)
    http_add_header(call->request, "Retry-After", "1");
  if (once->replayed) http_add_header(call->request, ONCE_REPLAYED, "true");
  if (!once->frame) return;
  snprintf(frame, sizeof frame, "%lu", once->frame);
  http_add_header(call->request, ONCE_FRAME, frame);
}
