/* How musterd starts and ends. */
#include "served.h"

#define USUAL "--world main=wildlife --agents 300"

TestSuite(stop, .fini = stop);

static bool has_socket(void) {
  return access(service.socket, F_OK) == 0;
}

/* It ends by itself, and says why; nothing of it is left. */
static void expect_end(int status, const char *says) {
  cr_expect_eq(daemon_wait(&service), status, "it ended with %d", service.status);
  if (says) await_log(says);
  cr_expect(!has_socket(), "the socket is still there");
  daemon_clear(&service);
}

static void expect_end_by(int number) {
  daemon_start(&service, USUAL);
  cr_expect(has_socket());
  daemon_signal(&service, number);
  cr_expect(daemon_await(&service, "STOPPING=1"));
  expect_end(0, NULL);
}

Test(stop, ends_well_when_it_is_terminated) {
  expect_end_by(SIGTERM);
}

Test(stop, ends_well_when_it_is_interrupted) {
  expect_end_by(SIGINT);
}

Test(stop, a_second_service_on_the_same_socket_is_refused_and_the_first_goes_on) {
  daemon_start(&service, USUAL);
  musterd second = service;
  second.process = 0;
  daemon_launch(&second, USUAL);
  cr_expect(daemon_wait(&second) == 1, "the second ended with %d", second.status);
  await_log("another service has the socket");
  close(daemon_connect(&service));
}

Test(stop, the_socket_of_a_service_that_was_killed_is_taken_over) {
  daemon_start(&service, USUAL);
  daemon_kill(&service);
  cr_expect(service.status == -SIGKILL);
  cr_expect(has_socket(), "there is nothing to take over");
  launch_ready(USUAL);
  close(daemon_connect(&service));
}

Test(stop, something_else_in_the_place_of_the_socket_is_left_alone) {
  daemon_prepare(&service);
  daemon_write(&service, "control", "precious");
  daemon_launch(&service, USUAL);
  cr_expect(daemon_wait(&service) == 1);
  await_log("is there and no socket");
  cr_expect(has_socket());
  daemon_clear(&service);
}

Test(stop, a_service_none_of_whose_worlds_can_be_opened_ends_with_the_reasons) {
  daemon_prepare(&service);
  daemon_launch(&service, "--world one=population --world other=absent");
  daemon_wait(&service);
  EACH(await_log, "world one is not hosted: ", "world other is not hosted: ");
  expect_end(1, "no world could be opened");
}

/* The stream is about a world that is gone already; the world's memory may be gone, too. */
static void expect_streamed(const char *says) {
  char text[16384] = "";
  size_t length = 0;
  ssize_t got = 1;
  int connection = control_send(&service, "GET " WORLD "/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  while (got > 0 && !strstr(text, says) && length < sizeof text - 1) {
    got = read(connection, text + length, sizeof text - 1 - length);
    if (got > 0) text[length += (size_t)got] = '\0';
  }
  cr_expect(strstr(text, says), "%s", text);
  close(connection);
}

/* The module says in this file that it lingers, and goes on when the file is gone. */
static void await_victim(const char *name) {
  AWAIT_WITH(usleep(1000), exists(name));
}

Test(stop, a_stream_names_the_types_of_worlds_that_are_gone) {
  daemon_prepare(&service);
  daemon_write(&service, "how", "linger close");
  launch_ready("--modules " MUSTER_TEST_MODULES " --world main=crasher --path @/how --agents-max 100000");
  daemon_signal(&service, SIGTERM);
  await_victim("how.victim");
  expect_streamed("\"name\": \"bomb\"");
  cr_expect(unlink(path_of("how.victim")) == 0);
}

/* A module that does not come back, in the place of one that makes millions of agents. */
static void begin_slowly(void) {
  daemon_prepare(&service);
  daemon_write(&service, "how", "linger populate");
  daemon_launch(&service, "--modules " MUSTER_TEST_MODULES " --world main=crasher --path @/how --world other=crasher "
                          "--path @/how --budget 1ms --flight-file @/flight");
  await_victim("how.victim");
  daemon_signal(&service, SIGTERM);
}

static void expect_quiet_end(const char *never) {
  cr_expect_eq(daemon_wait(&service), 0);
  cr_expect(!has_socket(), "the socket is still there");
  expect_not_logged(never);
}

Test(stop, a_start_that_does_not_end_is_cut_short) {
  begin_slowly();
  expect_quiet_end("error");
  cr_expect(exists("how.victim"), "it ended by itself");
  launch_ready("--world main=wildlife --agents 50 --flight-file @/flight");
  expect_not_logged("the last run"); /* it would be taken for a crash */
}

Test(stop, a_start_that_is_to_stop_opens_no_further_world) {
  begin_slowly();
  cr_expect(daemon_await(&service, "STOPPING=1"));
  cr_expect_eq(unlink(path_of("how.victim")), 0);
  expect_quiet_end("world other");
  cr_expect(!exists("how.victim"), "another world was opened");
  daemon_clear(&service);
}

/* ------------------------------------------------------------------------------------------ what it is started with */

/* Starts it by a shell that does something before. */
static void launch_by(const char *before, const char *behind, const char *isolation) {
  static char script[DAEMON_PATH_BYTES + 16];
  daemon_prepare(&service);
  snprintf(script, sizeof script, "%s", path_of("start"));
  daemon_write(&service, "start", formed("#!/bin/sh\n%s\nexec \"$MUSTERD\" \"$@\" %s\n", before, behind));
  cr_assert_eq(chmod(script, 0700), 0);
  service.program = script;
  daemon_launch(&service, formed("--isolation %s " USUAL, isolation));
}

static void expect_life(const char *before, const char *behind, const char *isolation) {
  launch_by(before, behind, isolation);
  cr_assert(daemon_await(&service, "READY=1"), "%s%s: it ended with %d: %s", before, behind, service.status,
            daemon_log(&service));
  if (strcmp(isolation, "process") == 0) await_log("ready: 1 of 1 worlds run");
  daemon_stop(&service);
}

Test(stop, runs_with_closed_standard_descriptors) {
  expect_life("", "<&- >&-", "process");
  expect_life("", "<&- >&-", "none");
  expect_life("", "<&- >&- 2>&-", "none");
}

Test(stop, runs_where_a_shell_allows_few_files_or_says_what_it_needs) {
  expect_life("ulimit -S -n 10", "", "process");
  launch_by("ulimit -n 10", "", "process");
  expect_end(2, "it needs 64 open files");
}

Test(stop, runs_where_a_shell_allows_small_stacks_or_says_what_it_needs) {
  expect_life("ulimit -S -s 64", "", "process");
  expect_life("ulimit -S -s 64", "", "none");
  launch_by("ulimit -s 64", "", "process");
  if (daemon_await(&service, "READY=1")) return; /* it may raise it */
  expect_end(2, "it needs stacks of 1 MiB");
}

/* ------------------------------------------------------------------------------------- worlds that do not come back */

/* Its world is inside an atom, for ever, when this returns. A process may write in its world's folder alone. */
static void begin_looping(const char *how, const char *isolation) {
  daemon_prepare(&service);
  cr_assert_eq(mkdir(path_of("main"), 0700), 0);
  daemon_write(&service, "main/how", how);
  launch_ready(formed("--isolation %s --modules " MUSTER_TEST_MODULES " --stop-grace 500ms --stuck-kill 0s --world "
                      "main=crasher --path @/main/how --budget 1ms --hz 100 --flight-file @/flight",
                      isolation));
  await_victim("main/how.victim");
}

/* Gone, or nobody's: what is left of it waits for a parent that asks for its status. */
static void await_gone(pid_t process) {
  char state = 'R';
  const char *path = formed("/proc/%d/stat", (int)process);
  for (int tries = 0; state != 'Z'; tries++) {
    FILE *file = fopen(path, "re");
    if (!file) return;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 'R';
    fclose(file);
    cr_assert_lt(tries, 3000, "process %d has outlived its supervisor", (int)process);
    usleep(10000);
  }
}

Test(stop, a_world_that_does_not_come_back_is_killed_after_the_grace_time) {
  begin_looping("loop atom", "process");
  daemon_signal(&service, SIGTERM);
  expect_end(1, "it does not stop");
}

Test(stop, so_is_the_service_in_one_process) {
  begin_looping("loop atom", "none");
  daemon_signal(&service, SIGTERM);
  expect_end(-SIGKILL, "a world has not ended within 0.5 s");
}

static void expect_nothing_left(const char *how) {
  begin_looping(how, "process");
  pid_t world = control_pid_of(&service, "main");
  daemon_kill(&service);
  await_gone(world);
  daemon_write(&service, "main/how", "none");
  launch_ready("--isolation process --modules " MUSTER_TEST_MODULES
               " --world main=crasher --path @/main/how --flight-file @/flight");
}

Test(stop, a_world_that_does_not_come_back_ends_after_its_supervisor) {
  expect_nothing_left("loop atom");
}

Test(stop, so_does_one_that_takes_no_signal) {
  expect_nothing_left("deaf atom");
}
