/* loopback.h - a server of the service's HTTP, and its clients, by TCP within this machine. */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include "room.h"
#include "service/http.h"

#include <arpa/inet.h>
#include <netinet/in.h>

/* For WITH(). */
static inline http_options http_options_default(void) {
  return http_default_options();
}

static inline void loopback_listen(struct http *http) {
  cr_assert_not_null(http, "%s", muster_last_error());
  cr_assert_eq(http_listen_tcp(http, "127.0.0.1:0", false), MUSTER_OK, "%s", muster_last_error());
}

/* A connection, of which the system holds this much that was not read; 0 = as much as it likes. */
static inline int loopback_dial(uint16_t port, int unread_bytes) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (unread_bytes) setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &unread_bytes, sizeof unread_bytes);
  cr_assert_eq(connect(descriptor, (struct sockaddr *)&address, sizeof address), 0, "%m");
  return descriptor;
}

static inline void loopback_send(int descriptor, const char *text) {
  cr_assert_eq(send(descriptor, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

#endif
