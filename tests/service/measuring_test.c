/* What a living musterd tells of itself: /metrics, /healthz and /readyz. */
#include "daemon.h"
#include "support/await.h"
#include "support/skip.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static daemon_reply reply;

static const char *ask_metrics(const musterd *service) {
  daemon_ask(service, "GET", "/metrics", NULL, &reply);
  cr_assert_eq(reply.status, 200, "%d: %s", reply.status, reply.body);
  return reply.body;
}

/* A sample of the last answer; -1 when it is not there. */
static double value_of(const char *text, const char *series) {
  char line[256];
  snprintf(line, sizeof line, "\n%s ", series);
  const char *found = strstr(text, line);
  return found ? strtod(found + strlen(line), NULL) : -1.0;
}

static void wait_for_frames(const musterd *service, double frames) {
  AWAIT_WITH(usleep(10000), value_of(ask_metrics(service), "muster_frames_total{world=\"main\"}") >= frames);
}

static void order(const musterd *service, const char *method, const char *path, const char *body) {
  daemon_ask(service, method, path, body, &reply);
  cr_assert_eq(reply.status, 200, "%d: %s", reply.status, reply.body);
}

Test(measuring, a_service_says_what_its_worlds_do) {
  musterd service;
  daemon_start(&service, "--world main=wildlife --agents 500 --audit=yes --world other=fixed --agents 50 --workers 2");
  wait_for_frames(&service, 10);
  const char *text = ask_metrics(&service);
  cr_assert_eq(value_of(text, "muster_worlds"), 2.0);
  cr_assert_eq(value_of(text, "muster_workers"), 2.0);
  cr_assert_gt(value_of(text, "muster_agents{world=\"main\"}"), 400.0);
  cr_assert_gt(value_of(text, "muster_memory_used_bytes{world=\"main\"}"), 0.0);
  cr_assert_gt(value_of(text, "process_resident_memory_bytes"), 1e6);
  cr_assert_gt(value_of(text, "process_start_time_seconds"), 1.6e9);
  cr_assert_gt(value_of(text, "process_cpu_seconds_total"), 0.0);
  cr_assert_gt(value_of(text, "process_open_fds"), 5.0); /* its standard streams, the loop, and who asks */
  cr_assert_lt(value_of(text, "process_open_fds"), value_of(text, "process_max_fds"));
  cr_assert_gt(value_of(text, "muster_http_requests_total{code=\"2xx\"}"), 0.0);
  double frames = value_of(text, "muster_frames_total{world=\"main\"}");
  cr_assert_eq(value_of(text, "muster_frame_seconds_count{world=\"main\"}"), frames);
  cr_assert_eq(value_of(text, "muster_frame_seconds_bucket{world=\"main\",le=\"+Inf\"}"), frames);
  cr_assert_eq(value_of(text, "muster_overrun_own_seconds_count{world=\"main\"}"), frames, "it is audited");
  cr_assert_eq(value_of(text, "muster_overrun_own_seconds_count{world=\"other\"}"), 0.0, "it is not");
  daemon_stop(&service);
}

Test(measuring, frames_that_are_stepped_are_counted_one_by_one) {
  musterd service;
  daemon_start(&service, "--world main=wildlife --agents 200 --hz 100 --budget 2ms");
  order(&service, "PATCH", "/v1/worlds/main", "{\"paused\": true}");
  double frames = value_of(ask_metrics(&service), "muster_frames_total{world=\"main\"}");
  cr_assert_eq(value_of(reply.body, "muster_world_paused{world=\"main\"}"), 1.0);
  order(&service, "POST", "/v1/worlds/main/step", "{\"frames\": 2}");
  wait_for_frames(&service, frames + 2);
  cr_assert_eq(value_of(reply.body, "muster_frames_total{world=\"main\"}"), frames + 2);
  order(&service, "POST", "/v1/worlds/main/step", "{\"frames\": 1}");
  wait_for_frames(&service, frames + 3);
  cr_assert_eq(value_of(reply.body, "muster_frames_total{world=\"main\"}"), frames + 3);
  daemon_stop(&service);
}

/* Prometheus and a request for the world are told the same bands of importance. */
Test(measuring, bands_of_importance_are_those_of_the_world) {
  static const char *const ends[] = {"0", "0.25", "0.5", "0.75", "1"};
  static const struct {
    const char *series, *member;
    double unit;
  } figures[] = {{"muster_band_agents", "agents", 1},
                 {"muster_band_agents_beyond_wish", "beyond_wish", 1},
                 {"muster_band_wanted_period_seconds", "wanted", 1e-9},
                 {"muster_band_period_seconds", "period", 1e-9},
                 {"muster_band_interval_seconds", "interval", 1e-9},
                 {"muster_band_agent_seconds_total", "agent_time", 1e-9},
                 {"muster_band_updates_total", "completed", 1}};
  musterd service;
  char series[128];
  daemon_start(&service, "--world main=wildlife --agents 500");
  wait_for_frames(&service, 30);
  order(&service, "PATCH", "/v1/worlds/main", "{\"paused\": true}");
  daemon_ask(&service, "GET", "/v1/worlds/main", NULL, &reply);
  json_t *world = json_loads(reply.body, 0, NULL), *bands = json_object_get(world, "staleness_by_importance");
  cr_assert_eq(json_array_size(bands), 5);
  wait_for_frames(&service, json_number_value(json_object_get(world, "frames")));
  for (size_t i = 0; i < 5; i++)
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
      const json_t *value = json_object_get(json_array_get(bands, i), figures[k].member);
      double expected = json_is_null(value) ? -1 : json_number_value(value) * figures[k].unit;
      snprintf(series, sizeof series, "%s{world=\"main\",band=\"%s\"}", figures[k].series, ends[i]);
      cr_expect_float_eq(value_of(reply.body, series), expected, 1e-9 * fabs(expected), "%s", series);
    }
  cr_expect_gt(value_of(reply.body, "muster_band_updates_total{world=\"main\",band=\"0\"}"), 0.0);
  json_decref(world);
  daemon_stop(&service);
}

Test(measuring, promtool_accepts_what_it_says) {
  musterd service;
  if (system("command -v promtool >/dev/null")) SKIP_TEST("promtool (Debian: prometheus) is not installed");
  daemon_start(&service, "--world main=wildlife --agents 500");
  wait_for_frames(&service, 10);
  ask_metrics(&service);
  FILE *promtool = popen("promtool check metrics", "w");
  cr_assert_not_null(promtool);
  cr_assert_eq(fwrite(reply.body, 1, reply.length, promtool), reply.length);
  cr_assert_eq(pclose(promtool), 0, "promtool has something to say");
  daemon_stop(&service);
}

Test(measuring, health_and_readiness_are_told) {
  musterd service;
  daemon_start(&service, "--world main=wildlife --agents 200");
  daemon_ask(&service, "GET", "/healthz", NULL, &reply);
  cr_assert_eq(reply.status, 200);
  wait_for_frames(&service, 1);
  daemon_ask(&service, "GET", "/readyz", NULL, &reply);
  cr_assert_eq(reply.status, 200, "%s", reply.body);
  json_t *answer = json_loads(reply.body, 0, NULL);
  cr_assert(json_is_true(json_object_get(answer, "ready")));
  json_decref(answer);
  order(&service, "POST", "/v1/worlds/main/step", "{\"frames\": 1}");
  daemon_ask(&service, "GET", "/readyz", NULL, &reply);
  cr_assert_eq(reply.status, 200, "a pause by command is no failure: %s", reply.body);
  daemon_stop(&service);
}
