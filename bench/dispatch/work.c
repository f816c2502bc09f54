#include "work.h"

#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

static clock_source source;
static double turn_ns = 1;

static const uint64_t second_ns = 1000000000;

void work_turn(uint32_t turns) {
  uint64_t value = turns;
  for (uint32_t i = 0; i < turns; i++) {
    value *= 0x9e3779b97f4a7c15u;
    __asm__ volatile("" : "+r"(value)); /* one after the other, and none left out */
  }
}

/* The fastest of many short runs: what the processor does when nothing disturbs it. */
static double calibrate_turn(void) {
  enum { RUNS = 400, TURNS = 20000 };
  uint64_t fastest = UINT64_MAX;
  for (int i = 0; i < RUNS; i++) {
    uint64_t start = work_now();
    work_turn(TURNS);
    uint64_t spent = work_now() - start;
    if (spent < fastest) fastest = spent;
  }
  return (double)fastest / TURNS;
}

void work_calibrate(void) {
  source = clock_calibrate();
  turn_ns = calibrate_turn();
}

uint64_t work_now(void) {
  return clock_now(&source);
}

void work_threads_find(work_threads *threads) {
  DIR *folder = opendir("/proc/self/task");
  threads->count = 0;
  for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
    int32_t id = (int32_t)strtol(entry->d_name, NULL, 10);
    if (id > 0 && threads->count < WORK_THREADS_MAX) threads->ids[threads->count++] = id;
  }
  if (folder) closedir(folder);
}

/* The clock of a thread that is known by its id only: as the kernel encodes it, and pthread_getcpuclockid() does. */
static uint32_t clock_of(int32_t id) {
  enum { PER_THREAD = 4, SCHEDULED = 2 };
  return ~(uint32_t)id << 3 | PER_THREAD | SCHEDULED;
}

uint64_t work_threads_cpu(const work_threads *threads) {
  uint64_t sum_ns = 0, used_ns;
  for (uint32_t i = 0; i < threads->count; i++)
    if (clock_other_cpu(clock_of(threads->ids[i]), &used_ns)) sum_ns += used_ns;
  return sum_ns;
}

uint32_t work_turns(double ns) {
  return (uint32_t)(ns / turn_ns);
}

void work_sleep_until(uint64_t system_ns) {
  struct timespec until = {.tv_sec = (time_t)(system_ns / second_ns), .tv_nsec = (long)(system_ns % second_ns)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) continue;
}

void work_sleep(uint64_t ns) {
  work_sleep_until(clock_system() + ns);
}

void work_spin(uint64_t ns) {
  uint64_t start = work_now();
  while (work_now() - start < ns) continue;
}
