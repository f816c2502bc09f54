/* The order of jobs: first in, first out within a priority, the more urgent first, and long work that yields. */
#include "pool/jobs_support.h"

enum { JOBS = 300 };

static void fill(noted_job *jobs, struct notes *notes, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) jobs[i] = (noted_job){notes, i};
}

Test(jobs_priority, jobs_of_one_priority_run_first_in_first_out) {
  muster_pool *pool = create_pool(1);
  muster_group group = new_group(pool);
  noted_job jobs[JOBS];
  for (uint32_t priority = 0; priority < MUSTER_URGENCIES; priority++) {
    struct notes notes = {0};
    fill(jobs, &notes, JOBS);
    for (uint32_t i = 0; i < JOBS; i++) submit(pool, priority, note_job, &jobs[i], &group);
    if (priority % 2)
      wait_for(&group);
    else
      cr_assert_eq(muster_group_wait_helping(&group, priority), MUSTER_OK);
    check_notes_ascend(&notes, JOBS);
  }
  muster_pool_destroy(pool);
}

Test(jobs_priority, a_worker_thread_runs_them_first_in_first_out_too) {
  muster_pool *pool = create_pool(2);
  muster_group group = new_group(pool);
  noted_job jobs[JOBS];
  for (uint32_t round = 0; round < 50 / SLOWER; round++) {
    struct notes notes = {0};
    struct gate gate = {0};
    fill(jobs, &notes, JOBS);
    hold_workers(pool, &gate, 1, &group);
    for (uint32_t i = 0; i < JOBS; i++) submit(pool, round % 8, note_job, &jobs[i], &group);
    open_gate(&gate);
    cr_assert_eq(muster_group_wait_asleep(&group), MUSTER_OK);
    check_notes_ascend(&notes, JOBS);
  }
  muster_pool_destroy(pool);
}

Test(jobs_priority, the_most_urgent_run_first_whatever_was_submitted_first) {
  muster_pool *pool = create_pool(2);
  muster_group group = new_group(pool);
  noted_job jobs[JOBS];
  struct notes notes = {0};
  struct gate gate = {0};
  fill(jobs, &notes, JOBS);
  hold_workers(pool, &gate, 1, &group);
  /* Job i is of priority 7 - i / per, and the least urgent are submitted first. */
  const uint32_t per = JOBS / MUSTER_URGENCIES, used = per * MUSTER_URGENCIES;
  for (uint32_t priority = MUSTER_URGENCIES; priority-- > 0;)
    for (uint32_t i = 0; i < per; i++) submit(pool, priority, note_job, &jobs[priority * per + i], &group);
  open_gate(&gate);
  cr_assert_eq(muster_group_wait_asleep(&group), MUSTER_OK);
  check_notes_ascend(&notes, used);
  muster_pool_destroy(pool);
}

Test(jobs_priority, a_waiter_takes_the_more_urgent_jobs_of_its_group_first) {
  muster_pool *pool = create_pool(1);
  muster_group group = new_group(pool);
  struct notes notes = {0};
  noted_job jobs[MUSTER_URGENCIES];
  fill(jobs, &notes, MUSTER_URGENCIES);
  for (uint32_t priority = MUSTER_URGENCIES; priority-- > 0;) submit(pool, priority, note_job, &jobs[priority], &group);
  wait_for(&group);
  check_notes_ascend(&notes, MUSTER_URGENCIES);
  muster_pool_destroy(pool);
}

/* ------------------------------------------------------------------------------------------------------- giving way */

struct intrusion {
  muster_pool *pool;
  muster_group *group;
  struct notes *notes;
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
  write_note(intrusion->notes, job->id);
  if (job->id == intrusion->after)
    muster_job_submit(intrusion->pool, MUSTER_URGENCY_URGENT, note_job, &intrusion->urgent, intrusion->group);
}

/* Also when they are known to be short, and are claimed several at once. */
Test(jobs_priority, between_any_two_jobs_a_worker_gives_way_to_a_more_urgent_one) {
  enum { CHAIN = 40, URGENT = 1000 };
  muster_pool *pool = create_pool(2);
  muster_group group = new_group(pool);
  for (uint32_t round = 0; round < 200 / SLOWER; round++) {
    struct notes notes = {0};
    struct gate gate = {0};
    struct intrusion intrusion = {pool, &group, &notes, {&notes, URGENT}, round % CHAIN};
    intruded_job jobs[CHAIN];
    hold_workers(pool, &gate, 1, &group);
    for (uint32_t i = 0; i < CHAIN; i++) {
      jobs[i] = (intruded_job){&intrusion, i};
      submit(pool, MUSTER_URGENCY_NORMAL, note_and_intrude, &jobs[i], &group);
    }
    open_gate(&gate);
    cr_assert_eq(muster_group_wait_asleep(&group), MUSTER_OK);
    cr_assert_eq(read_count(&notes.count), CHAIN + 1);
    cr_assert_eq(note_at(&notes, intrusion.after + 1), URGENT, "the urgent job was submitted by job %u",
                 intrusion.after);
  }
  muster_pool_destroy(pool);
}

struct pieces {
  muster_pool *pool;
  muster_group *group;
  struct notes notes;
  noted_job urgent;
  uint64_t until; /* the piece that holds this index submits the urgent job */
  uint32_t piece; /* that submitted it */
  uint32_t count;
};

static void note_piece(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  struct pieces *pieces = argument;
  (void)worker;
  write_note(&pieces->notes, pieces->count);
  if (begin <= pieces->until && pieces->until < end) {
    pieces->piece = pieces->count;
    muster_job_submit(pieces->pool, MUSTER_URGENCY_HIGH, note_job, &pieces->urgent, pieces->group);
  }
  pieces->count++;
}

Test(jobs_priority, between_any_two_pieces_of_a_range_its_workers_yield_to_a_more_urgent_job) {
  enum { URGENT = 1000000 };
  muster_pool *pool = create_pool(1);
  muster_group group = new_group(pool);
  for (uint64_t until = 0; until < 90; until += 7) {
    struct pieces pieces = {.pool = pool, .group = &group, .urgent = {&pieces.notes, URGENT}, .until = until};
    muster_parallel_for(pool, MUSTER_URGENCY_FRAME, 100, 1, note_piece, &pieces);
    cr_assert(muster_group_is_complete(&group), "the urgent job has not run");
    cr_assert_eq(note_at(&pieces.notes, pieces.piece + 1), URGENT);
  }
  muster_pool_destroy(pool);
}

Test(jobs_priority, a_range_does_not_yield_to_jobs_of_its_own_priority_or_less_urgent_ones) {
  muster_pool *pool = create_pool(1);
  muster_group group = new_group(pool);
  struct pieces pieces = {.pool = pool, .group = &group, .until = UINT64_MAX};
  noted_job equal = {&pieces.notes, 777};
  submit(pool, MUSTER_URGENCY_HIGH, note_job, &equal, &group);
  submit(pool, MUSTER_URGENCY_LOW, note_job, &equal, &group);
  muster_parallel_for(pool, MUSTER_URGENCY_HIGH, 100, 1, note_piece, &pieces);
  cr_assert_eq(read_count(&pieces.notes.count), pieces.count);
  wait_for(&group);
  muster_pool_destroy(pool);
}
