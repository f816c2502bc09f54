/* service/http_parts.h - shared by the files of the HTTP server only. */
#ifndef SERVICE_HTTP_PARTS_H
#define SERVICE_HTTP_PARTS_H

#include "service/http.h"

#include <microhttpd.h>
#include <sys/queue.h>

enum { HTTP_PATH_BYTES = 512, HTTP_VALUES_MAX = 4, HTTP_LISTENERS_MAX = 2, HTTP_HOSTS_BYTES = 1024 };
enum { HTTP_RESERVE = 8 }; /* places of a listener beyond its limit (http_places.c) */

typedef struct http_listener {
  struct http *http;
  struct MHD_Daemon *daemon; /* null: not in use */
  bool tcp;
  bool again; /* libmicrohttpd must be run once more: a sleeping connection got its answer, or a place is free */
  uint32_t open, reserved; /* connections now, and those of them that have a place of the reserve */
  uv_poll_t poll;          /* of the daemon's epoll descriptor */
  uv_timer_t timer;        /* when the daemon wants to run without an event */
} http_listener;

/* A connection and the time by which something must have happened on it. */
typedef struct http_connection {
  LIST_ENTRY(http_connection) link;
  http_listener *listener;
  int descriptor;
  unsigned char address[16]; /* of the client; IPv4 as IPv6 has it; 0 for a unix socket */
  bool reserved;             /* it has a place of the reserve */
  uint64_t deadline_ms;      /* of the loop's clock; UINT64_MAX = none: the request is being answered */
} http_connection;

/* A header that an answer will have. */
typedef struct http_added {
  const char *name;
  char value[72];
} http_added;

struct http_request {
  struct http *http;
  LIST_ENTRY(http_request) link; /* of all that are open */
  struct MHD_Connection *connection;
  http_connection *client;
  const http_route *route;
  char path[HTTP_PATH_BYTES];          /* cut into parts */
  const char *values[HTTP_VALUES_MAX]; /* the values of the pattern's names, in its order */
  char *body;                          /* room for the route's body_max, as it is needed */
  size_t body_bytes, body_room;
  bool head;                     /* the method is HEAD: headers alone are wanted */
  unsigned body_refused;         /* the status with which its body is refused; 0 = not refused so far */
  bool handled, suspended, sent; /* the handler was called; the answer comes later; libmicrohttpd has the answer */
  unsigned status;               /* of the answer; 0 = not answered */
  struct MHD_Response *response;
  uint32_t added_count;
  http_added added[HTTP_ADDED_MAX];
  size_t answer_bytes; /* of a large answer, until the client has taken it */
  http_stream *stream; /* the answer, when it is a stream */
};

struct http {
  uv_loop_t *loop;
  http_options options;
  char *token;
  char hosts[HTTP_HOSTS_BYTES]; /* between blanks */
  http_listener listeners[HTTP_LISTENERS_MAX];
  uint32_t listener_count;
  LIST_HEAD(, http_connection) connections;
  LIST_HEAD(, http_request) requests;
  uv_timer_t sweep; /* cuts slow connections */
  http_counts counts;
  uint16_t port;
  void (*closed)(void *user);
  void *closed_user;
  uint32_t handles_open;
};

/* Finds the route of a path that is cut into parts here. Null: `allowed` has the methods of the path, separated by
 * commas; empty when the path is unknown. */
const http_route *http_match(http_request *request, const char *method, char *allowed, size_t allowed_bytes);

/* Checks whether the client may make the request, before its body is read. False: it was refused. */
bool http_guard(http_request *request, const char *method);

/* Gives a new connection a place: an ordinary one, or one of the reserve, or none, and then it is cut. */
void http_place_take(http_connection *connection, const struct sockaddr *address);

/* The connection is closed. */
void http_place_leave(http_connection *connection);

/* The time by which a connection must have done what it has `ms` for: less in the reserve. */
uint64_t http_place_deadline_ms(const http_connection *connection, uint32_t ms);

/* Whether the request sends the token. Its time does not depend on how much of it is right. */
bool http_has_token(const http_request *request);

/* Cuts a connection: libmicrohttpd is woken, and closes it. */
void http_cut(http_connection *connection);

/* The most that the body of a request of this route may have. */
static inline uint32_t http_body_max(const struct http *http, const http_route *route) {
  return route->body_max < http->options.body_bytes_max ? route->body_max : http->options.body_bytes_max;
}

/* Refuses a body of so many bytes, or one that is too large (0), and returns false. */
bool http_refuse_size(http_request *request, unsigned long long bytes);

/* The stream's request is gone. */
void http_stream_forget(http_stream *stream);

/* Makes the loop call libmicrohttpd soon: it gets no event of its own when a connection is resumed. */
void http_turn_soon(http_listener *listener);

/* Opens a TCP socket that listens; the descriptor is the caller's. */
muster_result http_open_tcp(const char *address, bool beyond_loopback, int *descriptor, uint16_t *port);

#endif
