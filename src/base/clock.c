#include "base/clock.h"

#include <sys/resource.h>
#include <time.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

static uint64_t read_system_clock(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#if defined(__x86_64__)
static uint64_t read_counter(void) {
  return __rdtsc();
}

static bool counter_is_invariant(void) {
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && (edx & (1u << 8));
}
#else
static uint64_t read_counter(void) {
  return 0;
}
static bool counter_is_invariant(void) {
  return false;
}
#endif

__extension__ typedef unsigned __int128 wide;

typedef struct clock_pair {
  uint64_t counter, system_ns;
} clock_pair;

/* Reads both clocks at one moment: of several tries it takes the one in which the system clock was read fastest, so
 * that an interruption between the two reads does not spoil the calibration. */
static clock_pair read_pair(void) {
  clock_pair best = {0, 0};
  uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < 32; i++) {
    uint64_t before = read_counter();
    uint64_t system_ns = read_system_clock(CLOCK_MONOTONIC);
    uint64_t after = read_counter();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = (clock_pair){before + (after - before) / 2, system_ns};
  }
  return best;
}

static uint64_t clock_cost_of(const clock_source *source, bool thread_cpu) {
  enum { READS = 64 };
  uint64_t start = read_system_clock(CLOCK_MONOTONIC), sum = 0;
  for (int i = 0; i < READS; i++) sum += thread_cpu ? clock_thread_cpu() : clock_now(source);
  uint64_t spent = read_system_clock(CLOCK_MONOTONIC) - start;
  return sum ? spent / READS : 0;
}

clock_source clock_calibrate(void) {
  clock_source source = {0};
  if (counter_is_invariant()) {
    clock_pair first = read_pair(), last;
    do last = read_pair();
    while (last.system_ns - first.system_ns < 2000000u);
    source.counter = last.counter > first.counter;
    source.counter_base = first.counter;
    source.base_ns = first.system_ns;
    if (source.counter)
      source.scale = (uint64_t)((((wide)(last.system_ns - first.system_ns)) << 32) / (last.counter - first.counter));
  }
  source.read_ns = clock_cost_of(&source, false);
  source.thread_cpu_ns = clock_cost_of(&source, true);
  return source;
}

clock_source clock_told(const uint64_t *now_ns) {
  return (clock_source){.told_ns = now_ns};
}

uint64_t clock_now(const clock_source *source) {
  if (!source->counter) return source->told_ns ? *source->told_ns : read_system_clock(CLOCK_MONOTONIC);
  uint64_t counts = read_counter() - source->counter_base;
  return source->base_ns + (uint64_t)(((wide)counts * source->scale) >> 32);
}

uint64_t clock_system(void) {
  return read_system_clock(CLOCK_MONOTONIC);
}

uint64_t clock_boot(void) {
  return read_system_clock(CLOCK_BOOTTIME);
}

uint64_t clock_real(void) {
  return read_system_clock(CLOCK_REALTIME);
}

/* What clock_thread_cpu() reads on this thread; null = the machine's clock. */
static _Thread_local const uint64_t *told_cpu_ns;

void clock_tell_thread_cpu(const uint64_t *cpu_ns) {
  told_cpu_ns = cpu_ns;
}

uint64_t clock_thread_cpu(void) {
  if (told_cpu_ns) return *told_cpu_ns;
  return read_system_clock(CLOCK_THREAD_CPUTIME_ID);
}

bool clock_other_cpu(uint32_t number, uint64_t *cpu_ns) {
  struct timespec now;
  if (clock_gettime((clockid_t)number, &now)) return false;
  *cpu_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  return true;
}

thread_switches clock_thread_switches(void) {
  struct rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage)) return (thread_switches){0};
  return (thread_switches){.waited = (uint64_t)usage.ru_nvcsw, .preempted = (uint64_t)usage.ru_nivcsw};
}
