/* What musterd does with its snapshots when it starts and when it ends. */
#include "daemon.h"
#include "service/snapshot_file.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *const flags = "--world main=wildlife --agents 400 --world square=fixed --agents 300 "
                                 "--journal=no --snapshot-file @/state --snapshot-interval 3600s";

static void path_of(const musterd *service, const char *name, char path[256]) {
  snprintf(path, 256, "%s/%s", service->folder, name);
}

static bool exists(const musterd *service, const char *name) {
  char path[256];
  path_of(service, name, path);
  return access(path, F_OK) == 0;
}

static void forget_log(const musterd *service) {
  char path[256];
  path_of(service, "log", path);
  unlink(path);
}

/* What a file says of a world, as the log will say it. */
static void describe(const musterd *service, const char *name, const char *world, char line[256]) {
  char path[256];
  struct snapshot_file file;
  path_of(service, name, path);
  cr_assert_eq(snapshot_file_open(&file, path), MUSTER_OK, "%s", muster_last_error());
  const snapshot_file_world *saved = snapshot_file_find(&file, world);
  cr_assert_not_null(saved);
  snprintf(line, 256, "world %s: %u agents and %u spawns of frame %llu go on, hash %016llx", world, saved->info.agents,
           saved->info.spawns, (unsigned long long)saved->info.frames, (unsigned long long)saved->info.hash);
  snapshot_file_close(&file);
}

static unsigned long long number_of(const musterd *service, const char *name) {
  char path[256];
  struct snapshot_file file;
  path_of(service, name, path);
  cr_assert_eq(snapshot_file_open(&file, path), MUSTER_OK, "%s", muster_last_error());
  unsigned long long number = file.number;
  snapshot_file_close(&file);
  return number;
}

/* Starts it again, and expects lines in the log. */
static void start_again(musterd *service, const char *with, const char *line, const char *other) {
  forget_log(service);
  daemon_launch(service, with);
  cr_assert(daemon_await(service, "READY=1"), "it ended with %d", service->status);
  char *log = daemon_log(service);
  cr_expect(strstr(log, line), "\"%s\" is not in: %s", line, log);
  if (other) cr_expect(strstr(log, other), "\"%s\" is not in: %s", other, log);
  free(log);
}

static void end(musterd *service) {
  daemon_signal(service, SIGTERM);
  cr_assert_eq(daemon_wait(service), 0);
}

/* A service that has run and ended, and left two snapshots: one that was asked for, and the last. */
static void run_once(musterd *service) {
  daemon_start(service, flags);
  daemon_signal(service, SIGUSR1);
  daemon_await_log(service, "snapshot 1: ");
  end(service);
}

static void damage(const musterd *service, const char *name, off_t from_end) {
  char path[256], byte;
  path_of(service, name, path);
  int descriptor = open(path, O_RDWR | O_CLOEXEC);
  cr_assert(descriptor >= 0);
  off_t at = lseek(descriptor, 0, SEEK_END) - from_end;
  cr_assert_eq(pread(descriptor, &byte, 1, at), 1);
  byte ^= 16;
  cr_assert_eq(pwrite(descriptor, &byte, 1, at), 1);
  close(descriptor);
}

Test(snapshots, worlds_go_on_from_the_last_one) {
  musterd service;
  char main_line[256], square_line[256];
  run_once(&service);
  cr_expect(exists(&service, "state.previous"));
  cr_expect(!exists(&service, "state.new"));
  cr_expect(number_of(&service, "state.previous") == 1 && number_of(&service, "state") == 2);
  describe(&service, "state", "main", main_line);
  describe(&service, "state", "square", square_line);
  start_again(&service, flags, main_line, square_line);
  end(&service);
  describe(&service, "state", "main", main_line);
  start_again(&service, flags, main_line, NULL);
  daemon_stop(&service);
}

/* A number of a document. */
static unsigned long long told_in(const char *body, const char *name) {
  char member[64];
  unsigned long long number = 0;
  snprintf(member, sizeof member, "\"%s\": ", name);
  const char *found = strstr(body, member);
  cr_assert(found && sscanf(found + strlen(member), "%llu", &number) == 1, "no %s in %s", name, body);
  return number;
}

/* The log, the answer, the metrics and the file itself say the same of the snapshot. */
static void expect_told_alike(const musterd *service, const char *body) {
  char path[256], line[160];
  struct stat status;
  path_of(service, "state", path);
  cr_assert_eq(stat(path, &status), 0);
  unsigned long long bytes = told_in(body, "bytes"), write_ns = told_in(body, "write_ns"),
                     pause_ns = told_in(body, "pause_ns"), at_s = told_in(body, "written_at");
  cr_expect_eq(bytes, (unsigned long long)status.st_size);
  cr_expect(at_s >= (unsigned long long)status.st_mtime && at_s <= (unsigned long long)time(NULL), "%llu", at_s);
  snprintf(line, sizeof line, "snapshot 1: %.1f MB in %.0f ms, frames stood still for %.2f ms", (double)bytes * 1e-6,
           (double)write_ns * 1e-6, (double)pause_ns * 1e-6);
  char *log = daemon_log(service);
  cr_expect(strstr(log, line), "'%s' is not in %s", line, log);
  free(log);
  cr_expect_eq((unsigned long long)daemon_metric(service, "muster_snapshot_bytes"), bytes);
  cr_expect_float_eq(daemon_metric(service, "muster_snapshot_duration_seconds"), (double)write_ns * 1e-9, 1e-12);
  cr_expect_float_eq(daemon_metric(service, "muster_snapshot_pause_seconds"), (double)pause_ns * 1e-9, 1e-12);
}

Test(snapshots, are_taken_and_told_of_over_the_control) {
  static daemon_reply reply;
  musterd service;
  daemon_start(&service, flags);
  daemon_ask(&service, "POST", "/v1/snapshot", NULL, &reply);
  cr_expect_eq(reply.status, 202, "%s", reply.body);
  daemon_await_log(&service, "snapshot 1: ");
  daemon_ask(&service, "GET", "/v1/snapshot", NULL, &reply);
  cr_expect_eq(reply.status, 200);
  cr_expect(strstr(reply.body, "\"number\": 1,"), "%s", reply.body);
  cr_expect(strstr(reply.body, "\"written\": 1,"), "%s", reply.body);
  static const char *const told[] = {"failed", "written_at", "bytes", "write_ns", "pause_ns", "failure", "restored"};
  for (size_t i = 0; i < sizeof told / sizeof *told; i++)
    cr_expect(strstr(reply.body, told[i]), "no %s in %s", told[i], reply.body);
  expect_told_alike(&service, reply.body);
  daemon_stop(&service);
  daemon_start(&service, "--world main=wildlife --agents 300");
  daemon_ask(&service, "POST", "/v1/snapshot", NULL, &reply);
  cr_expect_eq(reply.status, 409, "%s", reply.body);
  cr_expect(strstr(reply.body, "snapshot_file is not set"), "%s", reply.body);
  daemon_stop(&service);
}

Test(snapshots, a_damaged_one_is_kept_aside_and_the_previous_one_is_used) {
  musterd service;
  char line[256];
  run_once(&service);
  damage(&service, "state", 5000);
  describe(&service, "state.previous", "main", line);
  start_again(&service, flags, line, "/state is refused: ");
  cr_expect(exists(&service, "state.damaged-1"));
  daemon_stop(&service);
}

Test(snapshots, without_a_whole_one_worlds_begin_anew) {
  musterd service;
  run_once(&service);
  damage(&service, "state", 1); /* where it ends */
  damage(&service, "state.previous", 5000);
  start_again(&service, flags, "400 agents to begin with", "/state.previous is refused: ");
  cr_expect(exists(&service, "state.damaged-1"));
  cr_expect(exists(&service, "state.damaged-2"));
  daemon_stop(&service);
}

/* A world that went on from a snapshot, which another world then refused, has lost its time with its agents. */
Test(snapshots, worlds_that_begin_anew_begin_at_zero) {
  static daemon_reply reply;
  unsigned long long frames = 0, now_ns = 0, period_ns = 0;
  musterd service;
  run_once(&service);
  start_again(
      &service,
      "--world main=wildlife --agents 400 --world square=wildlife --agents 300 --journal=no --snapshot-file @/state "
      "--snapshot-interval 3600s",
      "its module was fixed, and is wildlife", "400 agents to begin with");
  daemon_ask(&service, "GET", "/v1/worlds/main", NULL, &reply);
  const char *texts[3] = {strstr(reply.body, "\"frames\": "), strstr(reply.body, "\"sim_now_ns\": "),
                          strstr(reply.body, "\"period_ns\": ")};
  cr_assert(texts[0] && texts[1] && texts[2], "%s", reply.body);
  cr_assert(sscanf(texts[0], "%*s %llu", &frames) == 1 && sscanf(texts[1], "%*s %llu", &now_ns) == 1 &&
            sscanf(texts[2], "%*s %llu", &period_ns) == 1);
  cr_expect(now_ns == frames * period_ns, "after %llu frames of %llu ns it is %llu ns", frames, period_ns, now_ns);
  daemon_stop(&service);
}

Test(snapshots, one_of_other_settings_is_refused_with_the_reason) {
  musterd service;
  run_once(&service);
  start_again(&service,
              "--world main=wildlife --agents 400 --seed 5 --world square=fixed --agents 300 "
              "--journal=no --snapshot-file @/state",
              "the world's seed is 5, that of the snapshot was 1", "400 agents to begin with");
  end(&service);
  start_again(&service, "--world main=townsfolk --agents 400 --journal=no --snapshot-file @/state",
              "world main: its module was wildlife, and is townsfolk", "400 agents to begin with");
  daemon_stop(&service);
}

Test(snapshots, a_world_that_is_new_begins_beside_the_others) {
  musterd service;
  char line[256], more[512];
  run_once(&service);
  describe(&service, "state", "main", line);
  snprintf(more, sizeof more, "%s --world town=townsfolk --agents 100", flags);
  start_again(&service, more, line, "world town: module townsfolk, 100 agents to begin with");
  daemon_stop(&service);
}

static void expect_no_start(const char *with, const char *reason) {
  musterd service;
  daemon_prepare(&service);
  daemon_launch(&service, with);
  cr_expect_eq(daemon_wait(&service), 1);
  daemon_await_log(&service, reason);
  daemon_clear(&service);
}

Test(snapshots, of_worlds_that_are_not_hosted_any_more_are_kept) {
  musterd service;
  run_once(&service);
  start_again(&service, "--world main=wildlife --agents 400 --journal=no --snapshot-file @/state",
              "world square is in the snapshot, and is not hosted", "a copy of the snapshot is kept as ");
  cr_expect(exists(&service, "state.left-out-1"));
  end(&service);
  start_again(&service, "--world town=townsfolk --agents 100 --journal=no --snapshot-file @/state",
              "world main is in the snapshot, and is not hosted", "/state.left-out-2\n");
  cr_expect(exists(&service, "state.left-out-2"), "an older copy is not replaced");
  daemon_stop(&service);
}

Test(snapshots, a_module_that_cannot_be_saved_is_not_hosted_beside_them) {
  expect_no_start("--world main=pathstorm --agents 50 --journal=no --snapshot-file @/state",
                  "world main: module pathstorm has no save and resume");
}

Test(snapshots, a_folder_that_is_not_there_ends_the_start) {
  expect_no_start("--world main=wildlife --agents 50 --journal=no --snapshot-file @/nowhere/state",
                  "nowhere/state.lock: cannot be opened: No such file");
}

Test(snapshots, one_that_cannot_be_written_is_told_of_and_the_worlds_go_on) {
  static daemon_reply reply;
  musterd service;
  char path[256];
  daemon_start(&service, flags);
  path_of(&service, "state.new", path);
  cr_assert_eq(mkdir(path, 0700), 0);
  daemon_signal(&service, SIGUSR1);
  daemon_await_log(&service, "no snapshot was written: ");
  daemon_await_log(&service, "state.new: it is a folder");
  daemon_ask(&service, "GET", "/readyz", NULL, &reply);
  cr_expect_eq(reply.status, 503);
  cr_expect(strstr(reply.body, "\"unsaved\"") && strstr(reply.body, "state.new: it is a folder"), "%s", reply.body);
  daemon_ask(&service, "GET", "/v1/snapshot", NULL, &reply);
  cr_expect(told_in(reply.body, "failed") == 1 && told_in(reply.body, "written") == 0, "%s", reply.body);
  cr_expect(told_in(reply.body, "number") == 0 && strstr(reply.body, "\"running\": false"), "%s", reply.body);
  cr_assert_eq(rmdir(path), 0);
  daemon_signal(&service, SIGUSR1);
  daemon_await_log(&service, "snapshot 1: ");
  daemon_ask(&service, "GET", "/v1/snapshot", NULL, &reply);
  cr_expect(told_in(reply.body, "failed") == 1 && told_in(reply.body, "written") == 1, "%s", reply.body);
  daemon_ask(&service, "GET", "/readyz", NULL, &reply);
  cr_expect(!strstr(reply.body, "\"unsaved\""), "%s", reply.body);
  daemon_stop(&service);
}

Test(snapshots, a_service_that_could_not_write_the_last_one_ends_with_a_failure) {
  musterd service;
  char path[256];
  daemon_start(&service, flags);
  path_of(&service, "state.new", path);
  cr_assert_eq(mkdir(path, 0700), 0);
  daemon_signal(&service, SIGTERM);
  cr_expect_eq(daemon_wait(&service), 1);
  daemon_await_log(&service, "no snapshot was written: ");
  cr_expect(access(service.socket, F_OK) != 0, "the socket is still there");
  daemon_clear(&service);
}

Test(snapshots, what_is_no_file_is_neither_waited_for_nor_renamed) {
  static const char *const names[] = {"state", "state.previous", "state.new"};
  musterd service;
  char path[256], says[256];
  struct stat status;
  daemon_start(&service, flags);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    path_of(&service, names[i], path);
    unlink(path);
    cr_assert_eq(mkfifo(path, 0600), 0);
    daemon_signal(&service, SIGUSR1);
    snprintf(says, sizeof says, "/%s: it is a FIFO", names[i]);
    daemon_await_log(&service, says);
    cr_expect(lstat(path, &status) == 0 && S_ISFIFO(status.st_mode), "%s is another", path);
    unlink(path);
  }
  daemon_signal(&service, SIGUSR1);
  daemon_await_log(&service, "snapshot 1: ");
  daemon_stop(&service);
}

Test(snapshots, two_services_do_not_write_one_file) {
  musterd first;
  char again[512];
  daemon_start(&first, flags);
  musterd second = first;
  second.process = 0;
  snprintf(second.socket, sizeof second.socket, "%.70s/other", first.folder);
  snprintf(again, sizeof again, "%s", flags);
  daemon_launch(&second, again);
  cr_expect_eq(daemon_wait(&second), 1);
  daemon_await_log(&first, "another service writes");
  daemon_stop(&first);
}

/* ------------------------------------------------------------------------------------- worlds in processes of their
 * own */

/* What one process wrote of all worlds is divided among their processes, once. */
Test(snapshots, worlds_in_processes_of_their_own_go_on_from_what_one_process_wrote) {
  musterd service;
  char isolated[512], main_line[256], square_line[256];
  run_once(&service);
  describe(&service, "state", "main", main_line);
  describe(&service, "state", "square", square_line);
  snprintf(isolated, sizeof isolated, "--isolation process %s", flags);
  start_again(&service, isolated, main_line, square_line);
  cr_expect(exists(&service, "state.divided-1") && exists(&service, "state.previous.divided-1"));
  cr_expect(!exists(&service, "state") && !exists(&service, "state.previous"));
  end(&service);
  cr_expect(exists(&service, "main/state") && !exists(&service, "main/state.left-out-1"));
  describe(&service, "main/state", "main", main_line);
  describe(&service, "square/state", "square", square_line);
  start_again(&service, isolated, main_line, square_line); /* from their own, which are newer */
  daemon_stop(&service);
}

/* A process that has a snapshot keeps it, whatever lies beside it. */
Test(snapshots, a_world_with_a_snapshot_of_its_own_takes_no_part_of_another) {
  musterd service;
  char isolated[512], line[256], path[256], aside[256];
  snprintf(isolated, sizeof isolated, "--isolation process %s", flags);
  daemon_start(&service, isolated);
  end(&service);
  start_again(&service, flags, "400 agents to begin with", NULL); /* one process, which has none */
  end(&service);
  path_of(&service, "square/state", path);
  path_of(&service, "aside", aside);
  cr_assert_eq(rename(path, aside), 0);
  path_of(&service, "square/state.previous", path);
  unlink(path);
  describe(&service, "main/state", "main", line);
  start_again(&service, isolated, line, "world square goes on from ");
  daemon_stop(&service);
}

/* What is told of all worlds, once so many snapshots have been written or failed. */
static const char *await_told(const musterd *service, unsigned long long tries) {
  static daemon_reply reply;
  do {
    daemon_ask(service, "GET", "/v1/snapshot", NULL, &reply);
    cr_assert_eq(reply.status, 200, "%s", reply.body);
  } while (told_in(reply.body, "written") + told_in(reply.body, "failed") < tries);
  return reply.body;
}

/* Else nobody saw that one of many is not written any more. */
Test(snapshots, of_many_worlds_are_as_old_as_the_oldest, .timeout = 60) {
  static daemon_reply reply;
  musterd service;
  char isolated[512], path[256];
  snprintf(isolated, sizeof isolated, "--isolation process %s", flags);
  daemon_start(&service, isolated);
  daemon_ask(&service, "POST", "/v1/snapshot", NULL, &reply);
  cr_expect_eq(told_in(await_told(&service, 2), "number"), 1);
  time_t first = time(NULL);
  while (time(NULL) == first) usleep(1000); /* times are told in seconds */
  path_of(&service, "main/state.new", path);
  cr_assert_eq(mkdir(path, 0700), 0);
  daemon_ask(&service, "POST", "/v1/snapshot", NULL, &reply);
  const char *told = await_told(&service, 4);
  cr_expect_eq(told_in(told, "written"), 3);
  cr_expect_eq(told_in(told, "failed"), 1);
  cr_expect_eq(told_in(told, "number"), 1);
  cr_expect_leq(told_in(told, "written_at"), (unsigned long long)first, "%s", told);
  cr_expect(strstr(told, "main/state.new"), "%s", told);
  cr_assert_eq(rmdir(path), 0);
  daemon_stop(&service);
}

/* A client that did not get its answer sends its request again, whatever became of the daemon meanwhile: also of a
 * world without a journal, which knows of its requests by its snapshot. */
Test(snapshots, have_the_keys_of_requests, .timeout = 60) {
  static const char path[] = "/v1/worlds/square/observers", body[] = "{\"position\": {\"x\": 1, \"y\": 2}}";
  static daemon_reply first, again;
  musterd service;
  char value[16];
  daemon_start(&service, flags);
  daemon_ask_once(&service, "POST", path, "key-1", body, &first);
  cr_assert_eq(first.status, 201, "%s", first.body);
  end(&service);
  daemon_launch(&service, flags);
  cr_assert(daemon_await(&service, "READY=1"), "it ended with %d", service.status);
  daemon_ask_once(&service, "POST", path, "key-1", body, &again);
  cr_expect_eq(again.status, 201, "%s", again.body);
  cr_expect(daemon_header(&again, "Idempotent-Replayed", value, sizeof value), "it was carried out twice");
  cr_expect_str_eq(again.body, first.body);
  daemon_ask_once(&service, "POST", path, "key-2", body, &again);
  cr_expect(again.status == 201 && strcmp(again.body, first.body) != 0, "another key is another request");
  daemon_stop(&service);
}
