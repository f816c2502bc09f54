/* service/http.h - the HTTP server of musterd: libmicrohttpd driven by the loop, routes, limits, and access checks.
 *
 * All functions are for the loop's thread. A route's handler is called when the whole request has arrived, and answers
 * at once, or keeps the request and answers later: the connection sleeps until then, and the loop goes on. Every
 * request is answered exactly once; it is gone afterwards.
 *
 *     static void show_levels(http_request *request) {
 *       struct service *service = http_user(request);
 *       ...
 *       http_answer(request, 200, HTTP_JSON, text, length);
 *     }
 *
 *     static const http_route routes[] = {
 *         {"GET", "/v1/worlds/{world}/levels", "agents by capability level", show_levels},
 *     };
 *
 * Every refusal is JSON: {"error": {"code": "...", "message": "...", "field": "..."}}; the field is missing where none
 * is at fault. Only input that is not HTTP is answered by libmicrohttpd itself, in its own words.
 *
 * Slow clients: from its start, or from the end of its last answer, a connection has receive_ms to send a whole
 * request, however many bytes of it come in the meantime, and send_ms to take an answer; then it is cut. Large answers
 * (64 KiB and more) that wait to be taken may have answers_bytes_max bytes together: a request for another one
 * meanwhile is refused (429). Small answers are always sent, and so are answers to changes that were made, and answers
 * of routes marked goes_always.
 *
 * Beyond connections_max a listener has eight places in reserve, each for one request that comes within a second: over
 * TCP one with the token or for /healthz (others are refused, 503), at the control socket one of the daemon's user or
 * of root. Connections beyond these are cut. */
#ifndef SERVICE_HTTP_H
#define SERVICE_HTTP_H

#include <muster/common.h>
#include <uv.h>

#define HTTP_JSON   "application/json"
#define HTTP_BINARY "application/octet-stream"
#define HTTP_TEXT   "text/plain; charset=utf-8"
#define HTTP_EVENTS "text/event-stream"

/* Of a body that may be either. A page of another site can send text by a form: Origin, Sec-Fetch-Site and the token
 * stop it there. */
#define HTTP_JSON_OR_TEXT "application/json, text/plain"

struct http;
typedef struct http_request http_request;

typedef struct http_route {
  const char *method;  /* GET (which answers HEAD, too), POST, PUT, PATCH or DELETE */
  const char *pattern; /* "/v1/worlds/{world}": a name in braces matches one part of the path, not empty */
  const char *summary; /* one line for the list of requests */
  void (*handle)(http_request *request);
  const void *order;     /* for the handler; null = none */
  const char *queries;   /* names that the query may have, each once, separated by blanks; null = none */
  uint32_t body_max;     /* bytes; 0 = the request has no body */
  const char *body_type; /* of the body; several have ", " between; null = JSON */
  bool goes_always;      /* its answer is never refused for answers that wait, like that of a change */
} http_route;

typedef struct http_options {
  void *user;                            /* for the handlers; not owned */
  const http_route *const *tables;       /* of routes; each ends with a route without method; the list ends with null.
                                            Not copied */
  void (*handle)(http_request *request); /* handles the requests of all routes; null (default) = each route's own */
  uint32_t connections_max;              /* of a listener; default 512. Those beyond get a place of the reserve */
  uint32_t connections_per_client;       /* from one address, TCP only; default 256. Those beyond likewise */
  uint32_t header_bytes_max;             /* of request line and headers together; default 16384 */
  uint32_t body_bytes_max;               /* of a request, whatever its route says; default 4 MiB */
  uint32_t bodies_bytes_max;             /* of all requests that are under way; default 64 MiB */
  uint32_t answers_bytes_max;            /* of all large answers that clients have not taken yet; default 128 MiB */
  uint32_t receive_ms, send_ms;          /* default 10 s and 30 s */
  const char *token; /* a request over TCP that changes something must send "Authorization: Bearer TOKEN";
                        of up to 255 bytes; null (default) = nothing can be changed over TCP. Copied */
  const char *hosts; /* names between blanks or commas under which clients may reach it over TCP, beside
                        localhost, 127.0.0.1 and [::1]; default null. Copied */
} http_options;

static inline http_options http_default_options(void) {
  http_options options = {0};
  options.connections_max = 512;
  options.connections_per_client = 256;
  options.header_bytes_max = 16384;
  options.body_bytes_max = 4u << 20;
  options.bodies_bytes_max = 64u << 20;
  options.answers_bytes_max = 128u << 20;
  options.receive_ms = 10000;
  options.send_ms = 30000;
  return options;
}

/* Prepares a server without listeners. Null with a message when memory is short. */
struct http *http_create(uv_loop_t *loop, const http_options *options);

/* Listens at a unix socket that is bound and listens already; the caller owns the descriptor and closes it after
 * http_destroy. */
muster_result http_listen_unix(struct http *http, int descriptor);

/* Listens at "ADDRESS:PORT"; port 0 = any free one. Addresses that are not of this machine's loopback need
 * `beyond_loopback`: every client that can reach them can read, and can change things with the token. */
muster_result http_listen_tcp(struct http *http, const char *address, bool beyond_loopback);

/* The port of the TCP listener; 0 without one. */
uint16_t http_port(const struct http *http);

/* For reloads: takes over the options that can change while the server runs: token, hosts, body_bytes_max, receive_ms
 * and send_ms. MUSTER_E_MEMORY changes nothing. */
muster_result http_change(struct http *http, const http_options *options);

/* Stops listening, refuses (503) what is still unanswered and closes all connections. Handlers that kept a request must
 * have answered it or know that it is gone. The loop must turn once more before `done` (may be null) is called; then
 * the server is completely freed. Null is a no-op. */
void http_destroy(struct http *http, void (*done)(void *user), void *user);

/* Counts since the server was created. */
typedef struct http_counts {
  uint64_t connections;     /* accepted so far */
  uint32_t open;            /* now */
  uint64_t answers[6];      /* by the first digit of their status; [0] is unused */
  uint64_t cut;             /* connections that were too slow */
  uint32_t bodies_waiting;  /* bytes of bodies that are under way */
  uint64_t answers_waiting; /* bytes of large answers that clients have not taken yet */
} http_counts;

/* Copies the counts. */
void http_count(const struct http *http, http_counts *counts);

/* ------------------------------------------------------------------------------------------------------- requests */

/* The user that http_create was given. */
void *http_user(const http_request *request);

/* The part of the path that `name` matched in the pattern, unescaped; never null for a name of the pattern. */
const char *http_path_value(const http_request *request, const char *name);

/* Whether the pattern has that name. */
bool http_has_path_value(const http_request *request, const char *name);

/* A value of the query, unescaped; null when it is not there. Only for names of the route. */
const char *http_query_value(const http_request *request, const char *name);

/* The body; null when empty. Valid until the request is answered. */
const void *http_body(const http_request *request, size_t *bytes);

/* A header of the request; null when it was not sent. */
const char *http_header_value(const http_request *request, const char *name);

/* The route that matched. */
const http_route *http_route_of(const http_request *request);

/* All routes of the server, as given to http_create. */
const http_route *const *http_tables(const http_request *request);

/* Answers with a copy of `bytes` bytes; refuses when too many bytes wait to be taken (answers_bytes_max). `type` is
 * null for an answer without body. */
void http_answer(http_request *request, unsigned status, const char *type, const void *body, size_t bytes);

/* The same with memory from malloc, which is freed. */
void http_answer_owned(http_request *request, unsigned status, const char *type, void *body, size_t bytes);

/* Says how large an answer will be that is still to be put together: it counts from now on. False: too much waits for
 * clients, and the request was refused. */
bool http_announce(http_request *request, size_t bytes);

/* Adds a header to the answer that will be given; `name` is a literal, `value` is copied and cut to 71 characters. At
 * most HTTP_ADDED_MAX of them; an answer of an error has them, too. */
void http_add_header(http_request *request, const char *name, const char *value);

enum { HTTP_ADDED_MAX = 4 };

typedef struct http_header {
  const char *name, *value;
} http_header;

/* Answers with bytes that outlive the server, such as a file that is compiled in, and with further headers, which end
 * with a null name; Cache-Control is among them. */
void http_answer_static(http_request *request, unsigned status, const char *type, const void *body, size_t bytes,
                        const http_header *headers);

/* Refuses with an error, and returns false; `code` is a word for programs, `field` the field at fault, or null; the
 * sentence is printf-style. */
bool http_refuse(http_request *request, unsigned status, const char *code, const char *field, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

enum { HTTP_ERROR_BYTES = 2048 };

/* Writes the body that http_refuse gives; returns its length. */
size_t http_write_error(char text[HTTP_ERROR_BYTES], const char *code, const char *field, const char *message);

/* --------------------------------------------------------------------------------------- answers without an end */

typedef struct http_stream http_stream;

/* The source of the bytes of a stream. */
typedef struct http_stream_source {
  size_t (*read)(void *user, char *buffer, size_t bytes); /* gives the next bytes, once the client took the last ones;
                                                             0 = there are none now */
  void (*closed)(void *user);                             /* the last call: the client or the server ended the stream */
  void *user;
} http_stream_source;

/* Answers with an endless body. A client that takes nothing for send_ms is cut. */
http_stream *http_answer_stream(http_request *request, const char *type, const http_stream_source *source);

/* There may be bytes: `read` is called soon, unless the client still has some to take. */
void http_stream_wake(http_stream *stream);

/* Ends a stream: its client gets no more bytes, and `closed` is called soon. */
void http_stream_end(http_stream *stream);

#endif
