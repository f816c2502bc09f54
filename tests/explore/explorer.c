#include "explorer.h"

#include "schedule.h"
#include "switch.h"
#include "trace.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { STACK_BYTES = 64 * 1024, MEMORY_BYTES = 1 << 20, HEAP_BYTES = 4096, POISON = 0xa5, STEPS_MAX = 20000 };
enum { PAUSE_NS = 100000 };

struct fibre {
  switch_context context;
  void *local;
  const uint32_t *word; /* it sleeps until this... */
  uint32_t value;       /* ...differs */
};

explore_present explore_now = {.countdown = INT64_MAX, .until_spurious = INT64_MAX};

static struct {
  const explore_case *subject;
  struct schedule schedule;
  struct fibre fibres[EXPLORE_FIBRES_MAX];
  uint32_t current;
  uint32_t ready, asleep, quiet; /* sets of fibres */
  uint64_t steps, steps_max, length;
  int64_t planned, remaining; /* points of this plan; remaining while tracing */
  uint32_t pauses;
  bool tracing, inside; /* inside: a fibre runs */
  uint64_t number;      /* of schedules, for the watch */
  switch_context home;
  sigjmp_buf failure;
  char message[512];
} run;

/* The memory of a case: as it is, and as `prepare` left it. */
static _Alignas(64) unsigned char memory[MEMORY_BYTES], pristine[MEMORY_BYTES];
static size_t memory_used;
static unsigned char stacks[EXPLORE_FIBRES_MAX][STACK_BYTES] __attribute__((aligned(64)));
static _Alignas(64) unsigned char heap[HEAP_BYTES];
static bool heap_live[HEAP_BYTES / 64];        /* objects begin on lines of their own */
static uint8_t heap_lines_of[HEAP_BYTES / 64]; /* by an object's first line: how many it has */
static size_t heap_used;

/* ---------------------------------------------------------------------------------------------------------- memory */

void *explore_memory(size_t bytes) {
  size_t rounded = (bytes + 63) & ~(size_t)63;
  if (memory_used + rounded > MEMORY_BYTES) {
    fprintf(stderr, "explore: a case takes more than %d bytes\n", MEMORY_BYTES);
    exit(2);
  }
  void *given = memory + memory_used;
  memory_used += rounded;
  return given;
}

void *explore_new(size_t bytes) {
  size_t rounded = (bytes + 63) & ~(size_t)63;
  if (heap_used + rounded > HEAP_BYTES) explore_fail("the case takes more than %d bytes of a schedule", HEAP_BYTES);
  void *given = heap + heap_used;
  memset(given, 0, rounded);
  memset(&heap_live[heap_used / 64], true, rounded / 64);
  heap_lines_of[heap_used / 64] = (uint8_t)(rounded / 64);
  heap_used += rounded;
  explore_now.heap_bytes = heap_used;
  return given;
}

void explore_delete(void *given) {
  size_t line = (size_t)((unsigned char *)given - heap) / 64, lines = heap_lines_of[line];
  memset(&heap_live[line], false, lines);
  memset(heap + line * 64, POISON, lines * 64);
}

void explore_check_live(const explore_site *site, const void *word) {
  if (heap_live[(size_t)((const unsigned char *)word - heap) / 64]) return;
  if (run.tracing) trace_note(run.current, "touches memory that was given back");
  explore_fail("%s:%d %s: %s(%s) touches memory that was given back", explore_base_name(site->file), site->line,
               site->function, site->operation, site->operand);
}

static void check_poison(void) {
  for (size_t line = 0; line < heap_used / 64; line++)
    for (size_t i = 0; i < 64 && !heap_live[line]; i++)
      if (heap[line * 64 + i] != POISON) explore_fail("memory that was given back was written to");
}

/* --------------------------------------------------------------------------------------------------------- failure */

const char *explore_base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

void explore_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(run.message, sizeof run.message, format, arguments);
  va_end(arguments);
  siglongjmp(run.failure, 1);
}

static void fail_for_sleepers(void) {
  char text[256] = "";
  size_t length = 0;
  for (uint32_t i = 0; i < run.subject->fibres; i++)
    if (run.asleep >> i & 1) length += (size_t)snprintf(text + length, sizeof text - length, " %u", i);
  explore_fail("all that are left sleep: fibres%s", text);
}

/* ------------------------------------------------------------------------------------------------------- scheduling */

static void count_steps(void) {
  if (!run.tracing) run.steps += (uint64_t)(run.planned - explore_now.countdown);
  if (run.steps > run.steps_max) explore_fail("more than %lu steps: nobody gets ahead", (unsigned long)run.steps_max);
}

static void plan(void) {
  run.planned = schedule_plan(&run.schedule, run.steps);
  run.remaining = run.planned;
  explore_now.countdown = run.tracing ? 1 : run.planned;
}

/* Leaves the running fibre for one of a set. */
static void go_on(uint32_t candidates) {
  uint32_t from = run.current, next = schedule_pick(&run.schedule, candidates);
  plan();
  if (next == from) return;
  run.pauses = 0;
  run.current = next;
  switch_to(&run.fibres[from].context, &run.fibres[next].context);
}

/* The running fibre cannot go on. */
static void leave(void) {
  if (!run.ready) {
    run.ready = run.quiet;
    run.quiet = 0;
  }
  if (run.ready) {
    go_on(run.ready);
  } else {
    if (run.asleep) fail_for_sleepers();
    switch_to(&run.fibres[run.current].context, &run.home);
  }
}

void explore_choose(const explore_site *site, const void *word) {
  if (!run.inside) {
    explore_now.countdown = INT64_MAX;
    return;
  }
  if (run.tracing) run.steps++;
  if (run.tracing && --run.remaining > 0) {
    explore_now.countdown = 1;
  } else {
    count_steps();
    schedule_change(&run.schedule, run.steps, run.current);
    go_on(run.ready);
  }
  if (run.tracing && site) trace_operation(run.current, site, word);
}

void explore_yield(void) {
  if (!run.inside) return;
  explore_now.countdown--; /* a step, too */
  if (run.tracing) run.steps++;
  count_steps();
  schedule_yield(&run.schedule, run.current);
  uint32_t others = run.ready & ~(1u << run.current);
  go_on(others ? others : run.ready);
}

void explore_pause(void) {
  explore_now.clock_ns += PAUSE_NS;
  if (++run.pauses <= run.schedule.pauses_most) return;
  run.pauses = 0;
  explore_yield();
}

void explore_block(const uint32_t *word, uint32_t value) {
  if (!run.inside) explore_fail("sleeps outside of the schedule");
  while (*(const volatile uint32_t *)word == value) {
    struct fibre *fibre = &run.fibres[run.current];
    fibre->word = word;
    fibre->value = value;
    run.ready &= ~(1u << run.current);
    run.asleep |= 1u << run.current;
    if (run.tracing) trace_note(run.current, "sleeps");
    count_steps();
    leave();
  }
}

void explore_unblock(const uint32_t *word) {
  for (uint32_t sleepers = run.asleep; sleepers; sleepers &= sleepers - 1) {
    uint32_t i = (uint32_t)__builtin_ctz(sleepers);
    if (run.fibres[i].word != word || *word == run.fibres[i].value) continue;
    run.asleep &= ~(1u << i);
    run.ready |= 1u << i;
    if (run.tracing) trace_note(run.current, "wakes fibre %u", i);
  }
}

void explore_until_quiet(void) {
  run.ready &= ~(1u << run.current);
  run.quiet |= 1u << run.current;
  if (run.tracing) trace_note(run.current, "waits until all others sleep");
  count_steps();
  leave();
  if (run.tracing) trace_note(run.current, "all others sleep");
}

static void fibre_entry(void) {
  run.subject->run(run.current);
  run.ready &= ~(1u << run.current);
  if (run.tracing) trace_note(run.current, "ends");
  count_steps();
  leave();
  abort();
}

/* ------------------------------------------------------------------------------------------------------- for cases */

uint32_t explore_fibre(void) {
  return run.current;
}

void explore_moment(void) {
  static const explore_site site = {"", "", "moment", "", 0, 0};
  explore_before(&site, NULL);
}

void explore_spend(uint64_t ns) {
  explore_now.clock_ns += ns;
}

uint32_t explore_draw(uint32_t bound) {
  return schedule_draw(&run.schedule, bound);
}

void **explore_local(void) {
  return &run.fibres[run.current].local;
}

/* -------------------------------------------------------------------------------------------------------- schedules */

static void begin_schedule(uint64_t seed, bool uniform) {
  uint32_t fibres = run.subject->fibres;
  schedule_begin(&run.schedule, seed, fibres, run.length, uniform);
  memcpy(memory, pristine, memory_used);
  heap_used = 0;
  for (uint32_t i = 0; i < fibres; i++) {
    run.fibres[i].local = NULL;
    switch_prepare(&run.fibres[i].context, stacks[i], STACK_BYTES, fibre_entry);
  }
  run.ready = (1u << fibres) - 1;
  run.asleep = run.quiet = 0;
  run.steps = 0;
  run.pauses = 0;
  run.number++;
  explore_now.clock_ns = 1000000000;
  explore_now.heap = (uint64_t)(uintptr_t)heap;
  explore_now.heap_bytes = 0;
  bool spurious = schedule_draw(&run.schedule, 4) == 0;
  explore_now.until_spurious = spurious ? 1 + schedule_draw(&run.schedule, 32) : INT64_MAX;
}

static bool run_schedule(uint64_t seed, bool uniform) {
  if (sigsetjmp(run.failure, 0)) {
    run.inside = false;
    explore_now.countdown = INT64_MAX;
    return false;
  }
  begin_schedule(seed, uniform);
  if (run.subject->begin) run.subject->begin();
  run.inside = true;
  run.current = schedule_pick(&run.schedule, run.ready);
  plan();
  switch_to(&run.home, &run.fibres[run.current].context);
  run.inside = false;
  explore_now.countdown = INT64_MAX;
  check_poison();
  if (run.subject->check) run.subject->check();
  return true;
}

/* The length of the case on average: the strategies draw from it. It is the same in every run, so that a seed is all
 * that a schedule needs. */
static void measure_length(void) {
  enum { TRIES = 64 };
  uint64_t sum = 0;
  bool fine = true;
  uint32_t tries = 0;
  run.length = 100;
  for (; tries < TRIES && fine; tries++) {
    fine = run_schedule(tries, true);
    sum += run.steps;
  }
  run.length = sum / tries + 1;
}

static void prepare(const explore_case *subject) {
  run.subject = subject;
  run.steps_max = subject->steps_max ? subject->steps_max : STEPS_MAX;
  run.current = 0;
  run.tracing = false;
  memory_used = 0;
  memset(memory, 0, sizeof memory);
  subject->prepare();
  memcpy(pristine, memory, memory_used);
  measure_length();
}

explore_result explore_run(const explore_case *subject, uint64_t seed, uint64_t schedules) {
  explore_result result = {0};
  prepare(subject);
  while (result.schedules < schedules && !result.failed) {
    result.failed = !run_schedule(seed + result.schedules, false);
    result.seed = seed + result.schedules++;
    result.steps += run.steps;
    if (run.steps > result.longest) result.longest = run.steps;
  }
  if (result.failed) memcpy(result.message, run.message, sizeof result.message);
  return result;
}

explore_result explore_replay(const explore_case *subject, uint64_t seed, uint32_t events_max) {
  explore_result result = {.schedules = 1, .seed = seed};
  prepare(subject);
  trace_begin();
  run.tracing = true;
  result.failed = !run_schedule(seed, false);
  result.steps = result.longest = run.steps;
  if (result.failed) memcpy(result.message, run.message, sizeof result.message);
  trace_print(events_max);
  return result;
}

/* ---------------------------------------------------------------------------------------------------------- signals */

static uint64_t watched;

static void fail_on_signal(int signal) {
  explore_fail(signal == SIGFPE ? "divides by zero" : "crashes (signal %d)", signal);
}

/* A whole period without a new schedule: a loop that contains no point of choice. */
static void fail_on_standstill(int signal) {
  (void)signal;
  bool stands = run.inside && watched == run.number;
  watched = run.number;
  if (stands) explore_fail("hangs in a loop without points of choice");
}

void explore_catch_signals(void) {
  static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
  static unsigned char stack[64 * 1024];
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  struct sigaction action = {.sa_handler = fail_on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER};
  for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) sigaction(crashes[i], &action, NULL);
  action.sa_handler = fail_on_standstill;
  sigaction(SIGALRM, &action, NULL);
  /* The timer counts the process's CPU time, so that a busy machine does not set it off. */
  action.sa_flags |= SA_RESTART;
  sigaction(SIGVTALRM, &action, NULL);
  setitimer(ITIMER_VIRTUAL, &(struct itimerval){{2, 0}, {2, 0}}, NULL);
}
