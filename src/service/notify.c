#include "service/notify.h"

#include "base/clock.h"

#include <inttypes.h>
#include <systemd/sd-daemon.h>

void notify_ready(const char *status) {
  sd_notifyf(0, "READY=1\nSTATUS=%s", status);
}

void notify_reloading(void) {
  sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_system() / 1000);
}

void notify_stopping(void) {
  sd_notify(0, "STOPPING=1");
}

void notify_alive(void) {
  sd_notify(0, "WATCHDOG=1");
}

uint64_t notify_alive_gap_ms(void) {
  uint64_t gap_us = 0;
  return sd_watchdog_enabled(0, &gap_us) > 0 ? gap_us / 2000 : 0;
}
