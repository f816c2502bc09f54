/* pin.h - threads bound to one processor each. Needs _GNU_SOURCE. */
#ifndef BENCH_PIN_H
#define BENCH_PIN_H

#include "system.h"

#include <sched.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The processors that this thread may use. Ask before it binds itself: threads that it starts inherit what it has. */
static inline cpu_set_t pin_processors(void) {
  cpu_set_t all;
  if (sched_getaffinity(0, sizeof all, &all) != 0) CPU_ZERO(&all);
  return all;
}

/* Binds this thread to the number-th of them, counted round. */
static inline void pin_to(const cpu_set_t *all, uint32_t number) {
  cpu_set_t one;
  if (CPU_COUNT(all) == 0) return;
  int skip = (int)(number % (uint32_t)CPU_COUNT(all));
  for (int processor = 0; processor < CPU_SETSIZE; processor++) {
    if (!CPU_ISSET(processor, all) || skip-- > 0) continue;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

/* A pool's threads, bound from inside: as many jobs as threads, none of which ends before all have begun. */
typedef struct pin_meeting {
  cpu_set_t all;
  uint32_t threads, arrived;
} pin_meeting;

/* The job. */
static inline void pin_meet(void *argument, uint32_t worker) {
  pin_meeting *meeting = (pin_meeting *)argument;
  (void)worker;
  pin_to(&meeting->all, __atomic_fetch_add(&meeting->arrived, 1, __ATOMIC_RELAXED));
  while (__atomic_load_n(&meeting->arrived, __ATOMIC_RELAXED) < meeting->threads) sched_yield();
}

/* A pool whose threads are bound; null when it could not be created. */
static inline void *pin_pool(void *pool, uint32_t threads, void (*submit)(void *pool, bench_job run, void *argument),
                             void (*wait)(void *pool)) {
  pin_meeting meeting = {pin_processors(), threads, 0};
  for (uint32_t i = 0; pool && i < threads; i++) submit(pool, pin_meet, &meeting);
  if (pool) wait(pool);
  return pool;
}

/* For a pool whose caller is any thread. */
static inline void pin_inside(void *pool, bench_job body, void *argument) {
  (void)pool;
  body(argument, 0);
}

#ifdef __cplusplus
}
#endif

#endif
