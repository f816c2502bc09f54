/* The clocks against each other and against the system's; no test waits for time to pass, nor asks how much did. */
#include "base/clock.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <time.h>

static uint64_t system_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Runs a function on a thread of its own to its end. */
static void run_elsewhere(void *(*function)(void *), void *argument) {
  pthread_t thread;
  cr_assert_eq(pthread_create(&thread, NULL, function, argument), 0);
  cr_assert_eq(pthread_join(thread, NULL), 0);
}

/* Work that no optimiser removes. */
static uint64_t work(uint64_t steps) {
  volatile uint64_t value = 1;
  for (uint64_t i = 0; i < steps; i++) value = value * 6364136223846793005u + i;
  return value;
}

Test(clock, never_goes_backwards_on_a_thread) {
  clock_source source = clock_calibrate();
  uint64_t last = clock_now(&source), backwards = 0;
  for (uint32_t i = 0; i < 1000000; i++) {
    uint64_t now = clock_now(&source);
    backwards += now < last;
    last = now;
  }
  cr_assert_eq(backwards, 0);
}

Test(clock, runs_at_the_pace_of_the_system_clock) {
  clock_source source = clock_calibrate();
  uint64_t start = system_now();
  for (uint32_t i = 0; i < 200; i++) {
    uint64_t before = system_now(), now = clock_now(&source), after = system_now();
    /* The calibration of 2 ms may be off by a microsecond, which is a part in 2000. */
    uint64_t drift = 20000 + (after - start) / 100;
    cr_assert_geq(now + drift, before, "%lu is before %lu", now, before);
    cr_assert_leq(now, after + drift, "%lu is after %lu", now, after);
    work(100000);
  }
}

Test(clock, without_a_counter_is_the_system_clock_itself) {
  clock_source source = {0};
  for (uint32_t i = 0; i < 1000; i++) {
    uint64_t before = system_now(), now = clock_now(&source), after = system_now();
    cr_assert(before <= now && now <= after);
  }
}

Test(clock, knows_what_reading_it_costs) {
  clock_source source = clock_calibrate();
  cr_assert_gt(source.read_ns, 0);
  cr_assert_gt(source.thread_cpu_ns, 0);
}

struct reading {
  const clock_source *source;
  uint64_t now;
};

static void *read_clock(void *argument) {
  struct reading *reading = argument;
  reading->now = clock_now(reading->source);
  return NULL;
}

Test(clock, values_of_one_source_are_comparable_between_threads) {
  clock_source source = clock_calibrate();
  for (uint32_t i = 0; i < 200; i++) {
    struct reading reading = {&source, 0};
    uint64_t before = clock_now(&source);
    run_elsewhere(read_clock, &reading);
    cr_assert(before <= reading.now && reading.now <= clock_now(&source));
  }
}

static void *work_long(void *spent) {
  uint64_t before = clock_thread_cpu();
  work(20000000);
  *(uint64_t *)spent = clock_thread_cpu() - before;
  return NULL;
}

Test(clock, thread_cpu_counts_the_work_of_the_calling_thread_alone) {
  uint64_t before = clock_thread_cpu(), of_other = 0;
  work(1000000);
  uint64_t after = clock_thread_cpu();
  cr_assert_gt(after, before);
  run_elsewhere(work_long, &of_other);
  cr_assert_lt(clock_thread_cpu() - after, of_other, "waiting for the other thread counted as work");
}

Test(clock, reads_the_time_that_it_is_told) {
  uint64_t now_ns = 5000;
  clock_source source = clock_told(&now_ns);
  cr_assert_eq(clock_now(&source), 5000);
  now_ns += 20000;
  cr_assert_eq(clock_now(&source), 25000);
}

static void *read_thread_cpu(void *cpu_ns) {
  work(1000);
  *(uint64_t *)cpu_ns = clock_thread_cpu();
  return NULL;
}

Test(clock, tells_thread_cpu_to_one_thread_until_it_stops) {
  uint64_t told_ns = UINT64_MAX, other_ns = 0;
  clock_tell_thread_cpu(&told_ns);
  cr_assert_eq(clock_thread_cpu(), UINT64_MAX);
  run_elsewhere(read_thread_cpu, &other_ns);
  cr_assert(other_ns > 0 && other_ns < UINT64_MAX, "another thread reads its own");
  clock_tell_thread_cpu(NULL);
  cr_assert_lt(clock_thread_cpu(), UINT64_MAX);
}
