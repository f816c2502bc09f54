#include "service/supervise/confine.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static muster_result refused(const char *what, int problem) {
  return error_set(MUSTER_E_SYSTEM, "cannot confine the process: %s: %s", what, strerror(problem));
}

/* AddressSanitizer's shadow of all memory would count as private memory. */
#ifdef __SANITIZE_ADDRESS__
#define MEMORY_IS_SHADOWED true
#else
#define MEMORY_IS_SHADOWED false
#endif

/* ----------------------------------------------------------------------------------------------------- capabilities */

/* A root that has none of its rights but to open files of others: what it may do to the files of its folders is what it
 * could before. */
static muster_result drop_capabilities(void) {
  struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
  const uint32_t kept = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH;
  uint32_t surplus = 0;
  if (syscall(SYS_capget, &head, data)) return refused("its capabilities", errno);
  for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
    surplus |= data[i].permitted & ~(i ? 0 : kept);
    data[i].effective &= i ? 0 : kept;
    data[i].permitted &= i ? 0 : kept;
    data[i].inheritable = 0;
  }
  if (!surplus) return MUSTER_OK; /* where there is none, the call itself may be forbidden, as by the unit's filter */
  return syscall(SYS_capset, &head, data) ? refused("its capabilities", errno) : MUSTER_OK;
}

/* ----------------------------------------------------------------------------------------------------------- limits */

static muster_result limit(int resource, uint64_t most, const char *what) {
  struct rlimit now;
  if (getrlimit((__rlimit_resource_t)resource, &now)) return refused(what, errno);
  if (now.rlim_max != RLIM_INFINITY && now.rlim_max < most) most = now.rlim_max;
  struct rlimit wanted = {most, most};
  return setrlimit((__rlimit_resource_t)resource, &wanted) ? refused(what, errno) : MUSTER_OK;
}

/* What the process has is the most from now on: a core file is as large as its memory. */
static muster_result keep_limit(int resource, const char *what) {
  struct rlimit now;
  if (getrlimit((__rlimit_resource_t)resource, &now)) return refused(what, errno);
  return limit(resource, now.rlim_cur, what);
}

static muster_result set_limits(const confine_rules *rules) {
  muster_result result = keep_limit(RLIMIT_CORE, "the limit of core files");
  if (!result) result = keep_limit(RLIMIT_STACK, "the limit of stacks");
  if (!result && rules->file_bytes) result = limit(RLIMIT_FSIZE, rules->file_bytes, "the limit of a file's length");
  if (!result && rules->memory_bytes && !MEMORY_IS_SHADOWED)
    result = limit(RLIMIT_DATA, rules->memory_bytes, "the limit of memory");
  if (!result && rules->files_max) result = limit(RLIMIT_NOFILE, rules->files_max, "the limit of open files");
  return result;
}

/* --------------------------------------------------------------------------------------------------------- Landlock */

/* Of newer kernels than the headers that this is built with. */
#define CONFINE_FS_TRUNCATE  (1ull << 14)
#define CONFINE_FS_IOCTL_DEV (1ull << 15)
#define CONFINE_NET_TCP      3ull /* bind and connect */
#define CONFINE_SCOPES       3ull /* abstract unix sockets and signals */

/* As the kernel of the sixth version takes it; an older one takes the beginning. */
typedef struct landlock_set {
  uint64_t files, ports, scopes;
} landlock_set;

enum { LANDLOCK_PORTS_FROM = 4, LANDLOCK_SCOPES_FROM = 6 };

static const uint64_t rights_to_read =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

/* All that the kernel's version can take away. */
static landlock_set all_of(int abi) {
  landlock_set set = {.files = LANDLOCK_ACCESS_FS_REFER - 1};
  if (abi >= 2) set.files |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) set.files |= CONFINE_FS_TRUNCATE;
  if (abi >= LANDLOCK_PORTS_FROM) set.ports = CONFINE_NET_TCP;
  if (abi >= 5) set.files |= CONFINE_FS_IOCTL_DEV;
  if (abi >= LANDLOCK_SCOPES_FROM) set.scopes = CONFINE_SCOPES;
  return set;
}

static size_t bytes_of_set(int abi) {
  if (abi >= LANDLOCK_SCOPES_FROM) return sizeof(landlock_set);
  return abi >= LANDLOCK_PORTS_FROM ? offsetof(landlock_set, scopes) : offsetof(landlock_set, ports);
}

/* Rights that only make sense for folders are refused for files. */
static muster_result allow_path(int set, const char *path, uint64_t rights) {
  struct stat status;
  int descriptor = open(path, O_PATH | O_CLOEXEC);
  if (descriptor < 0) return errno == ENOENT ? MUSTER_OK : refused(path, errno);
  if (!fstat(descriptor, &status) && !S_ISDIR(status.st_mode))
    rights &= LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE |
              CONFINE_FS_TRUNCATE | CONFINE_FS_IOCTL_DEV;
  struct landlock_path_beneath_attr beneath = {.allowed_access = rights, .parent_fd = descriptor};
  long failed = syscall(SYS_landlock_add_rule, set, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
  int problem = errno;
  close(descriptor);
  return failed ? refused(path, problem) : MUSTER_OK;
}

static muster_result allow_paths(int set, const char *const *paths, uint64_t rights) {
  muster_result result = MUSTER_OK;
  for (; paths && *paths && !result; paths++) result = allow_path(set, *paths, rights);
  return result;
}

static muster_result take_files_away(const confine_rules *rules, confine_result *confined) {
  long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  confined->landlock_abi = abi > 0 ? (int)abi : 0;
  if (abi <= 0) return MUSTER_OK;
  landlock_set all = all_of((int)abi);
  if (rules->network) all.ports = 0;
  int set = (int)syscall(SYS_landlock_create_ruleset, &all, bytes_of_set((int)abi), 0);
  if (set < 0) return refused("Landlock", errno);
  muster_result result = allow_paths(set, rules->read, rights_to_read);
  if (!result) result = allow_paths(set, rules->own, rights_to_read);
  if (!result) result = allow_paths(set, rules->write, all.files & ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE);
  if (!result && syscall(SYS_landlock_restrict_self, set, 0)) result = refused("Landlock", errno);
  close(set);
  return result;
}

/* ---------------------------------------------------------------------------------------------------------- seccomp */

/* What a world and its snapshots need. A missing name stops the world at once with the name in the log, an extra one is
 * a way out: so it is short. */
static const char *const allowed_calls[] = {
    /* memory and threads */
    "brk",
    "munmap",
    "mremap",
    "mprotect",
    "madvise",
    "mincore",
    "msync",
    "futex",
    "set_robust_list",
    "get_robust_list",
    "rseq",
    "membarrier",
    "sched_yield",
    "sched_getaffinity",
    "sched_getparam",
    "sched_getscheduler",
    "getpriority",
    "getcpu",
    "set_tid_address",
    "exit",
    "exit_group",
    "wait4",
    "waitid",
    /* time */
    "clock_gettime",
    "clock_getres",
    "clock_nanosleep",
    "nanosleep",
    "gettimeofday",
    "time",
    "getrusage",
    "times",
    "timerfd_create",
    "timerfd_settime",
    "timerfd_gettime",
    /* signals, to itself */
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "rt_sigpending",
    "rt_sigtimedwait",
    "rt_sigsuspend",
    "sigaltstack",
    "restart_syscall",
    "pause",
    "getpid",
    "gettid",
    "getppid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "uname",
    "sysinfo",
    "getrandom",
    /* files, of which Landlock says which */
    "openat2",
    "close",
    "close_range",
    "read",
    "pread64",
    "readv",
    "preadv",
    "write",
    "pwrite64",
    "writev",
    "pwritev",
    "lseek",
    "fstat",
    "newfstatat",
    "stat",
    "lstat",
    "statx",
    "access",
    "faccessat",
    "faccessat2",
    "readlink",
    "readlinkat",
    "getdents64",
    "getcwd",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fallocate",
    "renameat",
    "renameat2",
    "unlinkat",
    "linkat",
    "flock",
    "umask",
    "fadvise64",
    "dup",
    "dup2",
    "dup3",
    /* the loop and its connections */
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "eventfd2",
    "pipe2",
    "accept4",
    "accept",
    "listen",
    "shutdown",
    "getsockname",
    "getpeername",
    "getsockopt",
    "setsockopt",
    "sendto",
    "sendmsg",
    "recvfrom",
    "recvmsg",
    "sendfile",
};

/* What is allowed of calls that could do more: one argument has this value. */
static const struct {
  const char *name;
  uint32_t argument;
  uint64_t value;
} allowed_uses[] = {
    {"prlimit64", 0, 0}, /* of itself */
    {"prctl", 0, PR_SET_NAME},
    {"prctl", 0, PR_SET_VMA},
    {"ioctl", 1, FIONBIO},
    {"ioctl", 1, FIOCLEX},
    {"ioctl", 1, FIONREAD},
    {"ioctl", 1, TCGETS},
    /* not F_SETOWN: a descriptor sends signals to any process then */
    {"fcntl", 1, F_DUPFD},
    {"fcntl", 1, F_DUPFD_CLOEXEC},
    {"fcntl", 1, F_GETFD},
    {"fcntl", 1, F_SETFD},
    {"fcntl", 1, F_GETFL},
    {"fcntl", 1, F_SETFL},
    {"fcntl", 1, F_GETLK},
    {"fcntl", 1, F_SETLK},
    {"fcntl", 1, F_SETLKW},
    {"fcntl", 1, F_ADD_SEALS},
    {"fcntl", 1, F_GET_SEALS},
};

/* A thread shares all of its process, a new process shares nothing, and neither gets namespaces of its own. */
static const uint64_t thread_flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
                      namespace_flags = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                        CLONE_NEWPID | CLONE_NEWNET,
                      process_flags = CSIGNAL | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | CLONE_PARENT_SETTID;

/* Memory without a file is private and no stack, so that the limit of memory counts it. */
static const uint64_t memory_mask = MAP_ANONYMOUS | MAP_TYPE | MAP_GROWSDOWN | MAP_HUGETLB,
                      private_memory = MAP_ANONYMOUS | MAP_PRIVATE;

/* All of an argument, and the bits of a mask in it. */
#define IS(argument, value)           ((struct scmp_arg_cmp){argument, SCMP_CMP_EQ, value, 0})
#define MASKED(argument, mask, value) ((struct scmp_arg_cmp){argument, SCMP_CMP_MASKED_EQ, mask, value})
#define ADD(action, call, ...)                                                                                         \
  (problem = problem ? problem : -seccomp_rule_add(filter, action, SCMP_SYS(call), __VA_ARGS__))

/* What depends on several arguments, or on the process. */
static int add_special_rules(scmp_filter_ctx filter, const confine_rules *rules) {
  int problem = 0;
  uint64_t self = (uint64_t)getpid();
  ADD(SCMP_ACT_ERRNO(ENOSYS), clone3, 0); /* its flags lie in memory: the C library takes clone then */
  ADD(SCMP_ACT_ALLOW, mmap, 1, MASKED(3, memory_mask, private_memory));
  ADD(SCMP_ACT_ALLOW, mmap, 1, MASKED(3, MAP_ANONYMOUS | MAP_GROWSDOWN, 0));
  ADD(SCMP_ACT_ALLOW, tgkill, 1, IS(0, self));
  ADD(SCMP_ACT_ALLOW, kill, 1, IS(0, self));
  ADD(SCMP_ACT_ALLOW, setpriority, 2, IS(0, PRIO_PROCESS), IS(1, 0));
  ADD(SCMP_ACT_ALLOW, prctl, 2, IS(0, PR_SET_PDEATHSIG), IS(1, SIGKILL));
  if (!rules->network) return problem;
  ADD(SCMP_ACT_ALLOW, socket, 1, IS(0, AF_INET));
  ADD(SCMP_ACT_ALLOW, socket, 1, IS(0, AF_INET6));
  ADD(SCMP_ACT_ALLOW, bind, 0);
  ADD(SCMP_ACT_ALLOW, connect, 0);
  return problem;
}

/* Of kernels that nothing is heard from: threads and files are let be then, and processes, since snapshots need them.
 */
static int add_unheard(scmp_filter_ctx filter) {
  int problem = 0;
  ADD(SCMP_ACT_ALLOW, clone, 1, MASKED(0, thread_flags | namespace_flags, thread_flags));
  ADD(SCMP_ACT_ALLOW, clone, 1, MASKED(0, ~process_flags, 0));
  ADD(SCMP_ACT_ALLOW, open, 0);
  ADD(SCMP_ACT_ALLOW, openat, 0);
  ADD(SCMP_ACT_ALLOW, memfd_create, 0);
  ADD(SCMP_ACT_ALLOW, sched_setaffinity, 0);
  return problem;
}

static int fill_filter(scmp_filter_ctx filter, const confine_rules *rules) {
  int problem = 0;
  for (size_t i = 0; i < sizeof allowed_calls / sizeof *allowed_calls && !problem; i++) {
    int number = seccomp_syscall_resolve_name(allowed_calls[i]); /* negative: this processor's kernel has it not */
    if (number >= 0) problem = -seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
  }
  for (size_t i = 0; i < sizeof allowed_uses / sizeof *allowed_uses && !problem; i++) {
    const struct scmp_arg_cmp use = {allowed_uses[i].argument, SCMP_CMP_EQ, allowed_uses[i].value, 0};
    problem =
        -seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, seccomp_syscall_resolve_name(allowed_uses[i].name), 1, &use);
  }
  return problem ? problem : add_special_rules(filter, rules);
}

/* Loads the filter with what is not allowed being heard of, or else answered. */
static int load_filter(const confine_rules *rules, uint32_t otherwise, int *heard) {
  scmp_filter_ctx filter = seccomp_init(otherwise);
  if (!filter) return ENOMEM;
  int problem = fill_filter(filter, rules);
  if (!problem && otherwise != SCMP_ACT_NOTIFY) problem = add_unheard(filter);
  if (!problem) problem = -seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, 1);
  if (!problem) problem = -seccomp_load(filter);
  if (!problem && otherwise == SCMP_ACT_NOTIFY) *heard = seccomp_notify_fd(filter);
  seccomp_release(filter);
  return problem;
}

static muster_result take_calls_away(const confine_rules *rules, confine_result *confined) {
  confined->heard = -1;
  if (prctl(PR_GET_SECCOMP) < 0) return MUSTER_OK; /* the kernel has none */
  int problem = load_filter(rules, SCMP_ACT_NOTIFY, &confined->heard);
  if (problem) problem = load_filter(rules, SCMP_ACT_ERRNO(EPERM), &confined->heard);
  if (problem) return refused("seccomp", problem);
  confined->seccomp = true;
  return MUSTER_OK;
}

muster_result confine(const confine_rules *rules, confine_result *confined) {
  *confined = (confine_result){.heard = -1};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return refused("no new privileges", errno);
  muster_result result = set_limits(rules);
  if (!result) result = drop_capabilities();
  if (!result) result = take_files_away(rules, confined);
  return result ? result : take_calls_away(rules, confined);
}

/* ---------------------------------------------------------------------------------------------------------- hearing */

static confine_wish wish_of(const struct seccomp_data *data) {
  uint64_t first = data->args[0];
  if (data->nr == SCMP_SYS(clone) && (first & (thread_flags | namespace_flags)) == thread_flags) return CONFINE_THREAD;
  if (data->nr == SCMP_SYS(clone) && !(first & ~process_flags)) return CONFINE_PROCESS;
  if (data->nr == SCMP_SYS(memfd_create)) return CONFINE_MEMORY;
  if (data->nr == SCMP_SYS(sched_setaffinity)) return CONFINE_PROCESSORS;
  if (data->nr == SCMP_SYS(open) || data->nr == SCMP_SYS(openat)) return CONFINE_FILE;
  bool names = data->nr == SCMP_SYS(unlink) || data->nr == SCMP_SYS(rename) || data->nr == SCMP_SYS(link);
  return names ? CONFINE_NAME : CONFINE_FORBIDDEN;
}

static bool is_gone(int heard) {
  struct pollfd wait = {.fd = heard, .events = POLLIN};
  return poll(&wait, 1, 0) > 0 && wait.revents & (POLLHUP | POLLERR | POLLNVAL);
}

confine_news confine_hear(int heard, confine_call *call, uint64_t *id) {
  struct seccomp_notif *notice = NULL;
  if (seccomp_notify_alloc(&notice, NULL)) return CONFINE_GONE;
  int problem;
  do {
    memset(notice, 0, sizeof *notice);
    problem = seccomp_notify_receive(heard, notice);
  } while (problem && errno == EINTR);
  *id = notice->id;
  *call = (confine_call){.thread = (pid_t)notice->pid, .number = notice->data.nr, .wish = wish_of(&notice->data)};
  for (int i = 0; i < 6; i++) call->arguments[i] = notice->data.args[i];
  seccomp_notify_free(notice, NULL);
  if (!problem) return CONFINE_CALL;
  return is_gone(heard) ? CONFINE_GONE : CONFINE_NONE;
}

/* A path that begins at another folder begins with that folder, by its descriptor. */
static bool read_path(pid_t thread, uint64_t address, int folder, char *path, size_t bytes) {
  char text[PATH_MAX] = "";
  struct iovec to = {text, sizeof text - 1}, from = {(void *)address, sizeof text - 1};
  if (process_vm_readv(thread, &to, 1, &from, 1, 0) <= 0) return false;
  int length;
  if (strncmp(text, "/proc/self/", 11) == 0)
    length = snprintf(path, bytes, "/proc/%d/%s", (int)thread, text + 11);
  else if (*text == '/')
    length = snprintf(path, bytes, "%s", text);
  else if (folder == AT_FDCWD)
    length = snprintf(path, bytes, "/proc/%d/cwd/%s", (int)thread, text);
  else
    length = snprintf(path, bytes, "/proc/%d/fd/%d/%s", (int)thread, folder, text);
  return length > 0 && (size_t)length < bytes;
}

bool confine_read_file(const confine_call *call, uint32_t which, char *path, size_t bytes, int *flags) {
  bool at = call->number == SCMP_SYS(openat), names = call->wish == CONFINE_NAME;
  if (which > (names && call->number != SCMP_SYS(unlink))) return false;
  *flags = names ? O_WRONLY | O_CREAT : (int)call->arguments[at + 1];
  return read_path(call->thread, call->arguments[at + which], at ? (int)call->arguments[0] : AT_FDCWD, path, bytes);
}

bool confine_read_memory(const confine_call *call, uint64_t address, void *to, size_t bytes) {
  struct iovec here = {to, bytes}, there = {(void *)address, bytes};
  return process_vm_readv(call->thread, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

bool confine_give_file(int heard, uint64_t id, int file, int flags) {
  struct seccomp_notif_addfd given = {.id = id,
                                      .flags = SECCOMP_ADDFD_FLAG_SEND,
                                      .srcfd = (uint32_t)file,
                                      .newfd_flags = (uint32_t)(flags & O_CLOEXEC)};
  return ioctl(heard, SECCOMP_IOCTL_NOTIF_ADDFD, &given) >= 0;
}

void confine_answer(int heard, uint64_t id, confine_decision decision) {
  struct seccomp_notif_resp answer = {.id = id,
                                      .error = decision == CONFINE_REFUSE ? -EPERM : 0,
                                      .flags = decision == CONFINE_ALLOW ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0};
  seccomp_notify_respond(heard, &answer);
}

const char *confine_call_name(int number, char *name, size_t bytes) {
  char *found = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
  snprintf(name, bytes, "%s", found ? found : "?");
  free(found);
  return name;
}
