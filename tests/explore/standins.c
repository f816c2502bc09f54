/* standins.c - what the product calls and a schedule cannot have: the clock, threads, memory of the operating system.
 * For prototypes, the product's own headers. */
#include "base/clock.h"
#include "base/error.h"
#include "base/fatal.h"
#include "base/forked.h"
#include "pool/leaving.h"
#include "pool/threads.h"

#include "explorer.h"

#include <stdlib.h>

/* -------------------------------------------------------------------------------------------------- time, memory */

clock_source clock_calibrate(void) {
  return (clock_source){0};
}

/* Moves only while a fibre spins (explore_pause) or a job takes its time (explore_spend). */
uint64_t clock_now(const clock_source *source) {
  (void)source;
  return explore_now.clock_ns;
}

muster_result arena_create(struct arena *arena, const muster_allocator *allocator) {
  (void)allocator;
  arena->failed = false;
  return MUSTER_OK;
}

void arena_destroy(struct arena *arena) {
  (void)arena;
}

void *arena_reserve(struct arena *arena, size_t count, size_t each) {
  (void)arena;
  return explore_memory(count * each);
}

void *arena_reserve_for_frames(struct arena *arena, size_t count, size_t each) {
  return arena_reserve(arena, count, each);
}

void arena_make_ready(const struct arena *arena, void *memory, size_t bytes) {
  (void)arena;
  (void)memory;
  (void)bytes;
}

/* ------------------------------------------------------------------------------------------------------ messages */

muster_result error_keep(muster_result result, const char *format, ...) {
  (void)format;
  return result;
}

void log_write(const muster_log_sink *sink, muster_log_level level, const char *format, ...) {
  (void)sink;
  (void)level;
  (void)format;
}

/* A schedule misuses nothing. */
muster_result error_missing(const char *what, const char *missing) {
  return error_set(MUSTER_E_ARGUMENT, "%s: the %s must be given", what, missing);
}

void fatal(const char *format, ...) {
  (void)format;
  abort();
}

LEAVING_ROUTINE _Unwind_Reason_Code leaving_job(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
                                                struct _Unwind_Exception *exception, struct _Unwind_Context *context) {
  (void)version;
  (void)actions;
  (void)class;
  (void)exception;
  (void)context;
  abort();
}

/* ------------------------------------------------------------------------------------------------------- threads */

uint32_t muster_available_processors(void) {
  return 2;
}

bool threads_survey(struct muster_pool *pool) {
  (void)pool;
  return true;
}

uint32_t threads_most(uint32_t asked) {
  return asked;
}

bool threads_start(struct muster_pool *pool, uint32_t workers) {
  (void)pool, (void)workers;
  return true;
}

void threads_start_no_more(struct muster_pool *pool) {
  (void)pool;
}

/* All the others have ended when nothing moves any more, or they never will: that fails the schedule later. */
void threads_join(struct muster_pool *pool) {
  (void)pool;
  explore_until_quiet();
}

void threads_keep_apart(struct muster_pool *pool, uint32_t index) {
  (void)pool;
  (void)index;
}

void threads_keep_all_apart(struct muster_pool *pool) {
  (void)pool;
}

void threads_pause(void) {
  explore_yield();
}

/* What <sched.h> declares under this name for the product's sources. */
int explore_sched_yield(void);

int explore_sched_yield(void) {
  explore_yield();
  return 0;
}

/* Nothing is forked here. */
bool forked_since(pid_t process) {
  (void)process;
  return false;
}
