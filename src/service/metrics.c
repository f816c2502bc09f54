#include "service/metrics.h"

static void render_number(exposition *exposition, const char *name, exposition_kind kind, const char *help,
                          uint64_t value) {
  exposition_begin(exposition, name, kind, help);
  exposition_write_count(exposition, "", NULL, value);
}

static void render_seconds(exposition *exposition, const char *name, exposition_kind kind, const char *help,
                           double value) {
  exposition_begin(exposition, name, kind, help);
  exposition_write(exposition, "", NULL, value);
}

static void render_process(exposition *exposition, const metrics_facts *facts) {
  exposition_labels version = {1, {{"version", facts->version}}};
  exposition_begin(exposition, "muster_build_info", EXPOSITION_GAUGE, "1, with the version of the program.");
  exposition_write_count(exposition, "", &version, 1);
  render_seconds(exposition, "process_start_time_seconds", EXPOSITION_GAUGE,
                 "Start time of the process since unix epoch in seconds.", facts->started_s);
  render_seconds(exposition, "process_cpu_seconds_total", EXPOSITION_COUNTER,
                 "Total user and system CPU time spent in seconds.", facts->cpu_s);
  render_number(exposition, "process_resident_memory_bytes", EXPOSITION_GAUGE, "Resident memory size in bytes.",
                facts->resident_bytes);
  if (facts->workers)
    render_number(exposition, "muster_workers", EXPOSITION_GAUGE, "Workers of the pool, the frames' thread included.",
                  facts->workers);
  render_number(exposition, "muster_worlds", EXPOSITION_GAUGE, "Worlds of the service.", facts->world_count);
}

static void render_desk(exposition *exposition, const desk_counts *desk) {
  render_number(exposition, "muster_desk_requests_total", EXPOSITION_COUNTER,
                "Requests that the frames' thread served between frames.", desk->run);
  render_number(exposition, "muster_desk_refused_total", EXPOSITION_COUNTER,
                "Requests refused because too many waited.", desk->refused);
  render_number(exposition, "muster_desk_waiting", EXPOSITION_GAUGE, "Requests that wait for the frames' thread.",
                desk->waiting);
}

static void render_http(exposition *exposition, const http_counts *http) {
  static const char *const classes[] = {"", "1xx", "2xx", "3xx", "4xx", "5xx"};
  exposition_begin(exposition, "muster_http_requests_total", EXPOSITION_COUNTER,
                   "Requests answered, by class of status.");
  for (uint32_t i = 1; i < sizeof classes / sizeof *classes; i++) {
    exposition_labels labels = {1, {{"code", classes[i]}}};
    exposition_write_count(exposition, "", &labels, http->answers[i]);
  }
  render_number(exposition, "muster_http_connections", EXPOSITION_GAUGE, "Connections that are open.", http->open);
  render_number(exposition, "muster_http_connections_total", EXPOSITION_COUNTER, "Connections accepted.",
                http->connections);
  render_number(exposition, "muster_http_connections_cut_total", EXPOSITION_COUNTER,
                "Connections cut because they were too slow.", http->cut);
}

static void render_crashes(exposition *exposition, const metrics_facts *facts) {
  exposition_begin(exposition, "muster_crashes_total", EXPOSITION_COUNTER,
                   "Times that the process died inside a callback of the type, since its last pardon.");
  for (uint32_t i = 0; i < facts->crash_count; i++) {
    const metrics_crash *crash = &facts->crashes[i];
    exposition_labels labels = {2, {{"world", crash->world}, {"type", crash->type}}};
    exposition_write_count(exposition, "", &labels, crash->crashes);
  }
}

void metrics_render(exposition *exposition, const metrics_facts *facts) {
  render_process(exposition, facts);
  render_desk(exposition, &facts->desk);
  render_http(exposition, &facts->http);
  render_crashes(exposition, facts);
  metrics_render_worlds(exposition, facts);
}
