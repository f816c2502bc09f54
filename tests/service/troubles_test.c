/* Troubles of the machine that pass: worlds wait for their end, and run again by themselves. The musterd of these tests
 * has calls of the system that fail when it is told (unlucky.c). */
#include "unlucky.h"

#include <poll.h>

#define FOREST "/v1/worlds/forest"

#define SETTINGS                                                                                                       \
  "--isolation process --modules " MUSTER_TEST_MODULES " --world main=crasher --path @/fine --hz 100 --budget 1ms "    \
  "--world forest=crasher --path @/fine --hz 100 --budget 1ms "

TestSuite(troubles, .init = unlucky_prepare, .fini = stop, .timeout = 120);

static void start(const char *more) {
  launch_ready(formed(SETTINGS "%s", more));
}

/* Until the world is in a state and has been started so often; the entry then. */
static json_t *await_state(const char *world, const char *state, long long starts) {
  for (int tries = 0; tries < 3000; tries++) {
    json_t *process = control_process_of(&service, world);
    if (strcmp(control_text(process, "state"), state) == 0 && control_count(process, "starts") >= starts)
      return process;
    json_decref(process);
    usleep(20000);
  }
  cr_assert_fail("world %s does not become %s: %s", world, state, daemon_log(&service));
  return NULL;
}

/* Its process then. */
static pid_t await_runs(const char *world, long long starts) {
  json_auto_t *process = await_state(world, "running", starts);
  return (pid_t)control_count(process, "process");
}

static void expect_reason(json_t *down, const char *reason) {
  expect_in(control_text(down, "reason"), reason);
}

/* The world ends in a trouble, is tried again and again, and runs once the trouble is over. The other goes on. */
static void expect_healing(const char *trouble, const char *reason) {
  start("");
  pid_t other = await_runs("main", 1);
  set_trouble(trouble);
  tell("POST", FOREST "/restart", NULL, 202);
  json_auto_t *down = await_state("forest", "waiting", 5);
  expect_reason(down, reason);
  expect_in(control_text(down, "words"), reason);
  cr_expect(json_is_null(json_object_get(down, "process")));
  set_trouble("");
  await_runs("forest", 6);
  cr_expect_eq(await_runs("main", 1), other, "the other world went on");
}

Test(troubles, a_world_waits_while_no_process_can_be_made) {
  expect_healing("fork 11", "it cannot be started: resource temporarily unavailable");
}

Test(troubles, a_world_waits_while_proc_is_missing) {
  expect_healing("execvp 2", "it cannot be started: there is no /proc/self/exe: is /proc mounted?");
}

Test(troubles, a_daemon_that_begins_in_one_lives_until_it_is_over) {
  set_trouble("execvp 2");
  daemon_launch(&service, SETTINGS);
  await_log("world forest starts again in ");
  json_decref(await_state("main", "waiting", 3));
  json_decref(await_state("forest", "waiting", 3));
  set_trouble("");
  await_runs("main", 4);
  await_runs("forest", 4);
}

/* ----------------------------------------------------------------------------------------------------------- warden */

/* The child of the supervisor that watches for its death; 0 = there is none. */
static pid_t find_warden(void) {
  char name[32];
  int child = 0, found = 0;
  FILE *children = fopen(formed("/proc/%d/task/%d/children", (int)service.process, (int)service.process), "re");
  cr_assert_not_null(children);
  while (!found && fscanf(children, "%d", &child) == 1) {
    FILE *file = fopen(formed("/proc/%d/comm", child), "re");
    if (file && fgets(name, sizeof name, file) && strcmp(name, "musterd-warden\n") == 0) found = child;
    if (file) fclose(file);
  }
  fclose(children);
  return found;
}

/* It has a descriptor of each world's process. */
static uint32_t count_watched(pid_t warden) {
  char to[64];
  uint32_t count = 0;
  for (int descriptor = 0; descriptor < 64; descriptor++) {
    ssize_t length = readlink(formed("/proc/%d/fd/%d", (int)warden, descriptor), to, sizeof to - 1);
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
  pid_t world = await_runs("forest", 1);
  cr_assert_eq(kill(world, SIGSTOP), 0);
  daemon_kill(&service);
  for (int tries = 0; kill(world, 0) == 0; tries++, usleep(20000)) cr_assert_lt(tries, 3000, "it has outlived it");
  daemon_drop_notices(&service);
  start(""); /* the next one finds its files free */
}

Test(troubles, a_daemon_that_begins_where_no_process_is_to_be_had_waits_for_its_warden) {
  set_trouble("fork 11");
  daemon_launch(&service, SETTINGS);
  await_log("no process is to be had for the warden");
  set_trouble("");
  cr_assert(daemon_await(&service, "READY=1"));
  cr_expect(find_warden() > 0, "nobody watches");
}

/* ---------------------------------------------------------------------------------- files that cannot be opened now */

#define COUNTER                                                                                                        \
  "--isolation process --modules " MUSTER_TEST_MODULES " --snapshot-file @/state --world forest=counter --path "       \
  "@/fine --hz 100 --budget 1ms "

static void command_forest(const char *command, const char *body) {
  daemon_ask_once(&service, "POST", formed(FOREST "/module/%s", command), NULL, body, &reply);
  cr_assert_eq(reply.status, 200, "%s", reply.text);
}

static void ask_for_snapshot(const char *told) {
  tell("POST", "/v1/snapshot", NULL, 202);
  await_log(told);
}

/* It is the same world afterwards, which was not taken for damaged, and did not begin anew meanwhile. */
static void expect_files_awaited(const char *flags, const char *trouble, const char *reason) {
  launch_ready(flags);
  command_forest("count", "7");
  if (strstr(flags, "--journal=no")) ask_for_snapshot("snapshot 1: ");
  pid_t forest = await_runs("forest", 1);
  set_trouble(trouble);
  cr_assert_eq(kill(forest, SIGKILL), 0);
  json_auto_t *down = await_state("forest", "waiting", 4);
  expect_reason(down, reason);
  set_trouble("");
  await_runs("forest", 5);
  command_forest("counts", "");
  cr_expect_eq(strncmp(reply.body, "[0,0,0,0,0,0,0,1,", 17), 0, "%.40s", reply.body);
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
  launch_ready(COUNTER "--journal=no ");
  const char *path = path_of("forest/state");
  ask_for_snapshot("snapshot 1: ");
  for (long long i = 0; i < 2; i++) {
    set_trouble(syncs[i]);
    cr_assert_eq(stat(path, &before), 0, "%s", path);
    tell("POST", "/v1/snapshot", NULL, 202);
    AWAIT_WITH(usleep(1000), count_at("/v1/snapshot", "failed") + count_at("/v1/snapshot", "written") >= i + 2);
    cr_assert_eq(count_at("/v1/snapshot", "failed"), i + 1, "%s", syncs[i]);
    cr_assert_eq(stat(path, &after), 0, "%s", path);
    if (i == 0) cr_expect_eq(before.st_ino, after.st_ino, "what may not be on the disk has the name");
  }
  await_log("no snapshot was written: ");
  set_trouble("");
  ask_for_snapshot("snapshot 2: ");
}

/* No frame makes a change of a paused world safe, so it is answered behind a snapshot, or behind the next one. */
Test(troubles, a_change_of_a_paused_world_is_safe_once_a_snapshot_can_be_written_again) {
  launch_ready(COUNTER);
  tell("PATCH", FOREST, "{'paused': true}", 200);
  set_trouble("open:.snapshot.new$ 28");
  int change = daemon_begin_once(&service, "POST", FOREST "/module/count", "paused", "7");
  await_log("it goes on from the one before");
  struct pollfd answer = {.fd = change, .events = POLLIN};
  cr_expect_eq(poll(&answer, 1, 0), 0, "it is answered though nothing has made it safe");
  set_trouble("");
  cr_assert_eq(poll(&answer, 1, 60000), 1, "no snapshot was asked for again: %s", daemon_log(&service));
  daemon_end(change, &reply);
  cr_expect_eq(reply.status, 200, "%s", reply.text);
}

Test(troubles, a_world_waits_while_no_thread_can_be_made) {
  expect_files_awaited(COUNTER, "pthread_create 11", "temporarily unavailable");
}

/* ------------------------------------------------------------------------------------------------------------- log */

static void await_told(const char *text, uint32_t times) {
  for (int tries = 0; count_logged(text) < times; tries++) {
    cr_assert_lt(tries, 3000, "it has told too seldom of \"%s\": %s", text, daemon_log(&service));
    usleep(20000);
  }
}

/* Nobody can be answered while the daemon opens nothing, so what it does then is read in its log. */
Test(troubles, a_world_waits_while_the_daemon_can_open_nothing) {
  struct rlimit usual;
  start("");
  pid_t process = await_runs("forest", 1);
  cr_assert_eq(prlimit(service.process, RLIMIT_NOFILE, NULL, &usual), 0);
  cr_assert_eq(prlimit(service.process, RLIMIT_NOFILE, &(struct rlimit){3, usual.rlim_max}, NULL), 0);
  cr_assert_eq(kill(process, SIGSEGV), 0);
  await_told("world forest starts again in ", 1);
  await_told("Too many open files", 5);
  cr_assert_eq(prlimit(service.process, RLIMIT_NOFILE, &usual, NULL), 0);
  await_runs("forest", 6);
  await_runs("main", 1);
}

/* As it is when the last daemon's process of the world has not ended yet. */
Test(troubles, a_world_waits_while_another_has_its_files) {
  cr_assert_eq(mkdir(path_of("forest"), 0700), 0);
  int file = open(path_of("forest/flight"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  cr_assert(file >= 0 && fcntl(file, F_SETLK, &(struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET}) == 0);
  start("--crash-limit 1 --flight-file @/flight");
  json_auto_t *down = await_state("forest", "waiting", 5);
  expect_reason(down, "another musterd uses it");
  expect_asked("GET", FOREST "/types", NULL, 503, "{'error.code': 'waiting'}");
  close(file);
  await_runs("forest", 6);
  await_runs("main", 1);
}

/* What crashed before is known all the same. */
Test(troubles, a_world_runs_without_its_flight_recorder_where_the_disk_is_full) {
  start("--flight-file @/flight");
  pid_t forest = await_runs("forest", 1);
  set_trouble("posix_fallocate 28");
  cr_assert_eq(kill(forest, SIGSEGV), 0);
  await_runs("forest", 2);
  await_told("No space left on device: it runs without", 1);
  await_told("the last run (process ", 1);
  set_trouble("");
  tell("POST", FOREST "/restart", NULL, 202);
  await_runs("forest", 3);
  cr_expect_eq(count_logged("it runs without"), 1);
}

/* ---------------------------------------------------------------------------------------------------- its own files */

static const char *make_incident(uint32_t number) {
  const char *path = path_of(formed("forest/state.forest-incident-%u.journal", number));
  int file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  cr_assert(file >= 0 && posix_fallocate(file, 0, 3000000) == 0);
  close(file);
  return path;
}

/* They would be too much for disk_max. */
Test(troubles, a_world_lives_while_its_oldest_incidents_go) {
  cr_assert_eq(mkdir(path_of("forest"), 0700), 0);
  const char *first = make_incident(1), *second = make_incident(2);
  cr_assert_eq(utimensat(AT_FDCWD, first, (const struct timespec[]){{1000, 0}, {1000, 0}}, 0), 0);
  daemon_launch(&service,
                "--isolation process --world forest=wildlife --agents 300 --hz 50 --budget 2ms --snapshot-file "
                "@/state --disk-max 1000000 --state-max 5000000");
  await_told("forest/state.forest-incident-1.journal is removed: Muster's own files take ", 1);
  await_told("MB, and state_max is 5 MB", 1);
  json_auto_t *forest = control_process_of(&service, "forest");
  await_count(FOREST, "frames", count_at(FOREST, "frames") + 300); /* two looks */
  cr_expect_eq(control_count(forest, "starts"), 1);
  cr_expect(access(first, F_OK) != 0 && access(second, F_OK) == 0);
}
