/* Waiting for a group: what a waiter runs meanwhile and what it must not, and that every one wakes. */
#include "pool/jobs_support.h"

/* ------------------------------------------------------------------------------------- what a waiter runs meanwhile */

Test(group, a_wait_runs_the_jobs_of_the_group_wherever_they_stand_and_no_others) {
  SCOPED(close_pool) muster_pool *pool = create_pool(1);
  muster_group own = new_group(pool);
  shared_u64 ran = {0}, foreign = {0};
  for (uint32_t i = 0; i < 400; i++)
    submit(pool, i / 4 % 8, count_job, i % 4 == 3 ? &ran : &foreign, i % 4 == 3 ? &own : NULL);
  wait_for(&own);
  cr_assert_eq(read_count(&ran), 100);
  cr_assert_eq(read_count(&foreign), 0, "a wait ran a job of another group");
}

Test(group, a_wait_takes_jobs_of_the_group_out_of_what_a_worker_has_claimed_and_not_started) {
  SCOPED(close_pool) muster_pool *pool = create_pool(2);
  for (uint32_t round = 0; round < 300 / SLOWER; round++) {
    muster_group warm = new_group(pool), own = new_group(pool);
    struct gate before = {0}, gate = {0};
    shared_u64 ran = {0};
    for (uint32_t i = 0; i < 200; i++) submit(pool, 4, do_nothing, NULL, &warm); /* jobs are short: claims are long */
    wait_asleep(&warm);
    hold_workers(pool, &before, 1, NULL);
    submit(pool, 4, stand_at_gate, &gate, NULL);
    for (uint32_t i = 0; i < 7; i++) submit(pool, 4, count_job, &ran, &own);
    open_gate(&before);
    await_count(&gate.arrived, 1);
    wait_for(&own); /* without end if the worker keeps them */
    cr_assert_eq(read_count(&ran), 7);
    open_gate(&gate);
    await_count(&gate.left, 1);
  }
}

/* A job of the group that runs elsewhere keeps the waiter there until it finds nothing that it may run, and sleeps. */
Test(group, a_helping_wait_runs_jobs_down_to_the_given_priority_and_none_less_urgent) {
  for (uint32_t least = 0; least < MUSTER_URGENCIES; least++) {
    SCOPED(close_pool) muster_pool *pool = create_pool(2);
    muster_group own = new_group(pool);
    struct gate gate = {0};
    shared_u64 urgent = {0}, rest = {0}, ran = {0};
    hold_workers(pool, &gate, 1, &own);
    for (uint32_t priority = 0; priority < MUSTER_URGENCIES; priority++)
      submit(pool, priority, count_job, priority <= least ? &urgent : &rest, NULL);
    submit(pool, MUSTER_URGENCIES - 1, count_job, &ran, &own); /* its own are run whatever their priority */
    struct waiter waiter = {.group = &own, .way = WAIT_HELPING, .least_urgent = least};
    start_waiter(&waiter);
    await_sleep(pool, 0, 1);
    cr_assert_eq(read_count(&ran), 1);
    cr_assert_eq(read_count(&urgent), least + 1);
    cr_assert_eq(read_count(&rest), 0, "a less urgent job was run");
    open_gate(&gate);
    join_waiter(&waiter);
  }
}

Test(group, a_helping_wait_helps_while_its_group_is_held_up_elsewhere) {
  SCOPED(close_pool) muster_pool *pool = create_pool(2);
  muster_group own = new_group(pool);
  struct gate gate = {0};
  shared_u64 urgent = {0};
  hold_workers(pool, &gate, 1, &own);
  struct waiter waiter = {.group = &own, .way = WAIT_HELPING, .least_urgent = MUSTER_URGENCY_HIGH};
  start_waiter(&waiter);
  for (uint32_t i = 0; i < 100; i++) {
    if (i % 10 == 9) await_sleep(pool, 0, i / 10 + 1); /* each time it is woken */
    submit(pool, i % 3, count_job, &urgent, NULL);
    await_count(&urgent, i + 1);
  }
  cr_assert_eq(read_count(&waiter.returned), 0);
  open_gate(&gate);
  join_waiter(&waiter);
}

static void *open_when_asleep(void *argument) {
  void **test = argument;
  await_sleep(test[0], 0, 1);
  open_gate(test[1]);
  return NULL;
}

Test(group, a_wait_asleep_runs_nothing_not_even_jobs_of_the_group) {
  SCOPED(close_pool) muster_pool *pool = create_pool(2);
  for (uint32_t round = 0; round < 50; round++) {
    muster_group own = new_group(pool);
    struct gate gate = {0};
    shared_u64 ran = {0};
    uint64_t jobs_before, jobs_after;
    muster_pool_statistics sum = muster_pool_statistics_default();
    muster_pool_statistics_read(pool, 0, &sum);
    jobs_before = sum.jobs;
    hold_workers(pool, &gate, 1, NULL);
    for (uint32_t i = 0; i < 10; i++) submit(pool, 0, count_job, &ran, &own);
    pthread_t opener = start_thread(open_when_asleep, (void *[]){pool, &gate});
    wait_asleep(&own);
    pthread_join(opener, NULL);
    muster_pool_statistics_read(pool, 0, &sum);
    jobs_after = sum.jobs;
    cr_assert_eq(read_count(&ran), 10);
    cr_assert_eq(jobs_after, jobs_before, "the waiter, whose index is 0, ran a job");
  }
}

Test(group, a_wait_asleep_in_a_pool_of_one_worker_is_refused) {
  SCOPED(close_pool) muster_pool *pool = create_pool(1);
  muster_group group = new_group(pool);
  submit(pool, 0, do_nothing, NULL, &group);
  cr_assert_eq(muster_group_wait_asleep(&group), MUSTER_E_STATE);
  wait_for(&group);
  wait_asleep(&group);
}

Test(group, a_gang_of_as_many_as_there_are_worker_threads_meets_while_the_caller_sleeps) {
  SCOPED(close_pool) muster_pool *pool = create_pool(5);
  for (uint32_t round = 0; round < 1000 / SLOWER; round++) {
    muster_group warm = new_group(pool), group = new_group(pool);
    struct meeting meeting = {.members = 4};
    for (uint32_t i = 0; i < round % 32; i++) submit(pool, MUSTER_URGENCY_NORMAL, do_nothing, NULL, &warm);
    for (uint32_t i = 0; i < meeting.members; i++) submit(pool, MUSTER_URGENCY_NORMAL, meet, &meeting, &group);
    wait_asleep(&group);
    wait_for(&warm);
  }
}

/* ---------------------------------------------------------------------------------------------- waiting inside jobs */

struct family {
  muster_pool *pool;
  muster_group *group, *parent;
  uint32_t depth;
  shared_u64 *ran;
  muster_result result;
};

static void wait_for_own_group(void *argument, uint32_t worker) {
  struct family *family = argument;
  (void)worker;
  family->result = muster_group_wait(family->group);
  if (family->result == MUSTER_E_STATE) family->result = muster_group_wait_helping(family->group, 7);
  if (family->result == MUSTER_E_STATE) family->result = muster_group_wait_asleep(family->group);
}

Test(group, a_job_that_waits_for_its_own_group_is_told_so) {
  SCOPED(close_pool) muster_pool *pool = create_pool(2);
  muster_group group = new_group(pool);
  struct family family = {.pool = pool, .group = &group};
  submit(pool, 0, wait_for_own_group, &family, &group);
  wait_for(&group);
  cr_assert_eq(family.result, MUSTER_E_STATE);
}

static void run_inner_that_waits_for_outer(void *argument, uint32_t worker) {
  struct family *family = argument;
  (void)worker;
  muster_group inner = new_group(family->pool);
  muster_job_submit(family->pool, 0, wait_for_own_group, family, &inner); /* family->group is the outer one */
  muster_group_wait(&inner);
}

Test(group, a_job_nested_in_a_wait_on_the_same_thread_is_told_so_too) {
  SCOPED(close_pool) muster_pool *pool = create_pool(1);
  muster_group group = new_group(pool);
  struct family family = {.pool = pool, .group = &group};
  submit(pool, 0, run_inner_that_waits_for_outer, &family, &group);
  wait_for(&group);
  cr_assert_eq(family.result, MUSTER_E_STATE);
}

static void have_children(void *argument, uint32_t worker) {
  enum { CHILDREN = 3 };
  const struct family *parent = argument;
  (void)worker;
  count_up(parent->ran);
  if (parent->depth == 0) return;
  muster_group group = new_group(parent->pool);
  struct family child = {.pool = parent->pool, .depth = parent->depth - 1, .ran = parent->ran};
  for (uint32_t i = 0; i < CHILDREN; i++) muster_job_submit(parent->pool, 4, have_children, &child, &group);
  if (parent->depth % 2)
    muster_group_wait(&group);
  else
    muster_group_wait_helping(&group, 7);
}

Test(group, jobs_wait_for_jobs_that_wait_for_jobs) {
  for (uint32_t workers = 1; workers <= 8; workers *= 2) {
    SCOPED(close_pool) muster_pool *pool = create_pool(workers);
    for (uint32_t round = 0; round < 40 / SLOWER; round++) {
      shared_u64 ran = {0};
      muster_group group = new_group(pool);
      struct family family = {.pool = pool, .depth = 6, .ran = &ran};
      submit(pool, 4, have_children, &family, &group);
      wait_for(&group);
      cr_assert_eq(read_count(&ran), 1 + 3 + 9 + 27 + 81 + 243 + 729);
    }
  }
}

/* ------------------------------------------------------------------------------------------------- all waiters wake */

Test(group, all_who_wait_asleep_for_a_group_wake) {
  enum { WAITERS = 6 };
  SCOPED(close_pool) muster_pool *pool = create_pool(2);
  for (uint32_t round = 0; round < 100 / SLOWER; round++) {
    muster_group group = new_group(pool);
    struct gate gate = {0};
    struct waiter waiters[WAITERS];
    uint64_t slept = sleeps_of(pool, UINT32_MAX);
    hold_workers(pool, &gate, 1, &group);
    for (uint32_t i = 0; i < WAITERS; i++) {
      waiters[i] = (struct waiter){.group = &group, .way = (int)(i % 3), .least_urgent = i};
      start_waiter(&waiters[i]);
    }
    await_sleep(pool, UINT32_MAX, slept + WAITERS - 2);
    open_gate(&gate);
    for (uint32_t i = 0; i < WAITERS; i++) join_waiter(&waiters[i]);
  }
}

typedef struct late_submit {
  muster_pool *pool;
  muster_group *group;
  shared_u64 *ran;
  struct gate gate;
} late_submit;

static void submit_late(void *argument, uint32_t worker) {
  late_submit *late = argument;
  stand_at_gate(&late->gate, worker);
  muster_job_submit(late->pool, 5, count_job, late->ran, late->group);
  await_count(late->ran, 1);
}

/* No other thread could run it: the other waiter helps with more urgent jobs only. */
Test(group, a_waiter_asleep_wakes_for_a_job_of_its_group_although_somebody_else_sleeps_who_helps_with_others) {
  SCOPED(close_pool) muster_pool *pool = create_pool(3);
  muster_group held = new_group(pool), own = new_group(pool);
  struct gate gate = {0};
  shared_u64 ran = {0};
  late_submit late = {.pool = pool, .group = &own, .ran = &ran};
  struct waiter helper = {.group = &held, .way = WAIT_HELPING, .least_urgent = MUSTER_URGENCY_URGENT};
  struct waiter owner = {.group = &own, .way = WAIT_OWN};
  hold_workers(pool, &gate, 1, &held);
  submit(pool, 0, submit_late, &late, &own);
  await_count(&late.gate.arrived, 1);
  uint64_t slept = sleeps_of(pool, UINT32_MAX);
  start_waiter(&helper);
  await_sleep(pool, UINT32_MAX, slept + 1);
  start_waiter(&owner);
  await_sleep(pool, UINT32_MAX, slept + 2);
  open_gate(&late.gate);
  join_waiter(&owner);
  open_gate(&gate);
  join_waiter(&helper);
}

Test(group, of_two_sleeping_helpers_one_that_may_runs_what_the_other_may_not) {
  SCOPED(close_pool) muster_pool *pool = create_pool(3);
  muster_group first = new_group(pool), second = new_group(pool);
  struct gate gate = {0};
  shared_u64 ran = {0};
  struct waiter choosy = {.group = &first, .way = WAIT_HELPING, .least_urgent = MUSTER_URGENCY_URGENT};
  struct waiter helpful = {.group = &second, .way = WAIT_HELPING, .least_urgent = MUSTER_URGENCY_LOW};
  hold_workers(pool, &gate, 1, &first);
  submit(pool, 0, stand_at_gate, &gate, &second);
  await_count(&gate.arrived, 2);
  uint64_t slept = sleeps_of(pool, UINT32_MAX);
  start_waiter(&choosy); /* takes index 0, and is found first */
  await_sleep(pool, 0, 1);
  start_waiter(&helpful);
  await_sleep(pool, UINT32_MAX, slept + 2);
  submit(pool, MUSTER_URGENCY_NORMAL, count_job, &ran, NULL);
  await_count(&ran, 1);
  open_gate(&gate);
  join_waiter(&choosy);
  join_waiter(&helpful);
}
