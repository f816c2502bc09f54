/* A module that attacks, in one of two worlds: each of its attacks is denied or bounded, and told; the other world and
 * the supervisor do not notice. */
#include "saved.h"

#include <dirent.h>
#include <linux/landlock.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* What an attack must get: minus errno, another errno that is as good, or a count of at most `most`. In the log stands
 * `told` of it, once; null: it is the kernel alone that refuses it, and says nothing. */
typedef struct expectation {
  const char *attack;
  int problem, also;
  long most;
  const char *told;
} expectation;

/* A call that is refused, and told; one that is refused as one before it, so that it is not told again; and a file that
 * is out of reach, which is told. */
#define ROW(...)                                                                                                       \
  { __VA_ARGS__ }
#define CALL(attack, call)   ROW(attack, EPERM, 0, 0, "call of " call)
#define UNTOLD(attack)       ROW(attack, EPERM, 0, 0, NULL)
#define HIDDEN(attack, told) ROW(attack, EACCES, 0, 0, told)

#ifdef __SANITIZE_ADDRESS__ /* its shadow is memory, too: there is no limit then but what is in use */
#define OF_MEMORY
#else
#define OF_MEMORY UNTOLD("raise-memory"), ROW("map", ENOMEM, 0, 0, NULL),
#endif

static const expectation expected[] = {
    /* files */
    HIDDEN("read-passwd", "may not read /etc/passwd,"), HIDDEN("write-group", "may not write /etc/group,"),
    ROW("openat2", EACCES, 0, 0, NULL), HIDDEN("root-link", "may not read /etc/hosts,"), CALL("symlink", "symlink"),
    HIDDEN("read-other", "may not read "), HIDDEN("write-other", "state/other/flight, and was refused"),
    HIDDEN("unlink-other", "may not rename or remove "), ROW("link-other", EACCES, EXDEV, 0, NULL),
    ROW("rename-out", EACCES, EXDEV, 0, NULL), HIDDEN("make-outside", "control.made, and was refused"),
    HIDDEN("make-shared", "may not write /dev/shm/muster-attack,"),
    HIDDEN("write-kernel", "may not write /proc/sys/kernel/core_pattern,"), CALL("mkdir", "mkdir"),
    HIDDEN("write-parent", "/mem, and was refused"), HIDDEN("read-parent", "/environ, and was refused"),
    HIDDEN("read-neighbour", "/mem, and was refused"),
    /* sockets */
    CALL("tcp", "socket "), UNTOLD("unix"), CALL("pair", "socketpair"), CALL("connect", "connect"),
    CALL("bind", "bind"),
    /* notes, which come to the supervisor (expect_no_notice), and the listener, which the next process has anew */
    ROW("send-by-name", 0, 0, 8, NULL), ROW("send-abstract", 0, 0, 8, NULL),
    ROW("notes", 0, 0, 1500, "tells more than"), ROW("shut-listener", 0, 0, 0, NULL),
    /* other processes */
    CALL("kill-parent", "kill "), UNTOLD("kill-neighbour"), UNTOLD("kill-all"), UNTOLD("kill-group"),
    CALL("kill-thread", "tgkill"), CALL("pidfd", "pidfd_open"), CALL("queue", "rt_sigqueueinfo"),
    CALL("owner", "fcntl"), CALL("setsid", "setsid"), CALL("setpgid", "setpgid"), CALL("exec", "execve"),
    CALL("ptrace", "ptrace"), CALL("vm-write", "process_vm_writev"), CALL("bind-parent", "sched_setaffinity"),
    ROW("spread", 0, 0, 4096, NULL), UNTOLD("bind-neighbour"),
    /* more of the machine */
    CALL("realtime", "sched_setscheduler"), ROW("nice", EACCES, EPERM, 0, NULL), CALL("slow-user", "setpriority"),
    CALL("limit-parent", "prlimit64"), UNTOLD("raise-files"), UNTOLD("raise-length"), UNTOLD("raise-core"),
    /* the kernel */
    CALL("unshare", "unshare"), CALL("namespace", "clone "), CALL("mount", "mount"), CALL("chroot", "chroot"),
    CALL("dumpable", "prctl"), UNTOLD("outlive"), CALL("io-uring", "io_uring_setup"), CALL("bpf", "bpf"),
    CALL("personality", "personality"), CALL("keyctl", "keyctl"), CALL("seccomp", "seccomp"),
    CALL("clock", "settimeofday"), CALL("type", "ioctl"), CALL("userfaultfd", "userfaultfd"), CALL("setuid", "setuid"),
    /* too much; the log is a pipe to the supervisor */
    ROW("cut-log", EINVAL, 0, 0, NULL), ROW("fill-log", 0, 0, 1000, "writes more than 65536 bytes a second to the log"),
    ROW("calls", 0, 0, 2500, "call of swapon"), OF_MEMORY CALL("map-shared", "mmap"), UNTOLD("map-stack"),
    CALL("memfd", "memfd_create"), ROW("threads", EPERM, EAGAIN, 0, "as many threads as a world may"),
    ROW("long-file", EFBIG, 0, 0, NULL),
    /* what ends the world's process */
    ROW("memory", 0, 0, 0, "of memory, and memory_max is"),
    ROW("copies", EPERM, 0, 0, "as many processes as snapshots need"), UNTOLD("copy-of-copy"),
    ROW("leave", 0, 0, 0, "ended by itself with status 3"), ROW("disk", 0, 0, 0, "of the disk, and disk_max is")};

enum { EXPECTED = COUNT_OF(expected), COPIES_MOST = 2, DESCRIPTORS_SLACK = 16 };

TestSuite(attack, .fini = stop, .timeout = 120);

/* ------------------------------------------------------------------------------------------------------ the attacks */

static void prepare_state(void) {
  daemon_prepare(&service);
  cr_assert_eq(mkdir(path_of("state"), 0700), 0);
}

static void prepare(void) {
  char text[8192];
  struct rlimit core;
  cr_assert_eq(getrlimit(RLIMIT_CORE, &core), 0);
  core.rlim_cur = 0; /* to be raised by an attack */
  cr_assert_eq(setrlimit(RLIMIT_CORE, &core), 0);
  prepare_state();
  int length = snprintf(text, sizeof text, "%s\n%s\n", path_of("state/struck/report"), service.socket);
  for (int i = 0; i < EXPECTED; i++)
    if (strcmp(expected[i].attack, "copy-of-copy") != 0)
      length += snprintf(text + length, sizeof text - (size_t)length, "%s\n", expected[i].attack);
  daemon_write(&service, "attacks", text);
  configure("[server]\nflight_file = @/state/flight\nstuck_kill = 60s\n"
            "[world other]\nmodule = walkers\nagents = 100\nbudget = 2ms\n"
            "[world struck]\nmodule = attacker\npath = @/attacks\nhz = 200\nbudget = 1ms\n"
            "memory_max = 268435456\ndisk_max = 100663296\n");
}

static bool find_result(const char *report, const char *attack, long *result) {
  char word[64];
  int length;
  for (const char *line = report; sscanf(line, "%63s %ld%n", word, result, &length) >= 1;
       line += strcspn(line, "\n"), line += *line == '\n')
    if (strcmp(word, attack) == 0) return true;
  return false;
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
    if (strstr(line, "was refused")) cr_expect_eq(count_in(log, line), 1, "%s", line);
  }
}

/* ------------------------------------------------------------------------------------------------------- the others */

static uint32_t count_descriptors(void) {
  uint32_t count = 0;
  DIR *folder = opendir(formed("/proc/%d/fd", (int)service.process));
  cr_assert_not_null(folder);
  while (readdir(folder)) count++;
  closedir(folder);
  return count;
}

static long long frames_of_other(void) {
  return count_at("/v1/worlds/other", "frames");
}

/* Nothing of what the module sends to the manager of services arrives there. */
static void expect_no_notice(void) {
  char notice[256];
  for (ssize_t length; (length = recv(service.notices, notice, sizeof notice - 1, MSG_DONTWAIT)) > 0;) {
    notice[length] = '\0';
    cr_expect(strstr(notice, "ATTACK") == NULL, "%s", notice);
  }
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

Test(attack, each_is_denied_or_bounded_and_told_and_the_other_world_goes_on) {
  /* Without these the attacks would succeed, on the machine of whoever runs this. */
  if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) <= 0 || prctl(PR_GET_SECCOMP) < 0)
    SKIP_TEST("this kernel has no Landlock or no seccomp");
  prepare();
  launch_ready("--isolation process --crash-limit 20 --config @/musterd.conf --modules " MUSTER_TEST_MODULES);
  long long frames = frames_of_other();
  uint32_t descriptors = count_descriptors();
  await_log("world struck has failed: its files take");
  cr_expect(frames_of_other() > frames);
  await_count("/v1/worlds/other", "frames", frames_of_other() + 30);
  fetch("GET", "/metrics", NULL);
  cr_expect(strstr(reply.body, "muster_world_process_starts_total{world=\"other\"} 1\n"));
  cr_expect(strstr(reply.body, "muster_world_process_starts_total{world=\"struck\"} 3\n"));
  expect_no_notice();
  cr_expect(count_descriptors() < descriptors + DESCRIPTORS_SLACK);
  SCOPED(free_memory) char *report = daemon_read(&service, "state/struck/report"), *log = daemon_log(&service);
  for (int i = 0; i < EXPECTED; i++) check_attack(&expected[i], report, log);
  check_told_once(log);
  check_spread(report);
  check_copies(report);
  if (getenv("MUSTER_SHOW")) fprintf(stderr, "%s\n%s\n", report, log);
}

/* Calls that are heard answer nothing any more then: what the world's own code needs for its last snapshot must not be
 * among them. The process has no log any more, either. */
Test(attack, a_world_saves_itself_when_its_supervisor_has_died) {
  struct stat first, last;
  prepare_state();
  launch_ready("--isolation process --world main=walkers --agents 100 --snapshot-file @/state/worlds "
               "--modules " MUSTER_TEST_MODULES);
  tell("POST", "/v1/snapshot", NULL, 202);
  await_log("snapshot 1: ");
  const char *path = path_of("state/main/worlds");
  cr_assert_eq(stat(path, &first), 0);
  daemon_kill(&service);
  do usleep(10000);
  while (stat(path, &last) == 0 && last.st_ino == first.st_ino);
  cr_expect_eq(saved_number("state/main/worlds"), 2);
  daemon_clear(&service);
}
