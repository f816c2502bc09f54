/* http_request.c - a request from its first header to its answer: libmicrohttpd calls http_take once when the headers
 * are there, once for each piece of the body, and once more at its end. A request that was not answered by then is
 * suspended; the answer resumes it, and libmicrohttpd calls once again to fetch it. */
#include "service/http_request.h"

#include "base/assert.h"
#include "base/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE_BYTES = 65536 }; /* from this size on an answer counts; answers of health and control are smaller */

/* --------------------------------------------------------------------------------------------------------- answers */

/* Hands the answer to libmicrohttpd, which is asking for it. */
static enum MHD_Result send_answer(http_request *request) {
  struct MHD_Response *response = request->response;
  request->response = NULL;
  request->sent = true;
  request->client->deadline_ms = http_place_deadline_ms(request->client, request->http->options.send_ms);
  enum MHD_Result result = MHD_queue_response(request->connection, request->status, response);
  MHD_destroy_response(response);
  return result;
}

/* Frees the memory of the body. */
static void http_release_body(http_request *request) {
  request->http->counts.bodies_waiting -= (uint32_t)request->body_room;
  free(request->body);
  request->body = NULL;
  request->body_bytes = request->body_room = 0;
}

/* A browser that is led to an answer neither takes it for another type, nor runs anything in it, nor lets it be of the
 * page's origin. The page's own files say what they may do. */
void http_be_no_page(struct MHD_Response *response) {
  MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
  MHD_add_response_header(response, "Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'");
}

void http_respond(http_request *request, unsigned status, const char *type, struct MHD_Response *response) {
  ASSERT(request->status == 0 && status >= 200 && status < 600);
  if (!response) abort(); /* out of memory for a hundred bytes */
  if (type) MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  for (uint32_t i = 0; i < request->added_count; i++)
    MHD_add_response_header(response, request->added[i].name, request->added[i].value);
  if (request->client->reserved) MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
  request->status = status;
  request->response = response;
  request->http->counts.answers[status / 100]++;
  http_release_body(request);
  if (!request->suspended) return; /* the caller of the handler sends it */
  request->suspended = false;
  MHD_resume_connection(request->connection);
  http_turn_soon(request->client->listener);
}

void http_add_header(http_request *request, const char *name, const char *value) {
  ASSERT(request->added_count < HTTP_ADDED_MAX);
  http_added *added = &request->added[request->added_count++];
  added->name = name;
  snprintf(added->value, sizeof added->value, "%s", value);
}

static bool has_added(const http_request *request, const char *name) {
  for (uint32_t i = 0; i < request->added_count; i++)
    if (strcmp(request->added[i].name, name) == 0) return true;
  return false;
}

static void answer_with(http_request *request, unsigned status, const char *type, struct MHD_Response *response) {
  if (!response) abort();
  MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  http_be_no_page(response);
  if (status == 401) MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
  if ((status == 429 || status == 503) && !has_added(request, MHD_HTTP_HEADER_RETRY_AFTER))
    MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
  http_respond(request, status, type, response);
}

/* Whether an answer may be refused. Not that of a change: the client would ask again, and make the change twice. */
static bool may_be_refused(const http_request *request) {
  const http_route *route = request->route;
  return route && !route->goes_always && strcmp(route->method, "GET") == 0;
}

/* Counts what the client has to take, unless it was announced. False: too much waits for other clients, and the answer
 * was refused. A single large answer is always sent. */
static bool reserve_answer(http_request *request, size_t bytes) {
  struct http *http = request->http;
  uint64_t waiting = http->counts.answers_waiting;
  if (bytes < LARGE_BYTES || request->answer_bytes) return true;
  if (may_be_refused(request) && waiting > 0 && waiting + bytes > http->options.answers_bytes_max)
    return http_refuse(request, 429, "busy", NULL,
                       "%lu bytes of answers wait for clients to take them: ask again later", waiting);
  request->answer_bytes = bytes;
  http->counts.answers_waiting += bytes;
  return true;
}

bool http_announce(http_request *request, size_t bytes) {
  return reserve_answer(request, bytes);
}

void http_answer(http_request *request, unsigned status, const char *type, const void *body, size_t bytes) {
  if (reserve_answer(request, bytes))
    answer_with(request, status, type, MHD_create_response_from_buffer(bytes, (void *)body, MHD_RESPMEM_MUST_COPY));
}

void http_answer_owned(http_request *request, unsigned status, const char *type, void *body, size_t bytes) {
  if (reserve_answer(request, bytes))
    answer_with(request, status, type, MHD_create_response_from_buffer(bytes, body, MHD_RESPMEM_MUST_FREE));
  else
    free(body);
}

void http_answer_static(http_request *request, unsigned status, const char *type, const void *body, size_t bytes,
                        const http_header *headers) {
  struct MHD_Response *response = MHD_create_response_from_buffer(bytes, (void *)body, MHD_RESPMEM_PERSISTENT);
  for (; response && headers->name; headers++) MHD_add_response_header(response, headers->name, headers->value);
  http_respond(request, status, type, response);
}

size_t http_write_error(char text[HTTP_ERROR_BYTES], const char *code, const char *field, const char *message) {
  char name[128];
  json_writer writer;
  json_start(&writer, text, HTTP_ERROR_BYTES);
  json_print(&writer, "{ error{ code=%s message=%s", code, message);
  if (field) snprintf(name, sizeof name, "%s", field);
  if (field) json_string(&writer, "field", name);
  json_print(&writer, "} }");
  if (json_finish(&writer)) return writer.length;
  return (size_t)snprintf(text, HTTP_ERROR_BYTES, "{\"error\": {\"code\": \"%s\"}}\n", code);
}

bool http_refuse(http_request *request, unsigned status, const char *code, const char *field, const char *format, ...) {
  char message[512], text[HTTP_ERROR_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  size_t bytes = http_write_error(text, code, field, message);
  answer_with(request, status, HTTP_JSON, MHD_create_response_from_buffer(bytes, text, MHD_RESPMEM_MUST_COPY));
  return false;
}

/* ----------------------------------------------------------------------------------------------------------- bodies */

/* Makes room for `bytes` in all. False: no memory. */
static bool http_request_make_room(http_request *request, size_t bytes) {
  struct http *http = request->http;
  if (bytes <= request->body_room) return true;
  size_t room = request->body_room * 2 > bytes ? request->body_room * 2 : bytes;
  if (room < 4096) room = 4096;
  size_t more = room - request->body_room;
  if (more > http->options.bodies_bytes_max - http->counts.bodies_waiting) return false;
  char *body = realloc(request->body, room);
  if (!body) return false;
  request->body = body;
  request->body_room = room;
  http->counts.bodies_waiting += (uint32_t)more;
  return true;
}

/* Bytes after the limit are dropped: libmicrohttpd takes no answer before the end of the body. */
static void http_request_take_piece(http_request *request, const char *piece, size_t bytes) {
  size_t most = http_body_max(request->http, request->route);
  if (request->body_refused) return;
  if (bytes > most || request->body_bytes > most - bytes) {
    request->body_refused = 413;
    return;
  }
  if (!http_request_make_room(request, request->body_bytes + bytes)) {
    request->body_refused = 429;
    return;
  }
  memcpy(request->body + request->body_bytes, piece, bytes);
  request->body_bytes += bytes;
}

bool http_refuse_size(http_request *request, unsigned long long bytes) {
  const http_route *route = request->route;
  uint32_t most = http_body_max(request->http, route);
  if (!route->body_max)
    return http_refuse(request, 413, "too_large", NULL, "send no body with %s %s", route->method, route->pattern);
  if (bytes)
    return http_refuse(request, 413, "too_large", NULL, "the body has %llu bytes; at most %u are taken", bytes, most);
  return http_refuse(request, 413, "too_large", NULL, "the body is larger than the %u bytes that are taken", most);
}

/* --------------------------------------------------------------------------------------------------------- requests */

static http_request *open_request(struct http *http, struct MHD_Connection *connection) {
  http_request *request = calloc(1, sizeof *request);
  if (!request) return NULL;
  request->http = http;
  request->connection = connection;
  request->client = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
  LIST_INSERT_HEAD(&http->requests, request, link);
  return request;
}

void http_close_request(http_request *request) {
  struct http *http = request->http;
  LIST_REMOVE(request, link);
  http_release_body(request);
  http->counts.answers_waiting -= request->answer_bytes;
  if (request->stream) http_stream_forget(request->stream);
  if (request->response) MHD_destroy_response(request->response);
  free(request);
}

static void refuse_method(http_request *request, const char *method, const char *allowed) {
  http_refuse(request, 405, "method", NULL, "%.20s is not for this path: %s are", method, allowed);
  MHD_add_response_header(request->response, MHD_HTTP_HEADER_ALLOW, allowed);
}

/* The headers are there: finds the route and refuses at once what needs no body. */
static void http_request_begin(http_request *request, const char *url, const char *method) {
  char allowed[64];
  size_t length = strlen(url);
  if (length >= sizeof request->path) {
    http_refuse(request, 414, "path", NULL, "the path is longer than %zu bytes", sizeof request->path - 1);
    return;
  }
  memcpy(request->path, url, length + 1);
  request->head = strcmp(method, "HEAD") == 0;
  request->route = http_match(request, method, allowed, sizeof allowed);
  if (!http_guard(request, method) || request->route) return;
  if (*allowed)
    refuse_method(request, method, allowed);
  else
    http_refuse(request, 404, "unknown_path", NULL, "there is nothing at %.200s; GET /v1 lists what there is", url);
}

static void handle(http_request *request) {
  request->handled = true;
  request->client->deadline_ms = UINT64_MAX;
  if (request->body_refused == 413)
    http_refuse_size(request, 0);
  else if (request->body_refused)
    http_refuse(request, 429, "busy", NULL, "too many large requests at once: send it again later");
  else if (request->http->options.handle)
    request->http->options.handle(request);
  else
    request->route->handle(request);
}

enum MHD_Result http_take(void *user, struct MHD_Connection *connection, const char *url, const char *method,
                          const char *version, const char *piece, size_t *piece_bytes, void **context) {
  http_listener *listener = user;
  http_request *request = *context;
  (void)version;
  if (!request) {
    *context = request = open_request(listener->http, connection);
    if (!request) return MHD_NO;
    http_request_begin(request, url, method);
    return request->status ? send_answer(request) : MHD_YES;
  }
  if (*piece_bytes > 0) {
    if (request->route) http_request_take_piece(request, piece, *piece_bytes);
    *piece_bytes = 0;
    return MHD_YES;
  }
  if (request->sent) return MHD_YES;
  if (!request->handled) handle(request);
  if (request->status) return send_answer(request);
  request->suspended = true;
  MHD_suspend_connection(connection);
  return MHD_YES;
}

void *http_user(const http_request *request) {
  return request->http->options.user;
}

const char *http_header_value(const http_request *request, const char *name) {
  return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const http_route *http_route_of(const http_request *request) {
  return request->route;
}

const http_route *const *http_tables(const http_request *request) {
  return request->http->options.tables;
}

const void *http_body(const http_request *request, size_t *bytes) {
  *bytes = request->body_bytes;
  return request->body_bytes ? request->body : NULL;
}
