#include "service/notify.h"

#include "base/clock.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

static int inherited = -1;

void notify_by(int descriptor) {
  inherited = descriptor;
}

/* A socket to the manager; -1 = there is none. */
static int connect_to_manager(void) {
  const char *path = getenv("NOTIFY_SOCKET");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof address.sun_path) return -1;
  memcpy(address.sun_path, path, strlen(path));
  if (path[0] == '@') address.sun_path[0] = '\0'; /* abstract */
  socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
  int manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (manager < 0 || connect(manager, (const struct sockaddr *)&address, bytes) == 0) return manager;
  close(manager);
  return -1;
}

/* A manager that does not read must not stop the service, as sd_notify() would: it waits without an end. What it did
 * not take in this time it is told with the next change. */
static void tell_manager(const char *text) {
  enum { PATIENCE_MS = 500 };
  struct pollfd manager = {.fd = connect_to_manager(), .events = POLLOUT};
  if (manager.fd < 0) return;
  if (poll(&manager, 1, PATIENCE_MS) > 0) send(manager.fd, text, strlen(text), MSG_NOSIGNAL);
  close(manager.fd);
}

static void notify(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void notify(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (inherited < 0)
    tell_manager(text);
  else
    send(inherited, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void notify_ready(const char *status) {
  notify("READY=1\nSTATUS=%s", status);
}

void notify_reloading(void) {
  notify("RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_system() / 1000);
}

void notify_stopping(void) {
  notify("STOPPING=1");
}

void notify_problem(const char *problem) {
  notify("STATUS=%s", problem);
}

void notify_progress(const char *progress) {
  notify("EXTEND_TIMEOUT_USEC=60000000\nSTATUS=%s", progress);
}

void notify_alive(void) {
  notify("WATCHDOG=1");
}

uint64_t notify_alive_gap_ms(void) {
  uint64_t gap_us = 0;
  return sd_watchdog_enabled(0, &gap_us) > 0 ? gap_us / 2000 : 0;
}
