/* work.h - time and work for the measures.
 *
 * The work of a job is a fixed number of dependent multiplications, not a wait for the clock: a job that loses its
 * processor half way still has its other half to do, so a preemption costs its full time. How many make a microsecond
 * is calibrated once, before any process of the bench is started: all systems get the same work. */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include <stdint.h>

/* Calibrates the clock and the work; takes some 20 ms. Before everything else, once. */
void work_calibrate(void);

/* Nanoseconds; comparable on all threads. */
uint64_t work_now(void);

enum { WORK_THREADS_MAX = 512 };

/* The threads of this process. */
typedef struct work_threads {
  uint32_t count;
  int32_t ids[WORK_THREADS_MAX];
} work_threads;

/* Finds the threads that there are now. */
void work_threads_find(work_threads *threads);

/* CPU time that these threads have used, exact while they run too; a system call for each. */
uint64_t work_threads_cpu(const work_threads *threads);

/* The number of turns of work_turn that take this long. */
uint32_t work_turns(double ns);

/* Works. */
void work_turn(uint32_t turns);

/* Sleeps. The point in time is one of clock_system. */
void work_sleep_until(uint64_t system_ns);
void work_sleep(uint64_t ns);

/* Waits with the processor busy. */
void work_spin(uint64_t ns);

#endif
