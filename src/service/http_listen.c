/* http_listen.c - the TCP socket that the server listens at. */
#include "service/http_parts.h"

#include "base/error.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 1024 };

static bool is_loopback(const struct sockaddr *address) {
  if (address->sa_family == AF_INET)
    return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

/* "127.0.0.1:80", "[::1]:80" or "localhost:80" as an address. */
static struct addrinfo *look_up(const char *text) {
  char host[256];
  const char *colon = strrchr(text, ':');
  struct addrinfo hints = {.ai_family = AF_UNSPEC,
                           .ai_socktype = SOCK_STREAM,
                           .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE},
                  *found = NULL;
  if (!colon || colon == text || !colon[1] || (size_t)(colon - text) >= sizeof host) return NULL;
  snprintf(host, sizeof host, "%.*s", (int)(colon - text), text);
  if (strcmp(host, "localhost") == 0) strcpy(host, "127.0.0.1");
  size_t length = strlen(host);
  if (*host == '[' && host[length - 1] == ']') {
    memmove(host, host + 1, length - 2);
    host[length - 2] = '\0';
  }
  return getaddrinfo(host, colon + 1, &hints, &found) == 0 ? found : NULL;
}

static uint16_t port_of(int descriptor) {
  struct sockaddr_storage address;
  socklen_t bytes = sizeof address;
  if (getsockname(descriptor, (struct sockaddr *)&address, &bytes) != 0) return 0;
  if (address.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
  return ntohs(((struct sockaddr_in *)&address)->sin_port);
}

static int listen_at(const struct addrinfo *address) {
  int one = 1, opened = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (opened < 0) return -1;
  setsockopt(opened, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(opened, address->ai_addr, address->ai_addrlen) == 0 && listen(opened, BACKLOG) == 0) return opened;
  int reason = errno;
  close(opened);
  errno = reason;
  return -1;
}

muster_result http_open_tcp(const char *text, bool beyond_loopback, int *descriptor, uint16_t *port) {
  struct addrinfo *address = look_up(text);
  if (!address)
    return error_set(MUSTER_E_ARGUMENT, "listen '%.80s': give an address and a port, such as 127.0.0.1:8420", text);
  if (!beyond_loopback && !is_loopback(address->ai_addr)) {
    freeaddrinfo(address);
    return error_set(MUSTER_E_ARGUMENT,
                     "listen '%.80s' can be reached from other machines: give 127.0.0.1 or [::1], or allow it "
                     "explicitly",
                     text);
  }
  int opened = listen_at(address), reason = errno;
  freeaddrinfo(address);
  if (opened < 0) return error_set(MUSTER_E_SYSTEM, "listen '%.80s': %s", text, strerror(reason));
  *descriptor = opened;
  *port = port_of(opened);
  return MUSTER_OK;
}
