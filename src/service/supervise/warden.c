#include "service/supervise/warden.h"

#include "service/log.h"
#include "service/settings.h"
#include "service/supervise/child.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of those that have ended there may be some left, which makes room. */
enum { WATCHED_MAX = 2 * WORLDS_MAX };

static int warden = -1; /* the supervisor's end; that it is closed says that the supervisor has died */

/* ---------------------------------------------------------------------------------------------------- in its process
 */

typedef struct warden_watched {
  uint32_t count;
  struct pollfd processes[WATCHED_MAX]; /* by descriptors, which name no other process later */
} warden_watched;

/* Forgets those that have ended. */
static void forget_ended(warden_watched *watched) {
  uint32_t left = 0;
  poll(watched->processes, watched->count, 0);
  for (uint32_t i = 0; i < watched->count; i++)
    if (watched->processes[i].revents)
      close(watched->processes[i].fd);
    else
      watched->processes[left++] = watched->processes[i];
  watched->count = left;
}

static void watch_until_death(int supervisor, warden_watched *watched) {
  struct pollfd news = {.fd = supervisor, .events = POLLIN};
  char text[8];
  int process, bytes;
  for (;;) {
    if (poll(&news, 1, -1) < 0) continue;
    bytes = child_receive(supervisor, text, sizeof text, &process);
    if (bytes == 0 || (bytes < 0 && errno != EAGAIN && errno != EINTR)) return;
    if (bytes < 0 || process < 0) continue;
    if (watched->count == WATCHED_MAX) forget_ended(watched);
    if (watched->count < WATCHED_MAX)
      watched->processes[watched->count++] = (struct pollfd){.fd = process, .events = POLLIN};
    else
      close(process);
  }
}

static void end_those_left(uint64_t grace_ns, warden_watched *watched) {
  uint64_t begin_ns = clock_system(), passed_ns = 0;
  for (; passed_ns < grace_ns; passed_ns = clock_system() - begin_ns) {
    forget_ended(watched);
    if (!watched->count) return;
    poll(watched->processes, watched->count, (int)((grace_ns - passed_ns) / 1000000u) + 1);
  }
  for (uint32_t i = 0; i < watched->count; i++)
    syscall(SYS_pidfd_send_signal, watched->processes[i].fd, SIGKILL, NULL, 0);
}

/* Signals to the group or the terminal are for the supervisor. */
static _Noreturn void be_warden(int supervisor, uint64_t grace_ns) {
  static warden_watched watched;
  setsid();
  signal(SIGTERM, SIG_IGN), signal(SIGINT, SIG_IGN), signal(SIGHUP, SIG_IGN);
  prctl(PR_SET_NAME, "musterd-warden");
  watch_until_death(supervisor, &watched);
  end_those_left(grace_ns, &watched);
  _exit(EXIT_SUCCESS);
}

/* ---------------------------------------------------------------------------------------------------- the supervisor
 */

/* Starts a process that has one end of a pair; the other end stays here. Where that fails, errno says why. */
static bool begin_process(uint64_t grace_ns) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair)) return false;
  pid_t process = fork();
  int problem = errno;
  if (process == 0) {
    close(pair[0]);
    be_warden(pair[1], grace_ns);
  }
  close(pair[1]);
  if (process < 0) close(pair[0]);
  if (process > 0) warden = pair[0];
  errno = problem;
  return process > 0;
}

void warden_begin(uint64_t grace_ns) {
  enum { EVERY_US = 100000, TRIES = 300 };
  for (int i = 0; i < TRIES; i++, usleep(EVERY_US)) {
    if (begin_process(grace_ns)) return;
    if (i == 0)
      log_line(
          MUSTER_LOG_WARNING,
          "no process is to be had for the warden, without which worlds may outlive the supervisor: %s; it is tried "
          "again for %d s",
          strerror(errno), EVERY_US / 1000 * TRIES / 1000);
  }
  log_line(MUSTER_LOG_ERROR,
           "there is no warden: a world whose code ignores signals would outlive this supervisor, and "
           "keep its files from the next one");
}

bool warden_watch(pid_t process) {
  if (warden < 0) return true; /* there is none, and will be none */
  int descriptor = (int)syscall(SYS_pidfd_open, process, 0);
  if (descriptor < 0) return errno == ESRCH || errno == ENOSYS;
  bool told = child_send(warden, "world", descriptor);
  close(descriptor);
  return told;
}
