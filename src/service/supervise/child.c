#include "service/supervise/child.h"

#include "service/log.h"
#include "service/notify.h"
#include "service/supervise/bounds.h"
#include "service/supervise/confine.h"
#include "service/supervise/orders.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CALLS_KERNEL_ABI = 6, SCORE_OF_WORLDS = 500 };

bool child_send(int socket, const char *text, int descriptor) {
  _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {0};
  struct iovec part = {(char *)text, strlen(text)};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_len = CMSG_LEN(sizeof(int));
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  return sendmsg(socket, &message, MSG_NOSIGNAL) >= 0;
}

int child_receive(int socket, char *text, int bytes, int *descriptor) {
  _Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int))]; /* for two: but a second one would stay open */
  struct iovec part = {text, (size_t)bytes};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = CMSG_LEN(sizeof(int))};
  *descriptor = -1;
  ssize_t count = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  struct cmsghdr *head = count >= 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (head && head->cmsg_len == CMSG_LEN(sizeof(int)) && head->cmsg_level == SOL_SOCKET &&
      head->cmsg_type == SCM_RIGHTS)
    memcpy(descriptor, CMSG_DATA(head), sizeof *descriptor);
  return (int)count;
}

#ifdef __SANITIZE_ADDRESS__
/* LeakSanitizer stops the threads of the process by ptrace, which a confined process may not. The sanitizer's library
 * asks, so it has to see the name. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
  return orders_world() != NULL;
}
#endif

/* The folder that a file lies in. */
static const char *folder_of(const char *file, char folder[PATH_BYTES]) {
  const char *slash = strrchr(file, '/');
  snprintf(folder, PATH_BYTES, "%.*s", slash ? (int)(slash - file) : 1, slash ? file : ".");
  return folder;
}

/* A line for each: R/path, P/path or W/path. */
static size_t add_folders(char *text, size_t length, char kind, const char *const *paths) {
  for (; *paths; paths++) length += (size_t)snprintf(text + length, CHILD_NOTE_BYTES - length, "\n%c%s", kind, *paths);
  return length;
}

/* A process that has too much memory goes before the supervisor when the machine has none left. */
static void be_first_to_go(void) {
  FILE *file = fopen("/proc/self/oom_score_adj", "we");
  if (!file) return;
  fprintf(file, "%d", SCORE_OF_WORLDS);
  fclose(file);
}

static uint64_t larger(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

enum { OWN_MAX = 16 };

/* What people change while the world runs: the settings, its path, and what settings of its modules name by a whole
 * path. Ends with null. */
static void list_own(const world_settings *world, const char *file, const char *own[OWN_MAX]) {
  size_t count = 0;
  if (*world->path) own[count++] = world->path;
  if (file) own[count++] = file;
  for (uint32_t i = 0; i < world->setting_count && count + 1 < OWN_MAX; i++)
    if (*world->settings[i].text == '/') own[count++] = world->settings[i].text;
  own[count] = NULL;
}

static muster_result confine_world(const struct settings *settings, const char *file, confine_result *confined,
                                   char *note) {
  const world_settings *world = &settings->worlds[0];
  char snapshots[PATH_BYTES] = "/dev/null", flight[PATH_BYTES] = "/dev/null";
  if (*settings->snapshot_file) folder_of(settings->snapshot_file, snapshots);
  if (*settings->flight_file) folder_of(settings->flight_file, flight);
  const char *read[] = {"/usr",           "/lib",      "/lib64",       "/proc",           "/sys", "/etc/ld.so.cache",
                        "/etc/localtime", "/dev/null", "/dev/urandom", settings->modules, NULL};
  const char *own[OWN_MAX];
  list_own(world, file, own);
  const char *journals = *settings->journal_folder ? settings->journal_folder : snapshots;
  const char *write[] = {snapshots, flight, journals, "/dev/null", NULL};
  uint64_t usual = larger(bounds_usual_disk(snapshots), bounds_usual_disk(flight));
  confine_rules rules = {.read = read,
                         .own = own,
                         .write = write,
                         .network = world->allow == ALLOW_NETWORK,
                         .memory_bytes = world->memory_max ? world->memory_max : bounds_usual_memory(),
                         .file_bytes = world->disk_max ? larger(world->disk_max, world->state_max)
                                                       : larger(usual, world->state_max),
                         .files_max = 1024};
  size_t length = add_folders(note, strlen(note), 'R', read);
  length = add_folders(note, length, 'P', own);
  add_folders(note, length, 'W', write);
  be_first_to_go();
  signal(SIGXFSZ, SIG_IGN); /* write() reports a file that is too long */
  return confine(&rules, confined);
}

/* What the kernel lacks is said once in each process's life. */
static void tell_of_gaps(const confine_result *confined) {
  if (!confined->landlock_abi)
    log_line(MUSTER_LOG_WARNING, "the kernel has no Landlock: modules can open all files of the service's user");
  else if (confined->landlock_abi < CALLS_KERNEL_ABI)
    log_line(MUSTER_LOG_INFO, "Landlock %d of this kernel lacks what later ones keep from modules",
             confined->landlock_abi);
  if (!confined->seccomp)
    log_line(MUSTER_LOG_WARNING, "the kernel has no seccomp: modules can make every system call");
  else if (confined->heard < 0)
    log_line(MUSTER_LOG_INFO, "calls that are refused to modules are not told on this kernel");
}

muster_result child_begin(const struct settings *settings, const char *file) {
  static char note[CHILD_NOTE_BYTES] = "CALLS=1";
  confine_result confined;
  notify_by(ORDERS_NOTIFY);
  fcntl(ORDERS_NOTIFY, F_SETFD, FD_CLOEXEC);
  bool zone = settings->worlds[0].zone != 0;
  if (zone) fcntl(ORDERS_ZONE, F_SETFD, FD_CLOEXEC);
  close_range(zone ? ORDERS_ZONE + 1 : ORDERS_NOTIFY + 1, ~0u, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM); /* the supervisor died: saves, and ends */
  muster_result result = confine_world(settings, file, &confined, note);
  if (result) return result;
  bool sent = confined.heard >= 0 ? child_send(ORDERS_NOTIFY, note, confined.heard)
                                  : send(ORDERS_NOTIFY, "CALLS=0", 7, MSG_NOSIGNAL) >= 0;
  if (confined.heard >= 0) close(confined.heard);
  tell_of_gaps(&confined);
  return sent ? MUSTER_OK : error_set(MUSTER_E_SYSTEM, "the supervisor is gone: %s", strerror(errno));
}
