#include "noise_load.h"

#include "base/clock.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A burst, and from one to the next. */
static const uint64_t burst_ns = 4000000, every_ns = 10000000;

/* A burst is own CPU time: what it did not get it takes later, up to all of the processor. The process ends with its
 * parent, or when it is killed. */
static void burst_for_ever(int processor, pid_t parent) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent || sched_setaffinity(0, sizeof set, &set)) _exit(1);
  for (uint64_t next_ns = clock_system();; next_ns += every_ns) {
    struct timespec until = {.tv_sec = (time_t)(next_ns / 1000000000u), .tv_nsec = (long)(next_ns % 1000000000u)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    uint64_t end_ns = clock_thread_cpu() + burst_ns;
    while (clock_thread_cpu() < end_ns) continue;
  }
}

bool noise_load_start(struct noise_load *load) {
  cpu_set_t allowed;
  pid_t parent = getpid();
  load->count = 0;
  if (sched_getaffinity(0, sizeof allowed, &allowed)) return false;
  for (int i = 0; i < CPU_SETSIZE && load->count < NOISE_PROCESSORS_MAX; i++) {
    if (!CPU_ISSET(i, &allowed)) continue;
    pid_t child = fork();
    if (child < 0) return false;
    if (child == 0) burst_for_ever(i, parent);
    load->processes[load->count++] = child;
  }
  return true;
}

void noise_load_stop(struct noise_load *load) {
  for (uint32_t i = 0; i < load->count; i++) {
    kill(load->processes[i], SIGKILL);
    waitpid(load->processes[i], NULL, 0);
  }
  load->count = 0;
}
