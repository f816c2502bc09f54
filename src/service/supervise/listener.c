#include "service/supervise/listener.h"

#include "base/error.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 512 };

void listener_close(int *listener) {
  if (*listener >= 0) close(*listener);
  *listener = -1;
}

muster_result listener_make(int *listener, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  listener_close(listener);
  unlink(path); /* the holder of the control socket's lock may */
  *listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  mode_t before = umask(0177);
  bool bound = *listener >= 0 && bind(*listener, (const struct sockaddr *)&address, sizeof address) == 0 &&
               listen(*listener, BACKLOG) == 0;
  umask(before);
  return bound ? MUSTER_OK : error_set(MUSTER_E_SYSTEM, "cannot listen on %s: %s", path, strerror(errno));
}

muster_result listener_renew(int *listener, const char *path) {
  struct pollfd shut = {.fd = *listener, .events = POLLIN | POLLRDHUP};
  bool works =
      poll(&shut, 1, 0) >= 0 && !(shut.revents & (POLLHUP | POLLRDHUP | POLLERR)) && listen(*listener, BACKLOG) == 0;
  return works ? MUSTER_OK : listener_make(listener, path);
}
