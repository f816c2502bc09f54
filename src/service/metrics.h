/* service/metrics.h - what musterd measures, for Prometheus to scrape at /metrics.
 *
 * Names begin with muster_ and end in their base unit. Labels are bounded: world, module, instance, type, level, stage,
 * band, quantile, and the class of an answer; none names an agent. A supervisor joins what it measures itself with what
 * its worlds' processes do; samples of these that name no world have the label process (service/supervise/). Rendered
 * on the loop's thread from what the frames' thread last published; rendered again only when that has changed or is 100
 * ms old, so that thousands of requests a second cost little. */
#ifndef SERVICE_METRICS_H
#define SERVICE_METRICS_H

#include "service/exposition.h"
#include "service/service.h"

/* A world, as it is rendered. */
typedef struct metrics_world {
  const char *name, *module;
  world_published published;
} metrics_world;

/* How many times a type has crashed the service. */
typedef flight_count metrics_crash;

/* All values to render; plain data, so that tests need no service. */
typedef struct metrics_facts {
  const char *version;
  uint32_t workers; /* of the pool; 0 = not open yet */
  uint64_t now_ns;  /* CLOCK_MONOTONIC */
  double unix_s;    /* now: Unix time */
  double started_s; /* when the process started: likewise */
  double cpu_s;     /* CPU time of the process */
  uint64_t resident_bytes;
  uint32_t open_files, files_max; /* descriptors of the process; 0 = not known */
  mailbox_counts mailbox;
  http_counts http;
  snapshots_status snapshots;
  uint32_t world_count;
  const metrics_world *worlds;
  uint32_t crash_count;
  const metrics_crash *crashes;
} metrics_facts;

/* Renders everything; families without a world or type are left out. */
void metrics_render(struct exposition *exposition, const metrics_facts *facts);

/* The families of the worlds; and those of their modules: muster_module_..., at most MUSTER_MODULE_ROWS_MAX of each. */
void metrics_render_worlds(struct exposition *exposition, const metrics_facts *facts);
void metrics_render_modules(struct exposition *exposition, const metrics_facts *facts);

/* The families of the process and its server alone. */
void metrics_render_daemon(struct exposition *exposition, const metrics_facts *facts);

/* The state kept from one request to the next. */
struct metrics;

/* Null when memory is short. Loop's thread. */
struct metrics *metrics_create(void);

/* Null is a no-op. Loop's thread. */
void metrics_destroy(struct metrics *metrics);

/* Renders the families of a process that has no worlds itself, but serves so many. Loop's thread. */
void metrics_render_front(struct exposition *exposition, const struct metrics *metrics, const struct http *http,
                          uint32_t worlds);

/* GET /metrics, of a server whose user is the service. */
extern const http_route metrics_routes[];

#endif
