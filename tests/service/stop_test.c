/* How musterd starts and ends. */
#include "daemon.h"
#include "support/await.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void expect_end_by(int number) {
  musterd service;
  daemon_start(&service, "--world main=wildlife --agents 300");
  cr_expect(access(service.socket, F_OK) == 0);
  daemon_signal(&service, number);
  cr_expect(daemon_await(&service, "STOPPING=1"));
  cr_expect(daemon_wait(&service) == 0, "it ended with %d", service.status);
  cr_expect(access(service.socket, F_OK) != 0, "the socket is still there");
  daemon_clear(&service);
}

Test(stop, ends_well_when_it_is_terminated) {
  expect_end_by(SIGTERM);
}

Test(stop, ends_well_when_it_is_interrupted) {
  expect_end_by(SIGINT);
}

Test(stop, a_second_service_on_the_same_socket_is_refused_and_the_first_goes_on) {
  musterd first;
  daemon_start(&first, "--world main=wildlife --agents 300");
  musterd second = first;
  second.process = 0;
  daemon_launch(&second, "--world main=wildlife --agents 300");
  cr_expect(daemon_wait(&second) == 1, "the second ended with %d", second.status);
  daemon_await_log(&first, "another service has the socket");
  close(daemon_connect(&first));
  daemon_stop(&first);
}

Test(stop, the_socket_of_a_service_that_was_killed_is_taken_over) {
  musterd service;
  daemon_start(&service, "--world main=wildlife --agents 300");
  daemon_kill(&service);
  cr_expect(service.status == -SIGKILL);
  cr_expect(access(service.socket, F_OK) == 0, "there is nothing to take over");
  daemon_launch(&service, "--world main=wildlife --agents 300");
  cr_assert(daemon_await(&service, "READY=1"));
  close(daemon_connect(&service));
  daemon_stop(&service);
}

Test(stop, something_else_in_the_place_of_the_socket_is_left_alone) {
  musterd service;
  daemon_prepare(&service);
  daemon_write(&service, "control", "precious");
  daemon_launch(&service, "--world main=wildlife --agents 300");
  cr_expect(daemon_wait(&service) == 1);
  daemon_await_log(&service, "is there and no socket");
  cr_expect(access(service.socket, F_OK) == 0);
  daemon_clear(&service);
}

Test(stop, a_service_none_of_whose_worlds_can_be_opened_ends_with_the_reasons) {
  musterd service;
  daemon_prepare(&service);
  daemon_launch(&service, "--world one=population --world other=absent");
  cr_expect(daemon_wait(&service) == 1);
  daemon_await_log(&service, "world one is not hosted: ");
  daemon_await_log(&service, "world other is not hosted: ");
  daemon_await_log(&service, "no world could be opened");
  cr_expect(access(service.socket, F_OK) != 0, "the socket is still there");
  daemon_clear(&service);
}

/* The stream is about a world that is gone already; the world's memory may be gone, too. */
static void expect_streamed(const musterd *service, const char *says) {
  static const char asked[] = "GET /v1/worlds/main/stream HTTP/1.1\r\nHost: localhost\r\n\r\n";
  char text[16384] = "";
  size_t length = 0;
  ssize_t got = 1;
  int connection = daemon_connect(service);
  cr_assert(write(connection, asked, sizeof asked - 1) == (ssize_t)sizeof asked - 1);
  while (got > 0 && !strstr(text, says) && length < sizeof text - 1) {
    got = read(connection, text + length, sizeof text - 1 - length);
    if (got > 0) text[length += (size_t)got] = '\0';
  }
  cr_expect(strstr(text, says), "%s", text);
  close(connection);
}

Test(stop, a_stream_names_the_types_of_worlds_that_are_gone) {
  musterd service;
  char flags[512], victim[128];
  daemon_prepare(&service);
  daemon_write(&service, "how", "linger close");
  snprintf(flags, sizeof flags, "--modules %s --world main=crasher --path @/how --agents-max 100000",
           MUSTER_TEST_MODULES);
  snprintf(victim, sizeof victim, "%s/how.victim", service.folder);
  daemon_launch(&service, flags);
  cr_assert(daemon_await(&service, "READY=1"));
  daemon_signal(&service, SIGTERM);
  AWAIT_WITH(usleep(1000), access(victim, F_OK) == 0);
  expect_streamed(&service, "\"name\": \"bomb\"");
  cr_expect(unlink(victim) == 0);
  daemon_stop(&service);
}

/* A module that does not come back, in the place of one that makes millions of agents. */
static void begin_slowly(musterd *service, char victim[128]) {
  char flags[512];
  daemon_prepare(service);
  daemon_write(service, "how", "linger populate");
  snprintf(flags, sizeof flags,
           "--modules %s --world main=crasher --path @/how --world other=crasher --path @/how "
           "--budget 1ms --flight-file @/flight",
           MUSTER_TEST_MODULES);
  snprintf(victim, 128, "%s/how.victim", service->folder);
  daemon_launch(service, flags);
  AWAIT_WITH(usleep(1000), access(victim, F_OK) == 0);
}

static void expect_quiet_end(musterd *service, const char *never) {
  cr_expect_eq(daemon_wait(service), 0);
  cr_expect(access(service->socket, F_OK) != 0, "the socket is still there");
  char *log = daemon_log(service);
  cr_expect(!strstr(log, never), "%s", log);
  free(log);
}

Test(stop, a_start_that_does_not_end_is_cut_short) {
  musterd service;
  char victim[128];
  begin_slowly(&service, victim);
  daemon_signal(&service, SIGTERM);
  expect_quiet_end(&service, "error");
  cr_expect(access(victim, F_OK) == 0, "it ended by itself");
  daemon_launch(&service, "--world main=wildlife --agents 50 --flight-file @/flight");
  cr_assert(daemon_await(&service, "READY=1"));
  char *log = daemon_log(&service);
  cr_expect(!strstr(log, "the last run"), "it is taken for a crash: %s", log);
  free(log);
  daemon_stop(&service);
}

Test(stop, a_start_that_is_to_stop_opens_no_further_world) {
  musterd service;
  char victim[128];
  begin_slowly(&service, victim);
  daemon_signal(&service, SIGTERM);
  cr_expect(daemon_await(&service, "STOPPING=1"));
  cr_expect_eq(unlink(victim), 0);
  expect_quiet_end(&service, "world other");
  cr_expect(access(victim, F_OK) != 0, "another world was opened");
  daemon_clear(&service);
}

/* ------------------------------------------------------------------------------------------- what it is started with
 */

/* Starts it by a shell that does something before. */
static void launch_by(musterd *service, const char *before, const char *behind, const char *flags) {
  static char script[DAEMON_PATH_BYTES + 16];
  char text[512];
  daemon_prepare(service);
  snprintf(script, sizeof script, "%s/start", service->folder);
  snprintf(text, sizeof text, "#!/bin/sh\n%s\nexec \"$MUSTERD\" \"$@\" %s\n", before, behind);
  daemon_write(service, "start", text);
  cr_assert_eq(chmod(script, 0700), 0);
  service->program = script;
  daemon_launch(service, flags);
}

static void expect_life(const char *before, const char *behind, const char *isolation) {
  char flags[128];
  musterd service;
  snprintf(flags, sizeof flags, "--isolation %s --world main=wildlife --agents 300", isolation);
  launch_by(&service, before, behind, flags);
  cr_assert(daemon_await(&service, "READY=1"), "%s%s: it ended with %d: %s", before, behind, service.status,
            daemon_log(&service));
  if (strcmp(isolation, "process") == 0) daemon_await_log(&service, "ready: 1 of 1 worlds run");
  daemon_stop(&service);
}

Test(stop, runs_with_closed_standard_descriptors) {
  expect_life("", "<&- >&-", "process");
  expect_life("", "<&- >&-", "none");
  expect_life("", "<&- >&- 2>&-", "none");
}

Test(stop, runs_where_a_shell_allows_few_files_or_says_what_it_needs) {
  musterd service;
  expect_life("ulimit -S -n 10", "", "process");
  launch_by(&service, "ulimit -n 10", "", "--isolation process --world main=wildlife --agents 300");
  cr_expect_eq(daemon_wait(&service), 2);
  daemon_await_log(&service, "it needs 64 open files");
  daemon_clear(&service);
}

Test(stop, runs_where_a_shell_allows_small_stacks_or_says_what_it_needs) {
  musterd service;
  expect_life("ulimit -S -s 64", "", "process");
  expect_life("ulimit -S -s 64", "", "none");
  launch_by(&service, "ulimit -s 64", "", "--isolation process --world main=wildlife --agents 300");
  if (daemon_await(&service, "READY=1")) { /* it may raise it */
    daemon_stop(&service);
    return;
  }
  cr_expect_eq(service.status, 2);
  daemon_await_log(&service, "it needs stacks of 1 MiB");
  daemon_clear(&service);
}

/* ------------------------------------------------------------------------------------- worlds that do not come back */

/* Its world is inside an atom, for ever, when this returns. A process may write in its world's folder alone. */
static void begin_looping(musterd *service, const char *how, const char *more) {
  char flags[512], victim[128];
  daemon_prepare(service);
  snprintf(victim, sizeof victim, "%s/main", service->folder);
  cr_assert_eq(mkdir(victim, 0700), 0);
  daemon_write(service, "main/how", how);
  snprintf(flags, sizeof flags,
           "%s --modules " MUSTER_TEST_MODULES
           " --stop-grace 500ms --stuck-kill 0s --world main=crasher --path @/main/how --budget 1ms --hz "
           "100 --flight-file @/flight",
           more);
  snprintf(victim, sizeof victim, "%s/main/how.victim", service->folder);
  daemon_launch(service, flags);
  cr_assert(daemon_await(service, "READY=1"));
  AWAIT_WITH(usleep(1000), access(victim, F_OK) == 0);
}

/* Of its world, as the log tells. */
static pid_t world_of(const musterd *service) {
  char *log = daemon_log(service), *line = strstr(log, "world main runs in process ");
  cr_assert_not_null(line, "%s", log);
  pid_t process = atoi(line + strlen("world main runs in process "));
  free(log);
  return process;
}

/* Gone, or nobody's: what is left of it waits for a parent that asks for its status. */
static void await_gone(pid_t process) {
  char path[64], state = 'R';
  snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
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
  musterd service;
  begin_looping(&service, "loop atom", "--isolation process");
  daemon_signal(&service, SIGTERM);
  cr_expect_eq(daemon_wait(&service), 1);
  daemon_await_log(&service, "it does not stop");
  cr_expect(access(service.socket, F_OK) != 0, "the socket is still there");
  daemon_clear(&service);
}

Test(stop, so_is_the_service_in_one_process) {
  musterd service;
  begin_looping(&service, "loop atom", "--isolation none");
  daemon_signal(&service, SIGTERM);
  cr_expect_eq(daemon_wait(&service), -SIGKILL);
  daemon_await_log(&service, "a world has not ended within 0.5 s");
  cr_expect(access(service.socket, F_OK) != 0, "the socket is still there");
  daemon_clear(&service);
}

static void expect_nothing_left(const char *how) {
  musterd service;
  begin_looping(&service, how, "--isolation process");
  pid_t world = world_of(&service);
  daemon_kill(&service);
  await_gone(world);
  daemon_write(&service, "main/how", "none");
  daemon_launch(&service, "--isolation process --modules " MUSTER_TEST_MODULES
                          " --world main=crasher --path @/main/how --flight-file @/flight");
  cr_assert(daemon_await(&service, "READY=1"));
  daemon_stop(&service);
}

Test(stop, a_world_that_does_not_come_back_ends_after_its_supervisor) {
  expect_nothing_left("loop atom");
}

Test(stop, so_does_one_that_takes_no_signal) {
  expect_nothing_left("deaf atom");
}
