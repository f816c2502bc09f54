/* The text of /metrics and of /readyz, from plain values. promtool, where there is one, judges the whole. */
#include "service/health.h"
#include "service/metrics.h"
#include "service/supervise/states.h"
#include "support/skip.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const muster_module_metric metrics_of_walkers[] = {
    {"walkers", MUSTER_MODULE_GAUGE, "Walkers now."},
    {"walks_total", MUSTER_MODULE_COUNTER, "Walks that ended."},
    {0},
};
static const muster_module walkers = {.metrics = metrics_of_walkers};

/* A service that has two worlds and has run for a while. */
struct facts {
  metrics_facts facts;
  metrics_world *worlds;
  metrics_crash crash;
  struct exposition text;
};

static void fill_world(metrics_world *world, const char *name) {
  world_published *published = &world->published;
  world->name = name;
  world->module = "wildlife";
  published->frames = 4242;
  published->period_ns = 33333333;
  published->budget_ns = 10000000;
  published->frame_end_ns = 5000000000u;
  published->report = muster_frame_report_default();
  published->report.agents = 100000;
  published->report.pressure = 0.25f;
  published->report.important_load = 2.5f;
  published->report.held_load = 0.5f;
  published->report.turn_longest_ns = 1500000000u;
  published->report.agents_late = 31;
  published->report.levels[2] = 77;
  published->report.herds_folded = 12;
  published->statistics = muster_statistics_default();
  published->statistics.completed = (1ull << 53) + 1;
  published->statistics.serial_ns = 500000000;
  published->statistics.work_ns = 2000000000;
  published->statistics.serial_share = 0.25f;
  published->statistics.bands[4] = (muster_band){.agents = 20,
                                                 .agents_beyond_wish = 3,
                                                 .wanted_ns = 100000000,
                                                 .period_ns = 125000000,
                                                 .interval_ns = 130000000,
                                                 .agent_time_ns = 130e9,
                                                 .completed = 1000,
                                                 .staleness.p99_ns = 250000000,
                                                 .age = {50000000, 150000000, 175000000}};
  published->statistics.update_times[0] = 3;
  published->statistics.update_times[MUSTER_UPDATE_TIMES - 1] = 2;
  published->part_count = 2;
  published->parts[0] = (published_part){"towns", "walkers", &walkers, {2.5, 7}};
  published->parts[1] = (published_part){"guards", "walkers", &walkers, {(double)NAN, 8}};
  published->type_count = 2;
  strcpy(published->types[0].name, "wolf");
  strcpy(published->types[1].name, "sheep");
  published->types[0].costs[0].agents = 5;
  published->types[0].costs[0].high_ns = 1500;
  published->types[1].costs[0].agents = 6;
}

static struct facts make_facts(void) {
  struct facts made = {.worlds = calloc(2, sizeof *made.worlds), .crash = {"main", "wolf", 2}};
  fill_world(&made.worlds[0], "main");
  fill_world(&made.worlds[1], "other");
  made.facts = (metrics_facts){.version = "1.2.3",
                               .workers = 4,
                               .now_ns = 6000000000u,
                               .unix_s = 1.7e9 + 5000,
                               .started_s = 1.7e9,
                               .snapshots = {.written = 7,
                                             .failed = 1,
                                             .bytes = 123456,
                                             .write_ns = 250000000,
                                             .pause_ns = 1500000,
                                             .written_at = 1700004940,
                                             .enabled = true},
                               .cpu_s = 12.5,
                               .resident_bytes = 1 << 26,
                               .open_files = 21,
                               .files_max = 1024,
                               .http = {.answers = {0, 0, 100, 0, 3, 0}, .answers_waiting = 5000000000u},
                               .world_count = 2,
                               .worlds = made.worlds,
                               .crash_count = 1};
  return made;
}

static const char *render(struct facts *facts) {
  facts->facts.crashes = &facts->crash;
  metrics_render(&facts->text, &facts->facts);
  cr_assert_not(facts->text.failed);
  char *text = malloc(facts->text.bytes + 1);
  memcpy(text, facts->text.text, facts->text.bytes);
  text[facts->text.bytes] = '\0';
  return text;
}

static void free_facts(struct facts *facts, const char *text) {
  exposition_free(&facts->text);
  free(facts->worlds);
  free((char *)text);
}

static void assert_line(const char *text, const char *line) {
  char whole[512];
  snprintf(whole, sizeof whole, "\n%s\n", line);
  cr_assert(strstr(text, whole), "'%s' is not there", line);
}

Test(metrics, say_what_the_worlds_published) {
  struct facts facts = make_facts();
  const char *text = render(&facts);
  assert_line(text, "muster_build_info{version=\"1.2.3\"} 1");
  assert_line(text, "muster_workers 4");
  assert_line(text, "muster_world_info{world=\"main\",module=\"wildlife\"} 1");
  assert_line(text, "muster_frames_total{world=\"other\"} 4242");
  assert_line(text, "muster_frame_budget_seconds{world=\"main\"} 0.01");
  assert_line(text, "muster_pressure{world=\"main\"} 0.25");
  assert_line(text, "muster_important_load{world=\"main\"} 2.5");
  assert_line(text, "muster_held_load{world=\"main\"} 0.5");
  assert_line(text, "muster_longest_turn_seconds{world=\"main\"} 1.5");
  assert_line(text, "muster_agents_late{world=\"main\"} 31");
  assert_line(text, "muster_module_walkers{world=\"other\",module=\"walkers\",instance=\"towns\"} 2.5");
  assert_line(text, "muster_module_walks_total{world=\"main\",module=\"walkers\",instance=\"guards\"} 8");
  cr_expect_not(strstr(text, "muster_module_walkers{world=\"other\",module=\"walkers\",instance=\"guards\"}"));
  assert_line(text, "muster_level_agents{world=\"main\",level=\"2\"} 77");
  assert_line(text, "muster_serial_share{world=\"main\"} 0.25");
  assert_line(text, "muster_serial_seconds_total{world=\"main\"} 0.5");
  assert_line(text, "muster_work_seconds_total{world=\"main\"} 2");
  assert_line(text, "muster_herds_folded{world=\"main\"} 12");
  assert_line(text, "muster_updates_completed_total{world=\"main\"} 9007199254740993");
  assert_line(text, "process_open_fds 21");
  assert_line(text, "process_max_fds 1024");
  assert_line(text, "muster_band_agents{world=\"main\",band=\"1\"} 20");
  assert_line(text, "muster_band_agents{world=\"main\",band=\"0.75\"} 0");
  assert_line(text, "muster_band_agents_beyond_wish{world=\"main\",band=\"1\"} 3");
  assert_line(text, "muster_band_wanted_period_seconds{world=\"main\",band=\"1\"} 0.1");
  assert_line(text, "muster_band_period_seconds{world=\"main\",band=\"1\"} 0.125");
  assert_line(text, "muster_band_interval_seconds{world=\"main\",band=\"1\"} 0.13");
  cr_assert_null(strstr(text, "muster_band_interval_seconds{world=\"main\",band=\"0\"}"), "nobody ran");
  assert_line(text, "muster_band_agent_seconds_total{world=\"main\",band=\"1\"} 130");
  assert_line(text, "muster_band_updates_total{world=\"main\",band=\"1\"} 1000");
  assert_line(text, "muster_staleness_seconds{world=\"main\",band=\"1\",quantile=\"0.99\"} 0.25");
  assert_line(text, "muster_age_seconds{world=\"main\",band=\"1\",quantile=\"0.5\"} 0.05");
  assert_line(text, "muster_age_seconds{world=\"main\",band=\"1\",quantile=\"1\"} 0.175");
  assert_line(text, "muster_type_agents{world=\"main\",type=\"wolf\",level=\"0\"} 5");
  assert_line(text, "muster_type_update_p95_seconds{world=\"main\",type=\"wolf\",level=\"0\"} 1.5e-06");
  assert_line(text, "muster_http_requests_total{code=\"4xx\"} 3");
  assert_line(text, "muster_http_answers_waiting_bytes 5000000000");
  assert_line(text, "muster_crashes_total{world=\"main\",type=\"wolf\"} 2");
  assert_line(text, "muster_snapshots_total 7");
  assert_line(text, "muster_snapshots_failed_total 1");
  assert_line(text, "muster_snapshot_age_seconds 60");
  assert_line(text, "muster_snapshot_bytes 123456");
  assert_line(text, "muster_snapshot_duration_seconds 0.25");
  assert_line(text, "muster_snapshot_pause_seconds 0.0015");
  assert_line(text, "muster_frame_age_seconds{world=\"main\"} 1");
  free_facts(&facts, text);
}

Test(metrics, of_modules_are_one_family_whatever_instances_there_are) {
  struct facts facts = make_facts();
  const char *text = render(&facts), *first = strstr(text, "# TYPE muster_module_walks_total counter\n");
  cr_assert(first, "it has no family");
  cr_expect_not(strstr(first + 1, "# TYPE muster_module_walks_total"), "it has two");
  uint32_t samples = 0;
  for (const char *at = text; (at = strstr(at, "\nmuster_module_walks_total{")) != NULL; at++) samples++;
  cr_expect_eq(samples, 4);
  free_facts(&facts, text);
}

Test(metrics, a_level_that_nobody_is_at_is_left_out_and_there_is_none_beyond_the_last) {
  struct facts facts = make_facts();
  published_type *wolf = &facts.worlds[0].published.types[0];
  for (uint32_t i = 0; i < WORLD_LEVELS; i++) wolf->costs[i].agents = i == 1 ? 0 : 10 + i;
  facts.worlds[0].published.types[1].costs[0].samples = 3;
  const char *text = render(&facts), *line = text;
  uint32_t lines = 0;
  while ((line = strstr(line, "muster_type_agents{world=\"main\",type=\"wolf\",")) != NULL) line++, lines++;
  cr_assert_eq(lines, WORLD_LEVELS - 1);
  cr_assert_null(strstr(text, "type=\"wolf\",level=\"1\""));
  free_facts(&facts, text);
}

Test(metrics, histograms_are_cumulative_and_end_with_everything) {
  struct facts facts = make_facts();
  world_timings *timings = &facts.worlds[0].published.timings;
  muster_frame_report report = muster_frame_report_default();
  report.wall_ns = 2500000;
  timings_add(timings, &report);
  report.wall_ns = 2500001;
  timings_add(timings, &report);
  report.wall_ns = 5000000000u;
  timings_add(timings, &report);
  const char *text = render(&facts);
  assert_line(text, "muster_frame_seconds_bucket{world=\"main\",le=\"0.001\"} 0");
  assert_line(text, "muster_frame_seconds_bucket{world=\"main\",le=\"0.0025\"} 1");
  assert_line(text, "muster_frame_seconds_bucket{world=\"main\",le=\"0.005\"} 2");
  assert_line(text, "muster_frame_seconds_bucket{world=\"main\",le=\"1\"} 2");
  assert_line(text, "muster_frame_seconds_bucket{world=\"main\",le=\"+Inf\"} 3");
  assert_line(text, "muster_frame_seconds_count{world=\"main\"} 3");
  assert_line(text, "muster_frame_seconds_sum{world=\"main\"} 5.005000001");
  assert_line(text, "muster_stage_seconds_count{world=\"main\",stage=\"rank\"} 3");
  assert_line(text, "muster_update_seconds_bucket{world=\"main\",le=\"1.28e-07\"} 3");
  assert_line(text, "muster_update_seconds_bucket{world=\"main\",le=\"+Inf\"} 5");
  assert_line(text, "muster_overrun_own_seconds_count{world=\"main\"} 0");
  free_facts(&facts, text);
}

Test(metrics, own_overruns_are_those_of_audited_frames) {
  world_timings timings = {0};
  muster_frame_report report = muster_frame_report_default();
  timings_add(&timings, &report);
  report.used_cpu_ns = 5;
  report.overrun_own_ns = 20000;
  timings_add(&timings, &report);
  cr_assert_eq(timings.overrun_own.counts[0], 0);
  cr_assert_eq(timings.overrun_own.counts[1], 1);
  cr_assert_eq(timings.overrun_own.sum_ns, 20000);
}

Test(metrics, labels_are_escaped_and_types_of_one_name_told_apart) {
  struct facts facts = make_facts();
  world_published *published = &facts.worlds[0].published;
  strcpy(published->types[0].name, "a\"b\\c\nd\xc3\xa9\xff\xc3");
  strcpy(published->types[1].name, "sheep");
  strcpy(published->types[2].name, "sheep");
  published->types[2].costs[3].samples = 9;
  published->type_count = 3;
  const char *text = render(&facts);
  assert_line(text, "muster_type_agents{world=\"main\",type=\"a\\\"b\\\\c\\nd\xc3\xa9??\",level=\"0\"} 5");
  assert_line(text, "muster_type_agents{world=\"main\",type=\"sheep\",level=\"0\"} 6");
  assert_line(text, "muster_type_updates_timed_total{world=\"main\",type=\"sheep#3\",level=\"3\"} 9");
  free_facts(&facts, text);
}

/* Every line that is no comment begins a series of its own, and its family was begun before. */
Test(metrics, no_series_is_there_twice) {
  struct facts facts = make_facts();
  char *text = (char *)render(&facts), *lines[8192], *rest = NULL;
  size_t count = 0;
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
    if (*line != '#' && count < 8192) lines[count++] = line;
  cr_assert_gt(count, 200);
  for (size_t i = 0; i < count; i++) *strrchr(lines[i], ' ') = '\0';
  for (size_t i = 0; i < count; i++)
    for (size_t k = i + 1; k < count; k++) cr_assert_str_neq(lines[i], lines[k]);
  free_facts(&facts, text);
}

static bool is_there(const char *program) {
  char command[64];
  snprintf(command, sizeof command, "command -v %s >/dev/null", program);
  return system(command) == 0;
}

Test(metrics, promtool_accepts_them) {
  if (!is_there("promtool")) SKIP_TEST("promtool (Debian: prometheus) is not installed");
  struct facts facts = make_facts();
  const char *text = render(&facts);
  FILE *promtool = popen("promtool check metrics", "w");
  cr_assert_not_null(promtool);
  cr_assert_eq(fwrite(text, 1, strlen(text), promtool), strlen(text));
  cr_assert_eq(pclose(promtool), 0, "promtool has something to say");
  free_facts(&facts, text);
}

/* -------------------------------------------------------------------------------------------------------- dashboard */

/* Names of metrics in an expression: words that begin with muster_ or process_. */
static void check_expression(const char *expression, const char *text, size_t *names) {
  char name[128], help[160];
  for (const char *at = expression; *at;) {
    size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
    if (length && length < sizeof name && (!strncmp(at, "muster_", 7) || !strncmp(at, "process_", 8))) {
      snprintf(name, sizeof name, "%.*s", (int)length, at);
      char *series = strstr(name, "_seconds_"); /* of a histogram */
      if (series && (!strcmp(series, "_seconds_bucket") || !strcmp(series, "_seconds_sum")))
        series[strlen("_seconds")] = '\0';
      snprintf(help, sizeof help, "# TYPE %s ", name);
      cr_assert(strstr(text, help), "the dashboard asks for %s, which nobody exports", name);
      ++*names;
    }
    at += length ? length : 1;
  }
}

/* Calls `look` with each expression of the dashboard. */
static void each_expression(void (*look)(const char *expression, void *user), void *user) {
  json_error_t error;
  json_t *panel, *target;
  json_t *dashboard = json_load_file(MUSTER_SOURCE_DIR "/src/service/dashboard/grafana.json", 0, &error);
  size_t i, k;
  cr_assert_not_null(dashboard, "line %d: %s", error.line, error.text);
  json_array_foreach(json_object_get(dashboard, "panels"), i, panel) {
    cr_assert_not_null(json_string_value(json_object_get(panel, "title")));
    json_array_foreach(json_object_get(panel, "targets"), k, target) {
      look(json_string_value(json_object_get(target, "expr")), user);
    }
  }
  json_decref(dashboard);
}

struct asked {
  const char *text;
  size_t names;
};

static void look_for_names(const char *expression, void *user) {
  struct asked *asked = user;
  check_expression(expression, asked->text, &asked->names);
}

/* Text of the world's process and of its supervisor, as /metrics joins them. */
static char *add_processes(const char *text) {
  static struct settings settings;
  char *whole = NULL;
  size_t bytes;
  struct processes *processes = calloc(1, sizeof *processes);
  processes->settings = &settings;
  processes->count = 1;
  processes->worlds[0].all = processes;
  strcpy(processes->worlds[0].name, "main");
  FILE *out = open_memstream(&whole, &bytes);
  fputs(text, out);
  states_write_metrics(processes, out);
  fclose(out);
  free(processes);
  return whole;
}

Test(dashboard, every_metric_that_it_asks_for_is_exported) {
  struct facts facts = make_facts();
  const char *own = render(&facts);
  char *whole = add_processes(own);
  struct asked asked = {whole, 0};
  assert_line(whole, "muster_world_process_state{world=\"main\",state=\"waiting\"} 1");
  assert_line(whole, "muster_world_process_ends{world=\"main\"} 0");
  each_expression(look_for_names, &asked);
  cr_assert_gt(asked.names, 20);
  free_facts(&facts, own);
  free(whole);
}

/* An expression as the rule of an alert, with values for the dashboard's variables. */
static void write_rule(const char *expression, void *user) {
  static const char *const variables[][2] = {{"$world", "main"}, {"$__rate_interval", "5m"}};
  FILE *rules = user;
  fprintf(rules, "  - alert: panel%ld\n    expr: '", ftell(rules));
  while (*expression) {
    size_t used = 0;
    for (size_t i = 0; i < 2 && !used; i++)
      if (!strncmp(expression, variables[i][0], strlen(variables[i][0]))) {
        fputs(variables[i][1], rules);
        used = strlen(variables[i][0]);
      }
    if (!used) fputc(*expression, rules);
    expression += used ? used : 1;
  }
  fputs("'\n", rules);
}

Test(dashboard, promtool_understands_what_it_asks) {
  if (!is_there("promtool")) SKIP_TEST("promtool (Debian: prometheus) is not installed");
  char path[] = "/tmp/dashboard_XXXXXX", command[128];
  FILE *rules = fdopen(mkstemp(path), "w");
  cr_assert_not_null(rules);
  fputs("groups:\n- name: dashboard\n  rules:\n", rules);
  each_expression(write_rule, rules);
  fclose(rules);
  snprintf(command, sizeof command, "promtool check rules %s >/dev/null", path);
  int status = system(command);
  unlink(path);
  cr_assert_eq(status, 0);
}

/* ----------------------------------------------------------------------------------------------------------- health */

static const char *unsaved; /* why; null = it is not */

static json_t *ask_health(service_stage stage, const health_world *world, bool expected) {
  char text[HEALTH_BYTES];
  size_t bytes;
  json_error_t error;
  cr_assert_eq(health_write(text, &bytes, stage, unsaved, world, 1, 60000000000u), expected);
  json_t *answer = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
  cr_assert_not_null(answer, "%s: %s", error.text, text);
  cr_assert_eq(json_boolean_value(json_object_get(answer, "ready")), expected);
  return answer;
}

static void assert_reason(service_stage stage, const health_world *world, const char *code) {
  json_t *answer = ask_health(stage, world, false);
  const json_t *reason = json_array_get(json_object_get(answer, "reasons"), 0);
  cr_assert_str_eq(json_string_value(json_object_get(reason, "code")), code);
  cr_assert_not_null(json_string_value(json_object_get(reason, "message")));
  json_decref(answer);
}

Test(readiness, is_there_while_frames_run_and_says_why_it_is_not) {
  health_world world = {.name = "main", .failure = "", .period_ns = 33333333, .frame_end_ns = 59900000000u};
  json_decref(ask_health(SERVICE_RUNNING, &world, true));
  assert_reason(SERVICE_STARTING, &world, "starting");
  assert_reason(SERVICE_STOPPING, &world, "stopping");
  world.recovery = journals_progress(120, 5000, 2380000000u);
  json_t *answer = ask_health(SERVICE_STARTING, &world, false);
  const json_t *reason = json_array_get(json_object_get(answer, "reasons"), 1);
  cr_expect_str_eq(json_string_value(json_object_get(reason, "code")), "recovering");
  cr_expect_str_eq(json_string_value(json_object_get(reason, "message")),
                   "120 of 5000 frames of its journal were run again; the others take about 98 s"); /* of 20 ms each */
  json_decref(answer);
  json_decref(ask_health(SERVICE_RUNNING, &world, true));
  world.frame_end_ns = 58000000000u;
  assert_reason(SERVICE_RUNNING, &world, "late");
  world.period_ns = 1000000000u;
  json_decref(ask_health(SERVICE_RUNNING, &world, true)); /* two of ten periods */
  world.frame_end_ns = 1000000000u;
  world.paused = true;
  json_decref(ask_health(SERVICE_RUNNING, &world, true));
  world.failed = true;
  assert_reason(SERVICE_RUNNING, &world, "failed");
  world = (health_world){.name = "main", .failure = "", .period_ns = 33333333};
  assert_reason(SERVICE_RUNNING, &world, "no_frame");
}

Test(readiness, stays_where_a_journal_is_lost_which_is_told) {
  health_world world = {.name = "main", .period_ns = 33333333, .frame_end_ns = 59900000000u, .degraded = "a full disk"};
  json_t *answer = ask_health(SERVICE_RUNNING, &world, true);
  const json_t *reason = json_array_get(json_object_get(answer, "reasons"), 0);
  cr_assert_str_eq(json_string_value(json_object_get(reason, "code")), "degraded");
  cr_assert(strstr(json_string_value(json_object_get(reason, "message")), "a full disk"));
  json_decref(answer);
}

Test(readiness, stays_where_frames_leave_budget_though_agents_wait_which_is_told) {
  health_world world = {
      .name = "main", .period_ns = 33333333, .frame_end_ns = 59900000000u, .idle = true, .idle_faults = 7};
  json_t *answer = ask_health(SERVICE_RUNNING, &world, true);
  const json_t *reason = json_array_get(json_object_get(answer, "reasons"), 0);
  cr_assert_str_eq(json_string_value(json_object_get(reason, "code")), "idle");
  cr_assert(strstr(json_string_value(json_object_get(reason, "message")), "7 frames left budget"));
  json_decref(answer);
  world.idle = false;
  answer = ask_health(SERVICE_RUNNING, &world, true);
  cr_assert_eq(json_array_size(json_object_get(answer, "reasons")), 0, "a few of many frames are the verdict's matter");
  json_decref(answer);
  world.mended = 1;
  assert_reason(SERVICE_STARTING, &world, "starting");
  answer = ask_health(SERVICE_RUNNING, &world, true);
  reason = json_array_get(json_object_get(answer, "reasons"), 0);
  cr_assert(strstr(json_string_value(json_object_get(reason, "message")), "mended 1 times"));
  json_decref(answer);
}

Test(readiness, is_lost_by_a_snapshot_that_fails) {
  health_world world = {.name = "main", .failure = "", .period_ns = 33333333, .frame_end_ns = 59900000000u};
  unsaved = "state.new: No space left on device";
  assert_reason(SERVICE_RUNNING, &world, "unsaved");
  unsaved = NULL;
  json_decref(ask_health(SERVICE_RUNNING, &world, true));
}
