/* Troubles of the machine that pass: worlds wait for their end, and run again by themselves. The musterd of these tests
 * has calls of the system that fail when it is told (unlucky.c). */
#include "unlucky.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SETTINGS                                                                                                       \
  "--isolation process --modules " MUSTER_TEST_MODULES " --world main=crasher --path @/fine --hz 100 --budget 1ms "    \
  "--world forest=crasher --path @/fine --hz 100 --budget 1ms "

static musterd service;

static void set_trouble(const char *trouble) {
  unlucky_set(&service, trouble);
}

static void prepare(void) {
  unlucky_prepare(&service);
}

static void stop(void) {
  daemon_stop(&service);
}

TestSuite(troubles, .init = prepare, .fini = stop, .timeout = 120);

static void start(const char *more) {
  char flags[1024];
  snprintf(flags, sizeof flags, SETTINGS "%s", more);
  daemon_launch(&service, flags);
  cr_assert(daemon_await(&service, "READY=1"), "it ended with %d: %s", service.status, daemon_log(&service));
}

static json_t *process_of(const char *world) {
  return control_process_of(&service, world);
}

/* Until the world is in a state and has been started so often; the entry then. */
static json_t *await_state(const char *world, const char *state, long long starts) {
  for (int tries = 0; tries < 3000; tries++) {
    json_t *process = process_of(world);
    if (strcmp(control_text(process, "state"), state) == 0 && control_count(process, "starts") >= starts)
      return process;
    json_decref(process);
    usleep(20000);
  }
  cr_assert_fail("world %s does not become %s: %s", world, state, daemon_log(&service));
  return NULL;
}

/* The world ends in a trouble, is tried again and again, and runs once the trouble is over. The other goes on. */
static void expect_healing(const char *trouble, const char *reason) {
  json_t *other = await_state("main", "running", 1);
  set_trouble(trouble);
  json_decref(control_ask(&service, "POST", "/v1/worlds/forest/restart", NULL, 202));
  json_t *down = await_state("forest", "waiting", 5);
  cr_expect(strstr(control_text(down, "reason"), reason), "%s", control_text(down, "reason"));
  cr_expect(strstr(control_text(down, "words"), reason), "%s", control_text(down, "words"));
  cr_expect(json_is_null(json_object_get(down, "process")));
  set_trouble("");
  json_t *again = await_state("forest", "running", 6), *still = await_state("main", "running", 1);
  cr_expect_eq(control_count(still, "process"), control_count(other, "process"), "the other world went on");
  json_decref(other), json_decref(down), json_decref(again), json_decref(still);
}

Test(troubles, a_world_waits_while_no_process_can_be_made) {
  start("");
  expect_healing("fork 11", "it cannot be started: resource temporarily unavailable");
}

Test(troubles, a_world_waits_while_proc_is_missing) {
  start("");
  expect_healing("execvp 2", "it cannot be started: there is no /proc/self/exe: is /proc mounted?");
}

Test(troubles, a_daemon_that_begins_in_one_lives_until_it_is_over) {
  set_trouble("execvp 2");
  daemon_launch(&service, SETTINGS);
  daemon_await_log(&service, "world forest starts again in ");
  json_decref(await_state("main", "waiting", 3));
  json_decref(await_state("forest", "waiting", 3));
  set_trouble("");
  json_decref(await_state("main", "running", 4));
  json_decref(await_state("forest", "running", 4));
}

/* ----------------------------------------------------------------------------------------------------------- warden
 */

/* The child of the supervisor that watches for its death; 0 = there is none. */
static pid_t find_warden(void) {
  char path[64], name[32];
  int child = 0, found = 0;
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)service.process, (int)service.process);
  FILE *children = fopen(path, "re");
  cr_assert_not_null(children);
  while (!found && fscanf(children, "%d", &child) == 1) {
    snprintf(path, sizeof path, "/proc/%d/comm", child);
    FILE *file = fopen(path, "re");
    if (file && fgets(name, sizeof name, file) && strcmp(name, "musterd-warden\n") == 0) found = child;
    if (file) fclose(file);
  }
  fclose(children);
  return found;
}

/* It has a descriptor of each world's process. */
static uint32_t count_watched(pid_t warden) {
  char path[64], to[64];
  uint32_t count = 0;
  for (int descriptor = 0; descriptor < 64; descriptor++) {
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)warden, descriptor);
    ssize_t length = readlink(path, to, sizeof to - 1);
    to[length > 0 ? length : 0] = '\0';
    count += strstr(to, "[pidfd]") != NULL;
  }
  return count;
}

/* Else a world that cannot hear that its supervisor has died, as one that is stopped, keeps its files from the next. */
Test(troubles, a_world_that_the_warden_could_not_be_told_of_is_told_of_later) {
  set_trouble("pidfd_open 24");
  start("");
  pid_t warden = find_warden();
  cr_assert(warden > 0, "nobody watches");
  cr_expect_eq(count_watched(warden), 0);
  set_trouble("");
  for (int tries = 0; count_watched(warden) < 2; tries++, usleep(20000)) cr_assert_lt(tries, 3000, "it is not told");
  json_t *forest = await_state("forest", "running", 1);
  pid_t world = (pid_t)control_count(forest, "process");
  json_decref(forest);
  cr_assert_eq(kill(world, SIGSTOP), 0);
  daemon_kill(&service);
  for (int tries = 0; kill(world, 0) == 0; tries++, usleep(20000)) cr_assert_lt(tries, 3000, "it has outlived it");
  daemon_drop_notices(&service);
  start(""); /* the next one finds its files free */
}

Test(troubles, a_daemon_that_begins_where_no_process_is_to_be_had_waits_for_its_warden) {
  set_trouble("fork 11");
  daemon_launch(&service, SETTINGS);
  daemon_await_log(&service, "no process is to be had for the warden");
  set_trouble("");
  cr_assert(daemon_await(&service, "READY=1"), "it ended with %d: %s", service.status, daemon_log(&service));
  cr_expect(find_warden() > 0, "nobody watches");
}

/* ------------------------------------------------------------------------------------- files that cannot be opened now
 */

#define COUNTER                                                                                                        \
  "--isolation process --modules " MUSTER_TEST_MODULES " --snapshot-file @/state --world forest=counter --path "       \
  "@/fine --hz 100 --budget 1ms "

/* It is the same world afterwards, which was not taken for damaged, and did not begin anew meanwhile. */
static void expect_files_awaited(const char *flags, const char *trouble, const char *reason) {
  daemon_reply *reply = calloc(1, sizeof *reply);
  cr_assert_not_null(reply);
  daemon_launch(&service, flags);
  cr_assert(daemon_await(&service, "READY=1"), "it ended with %d: %s", service.status, daemon_log(&service));
  daemon_ask_once(&service, "POST", "/v1/worlds/forest/module/count", NULL, "7", reply);
  cr_assert_eq(reply->status, 200, "%s", reply->text);
  if (strstr(flags, "--journal=no")) {
    json_decref(control_ask(&service, "POST", "/v1/snapshot", NULL, 202));
    daemon_await_log(&service, "snapshot 1: ");
  }
  json_t *forest = await_state("forest", "running", 1);
  set_trouble(trouble);
  cr_assert_eq(kill((pid_t)control_count(forest, "process"), SIGKILL), 0);
  json_t *down = await_state("forest", "waiting", 4);
  cr_expect(strstr(control_text(down, "reason"), reason), "%s", control_text(down, "reason"));
  set_trouble("");
  json_decref(await_state("forest", "running", 5));
  daemon_ask_once(&service, "POST", "/v1/worlds/forest/module/counts", NULL, "", reply);
  cr_assert_eq(reply->status, 200, "%s", reply->text);
  cr_expect_eq(strncmp(reply->body, "[0,0,0,0,0,0,0,1,", 17), 0, "%.40s", reply->body);
  json_decref(forest), json_decref(down);
  free(reply);
}

Test(troubles, a_world_waits_while_its_journal_cannot_be_opened) {
  expect_files_awaited(COUNTER, "open:.journal$ 23", "Too many open files in system");
}

Test(troubles, a_world_waits_while_the_snapshot_of_its_journal_cannot_be_opened) {
  expect_files_awaited(COUNTER, "open:.snapshot$ 12", "Cannot allocate memory");
}

Test(troubles, a_world_waits_while_its_snapshot_cannot_be_opened) {
  expect_files_awaited(COUNTER "--journal=no ", "open:/state$ 24", "Too many open files");
}

/* Else a power failure could leave less than a whole one under its name. */
Test(troubles, a_snapshot_that_does_not_come_to_the_disk_is_none) {
  static const char *const syncs[] = {"fsync 5", "fsync_folder 5"};
  struct stat before, after;
  char path[DAEMON_PATH_BYTES + 16];
  daemon_launch(&service, COUNTER "--journal=no ");
  cr_assert(daemon_await(&service, "READY=1"), "it ended with %d: %s", service.status, daemon_log(&service));
  snprintf(path, sizeof path, "%s/forest/state", service.folder);
  json_decref(control_ask(&service, "POST", "/v1/snapshot", NULL, 202));
  daemon_await_log(&service, "snapshot 1: ");
  for (long long i = 0; i < 2; i++) {
    set_trouble(syncs[i]);
    cr_assert_eq(stat(path, &before), 0, "%s", path);
    json_decref(control_ask(&service, "POST", "/v1/snapshot", NULL, 202));
    AWAIT_WITH(usleep(1000), control_ask_count(&service, "/v1/snapshot", "failed") +
                                     control_ask_count(&service, "/v1/snapshot", "written") >=
                                 i + 2);
    cr_assert_eq(control_ask_count(&service, "/v1/snapshot", "failed"), i + 1, "%s", syncs[i]);
    cr_assert_eq(stat(path, &after), 0, "%s", path);
    if (i == 0) cr_expect_eq(before.st_ino, after.st_ino, "what may not be on the disk has the name");
  }
  daemon_await_log(&service, "no snapshot was written: ");
  set_trouble("");
  json_decref(control_ask(&service, "POST", "/v1/snapshot", NULL, 202));
  daemon_await_log(&service, "snapshot 2: ");
}

/* No frame makes a change of a paused world safe, so it is answered behind a snapshot; one that failed is asked for
 * again. */
Test(troubles, a_change_of_a_paused_world_is_safe_once_a_snapshot_can_be_written_again) {
  daemon_reply *reply = calloc(1, sizeof *reply);
  cr_assert_not_null(reply);
  daemon_launch(&service, COUNTER);
  cr_assert(daemon_await(&service, "READY=1"), "it ended with %d: %s", service.status, daemon_log(&service));
  json_decref(control_ask(&service, "PATCH", "/v1/worlds/forest", "{\"paused\": true}", 200));
  set_trouble("open:.snapshot.new$ 28");
  int change = daemon_begin_once(&service, "POST", "/v1/worlds/forest/module/count", "paused", "7");
  daemon_await_log(&service, "it goes on from the one before");
  struct pollfd answer = {.fd = change, .events = POLLIN};
  cr_expect_eq(poll(&answer, 1, 0), 0, "it is answered though nothing has made it safe");
  set_trouble("");
  cr_assert_eq(poll(&answer, 1, 60000), 1, "no snapshot was asked for again: %s", daemon_log(&service));
  daemon_end(change, reply);
  cr_expect_eq(reply->status, 200, "%s", reply->text);
  free(reply);
}

Test(troubles, a_world_waits_while_no_thread_can_be_made) {
  expect_files_awaited(COUNTER, "pthread_create 11", "temporarily unavailable");
}

/* ------------------------------------------------------------------------------------------------------------------
 * log
 */

/* How often the log has a text. */
static uint32_t count_told(const char *text) {
  char *log = daemon_log(&service);
  uint32_t count = 0;
  for (const char *at = log; (at = strstr(at, text)) != NULL; at++) count++;
  free(log);
  return count;
}

static void await_told(const char *text, uint32_t times) {
  for (int tries = 0; count_told(text) < times; tries++) {
    cr_assert_lt(tries, 3000, "it has told too seldom of \"%s\": %s", text, daemon_log(&service));
    usleep(20000);
  }
}

/* Nobody can be answered while the daemon opens nothing, so what it does then is read in its log. */
Test(troubles, a_world_waits_while_the_daemon_can_open_nothing) {
  struct rlimit usual;
  start("");
  json_t *forest = await_state("forest", "running", 1);
  pid_t process = (pid_t)control_count(forest, "process");
  cr_assert_eq(prlimit(service.process, RLIMIT_NOFILE, NULL, &usual), 0);
  cr_assert_eq(prlimit(service.process, RLIMIT_NOFILE, &(struct rlimit){3, usual.rlim_max}, NULL), 0);
  cr_assert_eq(kill(process, SIGSEGV), 0);
  await_told("world forest starts again in ", 1);
  await_told("Too many open files", 5);
  cr_assert_eq(prlimit(service.process, RLIMIT_NOFILE, &usual, NULL), 0);
  json_decref(await_state("forest", "running", 6));
  json_decref(await_state("main", "running", 1));
  json_decref(forest);
}

/* As it is when the last daemon's process of the world has not ended yet. */
Test(troubles, a_world_waits_while_another_has_its_files) {
  char path[DAEMON_PATH_BYTES + 32];
  snprintf(path, sizeof path, "%s/forest", service.folder);
  cr_assert_eq(mkdir(path, 0700), 0);
  snprintf(path, sizeof path, "%s/forest/flight", service.folder);
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  cr_assert(file >= 0 && fcntl(file, F_SETLK, &(struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET}) == 0);
  start("--crash-limit 1 --flight-file @/flight");
  json_t *down = await_state("forest", "waiting", 5);
  cr_expect(strstr(control_text(down, "reason"), "another musterd uses it"), "%s", control_text(down, "reason"));
  json_t *refused = control_ask(&service, "GET", "/v1/worlds/forest/types", NULL, 503);
  cr_expect_str_eq(control_text(refused, "error.code"), "waiting");
  close(file);
  json_decref(await_state("forest", "running", 6));
  json_decref(await_state("main", "running", 1));
  json_decref(down), json_decref(refused);
}

/* What crashed before is known all the same. */
Test(troubles, a_world_runs_without_its_flight_recorder_where_the_disk_is_full) {
  start("--flight-file @/flight");
  json_t *forest = await_state("forest", "running", 1);
  set_trouble("posix_fallocate 28");
  cr_assert_eq(kill((pid_t)control_count(forest, "process"), SIGSEGV), 0);
  json_decref(await_state("forest", "running", 2));
  await_told("No space left on device: it runs without", 1);
  await_told("the last run (process ", 1);
  set_trouble("");
  json_decref(control_ask(&service, "POST", "/v1/worlds/forest/restart", NULL, 202));
  json_decref(await_state("forest", "running", 3));
  cr_expect_eq(count_told("it runs without"), 1);
  json_decref(forest);
}

/* ------------------------------------------------------------------------------------------------------ its own files
 */

static void make_incident(uint32_t number, char path[DAEMON_PATH_BYTES + 64]) {
  snprintf(path, DAEMON_PATH_BYTES + 64, "%s/forest/state.forest-incident-%u.journal", service.folder, number);
  int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  cr_assert(file >= 0 && posix_fallocate(file, 0, 3000000) == 0);
  close(file);
}

/* They would be too much for disk_max. */
Test(troubles, a_world_lives_while_its_oldest_incidents_go) {
  char path[DAEMON_PATH_BYTES + 64], first[DAEMON_PATH_BYTES + 64], second[DAEMON_PATH_BYTES + 64];
  snprintf(path, sizeof path, "%s/forest", service.folder);
  cr_assert_eq(mkdir(path, 0700), 0);
  make_incident(1, first);
  make_incident(2, second);
  cr_assert_eq(utimensat(AT_FDCWD, first, (const struct timespec[]){{1000, 0}, {1000, 0}}, 0), 0);
  daemon_launch(&service,
                "--isolation process --world forest=wildlife --agents 300 --hz 50 --budget 2ms --snapshot-file "
                "@/state --disk-max 1000000 --state-max 5000000");
  await_told("forest/state.forest-incident-1.journal is removed: Muster's own files take ", 1);
  await_told("MB, and state_max is 5 MB", 1);
  json_t *all = control_ask(&service, "GET", "/v1/worlds/forest", NULL, 200), *forest = process_of("forest");
  control_await_count(&service, "/v1/worlds/forest", "frames", control_count(all, "frames") + 300); /* two looks */
  cr_expect_eq(control_count(forest, "starts"), 1);
  cr_expect(access(first, F_OK) != 0 && access(second, F_OK) == 0);
  json_decref(all), json_decref(forest);
}
