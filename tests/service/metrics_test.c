/* The text of /metrics and of /readyz, from plain values. promtool, where there is one, judges the whole. */
#include "control.h"
#include "service/health.h"
#include "service/metrics.h"
#include "service/supervise/states.h"

static const muster_module_metric metrics_of_walkers[] = {
    {"walkers", MUSTER_MODULE_GAUGE, "Walkers now."},
    {"walks_total", MUSTER_MODULE_COUNTER, "Walks that ended."},
    {0},
};
static const muster_module walkers = {.metrics = metrics_of_walkers};

/* A service that has two worlds and has run for a while, and what is told of it. */
static metrics_facts facts;
static metrics_world *worlds;
static struct exposition exposed;
static char *text;

static void fill_world(metrics_world *world, const char *name) {
  world_published *published = &world->published;
  world->name = name;
  world->module = "wildlife";
  published->frames = 4242;
  published->period_ns = 33333333;
  published->budget_ns = 10000000;
  published->frame_end_ns = 5000000000u;
  published->report =
      WITH(muster_frame_report, it.agents = 100000, it.pressure = 0.25f, it.important_load = 2.5f, it.held_load = 0.5f,
           it.turn_longest_ns = 1500000000u, it.agents_late = 31, it.levels[2] = 77, it.herds_folded = 12);
  published->statistics =
      WITH(muster_statistics, it.completed = (1ull << 53) + 1, it.serial_ns = 500000000, it.work_ns = 2000000000,
           it.serial_share = 0.25f, it.update_times[0] = 3, it.update_times[MUSTER_UPDATE_TIMES - 1] = 2);
  published->statistics.bands[4] = (muster_band){.agents = 20,
                                                 .agents_beyond_wish = 3,
                                                 .wanted_ns = 100000000,
                                                 .period_ns = 125000000,
                                                 .interval_ns = 130000000,
                                                 .agent_time_ns = 130e9,
                                                 .completed = 1000,
                                                 .staleness.p99_ns = 250000000,
                                                 .age = {50000000, 150000000, 175000000}};
  published->part_count = 2;
  published->parts[0] = (published_part){"towns", "walkers", &walkers, {2.5, 7}};
  published->parts[1] = (published_part){"guards", "walkers", &walkers, {(double)NAN, 8}};
  published->type_count = 2;
  published->types[0] = (published_type){.name = "wolf", .costs[0] = {.agents = 5, .high_ns = 1500}};
  published->types[1] = (published_type){.name = "sheep", .costs[0] = {.agents = 6}};
}

static void begin(void) {
  static metrics_crash crash = {"main", "wolf", 2};
  worlds = calloc(2, sizeof *worlds);
  fill_world(&worlds[0], "main");
  fill_world(&worlds[1], "other");
  facts = (metrics_facts){.version = "1.2.3",
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
                          .worlds = worlds,
                          .crash_count = 1,
                          .crashes = &crash};
}

static void end(void) {
  exposition_free(&exposed);
  free(worlds);
  free(text);
}

TestSuite(metrics, .init = begin, .fini = end);
TestSuite(dashboard, .init = begin, .fini = end);

static void render(void) {
  metrics_render(&exposed, &facts);
  cr_assert_not(exposed.failed);
  text = malloc(exposed.bytes + 1);
  memcpy(text, exposed.text, exposed.bytes);
  text[exposed.bytes] = '\0';
}

static void assert_line(const char *line) {
  cr_assert(strstr(text, formed("\n%s\n", line)), "'%s' is not there", line);
}

Test(metrics, say_what_the_worlds_published) {
  render();
  EACH(assert_line, "muster_build_info{version=\"1.2.3\"} 1", "muster_workers 4",
       "muster_world_info{world=\"main\",module=\"wildlife\"} 1", "muster_frames_total{world=\"other\"} 4242",
       "muster_frame_budget_seconds{world=\"main\"} 0.01", "muster_pressure{world=\"main\"} 0.25",
       "muster_important_load{world=\"main\"} 2.5", "muster_held_load{world=\"main\"} 0.5",
       "muster_longest_turn_seconds{world=\"main\"} 1.5", "muster_agents_late{world=\"main\"} 31",
       "muster_module_walkers{world=\"other\",module=\"walkers\",instance=\"towns\"} 2.5",
       "muster_module_walks_total{world=\"main\",module=\"walkers\",instance=\"guards\"} 8");
  cr_expect_not(strstr(text, "muster_module_walkers{world=\"other\",module=\"walkers\",instance=\"guards\"}"));
  EACH(assert_line, "muster_level_agents{world=\"main\",level=\"2\"} 77", "muster_serial_share{world=\"main\"} 0.25",
       "muster_serial_seconds_total{world=\"main\"} 0.5", "muster_work_seconds_total{world=\"main\"} 2",
       "muster_herds_folded{world=\"main\"} 12", "muster_updates_completed_total{world=\"main\"} 9007199254740993",
       "process_open_fds 21", "process_max_fds 1024", "muster_band_agents{world=\"main\",band=\"1\"} 20",
       "muster_band_agents{world=\"main\",band=\"0.75\"} 0",
       "muster_band_agents_beyond_wish{world=\"main\",band=\"1\"} 3",
       "muster_band_wanted_period_seconds{world=\"main\",band=\"1\"} 0.1",
       "muster_band_period_seconds{world=\"main\",band=\"1\"} 0.125",
       "muster_band_interval_seconds{world=\"main\",band=\"1\"} 0.13");
  cr_assert_null(strstr(text, "muster_band_interval_seconds{world=\"main\",band=\"0\"}"), "nobody ran");
  EACH(assert_line, "muster_band_agent_seconds_total{world=\"main\",band=\"1\"} 130",
       "muster_band_updates_total{world=\"main\",band=\"1\"} 1000",
       "muster_staleness_seconds{world=\"main\",band=\"1\",quantile=\"0.99\"} 0.25",
       "muster_age_seconds{world=\"main\",band=\"1\",quantile=\"0.5\"} 0.05",
       "muster_age_seconds{world=\"main\",band=\"1\",quantile=\"1\"} 0.175",
       "muster_type_agents{world=\"main\",type=\"wolf\",level=\"0\"} 5",
       "muster_type_update_p95_seconds{world=\"main\",type=\"wolf\",level=\"0\"} 1.5e-06",
       "muster_http_requests_total{code=\"4xx\"} 3", "muster_http_answers_waiting_bytes 5000000000",
       "muster_crashes_total{world=\"main\",type=\"wolf\"} 2", "muster_snapshots_total 7",
       "muster_snapshots_failed_total 1", "muster_snapshot_age_seconds 60", "muster_snapshot_bytes 123456",
       "muster_snapshot_duration_seconds 0.25", "muster_snapshot_pause_seconds 0.0015",
       "muster_frame_age_seconds{world=\"main\"} 1");
}

Test(metrics, of_modules_are_one_family_whatever_instances_there_are) {
  render();
  cr_expect_eq(count_in(text, "# TYPE muster_module_walks_total counter\n"), 1);
  cr_expect_eq(count_in(text, "# TYPE muster_module_walks_total"), 1, "it has two");
  cr_expect_eq(count_in(text, "\nmuster_module_walks_total{"), 4);
}

Test(metrics, a_level_that_nobody_is_at_is_left_out_and_there_is_none_beyond_the_last) {
  published_type *types = worlds[0].published.types;
  for (uint32_t i = 0; i < WORLD_LEVELS; i++) types[0].costs[i].agents = i == 1 ? 0 : 10 + i;
  types[1].costs[0].samples = 3;
  render();
  cr_assert_eq(count_in(text, "muster_type_agents{world=\"main\",type=\"wolf\","), WORLD_LEVELS - 1);
  cr_assert_null(strstr(text, "type=\"wolf\",level=\"1\""));
}

Test(metrics, histograms_are_cumulative_and_end_with_everything) {
  static const uint64_t walls_ns[] = {2500000, 2500001, 5000000000u};
  for (size_t i = 0; i < COUNT_OF(walls_ns); i++) {
    const muster_frame_report report = WITH(muster_frame_report, it.wall_ns = walls_ns[i]);
    timings_add(&worlds[0].published.timings, &report);
  }
  render();
  EACH(assert_line, "muster_frame_seconds_bucket{world=\"main\",le=\"0.001\"} 0",
       "muster_frame_seconds_bucket{world=\"main\",le=\"0.0025\"} 1",
       "muster_frame_seconds_bucket{world=\"main\",le=\"0.005\"} 2",
       "muster_frame_seconds_bucket{world=\"main\",le=\"1\"} 2",
       "muster_frame_seconds_bucket{world=\"main\",le=\"+Inf\"} 3", "muster_frame_seconds_count{world=\"main\"} 3",
       "muster_frame_seconds_sum{world=\"main\"} 5.005000001",
       "muster_stage_seconds_count{world=\"main\",stage=\"rank\"} 3",
       "muster_update_seconds_bucket{world=\"main\",le=\"1.28e-07\"} 3",
       "muster_update_seconds_bucket{world=\"main\",le=\"+Inf\"} 5",
       "muster_overrun_own_seconds_count{world=\"main\"} 0");
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
  world_published *published = &worlds[0].published;
  strcpy(published->types[0].name, "a\"b\\c\nd\xc3\xa9\xff\xc3");
  strcpy(published->types[1].name, "sheep");
  strcpy(published->types[2].name, "sheep");
  published->types[2].costs[3].samples = 9;
  published->type_count = 3;
  render();
  EACH(assert_line, "muster_type_agents{world=\"main\",type=\"a\\\"b\\\\c\\nd\xc3\xa9??\",level=\"0\"} 5",
       "muster_type_agents{world=\"main\",type=\"sheep\",level=\"0\"} 6",
       "muster_type_updates_timed_total{world=\"main\",type=\"sheep#3\",level=\"3\"} 9");
}

/* Every line that is no comment begins a series of its own, and its family was begun before. */
Test(metrics, no_series_is_there_twice) {
  char *lines[8192], *rest = NULL;
  render();
  size_t count = 0;
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
    if (*line != '#' && count < 8192) lines[count++] = line;
  cr_assert_gt(count, 200);
  for (size_t i = 0; i < count; i++) *strrchr(lines[i], ' ') = '\0';
  for (size_t i = 0; i < count; i++)
    for (size_t k = i + 1; k < count; k++) cr_assert_str_neq(lines[i], lines[k]);
}

static bool is_there(const char *program) {
  return system(formed("command -v %s >/dev/null", program)) == 0;
}

Test(metrics, promtool_accepts_them) {
  if (!is_there("promtool")) SKIP_TEST("promtool (Debian: prometheus) is not installed");
  render();
  FILE *promtool = popen("promtool check metrics", "w");
  cr_assert_not_null(promtool);
  cr_assert_eq(fwrite(text, 1, strlen(text), promtool), strlen(text));
  cr_assert_eq(pclose(promtool), 0, "promtool has something to say");
}

/* -------------------------------------------------------------------------------------------------------- dashboard */

/* Names of metrics in an expression: words that begin with muster_ or process_. */
static void check_expression(const char *expression, const char *exported, size_t *names) {
  char name[128];
  for (const char *at = expression; *at;) {
    size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
    if (length && length < sizeof name && (!strncmp(at, "muster_", 7) || !strncmp(at, "process_", 8))) {
      snprintf(name, sizeof name, "%.*s", (int)length, at);
      char *series = strstr(name, "_seconds_"); /* of a histogram */
      if (series && (!strcmp(series, "_seconds_bucket") || !strcmp(series, "_seconds_sum")))
        series[strlen("_seconds")] = '\0';
      cr_assert(strstr(exported, formed("# TYPE %s ", name)), "the dashboard asks for %s, which is not there", name);
      ++*names;
    }
    at += length ? length : 1;
  }
}

/* Calls `look` with each expression of the dashboard. */
static void each_expression(void (*look)(const char *expression, void *user), void *user) {
  json_error_t error;
  json_auto_t *dashboard = json_load_file(MUSTER_SOURCE_DIR "/src/service/dashboard/grafana.json", 0, &error);
  cr_assert_not_null(dashboard, "line %d: %s", error.line, error.text);
  CONTROL_EACH(panel, dashboard, "panels") {
    cr_assert_not_null(json_string_value(json_object_get(panel, "title")));
    CONTROL_EACH(target, panel, "targets") {
      look(json_string_value(json_object_get(target, "expr")), user);
    }
  }
}

static size_t names_asked;

static void look_for_names(const char *expression, void *exported) {
  check_expression(expression, exported, &names_asked);
}

/* Text of the world's process and of its supervisor, as /metrics joins them. */
static char *add_processes(void) {
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
  render();
  char *own = text, *whole = add_processes();
  text = whole;
  assert_line("muster_world_process_state{world=\"main\",state=\"waiting\"} 1");
  assert_line("muster_world_process_ends{world=\"main\"} 0");
  each_expression(look_for_names, whole);
  cr_assert_gt(names_asked, 20);
  free(own);
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
  char path[] = "/tmp/dashboard_XXXXXX";
  FILE *rules = fdopen(mkstemp(path), "w");
  cr_assert_not_null(rules);
  fputs("groups:\n- name: dashboard\n  rules:\n", rules);
  each_expression(write_rule, rules);
  fclose(rules);
  int status = system(formed("promtool check rules %s >/dev/null", path));
  unlink(path);
  cr_assert_eq(status, 0);
}

/* ----------------------------------------------------------------------------------------------------------- health */

static const char *unsaved; /* why; null = it is not */

static json_t *ask_health(service_stage stage, const health_world *world, bool expected) {
  char said[HEALTH_BYTES];
  size_t bytes;
  json_error_t error;
  cr_assert_eq(health_write(said, &bytes, stage, unsaved, world, 1, 60000000000u), expected);
  json_t *answer = json_loadb(said, bytes, JSON_REJECT_DUPLICATES, &error);
  cr_assert_not_null(answer, "%s: %s", error.text, said);
  cr_assert_eq(control_is_true(answer, "ready"), expected);
  return answer;
}

static void assert_ready(const health_world *world) {
  json_decref(ask_health(SERVICE_RUNNING, world, true));
}

static void assert_reason(service_stage stage, const health_world *world, const char *code) {
  json_auto_t *answer = ask_health(stage, world, false);
  cr_assert_str_eq(control_text(answer, "reasons.0.code"), code);
  cr_assert_not_null(control_text(answer, "reasons.0.message"));
}

/* It is ready, and yet there is something to say. */
static void assert_said(const health_world *world, const char *code, const char *message) {
  json_auto_t *answer = ask_health(SERVICE_RUNNING, world, true);
  cr_assert_str_eq(control_text(answer, "reasons.0.code"), code);
  cr_assert(strstr(control_text(answer, "reasons.0.message"), message));
}

static const health_world well = {.name = "main", .failure = "", .period_ns = 33333333, .frame_end_ns = 59900000000u};

Test(readiness, is_there_while_frames_run_and_says_why_it_is_not) {
  health_world world = well;
  assert_ready(&world);
  assert_reason(SERVICE_STARTING, &world, "starting");
  assert_reason(SERVICE_STOPPING, &world, "stopping");
  world.recovery = journals_progress(120, 5000, 2380000000u);
  json_auto_t *answer = ask_health(SERVICE_STARTING, &world, false);
  cr_expect_str_eq(control_text(answer, "reasons.1.code"), "recovering");
  cr_expect_str_eq(control_text(answer, "reasons.1.message"),
                   "120 of 5000 frames of its journal were run again; the others take about 98 s"); /* of 20 ms each */
  assert_ready(&world);
  world.frame_end_ns = 58000000000u;
  assert_reason(SERVICE_RUNNING, &world, "late");
  world.period_ns = 1000000000u;
  assert_ready(&world); /* two of ten periods */
  world.frame_end_ns = 1000000000u;
  world.paused = true;
  assert_ready(&world);
  world.failed = true;
  assert_reason(SERVICE_RUNNING, &world, "failed");
  world = (health_world){.name = "main", .failure = "", .period_ns = 33333333};
  assert_reason(SERVICE_RUNNING, &world, "no_frame");
}

Test(readiness, stays_where_a_journal_is_lost_which_is_told) {
  health_world world = well;
  world.degraded = "a full disk";
  assert_said(&world, "degraded", "a full disk");
}

Test(readiness, stays_where_frames_leave_budget_though_agents_wait_which_is_told) {
  health_world world = well;
  world.idle = true;
  world.idle_faults = 7;
  assert_said(&world, "idle", "7 frames left budget");
  world.idle = false;
  json_auto_t *answer = ask_health(SERVICE_RUNNING, &world, true);
  cr_assert_eq(control_size(answer, "reasons"), 0, "a few of many frames are the verdict's matter");
  world.mended = 1;
  assert_reason(SERVICE_STARTING, &world, "starting");
  assert_said(&world, "idle", "mended 1 times");
}

Test(readiness, is_lost_by_a_snapshot_that_fails) {
  unsaved = "state.new: No space left on device";
  assert_reason(SERVICE_RUNNING, &well, "unsaved");
  unsaved = NULL;
  assert_ready(&well);
}
