/* A module that attacks, in one of two worlds: each of its attacks is denied or bounded, and told; the other world and
 * the supervisor do not notice. */
#include "control.h"
#include "service/snapshot_file.h"
#include "support/skip.h"

#include <dirent.h>
#include <errno.h>
#include <linux/landlock.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What an attack must get: minus errno, another errno that is as good, or a count of at most `most`. In the log stands
 * `told` of it, once; null: it is the kernel alone that refuses it, and says nothing. */
typedef struct expectation {
  const char *attack;
  int problem, also;
  long most;
  const char *told;
} expectation;

static const expectation expected[] = {
    {"read-passwd", EACCES, 0, 0, "may not read /etc/passwd,"},
    {"write-group", EACCES, 0, 0, "may not write /etc/group,"},
    {"openat2", EACCES, 0, 0, NULL},
    {"root-link", EACCES, 0, 0, "may not read /etc/hosts,"},
    {"symlink", EPERM, 0, 0, "call of symlink"},
    {"read-other", EACCES, 0, 0, "may not read "},
    {"write-other", EACCES, 0, 0, "state/other/flight, and was refused"},
    {"unlink-other", EACCES, 0, 0, "may not rename or remove "},
    {"link-other", EACCES, EXDEV, 0, NULL},
    {"rename-out", EACCES, EXDEV, 0, NULL},
    {"make-outside", EACCES, 0, 0, "control.made, and was refused"},
    {"make-shared", EACCES, 0, 0, "may not write /dev/shm/muster-attack,"},
    {"write-kernel", EACCES, 0, 0, "may not write /proc/sys/kernel/core_pattern,"},
    {"mkdir", EPERM, 0, 0, "call of mkdir"},
    {"write-parent", EACCES, 0, 0, "/mem, and was refused"},
    {"read-parent", EACCES, 0, 0, "/environ, and was refused"},
    {"read-neighbour", EACCES, 0, 0, "/mem, and was refused"},
    {"tcp", EPERM, 0, 0, "call of socket "},
    {"unix", EPERM, 0, 0, NULL},
    {"pair", EPERM, 0, 0, "call of socketpair"},
    {"connect", EPERM, 0, 0, "call of connect"},
    {"bind", EPERM, 0, 0, "call of bind"},
    {"send-by-name", 0, 0, 8, NULL}, /* it comes to the supervisor, not to the named one: expect_no_notice */
    {"send-abstract", 0, 0, 8, NULL},
    {"notes", 0, 0, 1500, "tells more than"},
    {"shut-listener", 0, 0, 0, NULL}, /* it is made anew with the next process */
    {"kill-parent", EPERM, 0, 0, "call of kill "},
    {"kill-neighbour", EPERM, 0, 0, NULL},
    {"kill-all", EPERM, 0, 0, NULL},
    {"kill-group", EPERM, 0, 0, NULL},
    {"kill-thread", EPERM, 0, 0, "call of tgkill"},
    {"pidfd", EPERM, 0, 0, "call of pidfd_open"},
    {"queue", EPERM, 0, 0, "call of rt_sigqueueinfo"},
    {"owner", EPERM, 0, 0, "call of fcntl"},
    {"setsid", EPERM, 0, 0, "call of setsid"},
    {"setpgid", EPERM, 0, 0, "call of setpgid"},
    {"exec", EPERM, 0, 0, "call of execve"},
    {"ptrace", EPERM, 0, 0, "call of ptrace"},
    {"vm-write", EPERM, 0, 0, "call of process_vm_writev"},
    {"bind-parent", EPERM, 0, 0, "call of sched_setaffinity"},
    {"spread", 0, 0, 4096, NULL}, /* to how many: check_spread */
    {"bind-neighbour", EPERM, 0, 0, NULL},
    {"realtime", EPERM, 0, 0, "call of sched_setscheduler"},
    {"nice", EACCES, EPERM, 0, NULL},
    {"slow-user", EPERM, 0, 0, "call of setpriority"},
    {"limit-parent", EPERM, 0, 0, "call of prlimit64"},
    {"raise-files", EPERM, 0, 0, NULL},
    {"raise-length", EPERM, 0, 0, NULL},
    {"raise-core", EPERM, 0, 0, NULL},
    {"unshare", EPERM, 0, 0, "call of unshare"},
    {"namespace", EPERM, 0, 0, "call of clone "},
    {"mount", EPERM, 0, 0, "call of mount"},
    {"chroot", EPERM, 0, 0, "call of chroot"},
    {"dumpable", EPERM, 0, 0, "call of prctl"},
    {"outlive", EPERM, 0, 0, NULL},
    {"io-uring", EPERM, 0, 0, "call of io_uring_setup"},
    {"bpf", EPERM, 0, 0, "call of bpf"},
    {"personality", EPERM, 0, 0, "call of personality"},
    {"keyctl", EPERM, 0, 0, "call of keyctl"},
    {"seccomp", EPERM, 0, 0, "call of seccomp"},
    {"clock", EPERM, 0, 0, "call of settimeofday"},
    {"type", EPERM, 0, 0, "call of ioctl"},
    {"userfaultfd", EPERM, 0, 0, "call of userfaultfd"},
    {"setuid", EPERM, 0, 0, "call of setuid"},
    {"cut-log", EINVAL, 0, 0, NULL}, /* a pipe to the supervisor */
    {"fill-log", 0, 0, 1000, "writes more than 65536 bytes a second to the log"},
    {"calls", 0, 0, 2500, "call of swapon"},
#ifndef __SANITIZE_ADDRESS__ /* its shadow is memory, too: there is no limit then but what is in use */
    {"raise-memory", EPERM, 0, 0, NULL},
    {"map", ENOMEM, 0, 0, NULL},
#endif
    {"map-shared", EPERM, 0, 0, "call of mmap"},
    {"map-stack", EPERM, 0, 0, NULL},
    {"memfd", EPERM, 0, 0, "call of memfd_create"},
    {"threads", EPERM, EAGAIN, 0, "as many threads as a world may"},
    {"long-file", EFBIG, 0, 0, NULL},
    {"memory", 0, 0, 0, "of memory, and memory_max is"}, /* it ends the world's process, as the last ones do */
    {"copies", EPERM, 0, 0, "as many processes as snapshots need"},
    {"copy-of-copy", EPERM, 0, 0, NULL},
    {"leave", 0, 0, 0, "ended by itself with status 3"},
    {"disk", 0, 0, 0, "of the disk, and disk_max is"},
};

enum { EXPECTED = sizeof expected / sizeof *expected, COPIES_MOST = 2, DESCRIPTORS_SLACK = 16 };

static musterd service;

TestSuite(attack, .timeout = 120);

/* ------------------------------------------------------------------------------------------------------ the attacks */

static void make_state(void) {
  char path[256];
  snprintf(path, sizeof path, "%s/state", service.folder);
  cr_assert_eq(mkdir(path, 0700), 0);
}

static void prepare(void) {
  char text[8192];
  int length;
  struct rlimit core;
  cr_assert_eq(getrlimit(RLIMIT_CORE, &core), 0);
  core.rlim_cur = 0; /* to be raised by an attack */
  cr_assert_eq(setrlimit(RLIMIT_CORE, &core), 0);
  daemon_prepare(&service);
  make_state();
  length = snprintf(text, sizeof text, "%s/state/struck/report\n%s\n", service.folder, service.socket);
  for (int i = 0; i < EXPECTED; i++)
    if (strcmp(expected[i].attack, "copy-of-copy") != 0)
      length += snprintf(text + length, sizeof text - (size_t)length, "%s\n", expected[i].attack);
  daemon_write(&service, "attacks", text);
  snprintf(text, sizeof text,
           "[server]\nflight_file = %s/state/flight\nstuck_kill = 60s\n"
           "[world other]\nmodule = walkers\nagents = 100\nbudget = 2ms\n"
           "[world struck]\nmodule = attacker\npath = %s/attacks\nhz = 200\nbudget = 1ms\n"
           "memory_max = 268435456\ndisk_max = 100663296\n",
           service.folder, service.folder);
  daemon_write(&service, "musterd.conf", text);
}

/* What the module wrote; the caller frees it. */
static char *read_report(void) {
  char path[256];
  snprintf(path, sizeof path, "%s/state/struck/report", service.folder);
  FILE *file = fopen(path, "re");
  char *text = calloc(1, 65536);
  cr_assert(file && text);
  size_t length = fread(text, 1, 65535, file);
  text[length] = '\0';
  fclose(file);
  return text;
}

static bool find_result(const char *report, const char *attack, long *result) {
  char word[64];
  int length;
  for (const char *line = report; sscanf(line, "%63s %ld%n", word, result, &length) >= 1;
       line += strcspn(line, "\n"), line += *line == '\n')
    if (strcmp(word, attack) == 0) return true;
  return false;
}

static uint32_t count_texts(const char *log, const char *text) {
  uint32_t count = 0;
  for (const char *at = log; (at = strstr(at, text)) != NULL; at++) count++;
  return count;
}

static void check_attack(const expectation *wanted, const char *report, const char *log) {
  long result = 0;
  bool has_result = find_result(report, wanted->attack, &result), ends = strcmp(wanted->attack, "memory") == 0 ||
                                                                         strcmp(wanted->attack, "leave") == 0 ||
                                                                         strcmp(wanted->attack, "disk") == 0;
  cr_expect(has_result != ends, "%s: %s", wanted->attack, ends ? "it came back" : "it did not come back");
  if (has_result && wanted->problem)
    cr_expect(result == -wanted->problem || (wanted->also && result == -wanted->also), "%s got %ld", wanted->attack,
              result);
  else if (has_result)
    cr_expect(result >= 0 && result <= wanted->most, "%s got %ld", wanted->attack, result);
  if (wanted->told) cr_expect(strstr(log, wanted->told), "%s: \"%s\" is not told", wanted->attack, wanted->told);
}

/* The second of two worlds is dealt half of the processors at most, or the only one. */
static void check_spread(const char *report) {
  cpu_set_t set;
  long got = 0;
  cr_assert_eq(sched_getaffinity(0, sizeof set, &set), 0);
  cr_expect(find_result(report, "spread", &got) && got >= 1);
  cr_expect(got == 1 || 2 * got <= CPU_COUNT(&set), "%ld processors of %d", got, CPU_COUNT(&set));
}

/* No refusal is told twice, however often it was tried. */
static void check_told_once(const char *log) {
  char line[1024];
  for (const char *at = log; *at; at += strcspn(at, "\n"), at += *at == '\n') {
    snprintf(line, sizeof line, "%.*s\n", (int)strcspn(at, "\n"), at);
    if (strstr(line, "was refused")) cr_expect_eq(count_texts(log, line), 1, "%s", line);
  }
}

/* ------------------------------------------------------------------------------------------------------- the others */

static uint32_t count_descriptors(void) {
  char path[64];
  uint32_t count = 0;
  snprintf(path, sizeof path, "/proc/%d/fd", (int)service.process);
  DIR *folder = opendir(path);
  cr_assert_not_null(folder);
  while (readdir(folder)) count++;
  closedir(folder);
  return count;
}

static long long frames_of_other(void) {
  json_t *world = control_ask(&service, "GET", "/v1/worlds/other", NULL, 200);
  long long frames = control_count(world, "frames");
  json_decref(world);
  return frames;
}

/* Nothing of what the module sends to the manager of services arrives there. */
static void expect_no_notice(void) {
  char notice[256];
  for (ssize_t length; (length = recv(service.notices, notice, sizeof notice - 1, MSG_DONTWAIT)) > 0;) {
    notice[length] = '\0';
    cr_expect(strstr(notice, "ATTACK") == NULL, "%s", notice);
  }
}

static void check_other(long long before) {
  static daemon_reply reply;
  cr_expect(frames_of_other() > before);
  control_await_count(&service, "/v1/worlds/other", "frames", frames_of_other() + 30);
  daemon_ask(&service, "GET", "/metrics", NULL, &reply);
  cr_expect(strstr(reply.body, "muster_world_process_starts_total{world=\"other\"} 1\n"));
  cr_expect(strstr(reply.body, "muster_world_process_starts_total{world=\"struck\"} 3\n"));
}

/* No copy is left; each was in the group of a process that has ended. */
static void check_copies(const char *report) {
  char word[64];
  int copy, count = 0;
  for (const char *line = report; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    if (sscanf(line, "%63s %d", word, &copy) != 2 || strcmp(word, "copy") != 0) continue;
    count++;
    for (int tries = 0; kill(copy, 0) == 0 && tries < 1000; tries++) usleep(10000);
    cr_expect(kill(copy, 0) == -1 && errno == ESRCH, "the copy %d is left", copy);
  }
  cr_expect(count >= 1 && count <= COPIES_MOST, "%d copies", count);
}

/* Without these the attacks would succeed, on the machine of whoever runs this. */
static bool kernel_confines(void) {
  return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0 &&
         prctl(PR_GET_SECCOMP) >= 0;
}

Test(attack, each_is_denied_or_bounded_and_told_and_the_other_world_goes_on) {
  if (!kernel_confines()) SKIP_TEST("this kernel has no Landlock or no seccomp");
  prepare();
  daemon_launch(&service,
                "--isolation process --crash-limit 20 --config @/musterd.conf --modules " MUSTER_TEST_MODULES);
  cr_assert(daemon_await(&service, "READY=1"));
  long long frames = frames_of_other();
  uint32_t descriptors = count_descriptors();
  daemon_await_log(&service, "world struck has failed: its files take");
  check_other(frames);
  expect_no_notice();
  cr_expect(count_descriptors() < descriptors + DESCRIPTORS_SLACK);
  char *report = read_report(), *log = daemon_log(&service);
  for (int i = 0; i < EXPECTED; i++) check_attack(&expected[i], report, log);
  check_told_once(log);
  check_spread(report);
  check_copies(report);
  if (getenv("MUSTER_SHOW")) fprintf(stderr, "%s\n%s\n", report, log);
  free(report);
  free(log);
  daemon_stop(&service);
}

/* Calls that are heard answer nothing any more then: what the world's own code needs for its last snapshot must not be
 * among them. The process has no log any more, either. */
Test(attack, a_world_saves_itself_when_its_supervisor_has_died) {
  char path[256];
  struct stat first, last;
  daemon_prepare(&service);
  make_state();
  daemon_launch(&service, "--isolation process --world main=walkers --agents 100 --snapshot-file @/state/worlds "
                          "--modules " MUSTER_TEST_MODULES);
  cr_assert(daemon_await(&service, "READY=1"));
  json_decref(control_ask(&service, "POST", "/v1/snapshot", NULL, 202));
  daemon_await_log(&service, "snapshot 1: ");
  snprintf(path, sizeof path, "%s/state/main/worlds", service.folder);
  cr_assert_eq(stat(path, &first), 0);
  daemon_kill(&service);
  do usleep(10000);
  while (stat(path, &last) == 0 && last.st_ino == first.st_ino);
  struct snapshot_file saved;
  cr_assert_eq(snapshot_file_open(&saved, path), MUSTER_OK, "%s", muster_last_error());
  cr_expect_eq(saved.number, 2);
  snapshot_file_close(&saved);
  daemon_clear(&service);
}
