/* What people see of worlds in processes of their own: in the API, ctl, top, health and metrics; and how they start one
 * again. The module that ends is crasher.c: where it crashes outside its agents, no quarantine saves the world. */
#include "control.h"
#include "terminal.h"
#include "tools/program.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#define SETTINGS                                                                                                       \
  "--isolation process --modules " MUSTER_TEST_MODULES " --world main=crasher --path @/fine --hz 100 --budget 1ms "    \
  "--world forest=crasher --path @/how --hz 100 --budget 1ms "

static musterd service;

/* Deaths are what is tested: no core files, and no sanitizer between the signal and its default. */
static void prepare(void) {
  char options[512];
  const char *given = getenv("ASAN_OPTIONS");
  snprintf(options, sizeof options, "%s:handle_segv=0:handle_sigbus=0:handle_abort=0", given ? given : "");
  setenv("ASAN_OPTIONS", options, 1);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  daemon_prepare(&service);
  daemon_write(&service, "fine", "none");
  setenv("MUSTER_SOCKET", service.socket, 1);
}

static void start(const char *how, const char *more) {
  char flags[1024];
  daemon_write(&service, "how", how);
  snprintf(flags, sizeof flags, SETTINGS "%s", more);
  daemon_launch(&service, flags);
  cr_assert(daemon_await(&service, "READY=1"), "it ended with %d: %s", service.status, daemon_log(&service));
}

static void start_with_failed(void) {
  start("segv module", "--allow network --crash-limit 1");
  daemon_await_log(&service, "world forest has failed");
}

static void stop(void) {
  daemon_stop(&service);
}

TestSuite(processes, .init = prepare, .fini = stop, .timeout = 120);

static json_t *process_of(const char *world) {
  return control_process_of(&service, world);
}

/* Until the world's process runs, and is another one than `before`; which one. */
static long long await_process(const char *world, long long before) {
  for (int tries = 0; tries < 3000; tries++) {
    json_t *process = process_of(world);
    bool runs = strcmp(control_text(process, "state"), "running") == 0;
    long long number = runs ? control_count(process, "process") : 0;
    json_decref(process);
    if (runs && number != before) return number;
    usleep(20000);
  }
  cr_assert_fail("world %s does not run again", world);
  return 0;
}

static void expect_output(const char *line, int status, const char *text) {
  program_run *run = program_start(line);
  cr_expect_eq(run->status, status, "muster %s: status %d: %s%s", line, run->status, run->output, run->errors);
  cr_expect(strstr(run->output, text) || strstr(run->errors, text), "muster %s: no '%s' in:\n%s%s", line, text,
            run->output, run->errors);
  free(run);
}

static void expect_metric(const char *line) {
  static daemon_reply reply;
  daemon_ask(&service, "GET", "/metrics", NULL, &reply);
  cr_expect_eq(reply.status, 200);
  cr_expect(strstr(reply.body, line), "'%s' is not in the metrics", line);
}

Test(processes, a_failed_world_is_seen_in_the_api_while_the_others_go_on) {
  start_with_failed();
  json_t *all = control_ask(&service, "GET", "/v1/worlds", NULL, 200), *failed = process_of("forest");
  cr_expect_eq(json_array_size(json_object_get(all, "worlds")), 1, "the one that runs");
  cr_expect_str_eq(control_text(all, "worlds.0.world"), "main");
  cr_expect_str_eq(control_text(failed, "state"), "failed");
  cr_expect(json_is_null(json_object_get(failed, "process")) && json_is_null(json_object_get(failed, "next_start_ns")));
  cr_expect_eq(control_count(failed, "starts"), 2);
  cr_expect_eq(control_count(failed, "ends"), 2);
  cr_expect_str_eq(control_text(failed, "allow"), "network");
  cr_expect(strstr(control_text(failed, "words"), "world forest has failed: it ended 2 times within 10 min, the last "
                                                  "time because "),
            "%s", control_text(failed, "words"));
  cr_expect(strstr(control_text(failed, "words"), control_text(failed, "reason")));
  json_t *refused = control_ask(&service, "GET", "/v1/worlds/forest/types", NULL, 503);
  cr_expect_str_eq(control_text(refused, "error.code"), "failed");
  cr_expect_str_eq(control_text(refused, "error.message"), control_text(failed, "words"));
  json_t *health = control_ask(&service, "GET", "/readyz", NULL, 503), *good = process_of("main");
  cr_expect_str_eq(control_text(health, "reasons.0.code"), "failed");
  cr_expect_str_eq(control_text(health, "reasons.0.message"), control_text(failed, "words"));
  cr_expect_str_eq(control_text(good, "state"), "running");
  cr_expect(json_is_null(json_object_get(good, "words")));
  control_await_count(&service, "/v1/worlds/main", "frames", control_count(all, "worlds.0.frames") + 10);
  json_decref(control_ask(&service, "GET", "/v1", NULL, 200));
  json_decref(all), json_decref(failed), json_decref(refused), json_decref(health), json_decref(good);
}

Test(processes, a_failed_world_is_seen_in_ctl_top_and_metrics) {
  static struct terminal screen;
  char *arguments[] = {"muster", "top", "--interval", "100ms", NULL};
  start_with_failed();
  expect_output("ctl worlds", 0, "world forest has failed: it ended 2 times within 10 min");
  expect_output("ctl worlds", 0, "\nmain ");
  expect_output("ctl health", 1, "world forest has failed");
  expect_output("ctl levels", 1, "there are 2 worlds: say which");
  expect_output("ctl --world forest levels", 1, "`muster ctl restart forest` starts it again");
  expect_output("top", 0, "world main (crasher)");
  expect_output("top", 0, "\nworld forest has failed");
  expect_output("top --world forest", 0, "world forest does not run (failed)");
  json_t *seen = program_json("top --world forest --json");
  cr_expect_str_eq(control_text(seen, "processes.1.state"), "failed");
  json_decref(seen);
  terminal_start(&screen, program_path(), arguments, 24, 100, true);
  terminal_await(&screen, "muster top - main");
  terminal_await(&screen, "world forest has failed");
  terminal_type(&screen, "w");
  terminal_await(&screen, "muster top - forest (failed)");
  terminal_await(&screen, "`muster ctl restart forest` starts it again");
  terminal_type(&screen, "q");
  cr_expect_eq(terminal_wait(&screen), 0);
  expect_metric("\nmuster_world_process_state{world=\"forest\",state=\"failed\"} 1\n");
  expect_metric("\nmuster_world_process_state{world=\"main\",state=\"running\"} 1\n");
  expect_metric("\nmuster_world_process_starts_total{world=\"forest\"} 2\n");
  expect_metric("\nmuster_world_process_ends{world=\"main\"} 0\n");
  expect_metric("\nmuster_world_process_last_end{world=\"forest\",kind=\"signal\"} 1\n");
  expect_metric("\nmuster_world_process_last_end{world=\"main\",kind=\"none\"} 1\n");
  expect_metric("\nmuster_world_process_refused_calls_total{world=\"main\"} ");
}

Test(processes, a_person_starts_a_failed_world_again) {
  start_with_failed();
  long long main_process = await_process("main", 0);
  daemon_write(&service, "how", "none");
  expect_output("ctl restart forest", 0, "world forest starts again now");
  await_process("forest", 0);
  json_t *again = process_of("forest");
  cr_expect_eq(control_count(again, "starts"), 3);
  cr_expect_eq(control_count(again, "ends"), 0, "they are forgotten");
  cr_expect_eq(await_process("main", 0), main_process, "the other one went on");
  expect_output("ctl worlds", 0, "network");
  expect_output("ctl health", 0, "all worlds run");
  json_decref(again);
}

Test(processes, a_person_stops_and_starts_a_world_that_runs) {
  start("none", "");
  long long before = await_process("forest", 0), other = await_process("main", 0);
  json_t *told = control_ask(&service, "POST", "/v1/worlds/forest/restart", NULL, 202);
  cr_expect_str_eq(control_text(told, "state"), "stopping");
  await_process("forest", before);
  cr_expect_eq(await_process("main", 0), other);
  json_t *again = process_of("forest");
  cr_expect(json_is_null(json_object_get(again, "reason")), "an end that was asked for is none of its own");
  cr_expect_eq(control_count(again, "ends"), 0);
  json_decref(control_ask(&service, "POST", "/v1/worlds/nowhere/restart", NULL, 404));
  json_decref(told), json_decref(again);
}

Test(processes, a_killed_world_is_back_and_says_how_it_ended) {
  start("none", "");
  long long before = await_process("forest", 0);
  cr_assert_eq(kill((pid_t)before, SIGKILL), 0);
  await_process("forest", before);
  json_t *again = process_of("forest");
  cr_expect(strstr(control_text(again, "reason"), "SIGKILL"), "%s", control_text(again, "reason"));
  cr_expect_eq(control_count(again, "ends"), 1);
  expect_metric("\nmuster_world_process_last_end{world=\"forest\",kind=\"signal\"} 1\n");
  json_decref(again);
}

/* A request that the process had not taken would wait for the next one, which does not come. */
Test(processes, what_a_world_was_asked_is_answered_when_it_fails) {
  static const char request[] = "GET /v1/worlds HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
  static char reply[DAEMON_REPLY_BYTES];
  size_t length = 0;
  start("none", "--crash-limit 1 --stuck-kill 600s");
  pid_t process = (pid_t)await_process("forest", 0);
  cr_assert_eq(kill(process, SIGSEGV), 0);
  process = (pid_t)await_process("forest", process);
  cr_assert_eq(kill(process, SIGSTOP), 0);
  int connection = daemon_connect(&service);
  cr_assert_eq(write(connection, request, sizeof request - 1), (ssize_t)sizeof request - 1);
  json_decref(control_ask(&service, "GET", "/v1/worlds/main", NULL, 200)); /* so that it has been passed on */
  cr_assert(kill(process, SIGSEGV) == 0 && kill(process, SIGCONT) == 0);
  for (ssize_t more; (more = read(connection, reply + length, sizeof reply - 1 - length)) > 0;) length += (size_t)more;
  close(connection);
  cr_expect(strncmp(reply, "HTTP/1.1 200 ", 13) == 0 && strstr(reply, "\"main\""), "%s", reply);
  daemon_await_log(&service, "world forest has failed"); /* else it would be one that did not end in order */
}

Test(processes, a_world_that_cannot_be_opened_says_why_and_is_tried_again) {
  start("none", "--crash-limit 1 --world odd=nothing_of_this_name");
  json_t *odd = process_of("odd");
  cr_expect_str_neq(control_text(odd, "state"), "failed");
  cr_expect(strstr(control_text(odd, "words"), control_text(odd, "reason")), "%s", control_text(odd, "words"));
  cr_expect(strstr(control_text(odd, "reason"), "ended by itself with status 1, ") &&
                strstr(control_text(odd, "reason"), "nothing_of_this_name"),
            "%s", control_text(odd, "reason"));
  json_decref(odd);
}

static void write_budget(int budget_ms) {
  char text[1024];
  snprintf(text, sizeof text,
           "[world main]\nmodule = crasher\npath = %s/fine\nhz = 100\nbudget = %dms\n"
           "[world forest]\nmodule = crasher\npath = %s/how\nhz = 100\nbudget = %dms\n",
           service.folder, budget_ms, service.folder, budget_ms);
  daemon_write(&service, "musterd.conf", text);
}

static void await_budget(const char *world, long long budget_ns) {
  char path[64];
  snprintf(path, sizeof path, "/v1/worlds/%s", world);
  for (int tries = 0; control_ask_count(&service, path, "budget_ns") != budget_ns; tries++, usleep(20000))
    cr_assert_lt(tries, 1500, "world %s is not told of its new budget", world);
}

/* It takes no signal while it starts, and had read the settings before. */
Test(processes, a_world_that_starts_is_reloaded_once_it_runs) {
  daemon_write(&service, "how", "none");
  write_budget(1);
  daemon_launch(&service, "--isolation process --modules " MUSTER_TEST_MODULES " --config @/musterd.conf");
  cr_assert(daemon_await(&service, "READY=1"), "it ended with %d: %s", service.status, daemon_log(&service));
  long long first = await_process("forest", 0);
  daemon_write(&service, "how", "pause populate");
  json_decref(control_ask(&service, "POST", "/v1/worlds/forest/restart", NULL, 202));
  daemon_await_log(&service, "crasher waits");
  write_budget(2);
  daemon_signal(&service, SIGHUP);
  await_budget("main", 2000000);
  json_t *starting = process_of("forest");
  cr_expect_str_eq(control_text(starting, "state"), "starting");
  daemon_write(&service, "how", "none");
  await_process("forest", first);
  await_budget("forest", 2000000);
  json_decref(starting);
}

Test(processes, there_are_none_to_start_again_in_one_process) {
  daemon_launch(&service, "--world main=wildlife --agents 100");
  cr_assert(daemon_await(&service, "READY=1"));
  json_t *all = control_ask(&service, "GET", "/v1/worlds", NULL, 200);
  cr_expect(json_is_array(json_object_get(all, "processes")));
  cr_expect_eq(json_array_size(json_object_get(all, "processes")), 0);
  json_decref(all);
  expect_output("ctl restart main", 1, "isolation = none");
  json_decref(control_ask(&service, "POST", "/v1/worlds/main/restart", NULL, 409));
}
