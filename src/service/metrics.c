#include "service/metrics.h"

static void render_number(struct exposition *exposition, const char *name, const char *help, uint64_t value) {
  exposition_begin(exposition, name, EXPOSITION_NUMBER, help);
  exposition_write_count(exposition, "", NULL, value);
}

static void render_seconds(struct exposition *exposition, const char *name, const char *help, double value) {
  exposition_begin(exposition, name, EXPOSITION_NUMBER, help);
  exposition_write(exposition, "", NULL, value);
}

static void render_process(struct exposition *exposition, const metrics_facts *facts) {
  exposition_labels version = {1, {{"version", facts->version}}};
  exposition_begin(exposition, "muster_build_info", EXPOSITION_NUMBER, "1, with the version of the program.");
  exposition_write_count(exposition, "", &version, 1);
  render_seconds(exposition, "process_start_time_seconds", "Start time of the process since unix epoch in seconds.",
                 facts->started_s);
  render_seconds(exposition, "process_cpu_seconds_total", "Total user and system CPU time spent in seconds.",
                 facts->cpu_s);
  render_number(exposition, "process_resident_memory_bytes", "Resident memory size in bytes.", facts->resident_bytes);
  if (facts->open_files)
    render_number(exposition, "process_open_fds", "Number of open file descriptors.", facts->open_files);
  if (facts->files_max)
    render_number(exposition, "process_max_fds", "Maximum number of open file descriptors.", facts->files_max);
  if (facts->workers)
    render_number(exposition, "muster_workers", "Workers of the pool, the frames' thread included.", facts->workers);
  render_number(exposition, "muster_worlds", "Worlds of the service.", facts->world_count);
}

static void render_mailbox(struct exposition *exposition, const mailbox_counts *mailbox) {
  render_number(exposition, "muster_mailbox_requests_total", "Requests that the frames' thread served between frames.",
                mailbox->run);
  render_number(exposition, "muster_mailbox_refused_total", "Requests refused because too many waited.",
                mailbox->refused);
  render_number(exposition, "muster_mailbox_waiting", "Requests that wait for the frames' thread.", mailbox->waiting);
  render_number(exposition, "muster_mailbox_held", "Requests whose answer waits until a journal makes them safe.",
                mailbox->held);
}

static void render_http(struct exposition *exposition, const http_counts *http) {
  static const char *const classes[] = {"", "1xx", "2xx", "3xx", "4xx", "5xx"};
  exposition_begin(exposition, "muster_http_requests_total", EXPOSITION_NUMBER,
                   "Requests answered, by class of status.");
  for (uint32_t i = 1; i < sizeof classes / sizeof *classes; i++) {
    exposition_labels labels = {1, {{"code", classes[i]}}};
    exposition_write_count(exposition, "", &labels, http->answers[i]);
  }
  render_number(exposition, "muster_http_connections", "Connections that are open.", http->open);
  render_number(exposition, "muster_http_connections_total", "Connections accepted.", http->connections);
  render_number(exposition, "muster_http_connections_cut_total", "Connections cut because they were too slow.",
                http->cut);
  render_number(exposition, "muster_http_answers_waiting_bytes",
                "Bytes of large answers that clients have not taken yet.", http->answers_waiting);
}

static void render_snapshots(struct exposition *exposition, const metrics_facts *facts) {
  const snapshots_status *snapshots = &facts->snapshots;
  if (!snapshots->enabled) return;
  render_number(exposition, "muster_snapshots_total", "Snapshots written.", snapshots->written);
  render_number(exposition, "muster_snapshots_failed_total", "Snapshots that could not be written.", snapshots->failed);
  render_number(exposition, "muster_snapshot_running", "1 while a snapshot is being written.", snapshots->running);
  render_seconds(exposition, "muster_snapshot_pause_seconds", "How long the frames stood still for the last snapshot.",
                 (double)snapshots->pause_ns / 1e9);
  if (!snapshots->written_at) return;
  double age_s = facts->unix_s - (double)snapshots->written_at;
  render_seconds(exposition, "muster_snapshot_age_seconds", "Age of the newest snapshot of this run.",
                 age_s > 0 ? age_s : 0);
  render_number(exposition, "muster_snapshot_bytes", "Size of the newest snapshot.", snapshots->bytes);
  render_seconds(exposition, "muster_snapshot_duration_seconds", "How long the newest snapshot took to be written.",
                 (double)snapshots->write_ns / 1e9);
}

static void render_crashes(struct exposition *exposition, const metrics_facts *facts) {
  exposition_begin(exposition, "muster_crashes_total", EXPOSITION_NUMBER,
                   "Times that the process died inside a callback of the type, since it was last reinstated.");
  for (uint32_t i = 0; i < facts->crash_count; i++) {
    const metrics_crash *crash = &facts->crashes[i];
    exposition_labels labels = {2, {{"world", crash->world}, {"type", crash->type}}};
    exposition_write_count(exposition, "", &labels, crash->crashes);
  }
}

void metrics_render_daemon(struct exposition *exposition, const metrics_facts *facts) {
  render_process(exposition, facts);
  render_http(exposition, &facts->http);
}

void metrics_render(struct exposition *exposition, const metrics_facts *facts) {
  render_process(exposition, facts);
  render_mailbox(exposition, &facts->mailbox);
  render_http(exposition, &facts->http);
  render_snapshots(exposition, facts);
  render_crashes(exposition, facts);
  metrics_render_worlds(exposition, facts);
  metrics_render_modules(exposition, facts);
}
