/* pool/jobs_support.h - what the tests of muster/jobs.h share: pools, threads, gates that hold workers, and notes of
 * which job ran when. Nothing here waits for time to pass: threads wait for counts, and yield meanwhile.
 *
 * Checks that can end a test stand on the test's own thread; jobs and further threads count what is wrong. */
#ifndef POOL_JOBS_SUPPORT_H
#define POOL_JOBS_SUPPORT_H

#include "pool/crowds.h"
#include "support/sanitized.h"

#include <muster/jobs.h>

#include <unistd.h>

/* Counts of repetitions are divided by this, so that slow builds end in seconds, too. */
enum { SLOWER = UNDER_THREAD_SANITIZER ? 8 : 1 };

/* Where a wake is lost a test hangs: it then ends alone, by a signal, and the others go on. */
enum { HANG_SECONDS = 100 };

static inline muster_pool *create_pool_as(muster_pool_def def) {
  alarm(HANG_SECONDS);
  muster_pool *pool = muster_pool_create(&def);
  cr_assert_not_null(pool, "%s", muster_last_error());
  return pool;
}

static inline muster_pool *create_pool(uint32_t workers) {
  return create_pool_as(WITH(muster_pool_def, it.workers = workers));
}

/* Of a variable that points to it. */
static inline void close_pool(muster_pool **pool) {
  muster_pool_destroy(*pool);
}

static inline muster_group new_group(muster_pool *pool) {
  muster_group group;
  muster_group_init(&group, pool);
  return group;
}

static inline void submit(muster_pool *pool, uint32_t priority, muster_job_function run, void *argument,
                          muster_group *group) {
  cr_assert_eq(muster_job_submit(pool, priority, run, argument, group), MUSTER_OK, "%s", muster_last_error());
}

static inline void wait_for(muster_group *group) {
  cr_assert_eq(muster_group_wait(group), MUSTER_OK, "%s", muster_last_error());
}

static inline void wait_asleep(muster_group *group) {
  cr_assert_eq(muster_group_wait_asleep(group), MUSTER_OK, "%s", muster_last_error());
}

/* --------------------------------------------------------------------------------------------------------- counting */

/* Ordered: a thread that sees the count may use again what was used before it was raised. */
static inline uint64_t count_up(shared_u64 *value) {
  uint64_t seen = load_relaxed_u64(value);
  while (!compare_exchange_ordered_u64(value, &seen, seen + 1)) continue;
  return seen + 1;
}

static inline uint64_t read_count(const shared_u64 *value) {
  return load_ordered_u64(value);
}

static inline void await_count(const shared_u64 *value, uint64_t least) {
  AWAIT(load_ordered_u64(value) >= least);
}

/* A job that counts itself. */
static inline void count_job(void *argument, uint32_t worker) {
  (void)worker;
  count_up(argument);
}

static inline void do_nothing(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
}

/* ---------------------------------------------------------------------------------------------------------- threads */

static inline uint64_t sleeps_of(const muster_pool *pool, uint32_t index) {
  muster_pool_statistics statistics = muster_pool_statistics_default();
  muster_pool_statistics_read(pool, index, &statistics);
  return statistics.sleeps;
}

/* Waits until the thread with this index has gone to sleep so often. It is enlisted by then: whatever is done from here
 * on has to wake it. */
static inline void await_sleep(const muster_pool *pool, uint32_t index, uint64_t least) {
  AWAIT(sleeps_of(pool, index) >= least);
}

/* A thread that waits for a group in one of the three ways. */
struct waiter {
  muster_group *group;
  enum { WAIT_OWN, WAIT_HELPING, WAIT_ASLEEP } way;
  uint32_t least_urgent;
  muster_result result;
  shared_u64 returned;
  pthread_t thread;
};

static inline void *run_waiter(void *argument) {
  struct waiter *waiter = argument;
  if (waiter->way == WAIT_OWN) waiter->result = muster_group_wait(waiter->group);
  if (waiter->way == WAIT_HELPING) waiter->result = muster_group_wait_helping(waiter->group, waiter->least_urgent);
  if (waiter->way == WAIT_ASLEEP) waiter->result = muster_group_wait_asleep(waiter->group);
  count_up(&waiter->returned);
  return NULL;
}

static inline void start_waiter(struct waiter *waiter) {
  waiter->thread = start_thread(run_waiter, waiter);
}

static inline void join_waiter(struct waiter *waiter) {
  pthread_join(waiter->thread, NULL);
  cr_assert_eq(waiter->result, MUSTER_OK);
}

/* ------------------------------------------------------------------------------------------------------------ gates */

/* Jobs that come to a gate stay there until it is opened: what holds workers while a test arranges what comes next. */
struct gate {
  shared_u64 arrived, open, left;
};

static inline void stand_at_gate(void *argument, uint32_t worker) {
  struct gate *gate = argument;
  (void)worker;
  count_up(&gate->arrived);
  await_count(&gate->open, 1);
  count_up(&gate->left);
}

static inline void open_gate(struct gate *gate) {
  store_ordered_u64(&gate->open, 1);
}

/* Occupies `count` worker threads. */
static inline void hold_workers(muster_pool *pool, struct gate *gate, uint32_t count, muster_group *group) {
  for (uint32_t i = 0; i < count; i++) {
    submit(pool, MUSTER_URGENCY_URGENT, stand_at_gate, gate, group);
    await_count(&gate->arrived, i + 1);
  }
}

/* Jobs that spin on each other: each needs a thread of its own. */
struct meeting {
  uint64_t members;
  shared_u64 arrived;
};

static inline void meet(void *argument, uint32_t worker) {
  struct meeting *meeting = argument;
  (void)worker;
  uint64_t number = count_up(&meeting->arrived) - 1;
  await_count(&meeting->arrived, (number / meeting->members + 1) * meeting->members);
}

/* Own to each thread, whatever runs on it. */
static inline uint64_t own_number(void) {
  static _Thread_local char own;
  return (uint64_t)(uintptr_t)&own;
}

/* ------------------------------------------------------------------------------------------------------------ order */

enum { NOTES_MAX = 4096 };

/* The jobs that ran, in the order in which they ran. */
struct notes {
  shared_u64 count;
  shared_u32 ids[NOTES_MAX];
};

typedef struct noted_job {
  struct notes *notes;
  uint32_t id;
} noted_job;

static inline void write_note(struct notes *notes, uint32_t id) {
  uint64_t place = fetch_add_relaxed_u64(&notes->count, 1);
  if (place < NOTES_MAX) store_relaxed_u32(&notes->ids[place], id);
}

static inline void note_job(void *argument, uint32_t worker) {
  const noted_job *job = argument;
  (void)worker;
  write_note(job->notes, job->id);
}

static inline uint32_t note_at(const struct notes *notes, uint64_t place) {
  return load_relaxed_u32(&notes->ids[place]);
}

static inline void check_notes_ascend(const struct notes *notes, uint64_t count) {
  cr_assert_eq(read_count(&notes->count), count);
  for (uint64_t i = 0; i < count; i++)
    cr_assert_eq(note_at(notes, i), i, "place %u has job %u", (unsigned)i, note_at(notes, i));
}

#endif
