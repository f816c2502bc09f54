/* attacker.c - a module that tries to get out of its process, to harm others, and to use up the machine. Its file has
 * the paths of its report, which lies in its own folder, of the control socket, and names of attacks. They are made one
 * after the other, one before each frame. The report gets a line `begin NAME`, and `NAME RESULT` when the attack is
 * over: minus errno, or what it got. An attack that ends the world is not made again by the next process. */
#include "own_module.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

enum { PATH_ROOM = 256, LISTENER = 3, NOTES = 4, MIB = 1 << 20 };

static char report[PATH_ROOM], control[PATH_ROOM], list[8192];
static pid_t neighbour; /* the process of another world */

static long result_of(long result) {
  return result < 0 ? -errno : result;
}

static const char *beside(const char *path, const char *more) {
  static char text[2 * PATH_ROOM];
  snprintf(text, sizeof text, "%s%s", path, more);
  return text;
}

/* ---------------------------------------------------------------------------------------------------------- sockets */

/* To the manager of services: a datagram socket would send to any name, this one sends to its peer alone. */
static long send_to(const struct sockaddr_un *address, socklen_t length) {
  struct iovec part = {"ATTACK=1", 8};
  struct msghdr message = {.msg_name = (void *)address, .msg_namelen = length, .msg_iov = &part, .msg_iovlen = 1};
  return result_of(sendmsg(NOTES, &message, MSG_DONTWAIT | MSG_NOSIGNAL));
}

static long send_by_name(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int length = (int)(strrchr(control, '/') - control);
  snprintf(address.sun_path, sizeof address.sun_path, "%.*s/notices", length < 90 ? length : 90, control);
  return send_to(&address, sizeof address);
}

static long send_abstract(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "\0muster-attack"};
  return send_to(&address, offsetof(struct sockaddr_un, sun_path) + 14);
}

/* Lies that the supervisor must bear, and descriptors that would fill its table. */
static long send_notes(void) {
  static char garbage[4096];
  _Alignas(struct cmsghdr) char room[CMSG_SPACE(8 * sizeof(int))] = {0};
  int eight[8] = {2, 2, 2, 2, 2, 2, 2, 2};
  long sent = 0;
  memset(garbage, 0xa5, sizeof garbage);
  for (int i = 0; i < 1500; i++) {
    struct iovec part = i % 3 ? (struct iovec){garbage, sizeof garbage} : (struct iovec){"READY=1\nCALLS=1", 15};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    int count = i % 2 ? 2 : 8;
    *head = (struct cmsghdr){
        .cmsg_len = CMSG_LEN((size_t)count * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(head), eight, (size_t)count * sizeof(int));
    message.msg_controllen = CMSG_SPACE((size_t)count * sizeof(int));
    if (sendmsg(NOTES, &message, MSG_NOSIGNAL) < 0) return -errno;
    sent++;
  }
  return sent;
}

/* ----------------------------------------------------------------------------------------------------------- kernel */

static long fill_log(void) {
  static char line[101];
  memset(line, 'x', 99);
  line[99] = '\n';
  for (long count = 0; count < 1000; count++)
    if (write(2, line, 100) != 100) return -errno;
  return 1000;
}

/* It gets those of all that its world is dealt. */
static long spread(void) {
  cpu_set_t set;
  memset(&set, 0xff, sizeof set);
  if (sched_setaffinity(0, sizeof set, &set) || sched_getaffinity(0, sizeof set, &set)) return -errno;
  return CPU_COUNT(&set);
}

/* Each must be heard; there are so many that the supervisor would do nothing else. */
static long call_without_end(void) {
  long refused = 0;
  for (int i = 0; i < 2500; i++) refused += syscall(SYS_swapon, NULL, 0) < 0;
  return refused;
}

/* ----------------------------------------------------------------------------------------------------------- memory */

static long map_without_end(void) {
  static void *pieces[4096];
  long count = 0;
  while (count < 4096 && (pieces[count] = mmap(NULL, 16 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                                               0)) != MAP_FAILED)
    count++;
  long result = count < 4096 ? -errno : count;
  while (count > 0) munmap(pieces[--count], 16 * MIB);
  return result;
}

/* Files in memory: only so many, and none longer than a file on the disk may be. */
static long make_memories(void) {
  static int memories[256];
  int count = 0;
  while (count < 256 && (memories[count] = memfd_create("attack", 0)) >= 0) count++;
  int problem = errno;
  if (count && ftruncate(memories[0], 1l << 40) == 0) return 0;
  for (int i = 0; i < count; i++) close(memories[i]);
  return count < 256 ? -problem : count;
}

/* Private memory up to the limit, and mapped files, which the limit leaves out. It is killed for it meanwhile. */
static long fill_memory(void) {
  enum { FILES = 3, LENGTH = 80 * MIB };
  char name[32], *piece;
  while ((piece = malloc(MIB))) explicit_bzero(piece, MIB); /* a write that no compiler leaves out */
  for (int i = 0; i < FILES; i++) {
    snprintf(name, sizeof name, ".map%d", i);
    int file = open(beside(report, name), O_CREAT | O_RDWR, 0600);
    if (ftruncate(file, LENGTH)) return -errno;
    const volatile char *map = mmap(NULL, LENGTH, PROT_READ, MAP_SHARED, file, 0);
    for (long at = 0; map != MAP_FAILED && at < LENGTH; at += 4096) (void)map[at];
    unlink(beside(report, name));
  }
  for (;;) pause();
  return 0;
}

/* -------------------------------------------------------------------------------------------------- threads, copies */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *wait_at_gate(void *argument) {
  pthread_mutex_lock(&gate);
  pthread_mutex_unlock(&gate);
  return argument;
}

static long make_threads(void) {
  enum { THREADS = 4096 };
  static pthread_t threads[THREADS];
  pthread_attr_t attributes;
  long count = 0, result = 0;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 32768);
  pthread_mutex_lock(&gate);
  while (count < THREADS && (result = pthread_create(&threads[count], &attributes, wait_at_gate, NULL)) == 0) count++;
  pthread_mutex_unlock(&gate);
  for (long i = 0; i < count; i++) pthread_join(threads[i], NULL);
  return count < THREADS ? -result : count;
}

static void note(const char *name, long result) {
  FILE *file = fopen(report, "ae");
  if (!file) return;
  fprintf(file, "%s %ld\n", name, result);
  fclose(file);
}

_Noreturn static void be_copy(int done) {
  long made = result_of(fork());
  if (made != 0) note("copy-of-copy", made);
  if (made != 0 && write(done, "x", 1) != 1) _exit(1);
  for (;;) pause();
}

/* The copies stay, and try to make more; it waits until they have. */
static long make_copies(void) {
  int done[2];
  char byte;
  if (pipe2(done, O_CLOEXEC)) return -errno;
  for (long count = 0; count < 64; count++) {
    pid_t copy = fork();
    if (copy == 0) be_copy(done[1]);
    if (copy < 0) return -errno;
    note("copy", copy);
    if (read(done[0], &byte, 1) != 1) return 0;
  }
  return 64;
}

/* The copies are left behind. */
static long leave(void) {
  _exit(3);
  return 0;
}

/* ------------------------------------------------------------------------------------------------------------- disk */

static long write_long_file(void) {
  static char zeros[MIB];
  int file = open(beside(report, ".long"), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  long result = 0;
  for (int i = 0; i < 100000 && result >= 0; i++) result = result_of(write(file, zeros, MIB));
  close(file);
  unlink(beside(report, ".long"));
  return result;
}

/* Together they are too long. The world is killed for it while it waits, and does not come back. */
static long fill_disk(void) {
  char name[32];
  for (int i = 0; i < 3; i++) {
    snprintf(name, sizeof name, ".part%d", i);
    int file = open(beside(report, name), O_CREAT | O_WRONLY, 0600);
    if (fallocate(file, 0, 0, 48 * MIB)) return -errno;
    close(file);
  }
  for (;;) pause();
  return 0;
}

/* ---------------------------------------------------------------------------------------------------------- attacks */

/* Arguments that are not known before. */
enum { PARENT = -1000, NEIGHBOUR = -1001 };

#define TEXT(text) (long)(text)

static char own_file[2 * PATH_ROOM], other_file[2 * PATH_ROOM], outer_file[2 * PATH_ROOM], parent_memory[64],
    parent_environment[64], neighbour_memory[64], room[256];
static struct sockaddr_un control_address = {.sun_family = AF_UNIX};
static char *const no_words[] = {NULL};
static const struct open_how how_to_read = {.flags = O_RDONLY};
static const struct iovec report_part = {report, 8};
static const struct rlimit no_limit = {RLIM_INFINITY, RLIM_INFINITY};
static const struct sched_param most_urgent = {.sched_priority = 99};
static const unsigned long first_processor = 1;

static void fill_names(void) {
  int folder = (int)(strrchr(report, '/') - report);
  snprintf(own_file, sizeof own_file, "%s.own", report);
  snprintf(other_file, sizeof other_file, "%.*s/../other/flight", folder, report);
  snprintf(outer_file, sizeof outer_file, "%s.made", control);
  snprintf(parent_memory, sizeof parent_memory, "/proc/%d/mem", (int)getppid());
  snprintf(parent_environment, sizeof parent_environment, "/proc/%d/environ", (int)getppid());
  snprintf(neighbour_memory, sizeof neighbour_memory, "/proc/%d/mem", (int)neighbour);
  snprintf(control_address.sun_path, sizeof control_address.sun_path, "%.100s", control);
}

#define CALL(name, number, ...)                                                                                        \
  {                                                                                                                    \
    name, number, {                                                                                                    \
      __VA_ARGS__                                                                                                      \
    }                                                                                                                  \
  }
#define ATTACK(name, run)                                                                                              \
  { name, run }

static const struct call {
  const char *name;
  long number, arguments[6];
} calls[] = {
    /* files */
    CALL("read-passwd", SYS_openat, AT_FDCWD, TEXT("/etc/passwd"), O_RDONLY),
    CALL("write-group", SYS_openat, AT_FDCWD, TEXT("/etc/group"), O_WRONLY),
    CALL("root-link", SYS_open, TEXT("/proc/self/root/etc/hosts"), O_RDONLY),
    CALL("make-shared", SYS_open, TEXT("/dev/shm/muster-attack"), O_CREAT | O_RDWR, 0600),
    CALL("write-kernel", SYS_open, TEXT("/proc/sys/kernel/core_pattern"), O_WRONLY),
    /* sockets */
    CALL("tcp", SYS_socket, AF_INET, SOCK_STREAM), CALL("unix", SYS_socket, AF_UNIX, SOCK_STREAM),
    CALL("shut-listener", SYS_shutdown, LISTENER, SHUT_RDWR), /* the supervisor keeps it for the next process */
    /* other processes */
    CALL("kill-parent", SYS_kill, PARENT, SIGKILL), CALL("kill-neighbour", SYS_kill, NEIGHBOUR, SIGKILL),
    CALL("kill-all", SYS_kill, -1, SIGKILL), CALL("kill-group", SYS_kill, 0, SIGKILL),
    CALL("kill-thread", SYS_tgkill, PARENT, PARENT, SIGKILL), CALL("pidfd", SYS_pidfd_open, PARENT),
    CALL("owner", SYS_fcntl, NOTES, F_SETOWN, PARENT), CALL("setsid", SYS_setsid, 0),
    CALL("setpgid", SYS_setpgid, 0, PARENT), CALL("ptrace", SYS_ptrace, PTRACE_ATTACH, PARENT),
    /* more rights */
    CALL("nice", SYS_setpriority, PRIO_PROCESS, 0, -20), CALL("slow-user", SYS_setpriority, PRIO_USER, 0, 19),
    CALL("unshare", SYS_unshare, CLONE_NEWUSER), CALL("namespace", SYS_clone, CLONE_NEWUSER | SIGCHLD),
    CALL("mount", SYS_mount, TEXT("none"), TEXT("/tmp"), TEXT("tmpfs")), CALL("chroot", SYS_chroot, TEXT("/")),
    CALL("dumpable", SYS_prctl, PR_SET_DUMPABLE, 1),
    CALL("outlive", SYS_prctl, PR_SET_PDEATHSIG, 0), /* it would outlive a supervisor that died */
    CALL("personality", SYS_personality, ADDR_NO_RANDOMIZE), CALL("keyctl", SYS_keyctl, 0, -3, 1),
    CALL("seccomp", SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER),
    CALL("type", SYS_ioctl, 2, TIOCSTI, TEXT("x")), CALL("userfaultfd", SYS_userfaultfd, 0),
    CALL("setuid", SYS_setuid, 0), CALL("cut-log", SYS_ftruncate, 2, 0),
    CALL("openat2", SYS_openat2, AT_FDCWD, TEXT("/etc/passwd"), TEXT(&how_to_read), sizeof how_to_read),
    /* files of others, by names that are made up */
    CALL("symlink", SYS_symlink, TEXT("/etc/passwd"), TEXT(own_file)),
    CALL("read-other", SYS_open, TEXT(other_file), O_RDONLY), CALL("write-other", SYS_open, TEXT(other_file), O_RDWR),
    CALL("unlink-other", SYS_unlink, TEXT(other_file)), CALL("link-other", SYS_link, TEXT(other_file), TEXT(own_file)),
    CALL("rename-out", SYS_rename, TEXT(report), TEXT(outer_file)),
    CALL("make-outside", SYS_open, TEXT(outer_file), O_CREAT | O_WRONLY, 0600),
    CALL("mkdir", SYS_mkdir, TEXT(own_file), 0700), CALL("write-parent", SYS_open, TEXT(parent_memory), O_RDWR),
    CALL("read-parent", SYS_open, TEXT(parent_environment), O_RDONLY),
    CALL("read-neighbour", SYS_open, TEXT(neighbour_memory), O_RDONLY),
    /* sockets and processes, by what is in memory */
    CALL("pair", SYS_socketpair, AF_UNIX, SOCK_DGRAM, 0, TEXT(room)),
    CALL("connect", SYS_connect, NOTES, TEXT(&control_address), sizeof control_address),
    CALL("bind", SYS_bind, NOTES, TEXT(&control_address), sizeof control_address),
    CALL("queue", SYS_rt_sigqueueinfo, PARENT, SIGKILL, TEXT(room)),
    CALL("exec", SYS_execve, TEXT("/bin/sh"), TEXT(no_words), TEXT(no_words)),
    CALL("vm-write", SYS_process_vm_writev, PARENT, TEXT(&report_part), 1, TEXT(&report_part), 1),
    /* more of the machine */
    CALL("bind-parent", SYS_sched_setaffinity, PARENT, sizeof first_processor, TEXT(&first_processor)),
    CALL("bind-neighbour", SYS_sched_setaffinity, NEIGHBOUR, sizeof first_processor, TEXT(&first_processor)),
    CALL("realtime", SYS_sched_setscheduler, 0, SCHED_FIFO, TEXT(&most_urgent)),
    CALL("limit-parent", SYS_prlimit64, PARENT, RLIMIT_NOFILE, TEXT(&no_limit)),
    CALL("raise-files", SYS_prlimit64, 0, RLIMIT_NOFILE, TEXT(&no_limit)),
    CALL("raise-length", SYS_prlimit64, 0, RLIMIT_FSIZE, TEXT(&no_limit)),
    CALL("raise-memory", SYS_prlimit64, 0, RLIMIT_DATA, TEXT(&no_limit)),
    CALL("raise-core", SYS_prlimit64, 0, RLIMIT_CORE, TEXT(&no_limit)),
    CALL("io-uring", SYS_io_uring_setup, 8, TEXT(room)), CALL("bpf", SYS_bpf, 5, TEXT(room), sizeof room),
    CALL("clock", SYS_settimeofday, TEXT(room), 0),
    /* memory */
    CALL("map-shared", SYS_mmap, 0, MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
    CALL("map-stack", SYS_mmap, 0, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0)};

enum { CALLS = sizeof calls / sizeof *calls };

static long value_of(long argument) {
  if (argument == PARENT) return getppid();
  return argument == NEIGHBOUR ? neighbour : argument;
}

static long make_call(const struct call *call) {
  long values[6];
  for (int i = 0; i < 6; i++) values[i] = value_of(call->arguments[i]);
  return result_of(syscall(call->number, values[0], values[1], values[2], values[3], values[4], values[5]));
}

static const struct attack {
  const char *name;
  long (*run)(void);
} attacks[] = {
    /* of the supervisor's patience */
    ATTACK("send-by-name", send_by_name), ATTACK("send-abstract", send_abstract), ATTACK("notes", send_notes),
    ATTACK("spread", spread), ATTACK("fill-log", fill_log), ATTACK("calls", call_without_end),
    /* of the machine's room */
    ATTACK("map", map_without_end), ATTACK("memfd", make_memories), ATTACK("threads", make_threads),
    ATTACK("long-file", write_long_file), ATTACK("memory", fill_memory), ATTACK("copies", make_copies),
    ATTACK("leave", leave), ATTACK("disk", fill_disk)};

enum { ATTACKS = sizeof attacks / sizeof *attacks };

static bool has_begun(const char *name) {
  char word[64], other[64];
  bool begun = false;
  FILE *file = fopen(report, "re");
  while (file && !begun && fscanf(file, "%63s %63s", word, other) == 2)
    begun = strcmp(word, "begin") == 0 && strcmp(other, name) == 0;
  if (file) fclose(file);
  return begun;
}

static void make_attack(const char *name) {
  FILE *file = fopen(report, "ae");
  if (!file) return;
  fprintf(file, "begin %s\n", name);
  fclose(file);
  for (size_t i = 0; i < CALLS; i++)
    if (strcmp(calls[i].name, name) == 0) note(name, make_call(&calls[i]));
  for (size_t i = 0; i < ATTACKS; i++)
    if (strcmp(attacks[i].name, name) == 0) note(name, attacks[i].run());
}

/* The next of the list that has not begun. */
static void before_frame(void *instance, muster_world *world, uint64_t sim_now_ns) {
  char name[64];
  int length;
  (void)instance, (void)world, (void)sim_now_ns;
  for (const char *at = list; sscanf(at, "%63s%n", name, &length) == 1; at += length)
    if (!has_begun(name)) {
      make_attack(name);
      return;
    }
}

static void find_neighbour(void) {
  int process;
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)getppid(), (int)getppid());
  FILE *file = fopen(path, "re");
  while (file && fscanf(file, "%d", &process) == 1)
    if (process != getpid()) neighbour = process;
  if (file) fclose(file);
}

static muster_result open_attacker(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  static int nothing;
  FILE *file = options->path ? fopen(options->path, "re") : NULL;
  bool read = file && fscanf(file, "%255s %255s", report, control) == 2;
  if (read) list[fread(list, 1, sizeof list - 1, file)] = '\0';
  if (file) fclose(file);
  if (!read) return muster_module_fail(MUSTER_E_INPUT, "attacker: its file must name a report, a socket and attacks");
  find_neighbour();
  fill_names();
  needs->agents = needs->agents_max = 1;
  *instance = &nothing;
  return MUSTER_OK;
}

static muster_atom_result idle(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

static muster_result populate(void *instance, muster_world *world) {
  static const muster_atom atoms[] = {{idle, MUSTER_ROLE_BEHAVIOUR, 1000}};
  const muster_type_def def = WITH(muster_type_def, it.name = "attacker", it.atoms = atoms, it.atom_count = 1);
  const muster_agent_def agent = WITH(muster_agent_def, it.type = muster_type_register(world, &def));
  (void)instance;
  muster_agent_spawn(world, &agent);
  return agent.type.index ? MUSTER_OK : MUSTER_E_ARGUMENT;
}

static void close_attacker(void *instance) {
  (void)instance;
}

OWN_MODULE(.name = "attacker", .summary = "tries to harm others, for tests", .open = open_attacker,
           .populate = populate, .before_frame = before_frame, .close = close_attacker)
