/* http_places.c - the places of a listener: connections_max ordinary ones, of which one client may have so many, and
 * HTTP_RESERVE beside them, so that a listener whose places are all taken still answers its operators. A place of the
 * reserve is for one request that comes at once. Over TCP it is answered when it has the token or asks for /healthz; at
 * the control socket, when the client is the daemon's user or root. Who finds even the reserve taken is cut. */
#include "service/http_parts.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { RESERVED_MS = 1000 }; /* for a request, and for an answer */

static void place_set_address(http_connection *connection, const struct sockaddr *address) {
  if (address->sa_family == AF_INET6)
    memcpy(connection->address, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
  else if (address->sa_family == AF_INET)
    memcpy(connection->address + 12, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
}

/* Whether its client has as many connections already as one may. O(connections). */
static bool place_client_is_full(const http_connection *connection) {
  const struct http *http = connection->listener->http;
  const http_connection *other;
  uint32_t count = 0;
  LIST_FOREACH(other, &http->connections, link) {
    if (other->listener == connection->listener)
      count += memcmp(other->address, connection->address, sizeof other->address) == 0;
  }
  return count >= http->options.connections_per_client;
}

/* Over TCP only the request can tell. */
static bool place_may_be_reserved(const http_connection *connection) {
  struct ucred peer = {0};
  socklen_t bytes = sizeof peer;
  if (connection->listener->tcp) return true;
  if (getsockopt(connection->descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &bytes)) return false;
  return peer.uid == 0 || peer.uid == geteuid();
}

void http_place_take(http_connection *connection, const struct sockaddr *address) {
  http_listener *listener = connection->listener;
  const http_options *options = &listener->http->options;
  place_set_address(connection, address);
  connection->reserved = listener->open - listener->reserved >= options->connections_max ||
                         (listener->tcp && place_client_is_full(connection));
  listener->open++;
  listener->reserved += connection->reserved;
  connection->deadline_ms = http_place_deadline_ms(connection, options->receive_ms);
  if (connection->reserved && (listener->reserved > HTTP_RESERVE || !place_may_be_reserved(connection)))
    http_cut(connection);
}

void http_place_leave(http_connection *connection) {
  connection->listener->open--;
  connection->listener->reserved -= connection->reserved;
}

uint64_t http_place_deadline_ms(const http_connection *connection, uint32_t ms) {
  return uv_now(connection->listener->http->loop) + (connection->reserved && ms > RESERVED_MS ? RESERVED_MS : ms);
}
