#include "base/forked.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { NICENESS = 5 };

static void close_others(int one, int other) {
  int low = one < other ? one : other, high = one < other ? other : one;
  if (low > 3) close_range(3, (unsigned)low - 1, 0);
  if (high > low + 1) close_range((unsigned)low + 1, (unsigned)high - 1, 0);
  close_range((unsigned)high + 1, ~0u, 0);
}

static void forget_handlers(void) {
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) signal(numbers[i], SIG_DFL);
}

void forked_give_way(void) {
  const struct sched_param usual = {0};
  int policy = sched_getscheduler(0);
  if (policy == SCHED_FIFO || policy == SCHED_RR) sched_setscheduler(0, SCHED_OTHER, &usual);
  if (nice(NICENESS) == -1) errno = 0; /* it then runs at normal priority */
}

bool forked_since(pid_t process) {
  return getpid() != process;
}

void forked_begin(pid_t parent, int one, int other) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);
  prctl(PR_SET_NAME, "muster-save");
  forget_handlers();
  close_others(one, other);
  forked_give_way();
}
