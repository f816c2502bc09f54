/* musterd as root among paths that are no regular files, in a root of its own: nothing outside its folder changes, it
 * answers throughout, and it ends when it is told to. */
#include "served.h"

#include <ftw.h>
#include <sys/sysmacros.h>

static char root[64];

/* A command of the shell, in which @ stands for the folder of the service. */
static int run(const char *command) {
  return system(in_folder(command));
}

static void must_run(const char *command) {
  cr_assert_eq(run(command), 0, "%s", command);
}

static FILE *description;

static int describe_one(const char *path, const struct stat *status, int kind, struct FTW *walk) {
  (void)kind, (void)walk;
  fprintf(description, "%s %o %lu %ld %ld.%09ld\n", path, status->st_mode, (unsigned long)status->st_rdev,
          S_ISDIR(status->st_mode) ? 0L : (long)status->st_size, status->st_ctim.tv_sec, status->st_ctim.tv_nsec);
  return 0;
}

/* All of the root but what is mounted into it, with every change of content, name or rights; the caller frees it. */
static char *describe(void) {
  char *text;
  size_t length;
  description = open_memstream(&text, &length);
  nftw(root, describe_one, 16, FTW_PHYS);
  fclose(description);
  return text;
}

static char *outside; /* as it was */

static void make_root(void) {
  daemon_prepare(&service);
  strcpy(root, "/tmp/muster-root-XXXXXX");
  cr_assert_not_null(mkdtemp(root));
  setenv("OWN_ROOT", root, 1);
  setenv("OWN_ROOT_PROGRAM", getenv("MUSTERD"), 1);
  setenv("OWN_ROOT_FOLDER", service.folder, 1);
  setenv("MUSTERD", MUSTER_SOURCE_DIR "/tests/support/own_root", 1);
  int status = geteuid() == 0 ? run("$MUSTERD --make") : 125 << 8;
  if (status) {
    run("rm -rf $OWN_ROOT @");
    cr_assert(geteuid() != 0 || WEXITSTATUS(status) == 125, "own_root ended with %d", status);
    SKIP_TEST("a root of its own needs root, and a system that allows namespaces and devices");
  }
  must_run("mkdir -m 700 @/m && install -m 600 ${MUSTER_MODULES}/*.so @/m && rm -f @/log");
  must_run("echo 0123456789abcdef >@/token && chmod 600 @/token");
  must_run("printf '[server]\\ntoken_file = @/token\\n[world main]\\nmodule = wildlife\\nagents = 300\\n' >@/conf");
  outside = describe();
}

/* It is killed with the test if it does not end. */
static void remove_root(void) {
  SCOPED(free_memory) char *now = describe();
  cr_expect_str_eq(now, outside, "something outside of its folder has changed");
  daemon_clear(&service);
  run("rm -rf --one-file-system $OWN_ROOT");
  free(outside);
}

TestSuite(own_root, .init = make_root, .fini = remove_root, .timeout = 200);

static void expect_answers(void) {
  cr_expect_eq(fetch("GET", "/healthz", NULL)->status, 200);
}

/* The time that it took is reported, not judged: musterd waits for processors as the test does. */
static void expect_end(int status, const char *after) {
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  daemon_signal(&service, SIGTERM);
  cr_expect_eq(daemon_wait(&service), status, "after %s it ended with %d", after, service.status);
  clock_gettime(CLOCK_MONOTONIC, &end);
  double took_s = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
  fprintf(stderr, "own_root: after %s SIGTERM ended it within %.2f s\n", after, took_s);
  cr_expect(access(service.socket, F_OK) != 0, "the socket is still there");
}

static void expect_refused(const char *flags, int wanted, const char *says) {
  run("rm -f @/log");
  daemon_launch(&service, flags);
  int status = daemon_wait(&service);
  SCOPED(free_memory) char *log = daemon_log(&service);
  cr_expect(status == wanted && strstr(log, says), "%s: status %d instead of %d: %s", flags, status, wanted, log);
}

static void expect_no_start(const char *setting, const char *says) {
  const char *flags = formed("--modules @/m --world main=wildlife --agents 50 %s", setting);
  expect_refused(flags, 2, says);
  expect_refused(formed("%s --check", flags), 2, says);
}

Test(own_root, a_start_with_files_that_are_none_is_refused) {
  must_run("mkfifo @/fifo && ln -s /precious/file @/link && mknod @/kept.previous c 1 3");
  EACH_PAIR(
      expect_no_start, {"--snapshot-file /dev/null", "snapshot_file: /dev/null: it is a device, not a regular file"},
      {"--snapshot-file /dev/zero", "it is a device"}, {"--snapshot-file @/fifo", "it is a FIFO"},
      {"--snapshot-file @/link", "link: it is a symbolic link"},
      {"--snapshot-file @/kept", "kept.previous: it is a device"}, {"--snapshot-file /precious", "it is a folder"},
      {"--flight-file /dev/null", "flight_file: /dev/null: it is a device"},
      {"--flight-file @/link", "it is a symbolic link"}, {"--flight-file @/fifo", "it is a FIFO"},
      {"--token-file /dev/zero", "token_file: /dev/zero: it is a device"}, {"--token-file @/fifo", "it is a FIFO"},
      {"--config /dev/zero", "it is a device"}, {"--config @/fifo", "it is a FIFO"});
  expect_refused("--modules @/m --world main=population --path @/fifo", 1, "fifo: it is a FIFO");
  must_run("rm @/m/wildlife.so && mkfifo -m 600 @/m/wildlife.so");
  expect_refused("--modules @/m --world main=wildlife", 1, "it is a FIFO");
  expect_refused("--modules @/m --world main=wildlife --check", 2, "it is a FIFO");
}

Test(own_root, a_snapshot_of_a_hundred_gigabytes_of_nothing_is_kept_aside) {
  must_run("truncate -s 100G @/state");
  daemon_launch(&service, "--modules @/m --config @/conf --snapshot-file @/state");
  cr_assert(daemon_await(&service, "READY=1"), "%s", daemon_log(&service));
  await_log("it is kept as ");
  expect_answers();
  expect_end(0, "a sparse snapshot");
}

/* Puts something in the place of a file, sends a signal, and expects words and an answer. */
static void attack(const char *command, int signal, const char *says) {
  EACH(must_run, ": >@/log", command);
  daemon_signal(&service, signal);
  expect_answers();
  await_log(says);
  if (signal == SIGHUP) cr_expect(daemon_await(&service, "STATUS=reloaded")); /* unread notices would hold it up */
  expect_answers();
}

static void attack_modules(const char *command, const char *says) {
  must_run(command);
  fetch("POST", "/v1/modules", "{\"module\": \"bad\"}");
  cr_expect(reply.status == 409 && strstr(reply.body, says), "%s: %s", command, reply.text);
  must_run("rm -r @/m/bad.so");
  expect_answers();
}

static void expect_frames(void) {
  unsigned long long first = 0, now = 0;
  while (now < first + 10 || first == 0) {
    fetch("GET", WORLD, NULL);
    const char *frames = strstr(reply.body, "\"frames\": ");
    cr_assert(frames && sscanf(frames, "%*s %llu", &now) == 1, "%s", reply.text);
    if (first == 0) first = now;
  }
}

Test(own_root, a_service_that_runs_bears_with_files_that_become_none) {
  daemon_launch(&service, "--modules @/m --config @/conf --snapshot-file @/state --snapshot-interval 3600s "
                          "--flight-file @/flight");
  cr_assert(daemon_await(&service, "READY=1"), "%s", daemon_log(&service));
  attack("rm @/token && mkfifo -m 600 @/token", SIGHUP, "token: it is a FIFO");
  attack("rm @/token && mknod -m 600 @/token c 1 5", SIGHUP, "token: it is a device");
  attack("rm @/token && mkdir @/token", SIGHUP, "token: it is a folder");
  attack("cp @/conf @/conf.good && rm @/conf && mkfifo @/conf", SIGHUP, "conf: it is a FIFO");
  attack("rm @/conf && ln -s /dev/zero @/conf", SIGHUP, "conf: it is a device");
  must_run("rm @/conf && mv @/conf.good @/conf && rmdir @/token");
  attack("mkfifo @/state.new", SIGUSR1, "state.new: it is a FIFO");
  attack("rm @/state.new && ln -s /precious/file @/state.new", SIGUSR1, "state.new: it is a symbolic link");
  attack("rm @/state.new && mknod @/state.new c 1 3", SIGUSR1, "state.new: it is a device");
  attack("rm @/state.new && ln -s /dev/null @/state", SIGUSR1, "state: it is a symbolic link");
  attack("rm @/state && mknod @/state c 1 3", SIGUSR1, "state: it is a device");
  attack("rm @/state && mkfifo @/state.previous", SIGUSR1, "state.previous: it is a FIFO");
  attack("rm @/state.previous", SIGUSR1, "snapshot 1: ");
  attack_modules("head -c 20000 @/m/wildlife.so >@/m/bad.so && chmod 600 @/m/bad.so", "it is cut");
  attack_modules("head -c 4096 @/m/wildlife.so >@/m/bad.so && chmod 600 @/m/bad.so && "
                 "truncate -r @/m/wildlife.so @/m/bad.so",
                 "it is cut");
  attack_modules("mkfifo -m 600 @/m/bad.so", "it is a FIFO");
  attack_modules("mknod -m 600 @/m/bad.so c 1 5", "it is a device");
  attack_modules("ln -s /dev/zero @/m/bad.so", "it is a symbolic link");
  attack_modules("truncate -s 100G @/m/bad.so && chmod 600 @/m/bad.so", "it has more than 256 MiB");
  must_run("truncate -s 0 @/m/wildlife.so"); /* which is loaded */
  expect_frames();
  must_run("head -c 100000 /dev/zero >@/m/wildlife.so");
  expect_frames();
  must_run("rm @/state* && mknod @/state c 1 3 && mkfifo -m 600 @/token");
  daemon_signal(&service, SIGHUP);
  expect_end(1, "a reload with a FIFO and a device in the place of the last snapshot");
  must_run("test -c @/state");
}
