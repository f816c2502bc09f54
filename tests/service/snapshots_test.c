/* What musterd does with its snapshots when it starts and when it ends. */
#include "saved.h"

#define FLAGS                                                                                                          \
  "--world main=wildlife --agents 400 --world square=fixed --agents 300 --journal=no --snapshot-file @/state "         \
  "--snapshot-interval 3600s"
#define ISOLATED "--isolation process " FLAGS

TestSuite(snapshots, .fini = stop, .timeout = 60);

static void start_again(const char *with, const char *line, const char *other) {
  forget_log();
  launch_ready(with);
  expect_logged(line);
  if (other) expect_logged(other);
}

static void end_and_start(const char *with, const char *line, const char *other) {
  end_well();
  start_again(with, line, other);
}

static void ask_for_one(const char *told) {
  daemon_signal(&service, SIGUSR1);
  await_log(told);
}

/* A service that has run and ended, and left two snapshots: one that was asked for, and the last. */
static void run_once(void) {
  daemon_start(&service, FLAGS);
  ask_for_one("snapshot 1: ");
  end_well();
}

/* Something in the place of a file that the service wants to write. */
static void put_folder(const char *name) {
  cr_assert_eq(mkdir(path_of(name), 0700), 0);
}

static void damage(const char *name, off_t from_end) {
  char byte;
  int descriptor = open(path_of(name), O_RDWR | O_CLOEXEC);
  cr_assert(descriptor >= 0);
  off_t at = lseek(descriptor, 0, SEEK_END) - from_end;
  cr_assert_eq(pread(descriptor, &byte, 1, at), 1);
  byte ^= 16;
  cr_assert_eq(pwrite(descriptor, &byte, 1, at), 1);
  close(descriptor);
}

Test(snapshots, worlds_go_on_from_the_last_one) {
  run_once();
  cr_expect(exists("state.previous"));
  cr_expect(!exists("state.new"));
  cr_expect(saved_number("state.previous") == 1 && saved_number("state") == 2);
  start_again(FLAGS, saved_line("state", "main"), saved_line("state", "square"));
  end_well();
  start_again(FLAGS, saved_line("state", "main"), NULL);
}

static unsigned long long told_in(const char *body, const char *name) {
  unsigned long long number = 0;
  const char *member = formed("\"%s\": ", name), *found = strstr(body, member);
  cr_assert(found && sscanf(found + strlen(member), "%llu", &number) == 1, "no %s in %s", name, body);
  return number;
}

/* The log, the answer, the metrics and the file itself say the same of the snapshot. */
static void expect_told_alike(const char *body) {
  struct stat status;
  cr_assert_eq(stat(path_of("state"), &status), 0);
  unsigned long long bytes = told_in(body, "bytes"), write_ns = told_in(body, "write_ns"),
                     pause_ns = told_in(body, "pause_ns"), at_s = told_in(body, "written_at");
  cr_expect_eq(bytes, (unsigned long long)status.st_size);
  cr_expect(at_s >= (unsigned long long)status.st_mtime && at_s <= (unsigned long long)time(NULL), "%llu", at_s);
  expect_logged(formed("snapshot 1: %.1f MB in %.0f ms, frames stood still for %.2f ms", (double)bytes * 1e-6,
                       (double)write_ns * 1e-6, (double)pause_ns * 1e-6));
  cr_expect_eq((unsigned long long)metric("muster_snapshot_bytes"), bytes);
  cr_expect_float_eq(metric("muster_snapshot_duration_seconds"), (double)write_ns * 1e-9, 1e-12);
  cr_expect_float_eq(metric("muster_snapshot_pause_seconds"), (double)pause_ns * 1e-9, 1e-12);
}

Test(snapshots, are_taken_and_told_of_over_the_control) {
  daemon_start(&service, FLAGS);
  expect_answer("POST", "/v1/snapshot", NULL, 202, "");
  await_log("snapshot 1: ");
  cr_expect_eq(fetch("GET", "/v1/snapshot", NULL)->status, 200);
  static const char *const told[] = {"\"number\": 1,", "\"written\": 1,", "failed",  "written_at", "bytes",
                                     "write_ns",       "pause_ns",        "failure", "restored"};
  for (size_t i = 0; i < COUNT_OF(told); i++) expect_in(reply.body, told[i]);
  expect_told_alike(reply.body);
  daemon_stop(&service);
  daemon_start(&service, "--world main=wildlife --agents 300");
  cr_expect_eq(fetch("POST", "/v1/snapshot", NULL)->status, 409, "%s", reply.body);
  expect_in(reply.body, "snapshot_file is not set");
}

Test(snapshots, a_damaged_one_is_kept_aside_and_the_previous_one_is_used) {
  run_once();
  damage("state", 5000);
  start_again(FLAGS, saved_line("state.previous", "main"), "/state is refused: ");
  cr_expect(exists("state.damaged-1"));
}

Test(snapshots, without_a_whole_one_worlds_begin_anew) {
  run_once();
  damage("state", 1); /* where it ends */
  damage("state.previous", 5000);
  start_again(FLAGS, "400 agents to begin with", "/state.previous is refused: ");
  cr_expect(exists("state.damaged-1"));
  cr_expect(exists("state.damaged-2"));
}

/* A world that went on from a snapshot, which another world then refused, has lost its time with its agents. */
Test(snapshots, worlds_that_begin_anew_begin_at_zero) {
  run_once();
  start_again("--world main=wildlife --agents 400 --world square=wildlife --agents 300 --journal=no --snapshot-file "
              "@/state --snapshot-interval 3600s",
              "its module was fixed, and is wildlife", "400 agents to begin with");
  json_auto_t *world = get(WORLD);
  long long frames = control_count(world, "frames"), period_ns = control_count(world, "period_ns"),
            now_ns = control_count(world, "sim_now_ns");
  cr_expect(now_ns == frames * period_ns, "after %lld frames of %lld ns it is %lld ns", frames, period_ns, now_ns);
}

Test(snapshots, one_of_other_settings_is_refused_with_the_reason) {
  run_once();
  start_again("--world main=wildlife --agents 400 --seed 5 --world square=fixed --agents 300 "
              "--journal=no --snapshot-file @/state",
              "the world's seed is 5, that of the snapshot was 1", "400 agents to begin with");
  end_and_start("--world main=townsfolk --agents 400 --journal=no --snapshot-file @/state",
                "world main: its module was wildlife, and is townsfolk", "400 agents to begin with");
}

Test(snapshots, a_world_that_is_new_begins_beside_the_others) {
  run_once();
  start_again(FLAGS " --world town=townsfolk --agents 100", saved_line("state", "main"),
              "world town: module townsfolk, 100 agents to begin with");
}

static void expect_no_start(const char *with, const char *reason) {
  daemon_prepare(&service);
  daemon_launch(&service, with);
  cr_expect_eq(daemon_wait(&service), 1);
  await_log(reason);
  daemon_clear(&service);
}

Test(snapshots, of_worlds_that_are_not_hosted_any_more_are_kept) {
  run_once();
  start_again("--world main=wildlife --agents 400 --journal=no --snapshot-file @/state",
              "world square is in the snapshot, and is not hosted", "a copy of the snapshot is kept as ");
  cr_expect(exists("state.left-out-1"));
  end_and_start("--world town=townsfolk --agents 100 --journal=no --snapshot-file @/state",
                "world main is in the snapshot, and is not hosted", "/state.left-out-2\n");
  cr_expect(exists("state.left-out-2"), "an older copy is not replaced");
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
  daemon_start(&service, FLAGS);
  put_folder("state.new");
  ask_for_one("no snapshot was written: ");
  await_log("state.new: it is a folder");
  cr_expect_eq(fetch("GET", "/readyz", NULL)->status, 503);
  cr_expect(strstr(reply.body, "\"unsaved\"") && strstr(reply.body, "state.new: it is a folder"), "%s", reply.body);
  fetch("GET", "/v1/snapshot", NULL);
  cr_expect(told_in(reply.body, "failed") == 1 && told_in(reply.body, "written") == 0, "%s", reply.body);
  cr_expect(told_in(reply.body, "number") == 0 && strstr(reply.body, "\"running\": false"), "%s", reply.body);
  cr_assert_eq(rmdir(path_of("state.new")), 0);
  ask_for_one("snapshot 1: ");
  fetch("GET", "/v1/snapshot", NULL);
  cr_expect(told_in(reply.body, "failed") == 1 && told_in(reply.body, "written") == 1, "%s", reply.body);
  fetch("GET", "/readyz", NULL);
  cr_expect(!strstr(reply.body, "\"unsaved\""), "%s", reply.body);
}

Test(snapshots, a_service_that_could_not_write_the_last_one_ends_with_a_failure) {
  daemon_start(&service, FLAGS);
  put_folder("state.new");
  daemon_signal(&service, SIGTERM);
  cr_expect_eq(daemon_wait(&service), 1);
  await_log("no snapshot was written: ");
  cr_expect(access(service.socket, F_OK) != 0, "the socket is still there");
  daemon_clear(&service);
}

Test(snapshots, what_is_no_file_is_neither_waited_for_nor_renamed) {
  static const char *const names[] = {"state", "state.previous", "state.new"};
  struct stat status;
  daemon_start(&service, FLAGS);
  for (size_t i = 0; i < COUNT_OF(names); i++) {
    const char *path = path_of(names[i]);
    unlink(path);
    cr_assert_eq(mkfifo(path, 0600), 0);
    ask_for_one(formed("/%s: it is a FIFO", names[i]));
    cr_expect(lstat(path, &status) == 0 && S_ISFIFO(status.st_mode), "%s is another", path);
    unlink(path);
  }
  ask_for_one("snapshot 1: ");
}

Test(snapshots, two_services_do_not_write_one_file) {
  daemon_start(&service, FLAGS);
  musterd second = service;
  second.process = 0;
  snprintf(second.socket, sizeof second.socket, "%.70s/other", service.folder);
  daemon_launch(&second, FLAGS);
  cr_expect_eq(daemon_wait(&second), 1);
  await_log("another service writes");
}

/* --------------------------------------------------------------------------------- worlds in processes of their own */

/* What one process wrote of all worlds is divided among their processes, once. */
Test(snapshots, worlds_in_processes_of_their_own_go_on_from_what_one_process_wrote) {
  run_once();
  start_again(ISOLATED, saved_line("state", "main"), saved_line("state", "square"));
  cr_expect(exists("state.divided-1") && exists("state.previous.divided-1"));
  cr_expect(!exists("state") && !exists("state.previous"));
  end_well();
  cr_expect(exists("main/state") && !exists("main/state.left-out-1"));
  /* from their own, which are newer */
  start_again(ISOLATED, saved_line("main/state", "main"), saved_line("square/state", "square"));
}

/* A process that has a snapshot keeps it, whatever lies beside it. */
Test(snapshots, a_world_with_a_snapshot_of_its_own_takes_no_part_of_another) {
  daemon_start(&service, ISOLATED);
  end_and_start(FLAGS, "400 agents to begin with", NULL); /* one process, which has none */
  end_well();
  cr_assert_eq(rename(path_of("square/state"), path_of("aside")), 0);
  unlink(path_of("square/state.previous"));
  start_again(ISOLATED, saved_line("main/state", "main"), "world square goes on from ");
}

/* What is told of all worlds, once so many snapshots have been written or failed. */
static const char *await_told(unsigned long long tries) {
  do cr_assert_eq(fetch("GET", "/v1/snapshot", NULL)->status, 200, "%s", reply.body);
  while (told_in(reply.body, "written") + told_in(reply.body, "failed") < tries);
  return reply.body;
}

/* Else nobody saw that one of many is not written any more. */
Test(snapshots, of_many_worlds_are_as_old_as_the_oldest) {
  daemon_start(&service, ISOLATED);
  fetch("POST", "/v1/snapshot", NULL);
  cr_expect_eq(told_in(await_told(2), "number"), 1);
  time_t first = time(NULL);
  while (time(NULL) == first) usleep(1000); /* times are told in seconds */
  put_folder("main/state.new");
  fetch("POST", "/v1/snapshot", NULL);
  const char *told = await_told(4);
  cr_expect_eq(told_in(told, "written"), 3);
  cr_expect_eq(told_in(told, "failed"), 1);
  cr_expect_eq(told_in(told, "number"), 1);
  cr_expect_leq(told_in(told, "written_at"), (unsigned long long)first, "%s", told);
  expect_in(told, "main/state.new");
  cr_assert_eq(rmdir(path_of("main/state.new")), 0);
}

/* A client that did not get its answer sends its request again, whatever became of the daemon meanwhile: also of a
 * world without a journal, which knows of its requests by its snapshot. */
Test(snapshots, have_the_keys_of_requests) {
  static const char path[] = "/v1/worlds/square/observers", body[] = "{\"position\": {\"x\": 1, \"y\": 2}}";
  daemon_start(&service, FLAGS);
  daemon_ask_once(&service, "POST", path, "key-1", body, &reply);
  cr_assert_eq(reply.status, 201, "%s", reply.body);
  end_well();
  launch_ready(FLAGS);
  daemon_ask_once(&service, "POST", path, "key-1", body, &again);
  cr_expect_eq(again.status, 201, "%s", again.body);
  cr_expect(is_replayed(&again), "it was carried out twice");
  cr_expect_str_eq(again.body, reply.body);
  daemon_ask_once(&service, "POST", path, "key-2", body, &again);
  cr_expect(again.status == 201 && strcmp(again.body, reply.body) != 0, "another key is another request");
}
