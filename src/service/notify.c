#include "service/notify.h"

#include "base/clock.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

static int inherited = -1;

void notify_by(int descriptor) {
  inherited = descriptor;
}

static void notify(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void notify(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (inherited < 0)
    sd_notify(0, text);
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
