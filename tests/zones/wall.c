/* wall.c - a library to be preloaded: the wall clock is another one, as MUSTER_TEST_WALL says: "3600" = so many seconds
 * ahead, "jumps" = by two hours to and fro, every three seconds. Of other clocks nothing is changed. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { HOUR_S = 3600, JUMP_S = 3 };

static long ahead_s(long now_s) {
  const char *how = getenv("MUSTER_TEST_WALL");
  if (!how) return 0;
  return strcmp(how, "jumps") == 0 ? (now_s / JUMP_S % 3 - 1) * 2 * HOUR_S : strtol(how, NULL, 10);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  long result = syscall(SYS_clock_gettime, clock, now);
  if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += ahead_s(now->tv_sec);
  return (int)result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec time;
  (void)zone;
  int result = clock_gettime(CLOCK_REALTIME, &time);
  *now = (struct timeval){.tv_sec = time.tv_sec, .tv_usec = time.tv_nsec / 1000};
  return result;
}

time_t time(time_t *now) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  if (now) *now = time.tv_sec;
  return time.tv_sec;
}

/* Who waits until a time of that clock waits as long as the kernel's clock needs for it; times since a machine was
 * started are no such. */
int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until) {
  struct timespec now, kernels = *until;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  if (until->tv_sec < now.tv_sec / 2) return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, until);
  kernels.tv_sec -= ahead_s(now.tv_sec);
  return pthread_cond_clockwait(condition, mutex, CLOCK_REALTIME, &kernels);
}
