/* http.c - the server as a whole: libmicrohttpd's epoll descriptors in the loop, connections and their deadlines. */
#include "service/http.h"

#include "base/error.h"
#include "service/http_request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SWEEP_MS = 500 };

/* ------------------------------------------------------------------------------------------------ turning the wheel */

static void turn(http_listener *listener);

static void on_events(uv_poll_t *poll, int status, int events) {
  (void)status, (void)events;
  turn(poll->data);
}

static void on_timer(uv_timer_t *timer) {
  turn(timer->data);
}

/* Lets libmicrohttpd work on what is ready. When it asks for a timeout, it has connections that are ready without an
 * event: then it is called again after the loop has handled everything else. */
static void turn(http_listener *listener) {
  MHD_UNSIGNED_LONG_LONG wait_ms;
  listener->again = false;
  MHD_run(listener->daemon);
  if (listener->again)
    uv_timer_start(&listener->timer, on_timer, 0, 0);
  else if (MHD_get_timeout(listener->daemon, &wait_ms) == MHD_YES)
    uv_timer_start(&listener->timer, on_timer, wait_ms, 0);
  else
    uv_timer_stop(&listener->timer);
}

void http_turn_soon(http_listener *listener) {
  listener->again = true;
  uv_timer_start(&listener->timer, on_timer, 0, 0);
}

/* ------------------------------------------------------------------------------------------------------ connections */

/* Shutting the socket down wakes libmicrohttpd, which then closes it, and reads nothing that it was sent before. */
void http_cut(http_connection *connection) {
  connection->deadline_ms = UINT64_MAX;
  shutdown(connection->descriptor, SHUT_RDWR);
  connection->listener->http->counts.cut++;
}

static void open_connection(http_listener *listener, struct MHD_Connection *connection, void **context) {
  struct http *http = listener->http;
  http_connection *opened = calloc(1, sizeof *opened);
  if (!opened) abort();
  opened->listener = listener;
  opened->descriptor = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
  http_place_take(opened, MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr);
  LIST_INSERT_HEAD(&http->connections, opened, link);
  http->counts.connections++;
  http->counts.open++;
  *context = opened;
}

/* Where its listener had no place left, libmicrohttpd listens again only when it is run the next time. */
static void close_connection(http_connection *connection) {
  connection->listener->http->counts.open--;
  http_turn_soon(connection->listener);
  http_place_leave(connection);
  LIST_REMOVE(connection, link);
  free(connection);
}

static void on_connection(void *user, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode code) {
  if (code == MHD_CONNECTION_NOTIFY_STARTED)
    open_connection(user, connection, context);
  else if (*context)
    close_connection(*context);
}

static void on_completed(void *user, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode code) {
  http_request *request = *context;
  (void)user, (void)connection, (void)code;
  if (!request) return;
  request->client->deadline_ms = http_place_deadline_ms(request->client, request->http->options.receive_ms);
  http_close_request(request);
  *context = NULL;
}

static void on_sweep(uv_timer_t *timer) {
  struct http *http = timer->data;
  uint64_t now_ms = uv_now(http->loop);
  http_connection *connection;
  LIST_FOREACH(connection, &http->connections, link) {
    if (now_ms >= connection->deadline_ms) http_cut(connection);
  }
}

/* Decodes percent signs, except those of a zero byte and a slash, which would change the path. */
static size_t unescape(void *user, struct MHD_Connection *connection, char *text) {
  char *to = text;
  unsigned value;
  (void)user, (void)connection;
  for (const char *from = text; *from;) {
    bool hex = *from == '%' && strspn(from + 1, "0123456789abcdefABCDEF") >= 2;
    if (hex && sscanf(from + 1, "%2x", &value) == 1 && value != 0 && value != '/') {
      *to++ = (char)value;
      from += 3;
    } else {
      *to++ = *from++;
    }
  }
  *to = '\0';
  return (size_t)(to - text);
}

/* -------------------------------------------------------------------------------------------------------- listeners */

static struct MHD_Daemon *start_daemon(struct http *http, http_listener *listener, int descriptor) {
  const http_options *options = &http->options;
  return MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_SUSPEND_RESUME, 0, NULL, NULL, http_take, listener,
                          MHD_OPTION_LISTEN_SOCKET, descriptor, MHD_OPTION_CONNECTION_LIMIT,
                          (unsigned)options->connections_max + 2 * HTTP_RESERVE, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                          (size_t)options->header_bytes_max, MHD_OPTION_CONNECTION_TIMEOUT, 0u,
                          MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
                          listener, MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_END);
}

/* The server owns the descriptor, also on failure. */
static muster_result listen_with(struct http *http, int descriptor, bool tcp) {
  if (http->listener_count == HTTP_LISTENERS_MAX) {
    close(descriptor);
    return error_set(MUSTER_E_FULL, "http: %d listeners are there already", HTTP_LISTENERS_MAX);
  }
  http_listener *listener = &http->listeners[http->listener_count];
  *listener = (http_listener){.http = http, .tcp = tcp};
  listener->daemon = start_daemon(http, listener, descriptor);
  if (!listener->daemon) {
    close(descriptor);
    return error_set(MUSTER_E_SYSTEM, "http: libmicrohttpd does not start: %s", strerror(errno));
  }
  int epoll = MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
  int failed = uv_poll_init(http->loop, &listener->poll, epoll);
  if (failed) {
    MHD_stop_daemon(listener->daemon);
    return error_set(MUSTER_E_SYSTEM, "http: %s", uv_strerror(failed));
  }
  uv_timer_init(http->loop, &listener->timer);
  listener->poll.data = listener->timer.data = listener;
  uv_poll_start(&listener->poll, UV_READABLE, on_events);
  http->listener_count++;
  http->handles_open += 2;
  turn(listener);
  return MUSTER_OK;
}

muster_result http_listen_unix(struct http *http, int descriptor) {
  int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return error_set(MUSTER_E_SYSTEM, "http: %s", strerror(errno));
  return listen_with(http, own, false);
}

muster_result http_listen_tcp(struct http *http, const char *address, bool beyond_loopback) {
  int descriptor;
  uint16_t port = 0;
  muster_result result = http_open_tcp(address, beyond_loopback, &descriptor, &port);
  if (!result) result = listen_with(http, descriptor, true);
  if (!result) http->port = port;
  return result;
}

uint16_t http_port(const struct http *http) {
  return http->port;
}

/* ------------------------------------------------------------------------------------------------------- the server */

muster_result http_change(struct http *http, const http_options *options) {
  char *token = options->token ? strdup(options->token) : NULL;
  if (options->token && !token) return error_set(MUSTER_E_MEMORY, "http: no memory for the token");
  free(http->token);
  http->token = token;
  http->options.body_bytes_max = options->body_bytes_max;
  http->options.receive_ms = options->receive_ms;
  http->options.send_ms = options->send_ms;
  snprintf(http->hosts, sizeof http->hosts, "%s", options->hosts ? options->hosts : "");
  for (char *at = http->hosts; *at; at++)
    if (*at == ',') *at = ' ';
  return MUSTER_OK;
}

struct http *http_create(uv_loop_t *loop, const http_options *options) {
  struct http *made = calloc(1, sizeof *made);
  if (!made || http_change(made, options)) {
    free(made);
    error_set(MUSTER_E_MEMORY, "http: no memory for the server");
    return NULL;
  }
  made->loop = loop;
  made->options = *options;
  made->options.token = made->options.hosts = NULL; /* copied */
  uv_timer_init(loop, &made->sweep);
  made->sweep.data = made;
  uv_timer_start(&made->sweep, on_sweep, SWEEP_MS, SWEEP_MS);
  made->handles_open = 1;
  return made;
}

static void closed_one(struct http *http) {
  if (--http->handles_open > 0) return;
  if (http->closed) http->closed(http->closed_user);
  free(http->token);
  free(http);
}

static void on_listener_closed(uv_handle_t *handle) {
  const http_listener *listener = handle->data;
  closed_one(listener->http);
}

static void on_sweep_closed(uv_handle_t *handle) {
  closed_one(handle->data);
}

void http_destroy(struct http *http, void (*done)(void *user), void *user) {
  if (!http) return;
  http->closed = done;
  http->closed_user = user;
  http_request *request;
  LIST_FOREACH(request, &http->requests, link) {
    if (request->suspended) http_refuse(request, 503, "stopping", NULL, "the daemon stops");
    if (request->stream) http_stream_end(request->stream);
  }
  for (uint32_t i = 0; i < http->listener_count; i++) {
    http_listener *listener = &http->listeners[i];
    uv_poll_stop(&listener->poll);
    MHD_run(listener->daemon); /* answers given just now may still be sent */
    MHD_stop_daemon(listener->daemon);
    uv_close((uv_handle_t *)&listener->poll, on_listener_closed);
    uv_close((uv_handle_t *)&listener->timer, on_listener_closed);
  }
  uv_close((uv_handle_t *)&http->sweep, on_sweep_closed);
}

void http_count(const struct http *http, http_counts *counts) {
  *counts = http->counts;
}
