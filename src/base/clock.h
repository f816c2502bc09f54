/* base/clock.h - the one place that reads the machine's clocks. Everything else is told the time.
 *
 * On x86-64 with an invariant time stamp counter the counter is calibrated once against CLOCK_MONOTONIC; elsewhere
 * the clock is CLOCK_MONOTONIC itself. Values of one clock_source are comparable on all processors.
 *
 * A clock can also be told the time: it reads a number that its owner advances. Where that owner charges each update
 * what the update is said to cost, and nothing else takes time, a frame's figures are exact and the same on any
 * machine. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

typedef struct clock_source {
  bool counter;            /* the time stamp counter is in use */
  uint64_t counter_base;   /* its value when... */
  uint64_t base_ns;        /* ...CLOCK_MONOTONIC read this */
  uint64_t scale;          /* nanoseconds per count, 32 fractional bits */
  uint64_t read_ns;        /* what one clock_now costs */
  uint64_t thread_cpu_ns;  /* what one clock_thread_cpu costs */
  const uint64_t *told_ns; /* the time as its owner tells it, without a counter; null = the machine's clock */
} clock_source;

/* Calibrates; takes about 2 ms. */
clock_source clock_calibrate(void);

/* A clock that reads *now_ns. The owner may raise it, on the one thread that reads it. */
clock_source clock_told(const uint64_t *now_ns);

/* Nanoseconds since an arbitrary start, never going backwards on a thread. Any thread. */
uint64_t clock_now(const clock_source *source);

/* CLOCK_MONOTONIC itself, for deadlines that the operating system is asked to keep. Any thread. */
uint64_t clock_system(void);

/* CLOCK_BOOTTIME, which goes on while the machine sleeps, for leases and land time; and CLOCK_REALTIME, which may be
 * set to anything at any time: for what people read. Any thread. */
uint64_t clock_boot(void);
uint64_t clock_real(void);

/* CPU time that the calling thread has used, in nanoseconds: a system call of about 0.4 us. Any thread. */
uint64_t clock_thread_cpu(void);

/* From now on clock_thread_cpu() on the calling thread reads *cpu_ns; null: the machine's clock, as at the start. For
 * the thread that runs a world whose clock is told: all of that time is its own. */
void clock_tell_thread_cpu(const uint64_t *cpu_ns);

/* CPU time of another thread, given the number that the operating system has for its CPU clock. False when that thread
 * has ended. Any thread. */
bool clock_other_cpu(uint32_t number, uint64_t *cpu_ns);

/* How often the calling thread left its processor: to wait for something, or because the kernel ran another thread
 * there. */
typedef struct thread_switches {
  uint64_t waited, preempted;
} thread_switches;

/* Reads these counts since the thread's start: a system call of about 0.4 us. Any thread. */
thread_switches clock_thread_switches(void);

#endif
