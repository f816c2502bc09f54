/* The order of jobs: first in, first out within a priority, the more urgent first, and long work that yields. */
#include "pool/jobs_support.h"

enum { JOBS = 300 };

static noted_job jobs[JOBS];
static struct notes notes;

static void begin_notes(void) {
  notes = (struct notes){0};
  for (uint32_t i = 0; i < JOBS; i++) jobs[i] = (noted_job){&notes, i};
}

Test(jobs_priority, jobs_of_one_priority_run_first_in_first_out) {
  SCOPED(close_pool) muster_pool *pool = create_pool(1);
  muster_group group = new_group(pool);
  for (uint32_t priority = 0; priority < MUSTER_URGENCIES; priority++) {
    begin_notes();
    for (uint32_t i = 0; i < JOBS; i++) submit(pool, priority, note_job, &jobs[i], &group);
    if (priority % 2)
      wait_for(&group);
    else
      cr_assert_eq(muster_group_wait_helping(&group, priority), MUSTER_OK);
    check_notes_ascend(&notes, JOBS);
  }
}

Test(jobs_priority, a_worker_thread_runs_them_first_in_first_out_too) {
  SCOPED(close_pool) muster_pool *pool = create_pool(2);
  muster_group group = new_group(pool);
  for (uint32_t round = 0; round < 50 / SLOWER; round++) {
    struct gate gate = {0};
    begin_notes();
    hold_workers(pool, &gate, 1, &group);
    for (uint32_t i = 0; i < JOBS; i++) submit(pool, round % 8, note_job, &jobs[i], &group);
    open_gate(&gate);
    wait_asleep(&group);
    check_notes_ascend(&notes, JOBS);
  }
}

Test(jobs_priority, the_most_urgent_run_first_whatever_was_submitted_first) {
  SCOPED(close_pool) muster_pool *pool = create_pool(2);
  muster_group group = new_group(pool);
  struct gate gate = {0};
  begin_notes();
  hold_workers(pool, &gate, 1, &group);
  /* Job i is of priority 7 - i / per, and the least urgent are submitted first. */
  const uint32_t per = JOBS / MUSTER_URGENCIES, used = per * MUSTER_URGENCIES;
  for (uint32_t priority = MUSTER_URGENCIES; priority-- > 0;)
    for (uint32_t i = 0; i < per; i++) submit(pool, priority, note_job, &jobs[priority * per + i], &group);
  open_gate(&gate);
  wait_asleep(&group);
  check_notes_ascend(&notes, used);
}

Test(jobs_priority, a_waiter_takes_the_more_urgent_jobs_of_its_group_first) {
  SCOPED(close_pool) muster_pool *pool = create_pool(1);
  muster_group group = new_group(pool);
  begin_notes();
  for (uint32_t priority = MUSTER_URGENCIES; priority-- > 0;) submit(pool, priority, note_job, &jobs[priority], &group);
  wait_for(&group);
  check_notes_ascend(&notes, MUSTER_URGENCIES);
}

/* ------------------------------------------------------------------------------------------------------- giving way */

struct intrusion {
  muster_pool *pool;
  muster_group *group;
  noted_job urgent;
  uint32_t after; /* the id of the job that submits it */
};

typedef struct intruded_job {
  struct intrusion *intrusion;
  uint32_t id;
} intruded_job;

static void note_and_intrude(void *argument, uint32_t worker) {
  const intruded_job *job = argument;
  struct intrusion *intrusion = job->intrusion;
  (void)worker;
  write_note(&notes, job->id);
  if (job->id == intrusion->after)
    muster_job_submit(intrusion->pool, MUSTER_URGENCY_URGENT, note_job, &intrusion->urgent, intrusion->group);
}

/* Also when they are known to be short, and are claimed several at once. */
Test(jobs_priority, between_any_two_jobs_a_worker_gives_way_to_a_more_urgent_one) {
  enum { CHAIN = 40, URGENT = 1000 };
  SCOPED(close_pool) muster_pool *pool = create_pool(2);
  muster_group group = new_group(pool);
  for (uint32_t round = 0; round < 200 / SLOWER; round++) {
    struct gate gate = {0};
    struct intrusion intrusion = {pool, &group, {&notes, URGENT}, round % CHAIN};
    intruded_job chain[CHAIN];
    begin_notes();
    hold_workers(pool, &gate, 1, &group);
    for (uint32_t i = 0; i < CHAIN; i++) {
      chain[i] = (intruded_job){&intrusion, i};
      submit(pool, MUSTER_URGENCY_NORMAL, note_and_intrude, &chain[i], &group);
    }
    open_gate(&gate);
    wait_asleep(&group);
    cr_assert_eq(read_count(&notes.count), CHAIN + 1);
    cr_assert_eq(note_at(&notes, intrusion.after + 1), URGENT, "the urgent job was submitted by job %u",
                 intrusion.after);
  }
}

struct pieces {
  muster_pool *pool;
  muster_group *group;
  noted_job urgent;
  uint64_t until; /* the piece that holds this index submits the urgent job */
  uint32_t piece; /* that submitted it */
  uint32_t count;
};

static void note_piece(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  struct pieces *pieces = argument;
  (void)worker;
  write_note(&notes, pieces->count);
  if (begin <= pieces->until && pieces->until < end) {
    pieces->piece = pieces->count;
    muster_job_submit(pieces->pool, MUSTER_URGENCY_HIGH, note_job, &pieces->urgent, pieces->group);
  }
  pieces->count++;
}

Test(jobs_priority, between_any_two_pieces_of_a_range_its_workers_yield_to_a_more_urgent_job) {
  enum { URGENT = 1000000 };
  SCOPED(close_pool) muster_pool *pool = create_pool(1);
  muster_group group = new_group(pool);
  for (uint64_t until = 0; until < 90; until += 7) {
    struct pieces pieces = {.pool = pool, .group = &group, .urgent = {&notes, URGENT}, .until = until};
    begin_notes();
    muster_parallel_for(pool, MUSTER_URGENCY_FRAME, 100, 1, note_piece, &pieces);
    cr_assert(muster_group_is_complete(&group), "the urgent job has not run");
    cr_assert_eq(note_at(&notes, pieces.piece + 1), URGENT);
  }
}

Test(jobs_priority, a_range_does_not_yield_to_jobs_of_its_own_priority_or_less_urgent_ones) {
  SCOPED(close_pool) muster_pool *pool = create_pool(1);
  muster_group group = new_group(pool);
  struct pieces pieces = {.pool = pool, .group = &group, .until = UINT64_MAX};
  noted_job equal = {&notes, 777};
  submit(pool, MUSTER_URGENCY_HIGH, note_job, &equal, &group);
  submit(pool, MUSTER_URGENCY_LOW, note_job, &equal, &group);
  muster_parallel_for(pool, MUSTER_URGENCY_HIGH, 100, 1, note_piece, &pieces);
  cr_assert_eq(read_count(&notes.count), pieces.count);
  wait_for(&group);
}
