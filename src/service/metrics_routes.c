/* metrics_routes.c - /metrics: gathers the facts, renders them, and keeps the text for a moment. */
#include "service/metrics.h"

#include "base/clock.h"

#include <dirent.h>
#include <muster/common.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Values that do not come from the worlds (requests, for example) are renewed after this time. */
static const uint64_t keep_ns = 100000000u;

struct metrics {
  struct exposition text;
  uint64_t changes, rendered_ns; /* of the text; 0 = none yet */
  double started_s;
  metrics_world worlds[WORLDS_MAX];
  metrics_crash crashes[FLIGHT_COUNTS_MAX];
};

static double read_cpu_s(void) {
  uv_rusage_t usage = {0};
  uv_getrusage(&usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static double read_unix_s(void) {
  uv_timeval64_t now = {0};
  uv_gettimeofday(&now);
  return (double)now.tv_sec + (double)now.tv_usec * 1e-6;
}

static uint64_t read_resident_bytes(void) {
  size_t bytes = 0;
  uv_resident_set_memory(&bytes);
  return bytes;
}

/* The folder's own descriptor is not counted, and "." and ".." are none. */
static uint32_t count_open_files(void) {
  uint32_t count = 0;
  DIR *folder = opendir("/proc/self/fd");
  if (!folder) return 0;
  while (readdir(folder)) count++;
  closedir(folder);
  return count > 3 ? count - 3 : 0;
}

static uint32_t read_files_max(void) {
  struct rlimit limit = {0};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur < UINT32_MAX ? (uint32_t)limit.rlim_cur : 0;
}

struct metrics *metrics_create(void) {
  struct metrics *made = calloc(1, sizeof *made);
  if (made) made->started_s = read_unix_s();
  return made;
}

void metrics_destroy(struct metrics *metrics) {
  if (metrics) exposition_free(&metrics->text);
  free(metrics);
}

static uint64_t count_changes(struct service *service) {
  uint64_t changes = 0;
  for (uint32_t i = 0; i < service->world_count; i++) {
    uv_mutex_lock(&service->worlds[i].mutex);
    changes += service->worlds[i].published.changes;
    uv_mutex_unlock(&service->worlds[i].mutex);
  }
  return changes;
}

static void metrics_gather_daemon(const struct metrics *metrics, const struct http *http, metrics_facts *facts) {
  *facts = (metrics_facts){.version = MUSTER_VERSION,
                           .now_ns = clock_system(),
                           .unix_s = read_unix_s(),
                           .started_s = metrics->started_s,
                           .cpu_s = read_cpu_s(),
                           .resident_bytes = read_resident_bytes(),
                           .open_files = count_open_files(),
                           .files_max = read_files_max()};
  http_count(http, &facts->http);
}

void metrics_render_front(struct exposition *exposition, const struct metrics *metrics, const struct http *http,
                          uint32_t worlds) {
  metrics_facts facts;
  metrics_gather_daemon(metrics, http, &facts);
  facts.world_count = worlds;
  metrics_render_daemon(exposition, &facts);
}

static void metrics_routes_gather(struct service *service, struct metrics *metrics, metrics_facts *facts) {
  metrics_gather_daemon(metrics, service->http, facts);
  facts->workers = muster_pool_workers(service->pool);
  facts->mailbox = frame_mailbox_read_counts(&service->mailbox);
  facts->world_count = service->world_count;
  facts->worlds = metrics->worlds;
  facts->crash_count = flight_read_counts(&service->flight, metrics->crashes, FLIGHT_COUNTS_MAX);
  facts->crashes = metrics->crashes;
  snapshots_read_status(&service->snapshots, &facts->snapshots);
  for (uint32_t i = 0; i < service->world_count; i++) {
    metrics->worlds[i].name = service->worlds[i].name;
    metrics->worlds[i].module = service->worlds[i].settings.module;
    world_read_published(&service->worlds[i], &metrics->worlds[i].published);
  }
}

static bool is_current(const struct metrics *metrics, uint64_t changes, uint64_t now_ns) {
  return metrics->rendered_ns && metrics->changes == changes && now_ns - metrics->rendered_ns < keep_ns;
}

static void show_metrics(http_request *request) {
  struct service *service = http_user(request);
  struct metrics *metrics = service->metrics;
  metrics_facts facts;
  /* The frames' thread owns the pool, and destroys it at the end. */
  if (service->stage != SERVICE_RUNNING) {
    http_refuse(request, 503, "not_running", NULL, "the worlds are %s: ask again",
                service->stage == SERVICE_STARTING ? "not open yet" : "being closed");
    return;
  }
  uint64_t now_ns = clock_system(), changes = count_changes(service);
  if (!is_current(metrics, changes, now_ns)) {
    metrics_routes_gather(service, metrics, &facts);
    metrics->text.bytes = 0;
    metrics_render(&metrics->text, &facts);
    metrics->changes = changes;
    metrics->rendered_ns = metrics->text.failed ? 0 : now_ns;
  }
  if (metrics->text.failed) {
    metrics->text.failed = false;
    http_refuse(request, 503, "no_memory", NULL, "no memory for the metrics: ask again");
    return;
  }
  http_answer(request, 200, EXPOSITION_TYPE, metrics->text.text, metrics->text.bytes);
}

const http_route metrics_routes[] = {
    {"GET", "/metrics", "what is measured, for Prometheus", .handle = show_metrics, .goes_always = true},
    {0},
};
