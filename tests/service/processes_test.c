/* What people see of worlds in processes of their own: in the API, ctl, top, health and metrics; and how they start one
 * again. The module that ends is crasher.c: where it crashes outside its agents, no quarantine saves the world. */
#include "printed.h"
#include "terminal.h"

#define SETTINGS                                                                                                       \
  "--isolation process --modules " MUSTER_TEST_MODULES " --world main=crasher --path @/fine --hz 100 --budget 1ms "    \
  "--world forest=crasher --path @/how --hz 100 --budget 1ms "

static void prepare(void) {
  daemon_expect_deaths();
  daemon_prepare(&service);
  daemon_write(&service, "fine", "none");
  setenv("MUSTER_SOCKET", service.socket, 1);
}

static void start(const char *how, const char *more) {
  daemon_write(&service, "how", how);
  launch_ready(formed(SETTINGS "%s", more));
}

static void start_with_failed(void) {
  start("segv module", "--allow network --crash-limit 1");
  await_log("world forest has failed");
}

TestSuite(processes, .init = prepare, .fini = stop, .timeout = 120);

static json_t *process_of(const char *world) {
  return control_process_of(&service, world);
}

static void expect_process(const char *world, const char *wanted) {
  json_auto_t *process = process_of(world);
  control_expect(process, wanted);
}

/* Until the world's process runs, and is another one than `before`; which one. */
static long long await_process(const char *world, long long before) {
  for (int tries = 0; tries < 3000; tries++) {
    json_auto_t *process = process_of(world);
    bool runs = strcmp(control_text(process, "state"), "running") == 0;
    long long number = runs ? control_count(process, "process") : 0;
    if (runs && number != before) return number;
    usleep(20000);
  }
  cr_assert_fail("world %s does not run again", world);
  return 0;
}

/* Also where a status is not 0 for what is printed. */
static void expect_output(const char *line, int status, const char *text) {
  SCOPED(free_memory) program_run *run = program_start(line);
  cr_expect_eq(run->status, status, "muster %s: status %d: %s%s", line, run->status, run->output, run->errors);
  cr_expect(strstr(run->output, text) || strstr(run->errors, text), "muster %s: no '%s' in:\n%s%s", line, text,
            run->output, run->errors);
}

static void expect_metric(const char *line) {
  fetch("GET", "/metrics", NULL);
  cr_expect_eq(reply.status, 200);
  cr_expect(strstr(reply.body, line), "'%s' is not in the metrics", line);
}

Test(processes, a_failed_world_is_seen_in_the_api_while_the_others_go_on) {
  start_with_failed();
  json_auto_t *all = get("/v1/worlds"), *failed = process_of("forest");
  cr_expect_eq(control_size(all, "worlds"), 1, "the one that runs");
  control_expect(all, "{'worlds.0.world': 'main'}");
  control_expect(failed, "{'state': 'failed', 'process': null, 'next_start_ns': null, 'starts': 2, 'ends': 2, "
                         "'allow': 'network', 'words': '~world forest has failed: it ended 2 times within 10 min, the "
                         "last time because '}");
  expect_in(control_text(failed, "words"), control_text(failed, "reason"));
  json_auto_t *refused = ask("GET", "/v1/worlds/forest/types", NULL, 503);
  control_expect(refused, "{'error.code': 'failed'}");
  cr_expect_str_eq(control_text(refused, "error.message"), control_text(failed, "words"));
  json_auto_t *health = ask("GET", "/readyz", NULL, 503), *good = process_of("main");
  control_expect(health, "{'reasons.0.code': 'failed'}");
  cr_expect_str_eq(control_text(health, "reasons.0.message"), control_text(failed, "words"));
  control_expect(good, "{'state': 'running', 'words': null}");
  await_count(WORLD, "frames", control_count(all, "worlds.0.frames") + 10);
  tell("GET", "/v1", NULL, 200);
}

Test(processes, a_failed_world_is_seen_in_ctl_top_and_metrics) {
  static struct terminal screen;
  char *arguments[] = {"muster", "top", "--interval", "100ms", NULL};
  start_with_failed();
  EACH_TRIPLE(expect_output, {"ctl worlds", 0, "world forest has failed: it ended 2 times within 10 min"},
              {"ctl worlds", 0, "\nmain "}, {"ctl health", 1, "world forest has failed"},
              {"ctl levels", 1, "there are 2 worlds: say which"},
              {"ctl --world forest levels", 1, "`muster ctl restart forest` starts it again"},
              {"top", 0, "world main (crasher)"}, {"top", 0, "\nworld forest has failed"},
              {"top --world forest", 0, "world forest does not run (failed)"});
  json_auto_t *seen = program_json("top --world forest --json");
  control_expect(seen, "{'processes.1.state': 'failed'}");
  terminal_start(&screen, program_path(), arguments, 24, 100, true);
  terminal_await(&screen, "muster top - main");
  terminal_await(&screen, "world forest has failed");
  terminal_type(&screen, "w");
  terminal_await(&screen, "muster top - forest (failed)");
  terminal_await(&screen, "`muster ctl restart forest` starts it again");
  terminal_type(&screen, "q");
  cr_expect_eq(terminal_wait(&screen), 0);
  EACH(expect_metric, "\nmuster_world_process_state{world=\"forest\",state=\"failed\"} 1\n",
       "\nmuster_world_process_state{world=\"main\",state=\"running\"} 1\n",
       "\nmuster_world_process_starts_total{world=\"forest\"} 2\n", "\nmuster_world_process_ends{world=\"main\"} 0\n",
       "\nmuster_world_process_last_end{world=\"forest\",kind=\"signal\"} 1\n",
       "\nmuster_world_process_last_end{world=\"main\",kind=\"none\"} 1\n",
       "\nmuster_world_process_refused_calls_total{world=\"main\"} ");
}

Test(processes, a_person_starts_a_failed_world_again) {
  start_with_failed();
  long long main_process = await_process("main", 0);
  daemon_write(&service, "how", "none");
  expect_output("ctl restart forest", 0, "world forest starts again now");
  await_process("forest", 0);
  expect_process("forest", "{'starts': 3, 'ends': 0}"); /* they are forgotten */
  cr_expect_eq(await_process("main", 0), main_process, "the other one went on");
  EACH_TRIPLE(expect_output, {"ctl worlds", 0, "network"}, {"ctl health", 0, "all worlds run"});
}

Test(processes, a_person_stops_and_starts_a_world_that_runs) {
  start("none", "");
  long long before = await_process("forest", 0), other = await_process("main", 0);
  expect_asked("POST", "/v1/worlds/forest/restart", NULL, 202, "{'state': 'stopping'}");
  await_process("forest", before);
  cr_expect_eq(await_process("main", 0), other);
  expect_process("forest", "{'reason': null, 'ends': 0}"); /* one that was asked for is none of its own */
  tell("POST", "/v1/worlds/nowhere/restart", NULL, 404);
}

Test(processes, a_killed_world_is_back_and_says_how_it_ended) {
  start("none", "");
  long long before = await_process("forest", 0);
  cr_assert_eq(kill((pid_t)before, SIGKILL), 0);
  await_process("forest", before);
  expect_process("forest", "{'reason': '~SIGKILL', 'ends': 1}");
  expect_metric("\nmuster_world_process_last_end{world=\"forest\",kind=\"signal\"} 1\n");
}

/* A request that the process had not taken would wait for the next one, which does not come. */
Test(processes, what_a_world_was_asked_is_answered_when_it_fails) {
  static const char request[] = "GET /v1/worlds HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  start("none", "--crash-limit 1 --stuck-kill 600s");
  pid_t process = (pid_t)await_process("forest", 0);
  cr_assert_eq(kill(process, SIGSEGV), 0);
  process = (pid_t)await_process("forest", process);
  cr_assert_eq(kill(process, SIGSTOP), 0);
  int connection = control_send(&service, request);
  tell("GET", WORLD, NULL, 200); /* so that it has been passed on */
  cr_assert(kill(process, SIGSEGV) == 0 && kill(process, SIGCONT) == 0);
  daemon_end(connection, &reply);
  cr_expect(reply.status == 200 && strstr(reply.body, "\"main\""), "%s", reply.text);
  await_log("world forest has failed"); /* else it would be one that did not end in order */
}

Test(processes, a_world_that_cannot_be_opened_says_why_and_is_tried_again) {
  start("none", "--crash-limit 1 --world odd=nothing_of_this_name");
  json_auto_t *odd = process_of("odd");
  cr_expect_str_neq(control_text(odd, "state"), "failed");
  expect_in(control_text(odd, "words"), control_text(odd, "reason"));
  cr_expect(strstr(control_text(odd, "reason"), "ended by itself with status 1, ") &&
                strstr(control_text(odd, "reason"), "nothing_of_this_name"),
            "%s", control_text(odd, "reason"));
}

static const char *settings_of(int budget_ms) {
  return formed("[world main]\nmodule = crasher\npath = @/fine\nhz = 100\nbudget = %dms\n"
                "[world forest]\nmodule = crasher\npath = @/how\nhz = 100\nbudget = %dms\n",
                budget_ms, budget_ms);
}

static void await_budget(const char *world, long long budget_ns) {
  const char *path = formed("/v1/worlds/%s", world);
  for (int tries = 0; count_at(path, "budget_ns") != budget_ns; tries++, usleep(20000))
    cr_assert_lt(tries, 1500, "world %s is not told of its new budget", world);
}

/* It takes no signal while it starts, and had read the settings before. */
Test(processes, a_world_that_starts_is_reloaded_once_it_runs) {
  daemon_write(&service, "how", "none");
  configure(settings_of(1));
  launch_ready("--isolation process --modules " MUSTER_TEST_MODULES " --config @/musterd.conf");
  long long first = await_process("forest", 0);
  daemon_write(&service, "how", "pause populate");
  tell("POST", "/v1/worlds/forest/restart", NULL, 202);
  await_log("crasher waits");
  configure(settings_of(2));
  daemon_signal(&service, SIGHUP);
  await_budget("main", 2000000);
  expect_process("forest", "{'state': 'starting'}");
  daemon_write(&service, "how", "none");
  await_process("forest", first);
  await_budget("forest", 2000000);
}

Test(processes, there_are_none_to_start_again_in_one_process) {
  launch_ready("--world main=wildlife --agents 100");
  json_auto_t *all = get("/v1/worlds");
  cr_expect(json_is_array(json_object_get(all, "processes")));
  cr_expect_eq(control_size(all, "processes"), 0);
  expect_output("ctl restart main", 1, "isolation = none");
  tell("POST", WORLD "/restart", NULL, 409);
}
