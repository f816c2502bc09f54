/* A confined process tries what it may not: each try is refused, and heard of where the kernel lets it be; what a world
 * needs works. */
#include "room.h"
#include "service/supervise/confine.h"

#include <arpa/inet.h>
#include <linux/capability.h>
#include <pthread.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

enum { HEARD_MAX = 64, NUMBERS = 512, NO_KERNEL = 77 };

/* What the confined process has: a folder of its own, and one that it may read. */
static char own[64] = "/tmp/muster-confine-XXXXXX", shown[64] = "/tmp/muster-shown-XXXXXX",
            hidden[64] = "/tmp/muster-hidden-XXXXXX";

/* What the supervisor's side heard. */
static struct {
  uint32_t count;
  char names[HEARD_MAX][32];
  uint32_t times[NUMBERS]; /* by the calls' numbers */
  uint32_t processes;
} heard;

static void write_file(const char *folder, const char *text) {
  FILE *file = fopen(formed("%s/file", folder), "w");
  cr_assert_not_null(file);
  fputs(text, file);
  fclose(file);
}

/* ------------------------------------------------------------------------------------------------ both processes */

static void send_descriptor(int to, int descriptor) {
  char byte = 0, room[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  *head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  if (sendmsg(to, &message, 0) != 1) _exit(99);
}

static int receive_descriptor(int from) {
  char byte, room[CMSG_SPACE(sizeof(int))];
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&message)) return -1;
  int descriptor;
  memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
  return descriptor;
}

/* Runs a try in a confined process, and hears what it is refused. Returns its exit status, or minus its signal. */
static int run_confined(int (*try)(void), confine_rules rules) {
  const char *const read[] = {shown, "/usr/lib", "/lib", "/nowhere/at/all", NULL}, *const write[] = {own, NULL};
  int pair[2];
  memset(&heard, 0, sizeof heard);
  cr_assert(mkdtemp(own) && mkdtemp(shown) && mkdtemp(hidden));
  write_file(shown, "shown");
  write_file(hidden, "hidden");
  rules.read = read, rules.write = write;
  cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  pid_t child = fork();
  cr_assert(child >= 0);
  if (child == 0) {
    confine_result confined;
    close(pair[0]);
    if (confine(&rules, &confined) != MUSTER_OK) {
      fprintf(stderr, "%s\n", muster_last_error());
      _exit(98);
    }
    if (!confined.seccomp || !confined.landlock_abi || confined.heard < 0) _exit(NO_KERNEL);
    send_descriptor(pair[1], confined.heard);
    close(confined.heard);
    close(pair[1]);
    _exit(try());
  }
  close(pair[1]);
  int listener = receive_descriptor(pair[0]), status;
  close(pair[0]);
  confine_call call;
  uint64_t id;
  confine_news news;
  while (listener >= 0 && (news = confine_hear(listener, &call, &id)) != CONFINE_GONE) {
    if (news == CONFINE_NONE) continue;
    bool process = call.wish == CONFINE_PROCESS, decided = !process && call.wish != CONFINE_FORBIDDEN;
    heard.processes += process;
    confine_answer(listener, id, decided || (process && heard.processes == 1) ? CONFINE_ALLOW : CONFINE_REFUSE);
    if (decided) continue;
    if (call.number >= 0 && call.number < NUMBERS) heard.times[call.number]++;
    if (heard.count < HEARD_MAX) confine_call_name(call.number, heard.names[heard.count++], sizeof heard.names[0]);
  }
  if (listener >= 0) close(listener);
  cr_assert_eq(waitpid(child, &status, 0), child);
  for (const char *const *folder = (const char *const[]){own, shown, hidden, NULL}; *folder; folder++) {
    unlink(formed("%s/file", *folder));
    rmdir(*folder);
  }
  int ended = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  if (ended == NO_KERNEL) SKIP_TEST("this kernel has no Landlock, or no seccomp that can be heard of");
  return ended;
}

static bool was_heard(const char *name) {
  for (uint32_t i = 0; i < heard.count; i++)
    if (strcmp(heard.names[i], name) == 0) return true;
  return false;
}

/* ------------------------------------------------------------------------------------------------ what is asked for */

static uint64_t at(const char *text) {
  return (uint64_t)(uintptr_t)text;
}

/* Read from this process itself, as from one that asks. Of what has no further file nothing is read. */
Test(confine, a_file_that_a_call_names_is_read_whichever_way_it_is_named) {
  static const char whole[] = "/a/whole/path", part[] = "a/part", of_own[] = "/proc/self/maps";
  const char *part_here = formed("/proc/%d/cwd/a/part", (int)getpid());
  const struct {
    int number;
    confine_wish wish;
    uint64_t arguments[3];
    int flags;
    const char *paths[2];
  } all[] = {
      {SYS_open, CONFINE_FILE, {at(whole), O_RDWR}, O_RDWR, {whole}},
      {SYS_open, CONFINE_FILE, {at(part), O_RDONLY}, O_RDONLY, {part_here}},
      {SYS_openat, CONFINE_FILE, {(uint64_t)AT_FDCWD, at(part), O_CREAT}, O_CREAT, {part_here}},
      {SYS_openat, CONFINE_FILE, {5, at(part), O_WRONLY}, O_WRONLY, {formed("/proc/%d/fd/5/a/part", (int)getpid())}},
      {SYS_openat, CONFINE_FILE, {5, at(whole), O_WRONLY}, O_WRONLY, {whole}},
      {SYS_open, CONFINE_FILE, {at(of_own), O_RDONLY}, O_RDONLY, {formed("/proc/%d/maps", (int)getpid())}},
      {SYS_unlink, CONFINE_NAME, {at(part), at(whole)}, O_WRONLY | O_CREAT, {part_here}},
      {SYS_rename, CONFINE_NAME, {at(part), at(whole)}, O_WRONLY | O_CREAT, {part_here, whole}},
      {SYS_link, CONFINE_NAME, {at(whole), at(part)}, O_WRONLY | O_CREAT, {whole, part_here}},
      {SYS_open, CONFINE_FILE, {8, O_RDONLY}, O_RDONLY, {NULL}},
  };
  for (size_t i = 0; i < COUNT_OF(all); i++) {
    confine_call call = {.thread = getpid(), .number = all[i].number, .wish = all[i].wish};
    memcpy(call.arguments, all[i].arguments, sizeof all[i].arguments);
    for (uint32_t which = 0; which < 3; which++) {
      char path[128], few[8];
      int flags = -1;
      const char *wanted = which < 2 ? all[i].paths[which] : NULL;
      cr_expect_eq(confine_read_file(&call, which, path, sizeof path, &flags), wanted != NULL, "row %zu, %u", i, which);
      if (!wanted) continue;
      cr_expect_str_eq(path, wanted);
      cr_expect_eq(flags, all[i].flags, "row %zu", i);
      cr_expect(!confine_read_file(&call, which, few, sizeof few, &flags), "there is no room for it");
    }
  }
}

/* -------------------------------------------------------------------------------------------------- what is needed */

static void *work_thread(void *argument) {
  *(int *)argument = sched_yield() + 1;
  return NULL;
}

/* Returns the line in which something failed, 0 = none. */
#define NEED(condition)                                                                                                \
  do {                                                                                                                 \
    if (!(condition)) return __LINE__ % 90 + 1;                                                                        \
  } while (0)

static int live(void) {
  pthread_t thread;
  char text[16] = "";
  int worked = 0;
  NEED(pthread_create(&thread, NULL, work_thread, &worked) == 0 && pthread_join(thread, NULL) == 0 && worked == 1);
  int file = open(formed("%s/file", shown), O_RDONLY);
  NEED(file >= 0 && read(file, text, sizeof text - 1) == 5 && strcmp(text, "shown") == 0);
  const char *path = formed("%s/file", own), *second = formed("%s.second", path), *third = formed("%s.third", path);
  file = open(path, O_CREAT | O_RDWR | O_TRUNC, 0600);
  NEED(file >= 0 && write(file, "mine", 4) == 4 && fsync(file) == 0);
  /* in its own folder it names files as it likes */
  NEED(syscall(SYS_link, path, second) == 0 && syscall(SYS_rename, second, third) == 0);
  NEED(syscall(SYS_unlink, third) == 0 && access(second, F_OK) != 0 && access(path, F_OK) == 0);
  NEED(raise(0) == 0 && kill(getpid(), 0) == 0);
  pid_t copy = fork(); /* a snapshot is written by a copy of the process */
  if (copy == 0) _exit(write(file, "saved", 5) == 5 ? 0 : 1);
  int status;
  NEED(copy > 0 && waitpid(copy, &status, 0) == copy && status == 0);
  cpu_set_t set;
  NEED(sched_getaffinity(0, sizeof set, &set) == 0 && sched_setaffinity(0, sizeof set, &set) == 0);
  return 0;
}

Test(confine, what_a_world_needs_works) {
  cr_assert_eq(run_confined(live, (confine_rules){.files_max = 256}), 0);
  cr_assert_eq(heard.processes, 1, "the copy is asked for");
  cr_assert_eq(heard.count, 1, "%s was heard, too", heard.names[heard.count - 1]);
}

/* ------------------------------------------------------------------------------------------------- what is refused */

static bool is_denied(long result) {
  return result == -1 && (errno == EPERM || errno == EACCES);
}

static int open_outside(void) {
  const char *path = formed("%s/file", hidden);
  NEED(is_denied(open(path, O_RDONLY)) && is_denied(open(path, O_WRONLY)) && is_denied(open("/etc/passwd", O_RDONLY)));
  path = formed("%s/file", shown);
  NEED(is_denied(open(path, O_WRONLY)) && is_denied(unlink(path)));
  path = formed("%s/new", shown);
  NEED(is_denied(open(path, O_CREAT | O_WRONLY, 0600)));
  path = formed("%s/../%s/file", own, hidden + 5);
  NEED(is_denied(open(path, O_RDONLY)));
  path = formed("%s/file", own);
  NEED(symlink("/etc/passwd", path) == -1);
  return 0;
}

Test(confine, files_outside_its_folders_are_out_of_reach) {
  cr_assert_eq(run_confined(open_outside, (confine_rules){0}), 0);
}

static int reach_out(void) {
  struct sockaddr_un there = {.sun_family = AF_UNIX, .sun_path = "/run/systemd/notify"};
  NEED(is_denied(socket(AF_INET, SOCK_STREAM, 0)) && is_denied(socket(AF_INET6, SOCK_DGRAM, 0)));
  NEED(is_denied(socket(AF_UNIX, SOCK_STREAM, 0)) && is_denied(socket(AF_NETLINK, SOCK_RAW, 0)));
  NEED(is_denied(connect(0, (struct sockaddr *)&there, sizeof there)));
  return 0;
}

Test(confine, it_reaches_no_network) {
  cr_assert_eq(run_confined(reach_out, (confine_rules){0}), 0);
  cr_assert(was_heard("socket") && was_heard("connect"));
}

static int reach_network(void) {
  struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons(1), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  NEED(descriptor >= 0 && connect(descriptor, (struct sockaddr *)&there, sizeof there) == -1 && errno == ECONNREFUSED);
  NEED(is_denied(socket(AF_NETLINK, SOCK_RAW, 0)));
  return 0;
}

Test(confine, a_world_that_may_use_the_network_can) {
  cr_assert_eq(run_confined(reach_network, (confine_rules){.network = true}), 0);
}

static int take_power(void) {
  char *const none[] = {NULL};
  NEED(is_denied(execve("/bin/true", none, none)) && is_denied(syscall(SYS_execveat, -1, "/bin/true", none, none, 0)));
  NEED(is_denied(ptrace(PTRACE_ATTACH, getppid(), NULL, NULL)) && is_denied(kill(getppid(), SIGKILL)));
  NEED(is_denied(kill(-1, SIGTERM)) && is_denied(syscall(SYS_tgkill, getppid(), getppid(), SIGKILL)));
  NEED(is_denied(syscall(SYS_unshare, 0x10000000)) && is_denied(syscall(SYS_clone, 0x10000000 | SIGCHLD, 0, 0, 0, 0)));
  NEED(is_denied(syscall(
      SYS_clone, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_NEWNET, 0, 0,
      0, 0)));
  NEED(is_denied(prctl(PR_SET_PDEATHSIG, 0)) && is_denied(fcntl(2, F_SETOWN, getppid())));
  NEED(is_denied(setpriority(PRIO_USER, 0, 19)) && is_denied(setpriority(PRIO_PROCESS, 0, -20)));
  NEED(is_denied(syscall(SYS_bpf, 0, 0, 0)) && is_denied(syscall(SYS_io_uring_setup, 1, NULL)));
  NEED(is_denied(syscall(SYS_process_vm_writev, getppid(), NULL, 0, NULL, 0, 0)) &&
       is_denied(syscall(SYS_mount, 0, 0, 0)));
  struct rlimit more = {RLIM_INFINITY, RLIM_INFINITY};
  NEED(is_denied(prlimit(getppid(), RLIMIT_NOFILE, &more, NULL)));
  return 0;
}

Test(confine, it_runs_no_program_and_touches_no_other_process) {
  int ended = run_confined(take_power, (confine_rules){0});
  cr_assert_eq(ended, 0, "line %d", ended);
  static const char *const names[] = {
      "execve",         "execveat",          "ptrace", "kill",     "tgkill", "unshare", "bpf",
      "io_uring_setup", "process_vm_writev", "mount",  "prlimit64"};
  for (size_t i = 0; i < COUNT_OF(names); i++) cr_assert(was_heard(names[i]), "%s", names[i]);
}

/* ------------------------------------------------------------------------------------- what is not on the list */

/* What a world may call, once more: a call that is added there is added here, too, or it is a way out. */
static const char *const allowed[] = {
    /* memory and threads */
    "brk", "munmap", "mremap", "mprotect", "madvise", "mincore", "msync", "futex", "set_robust_list", "get_robust_list",
    "rseq", "membarrier", "sched_yield", "sched_getaffinity", "sched_getparam", "sched_getscheduler", "getpriority",
    "getcpu", "set_tid_address", "exit", "exit_group", "wait4", "waitid",
    /* time */
    "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time", "getrusage", "times",
    "timerfd_create", "timerfd_settime", "timerfd_gettime",
    /* signals to itself, and who it is */
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigpending", "rt_sigtimedwait", "rt_sigsuspend",
    "sigaltstack", "restart_syscall", "pause", "getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid",
    "uname", "sysinfo", "getrandom",
    /* files */
    "openat2", "close", "close_range", "read", "pread64", "readv", "preadv", "write", "pwrite64", "writev", "pwritev",
    "lseek", "fstat", "newfstatat", "stat", "lstat", "statx", "access", "faccessat", "faccessat2", "readlink",
    "readlinkat", "getdents64", "getcwd", "fsync", "fdatasync", "ftruncate", "fallocate", "renameat", "renameat2",
    "unlinkat", "linkat", "flock", "umask", "fadvise64", "dup", "dup2", "dup3",
    /* the loop and its connections */
    "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6",
    "eventfd2", "pipe2", "accept4", "accept", "listen", "shutdown", "getsockname", "getpeername", "getsockopt",
    "setsockopt", "sendto", "sendmsg", "recvfrom", "recvmsg", "sendfile",
    /* with some arguments: below */
    "prctl", "ioctl", "fcntl", "prlimit64", "mmap", "tgkill", "kill", "setpriority", "clone",
    /* answered by the kernel, so that the C library takes another; decided by the supervisor, one by one */
    "clone3", "unlink", "rename", "link", "open", "openat", "memfd_create", "sched_setaffinity"};

static bool is_allowed(int number) {
  for (size_t i = 0; i < COUNT_OF(allowed); i++)
    if (seccomp_syscall_resolve_name(allowed[i]) == number) return true;
  return false;
}

static bool others[NUMBERS]; /* than those */

/* The kernel's own ways out of a probe in user space: newer ones ask no filter about them, and kill other callers. */
static bool is_of_probe(int number) {
  return number == 335 || number == 336;
}

/* With arguments with which none does anything, should it be let through: no descriptor, no address, no process. */
static int call_all_others(void) {
  for (long number = 0; number < NUMBERS; number++) {
    if (!others[number]) continue;
    long result = syscall(number, -1L, -1L, -1L, -1L, -1L, -1L);
    if (result == 0 && (number == SYS_fork || number == SYS_vfork)) _exit(1);
    if (!is_denied(result)) dprintf(2, "call %ld is let through\n", number);
  }
  return 0;
}

Test(confine, every_call_that_is_not_on_the_list_is_refused) {
  char name[32];
  for (int i = 0; i < NUMBERS; i++) others[i] = !is_allowed(i) && !is_of_probe(i);
  int ended = run_confined(call_all_others, (confine_rules){0});
  cr_assert_eq(ended, 0, "%d", ended);
  for (int i = 0; i < NUMBERS; i++)
    cr_expect_eq(heard.times[i], others[i], "%s (%d) was refused %u times", confine_call_name(i, name, sizeof name), i,
                 heard.times[i]);
  static const char *const grave[] = {
      "pidfd_getfd", "keyctl",     "perf_event_open", "userfaultfd", "process_vm_readv",
      "add_key",     "setns",      "pivot_root",      "reboot",      "init_module",
      "pidfd_open",  "capset",     "setuid",          "chroot",      "name_to_handle_at",
      "seccomp",     "socketpair", "mknodat",         "symlinkat",   "open_by_handle_at"};
  for (size_t i = 0; i < COUNT_OF(grave); i++)
    cr_expect(others[seccomp_syscall_resolve_name(grave[i])], "%s", grave[i]);
}

/* Of a call that is let be with some values of an argument: all others of these. `first` is the first of the arguments,
 * and the value stands in `place`. */
static long call_with(long number, int place, long value) {
  long arguments[3] = {-1, -1, -1};
  arguments[place] = value;
  return syscall(number, arguments[0], arguments[1], arguments[2], -1L, -1L, -1L);
}

static bool is_one_of(long value, const long *values) {
  for (; *values >= 0; values++)
    if (*values == value) return true;
  return false;
}

static const struct {
  long number;
  int place;
  long from, until;
  long let[16]; /* ends with -1 */
} uses[] = {
    {SYS_prctl, 0, 0, 128, {PR_SET_NAME, -1}}, /* PR_SET_PDEATHSIG: with SIGKILL alone */
    {SYS_ioctl, 1, 0x5400, 0x5480, {TCGETS, FIONREAD, FIONBIO, FIOCLEX, -1}},
    {SYS_fcntl, 1, 0, 48, {F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_SETLK, F_SETLKW, -1}},
    {SYS_fcntl, 1, 1024, 1048, {F_DUPFD_CLOEXEC, F_ADD_SEALS, F_GET_SEALS, -1}},
    {SYS_prlimit64, 0, 1, 64, {-1}},
    {SYS_setpriority, 0, 0, 8, {-1}}, /* of itself alone, which is 0, and here it is -1 */
};

/* Bits of clone that neither a thread nor a copy has alone. */
static const unsigned long copy_bits =
    CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID | 0xff /* the signal at its end */;

static int call_other_uses(void) {
  for (size_t i = 0; i < COUNT_OF(uses); i++)
    for (long value = uses[i].from; value < uses[i].until; value++)
      if (!is_one_of(value, uses[i].let) && !is_denied(call_with(uses[i].number, uses[i].place, value)))
        return 1 + (int)i;
  for (unsigned bit = 8; bit < 32; bit++)
    if (!(copy_bits >> bit & 1) && !is_denied(syscall(SYS_clone, 1ul << bit | SIGCHLD, 0, 0, 0, 0)))
      return 32 + (int)bit;
  const unsigned long thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  for (unsigned bit = 8; bit < 32; bit++)
    if (thread >> bit & 1 && !is_denied(syscall(SYS_clone, thread & ~(1ul << bit), 0, 0, 0, 0))) return 64 + (int)bit;
  return 0;
}

Test(confine, calls_that_are_let_be_for_one_use_are_refused_for_every_other) {
  int ended = run_confined(call_other_uses, (confine_rules){0});
  cr_assert_eq(ended, 0, "%d", ended);
}

/* ------------------------------------------------------------------------------------------------- capabilities */

/* A line of /proc/PID/status, which has capabilities in hexadecimal digits. */
static uint64_t read_capabilities(pid_t process, const char *line) {
  char text[128];
  uint64_t set = 0;
  bool found = false;
  FILE *status = fopen(formed("/proc/%d/status", (int)process), "re");
  cr_assert_not_null(status);
  while (!found && fgets(text, sizeof text, status)) found = strncmp(text, line, strlen(line)) == 0;
  fclose(status);
  cr_assert(found && sscanf(text + strlen(line), "%lx", &set) == 1, "%s", text);
  return set;
}

/* Root keeps what lets it open the files of its folders, and nothing with which it could do more. */
Test(confine, of_its_capabilities_a_world_keeps_those_for_files_alone) {
  const uint64_t kept = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH;
  int told[2], over[2];
  char byte = 0;
  if (!(read_capabilities(getpid(), "CapPrm:") & ~kept)) SKIP_TEST("this process has no capabilities to lose");
  cr_assert(pipe(told) == 0 && pipe(over) == 0);
  pid_t child = fork();
  cr_assert(child >= 0);
  if (child == 0) {
    confine_rules rules = {0};
    confine_result confined;
    close(over[1]);
    if (confine(&rules, &confined) != MUSTER_OK || write(told[1], &byte, 1) != 1) _exit(98);
    _exit(read(over[0], &byte, 1) == 0 ? 0 : 97);
  }
  close(told[1]), close(over[0]);
  cr_assert_eq(read(told[0], &byte, 1), 1, "it could not be confined");
  static const char *const sets[] = {"CapPrm:", "CapEff:", "CapInh:", "CapAmb:"};
  for (size_t i = 0; i < COUNT_OF(sets); i++) {
    uint64_t set = read_capabilities(child, sets[i]);
    cr_expect_eq(set & ~kept, 0, "%s %lx", sets[i], set);
  }
  int status;
  close(over[1]), close(told[0]);
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
}

/* Every process but the first is refused, so that there are never more than two. */
static int fork_without_end(void) {
  int made = 0;
  for (int i = 0; i < 40; i++) {
    pid_t copy = fork();
    if (copy == 0) _exit(0);
    made += copy > 0;
    if (copy > 0) waitpid(copy, NULL, 0);
  }
  return made == 1 ? 0 : made;
}

Test(confine, the_supervisor_decides_about_processes) {
  cr_assert_eq(run_confined(fork_without_end, (confine_rules){0}), 0);
  cr_assert_eq(heard.processes, 40);
}

enum { MEMORY = 512 << 20 };

#ifdef __SANITIZE_ADDRESS__ /* its shadow is memory, too: the limit would leave nothing */
enum { MEMORY_IS_LIMITED = 0 };
#else
enum { MEMORY_IS_LIMITED = 1 };
#endif

static int fill_memory(void) {
  size_t taken = 0, piece = 8 << 20;
  while (taken < 2 * (size_t)MEMORY) {
    void *memory = mmap(NULL, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) break;
    taken += piece;
  }
  NEED(!MEMORY_IS_LIMITED || (taken <= MEMORY && taken > MEMORY / 2));
  NEED(mmap(NULL, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
  NEED(mmap(NULL, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0) == MAP_FAILED);
  struct rlimit more = {RLIM_INFINITY, RLIM_INFINITY};
  NEED(is_denied(setrlimit(RLIMIT_CORE, &more)));
  NEED(!MEMORY_IS_LIMITED || is_denied(setrlimit(RLIMIT_DATA, &more)));
  int files = 0;
  while (files < 1000 && dup(2) >= 0) files++;
  NEED(files < 32);
  return 0;
}

static int write_long(void) {
  const char *path = formed("%s/file", own);
  int file = open(path, O_CREAT | O_WRONLY, 0600);
  signal(SIGXFSZ, SIG_IGN);
  NEED(file >= 0 && ftruncate(file, MEMORY) == 0);
  NEED(ftruncate(file, MEMORY + 1) == -1 && errno == EFBIG && unlink(path) == 0);
  return 0;
}

Test(confine, a_file_has_a_longest_length) {
  cr_assert_eq(run_confined(write_long, (confine_rules){.file_bytes = MEMORY}), 0);
}

Test(confine, memory_and_files_have_a_limit) {
  struct rlimit core;
  cr_assert_eq(getrlimit(RLIMIT_CORE, &core), 0);
  core.rlim_cur = 0;
  cr_assert_eq(setrlimit(RLIMIT_CORE, &core), 0);
  cr_assert_eq(run_confined(fill_memory, (confine_rules){.memory_bytes = MEMORY, .files_max = 32}), 0);
}

/* Also a thread is confined that begins later. */
static void *denied_thread(void *result) {
  *(bool *)result = is_denied(socket(AF_INET, SOCK_STREAM, 0)) && is_denied(open("/etc/passwd", O_RDONLY));
  return NULL;
}

static int try_by_thread(void) {
  pthread_t thread;
  bool denied = false;
  NEED(pthread_create(&thread, NULL, denied_thread, &denied) == 0 && pthread_join(thread, NULL) == 0);
  return !denied;
}

Test(confine, every_later_thread_is_confined) {
  cr_assert_eq(run_confined(try_by_thread, (confine_rules){0}), 0);
}

/* As the unit for systemd starts it. */
static int confine_poor(void) {
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
  confine_rules rules = {0};
  confine_result confined;
  NEED(syscall(SYS_capset, &head, none) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  NEED(filter && seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(capset), 0) == 0);
  NEED(seccomp_load(filter) == 0);
  NEED(confine(&rules, &confined) == MUSTER_OK);
  return 0;
}

Test(confine, a_process_without_capabilities_drops_none) {
  int status;
  pid_t child = fork();
  if (child == 0) _exit(confine_poor());
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
}
