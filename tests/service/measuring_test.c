/* What a living musterd tells of itself: /metrics, /healthz and /readyz. */
#include "served.h"

TestSuite(measuring, .fini = stop);

static const char *ask_metrics(void) {
  fetch("GET", "/metrics", NULL);
  cr_assert_eq(reply.status, 200, "%d: %s", reply.status, reply.body);
  return reply.body;
}

static void wait_for_frames(double frames) {
  AWAIT_WITH(usleep(10000), sample_in(ask_metrics(), "muster_frames_total{world=\"main\"}") >= frames);
}

static void order(const char *method, const char *path, const char *body) {
  fetch(method, path, body);
  cr_assert_eq(reply.status, 200, "%d: %s", reply.status, reply.body);
}

Test(measuring, a_service_says_what_its_worlds_do) {
  daemon_start(&service, "--world main=wildlife --agents 500 --audit=yes --world other=fixed --agents 50 --workers 2");
  wait_for_frames(10);
  const char *text = ask_metrics();
  cr_assert_eq(sample_in(text, "muster_worlds"), 2.0);
  cr_assert_eq(sample_in(text, "muster_workers"), 2.0);
  cr_assert_gt(sample_in(text, "muster_agents{world=\"main\"}"), 400.0);
  cr_assert_gt(sample_in(text, "muster_memory_used_bytes{world=\"main\"}"), 0.0);
  cr_assert_gt(sample_in(text, "process_resident_memory_bytes"), 1e6);
  cr_assert_gt(sample_in(text, "process_start_time_seconds"), 1.6e9);
  cr_assert_gt(sample_in(text, "process_cpu_seconds_total"), 0.0);
  cr_assert_gt(sample_in(text, "process_open_fds"), 5.0); /* its standard streams, the loop, and who asks */
  cr_assert_lt(sample_in(text, "process_open_fds"), sample_in(text, "process_max_fds"));
  cr_assert_gt(sample_in(text, "muster_http_requests_total{code=\"2xx\"}"), 0.0);
  double frames = sample_in(text, "muster_frames_total{world=\"main\"}");
  cr_assert_eq(sample_in(text, "muster_frame_seconds_count{world=\"main\"}"), frames);
  cr_assert_eq(sample_in(text, "muster_frame_seconds_bucket{world=\"main\",le=\"+Inf\"}"), frames);
  cr_assert_eq(sample_in(text, "muster_overrun_own_seconds_count{world=\"main\"}"), frames, "it is audited");
  cr_assert_eq(sample_in(text, "muster_overrun_own_seconds_count{world=\"other\"}"), 0.0, "it is not");
}

Test(measuring, frames_that_are_stepped_are_counted_one_by_one) {
  daemon_start(&service, "--world main=wildlife --agents 200 --hz 100 --budget 2ms");
  order("PATCH", WORLD, "{\"paused\": true}");
  double frames = sample_in(ask_metrics(), "muster_frames_total{world=\"main\"}");
  cr_assert_eq(sample_in(reply.body, "muster_world_paused{world=\"main\"}"), 1.0);
  order("POST", WORLD "/step", "{\"frames\": 2}");
  wait_for_frames(frames + 2);
  cr_assert_eq(sample_in(reply.body, "muster_frames_total{world=\"main\"}"), frames + 2);
  order("POST", WORLD "/step", "{\"frames\": 1}");
  wait_for_frames(frames + 3);
  cr_assert_eq(sample_in(reply.body, "muster_frames_total{world=\"main\"}"), frames + 3);
}

/* Prometheus and a request for the world are told the same bands of importance. */
Test(measuring, bands_of_importance_are_those_of_the_world) {
  static const char *const ends[] = {"0", "0.25", "0.5", "0.75", "1"};
  static const char *const figures[] = {"agents",         "agents_beyond_wish", "wanted_period_seconds",
                                        "period_seconds", "interval_seconds",   "agent_seconds_total",
                                        "updates_total"},
                           *const members[] = {"agents",   "beyond_wish", "wanted",   "period",
                                               "interval", "agent_time",  "completed"};
  daemon_start(&service, "--world main=wildlife --agents 500");
  wait_for_frames(30);
  order("PATCH", WORLD, "{\"paused\": true}");
  json_auto_t *world = get(WORLD);
  json_t *bands = control_member(world, "staleness_by_importance");
  cr_assert_eq(json_array_size(bands), 5);
  wait_for_frames(control_number(world, "frames"));
  for (size_t i = 0; i < 5; i++)
    for (size_t k = 0; k < COUNT_OF(figures); k++) {
      const json_t *value = json_object_get(json_array_get(bands, i), members[k]);
      double unit = strstr(figures[k], "seconds") ? 1e-9 : 1;
      double expected = json_is_null(value) ? -1 : json_number_value(value) * unit;
      const char *series = formed("muster_band_%s{world=\"main\",band=\"%s\"}", figures[k], ends[i]);
      cr_expect_float_eq(sample_in(reply.body, series), expected, 1e-9 * fabs(expected), "%s", series);
    }
  cr_expect_gt(sample_in(reply.body, "muster_band_updates_total{world=\"main\",band=\"0\"}"), 0.0);
}

Test(measuring, promtool_accepts_what_it_says) {
  if (system("command -v promtool >/dev/null")) SKIP_TEST("promtool (Debian: prometheus) is not installed");
  daemon_start(&service, "--world main=wildlife --agents 500");
  wait_for_frames(10);
  ask_metrics();
  FILE *promtool = popen("promtool check metrics", "w");
  cr_assert_not_null(promtool);
  cr_assert_eq(fwrite(reply.body, 1, reply.length, promtool), reply.length);
  cr_assert_eq(pclose(promtool), 0, "promtool has something to say");
}

Test(measuring, health_and_readiness_are_told) {
  daemon_start(&service, "--world main=wildlife --agents 200");
  cr_assert_eq(fetch("GET", "/healthz", NULL)->status, 200);
  wait_for_frames(1);
  json_auto_t *answer = get("/readyz");
  cr_assert(control_is_true(answer, "ready"));
  order("POST", WORLD "/step", "{\"frames\": 1}");
  cr_assert_eq(fetch("GET", "/readyz", NULL)->status, 200, "a pause by command is no failure: %s", reply.body);
}
