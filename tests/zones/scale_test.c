/* What a land gives its brokers to do. */
#include "traffic.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

TestSuite(scale, .timeout = 3600);

static double from_environment(const char *name, double otherwise) {
  const char *given = getenv(name);
  return given ? strtod(given, NULL) : otherwise;
}

Test(scale, explore) {
  traffic before, after;
  land *all = land_start(&(land_options){.brokers = {.nats = BROKERS_MAX, .etcd = BROKERS_MAX},
                                         .journal_stream = from_environment("SCALE_STREAM", 0) != 0,
                                         .rows = (uint32_t)from_environment("SCALE_ROWS", 1),
                                         .agents = (uint32_t)from_environment("SCALE_AGENTS", 300),
                                         .hz = (uint32_t)from_environment("SCALE_HZ", 10),
                                         .speed = from_environment("SCALE_SPEED", 5),
                                         .strollers = (uint32_t)from_environment("SCALE_BYTES", 12)});
  traffic_tap *tap = traffic_open(all);
  sleep((unsigned)from_environment("SCALE_WARM", 10));
  traffic_read(all, tap, &before);
  sleep((unsigned)from_environment("SCALE_SECONDS", 20));
  traffic_read(all, tap, &after);
  traffic_less(&after, &before);
  traffic_print(&after, stdout);
  traffic_close(tap);
  land_end(all);
}
