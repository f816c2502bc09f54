/* http_guard.c - checks whether a request is allowed: by the host name that it was sent to, the page that a browser
 * sends it for, the token, and the kind of body. */
#include "service/http_parts.h"
#include "service/token.h"

#include <gnutls/gnutls.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* False when the token is longer than any may be. */
static bool pad_token(char padded[TOKEN_BYTES], const char *token) {
  size_t length = strnlen(token, TOKEN_BYTES);
  if (length == TOKEN_BYTES) return false;
  memset(padded, 0, TOKEN_BYTES);
  memcpy(padded, token, length);
  return true;
}

/* Compares two tokens, padded to TOKEN_BYTES: the time depends neither on where they differ nor on whether they are of
 * one length. A longer one than that equals none. */
static bool http_tokens_equal(const char *held, const char *given) {
  char own[TOKEN_BYTES], others[TOKEN_BYTES];
  return pad_token(own, held) && pad_token(others, given) && gnutls_memcmp(own, others, TOKEN_BYTES) == 0;
}

/* The length of the name in "name:port" or "[::1]:port"; 0 when it is neither. */
static size_t name_length(const char *host) {
  size_t length = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
  if (*host == '[' && host[length - 1] != ']') return 0;
  const char *port = host + length;
  if (!*port) return length;
  if (*port++ != ':' || strspn(port, "0123456789") != strlen(port) || strlen(port) > 5) return 0;
  return length;
}

static bool in_list(const char *list, const char *name, size_t length) {
  for (const char *at = list; *(at += strspn(at, " ")); at += strcspn(at, " "))
    if (strcspn(at, " ") == length && strncasecmp(at, name, length) == 0) return true;
  return false;
}

static bool knows_host(const struct http *http, const char *host) {
  size_t length = name_length(host);
  return length > 0 && (in_list("localhost 127.0.0.1 [::1]", host, length) || in_list(http->hosts, host, length));
}

typedef struct header_count {
  const char *name;
  uint32_t times;
} header_count;

static enum MHD_Result count_header(void *user, enum MHD_ValueKind kind, const char *name, const char *value) {
  header_count *counted = user;
  (void)kind, (void)value;
  counted->times += strcasecmp(name, counted->name) == 0;
  return MHD_YES;
}

/* Refuses a header that came twice: who passed the request on may have gone by the other one. */
static bool check_once(http_request *request, const char *name) {
  header_count counted = {.name = name};
  MHD_get_connection_values(request->connection, MHD_HEADER_KIND, count_header, &counted);
  return counted.times < 2 || http_refuse(request, 400, "twice", name, "send '%s' once", name);
}

/* Where a request ends must be beyond doubt, and so must be whom it is for. */
static bool check_frame(http_request *request) {
  if (!check_once(request, MHD_HTTP_HEADER_HOST) || !check_once(request, MHD_HTTP_HEADER_CONTENT_LENGTH) ||
      !check_once(request, MHD_HTTP_HEADER_TRANSFER_ENCODING))
    return false;
  return !http_header_value(request, MHD_HTTP_HEADER_CONTENT_LENGTH) ||
         !http_header_value(request, MHD_HTTP_HEADER_TRANSFER_ENCODING) ||
         http_refuse(request, 400, "coding", "Transfer-Encoding", "send either a length or chunks");
}

/* Against pages that let their own host name resolve to this machine: the browser still sends that name. */
static bool check_host(http_request *request) {
  const char *host = http_header_value(request, MHD_HTTP_HEADER_HOST);
  if (host && knows_host(request->http, host)) return true;
  return http_refuse(request, host ? 421 : 400, "host", "Host",
                     "ask for localhost, 127.0.0.1, [::1] or a host that the daemon was told of, not '%.80s'",
                     host ? host : "");
}

/* Against pages of other sites that make a browser send requests here. Programs send neither header. */
static bool check_origin(http_request *request) {
  const char *origin = http_header_value(request, MHD_HTTP_HEADER_ORIGIN),
             *site = http_header_value(request, "Sec-Fetch-Site");
  const char *host = origin ? strstr(origin, "://") : NULL;
  bool foreign = origin && !(host && knows_host(request->http, host + 3));
  if (site && strcasecmp(site, "same-origin") != 0 && strcasecmp(site, "none") != 0) foreign = true;
  return !foreign || http_refuse(request, 403, "origin", origin ? "Origin" : "Sec-Fetch-Site",
                                 "requests of other sites are refused");
}

bool http_has_token(const http_request *request) {
  static const char scheme[] = "Bearer ";
  const char *given = http_header_value(request, MHD_HTTP_HEADER_AUTHORIZATION), *token = request->http->token;
  return token && given && strncasecmp(given, scheme, sizeof scheme - 1) == 0 &&
         http_tokens_equal(token, given + sizeof scheme - 1);
}

static bool check_token(http_request *request) {
  if (!request->http->token)
    return http_refuse(request, 403, "no_token", NULL,
                       "nothing can be changed over TCP without a token: use the unix socket, or set token_file");
  if (http_has_token(request)) return true;
  return http_refuse(request, 401, "token", "Authorization", "send 'Authorization: Bearer TOKEN' to change something");
}

/* The reserve of a TCP listener is for who watches whether the daemon lives, and for its operators. */
static bool http_guard_check_place(http_request *request) {
  const http_connection *client = request->client;
  bool operators = !client->reserved || !client->listener->tcp || http_has_token(request);
  bool watches = request->route && strcmp(request->route->pattern, "/healthz") == 0;
  if (operators || watches) return true;
  return http_refuse(request, 503, "busy", NULL,
                     "all connections are in use: ask again later; /healthz and requests with the token are answered");
}

/* Whether `type` is one of those that the route takes. */
static bool takes_type(const char *wanted, const char *type, size_t length) {
  for (; *wanted; wanted += strspn(wanted, ", ")) {
    size_t bytes = strcspn(wanted, ",");
    if (bytes == length && strncasecmp(type, wanted, length) == 0) return true;
    wanted += bytes;
  }
  return false;
}

/* The accepted body types exclude those that an HTML form of another page can send, but where a route takes text. */
static bool http_guard_check_type(http_request *request) {
  const char *given = http_header_value(request, MHD_HTTP_HEADER_CONTENT_TYPE);
  const char *wanted = request->route->body_type ? request->route->body_type : HTTP_JSON;
  size_t length = given ? strcspn(given, "; \t") : 0;
  if (given && takes_type(wanted, given, length)) return true;
  return http_refuse(request, 415, "content_type", "Content-Type", "send the body as %s", wanted);
}

/* 0 also for a body that is sent in chunks. */
static bool check_length(http_request *request) {
  const char *given = http_header_value(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
  const char *coding = http_header_value(request, MHD_HTTP_HEADER_TRANSFER_ENCODING);
  uint32_t most = http_body_max(request->http, request->route);
  unsigned long long length = 0;
  if (coding && strcasecmp(coding, "chunked") != 0)
    return http_refuse(request, 400, "coding", "Transfer-Encoding", "send the body as it is, or chunked");
  if (given && sscanf(given, "%20llu", &length) == 1 && length > most) return http_refuse_size(request, length);
  bool has_body = length > 0 || coding;
  return !has_body || !most || http_guard_check_type(request);
}

typedef struct query_check {
  http_request *request;
  const char *seen[16];
  uint32_t count;
  const char *bad, *why, *names; /* names: that there are, where that is why */
} query_check;

static enum MHD_Result check_query(void *user, enum MHD_ValueKind kind, const char *name, const char *value) {
  query_check *check = user;
  (void)kind;
  const char *known = check->request->route->queries;
  check->bad = name;
  check->why = known ? "there is no such name for this request; there are: " : "this request has none";
  check->names = known ? known : "";
  if (!*name || strchr(name, ' ') || !in_list(check->names, name, strlen(name))) return MHD_NO;
  check->names = "";
  check->why = "it is given twice";
  for (uint32_t i = 0; i < check->count; i++)
    if (strcasecmp(check->seen[i], name) == 0) return MHD_NO; /* they are looked up without regard to case */
  check->why = "it has no value";
  if (!value || !*value) return MHD_NO;
  if (check->count < sizeof check->seen / sizeof *check->seen) check->seen[check->count++] = name;
  check->bad = NULL;
  return MHD_YES;
}

static bool check_queries(http_request *request) {
  query_check check = {.request = request};
  MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, check_query, &check);
  if (!check.bad) return true;
  return http_refuse(request, 400, "query", check.bad, "query '%.80s': %s%s", check.bad, check.why, check.names);
}

bool http_guard(http_request *request, const char *method) {
  bool changes = strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0;
  if (!check_frame(request)) return false;
  if (request->client->listener->tcp && !check_host(request)) return false;
  if (!http_guard_check_place(request)) return false;
  if (!check_origin(request)) return false;
  if (request->client->listener->tcp && changes && !check_token(request)) return false;
  if (!request->route) return true;
  return check_queries(request) && check_length(request);
}
