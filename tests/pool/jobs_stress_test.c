/* Everything at once, on far more threads than processors: whatever is interleaved, each job runs once or is counted as
 * dropped, groups complete, and every thread comes home. */
#include "pool/jobs_support.h"

enum { GROUPS = 4, ACTIONS = 400 / SLOWER };

struct storm {
  muster_pool *pool;
  uint64_t seed;
  shared_u64 accepted, ran;
  shared_u64 wrong_sums, wrong_results, doubles;
  shared_u64 holders[512];
};

typedef struct storm_thread {
  struct storm *storm;
  uint64_t number;
  pthread_t thread;
} storm_thread;

static uint64_t draw(const struct storm *storm, uint64_t number, uint64_t step) {
  return random_at(storm->seed, number, 0, step);
}

/* Notes which thread is inside under an index; a thread may find itself, further out. */
static void check_index(struct storm *storm, uint32_t worker) {
  uint64_t nobody = 0;
  if (compare_exchange_ordered_u64(&storm->holders[worker], &nobody, own_number()))
    store_ordered_u64(&storm->holders[worker], 0);
  else if (nobody != own_number())
    count_up(&storm->doubles);
}

static void plain_job(void *argument, uint32_t worker) {
  struct storm *storm = argument;
  check_index(storm, worker);
  count_up(&storm->ran);
}

static void add_piece(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  (void)worker;
  fetch_add_relaxed_u64(argument, end - begin);
}

static void note_result(struct storm *storm, muster_result result) {
  if (result == MUSTER_OK)
    count_up(&storm->accepted);
  else if (result != MUSTER_E_FULL)
    count_up(&storm->wrong_results);
}

static void check_parallel_for(struct storm *storm, uint64_t random) {
  shared_u64 sum = {0};
  uint64_t count = random % 300;
  if (muster_parallel_for(storm->pool, (uint32_t)(random >> 9) % 8, count, random % 5, add_piece, &sum) != MUSTER_OK ||
      read_count(&sum) != count)
    count_up(&storm->wrong_sums);
}

/* A job that does what the host does: submits, waits, ranges. */
static void busy_job(void *argument, uint32_t worker) {
  struct storm *storm = argument;
  check_index(storm, worker);
  uint64_t random = draw(storm, own_number(), count_up(&storm->ran));
  muster_group group = new_group(storm->pool);
  for (uint32_t i = 0; i < random % 4; i++)
    note_result(storm, muster_job_submit(storm->pool, (uint32_t)(random >> 8 * i) % 8, plain_job, storm, &group));
  if (random & 64) check_parallel_for(storm, random);
  if (random & 512)
    muster_group_wait_helping(&group, (uint32_t)(random >> 30) % 8);
  else
    muster_group_wait(&group);
  if (muster_pool_current_index(storm->pool) != worker) count_up(&storm->doubles);
}

static void wait_somehow(struct storm *storm, muster_group *group, uint64_t random) {
  muster_result result = MUSTER_OK;
  if (random % 4 == 0) result = muster_group_wait_helping(group, (uint32_t)(random >> 40) % 8);
  if (random % 4 == 1 && muster_pool_workers(storm->pool) > 1) result = muster_group_wait_asleep(group);
  if (result == MUSTER_OK) result = muster_group_wait(group);
  if (result != MUSTER_OK || !muster_group_is_complete(group)) count_up(&storm->wrong_results);
}

static void act(struct storm *storm, muster_group *groups, uint64_t random) {
  muster_pool *pool = storm->pool;
  muster_group *group = &groups[random >> 32 & (GROUPS - 1)];
  uint32_t priority = (uint32_t)(random >> 48) % 8;
  switch (random % 8) {
  case 0:
  case 1:
  case 2:
    note_result(storm, muster_job_submit(pool, priority, plain_job, storm, random & 4096 ? group : NULL));
    break;
  case 3:
  case 4:
    note_result(storm, muster_job_submit(pool, priority, busy_job, storm, group));
    break;
  case 5:
  case 6:
    check_parallel_for(storm, random >> 8);
    break;
  default:
    wait_somehow(storm, group, random >> 8);
  }
}

/* Each thread has groups of its own, on the heap: AddressSanitizer sees an access to them once they are gone. */
static void *rage(void *argument) {
  const storm_thread *thread = argument;
  struct storm *storm = thread->storm;
  for (uint64_t part = 0; part < 4; part++) {
    muster_group *groups = aligned_alloc(64, GROUPS * sizeof *groups);
    for (uint32_t i = 0; i < GROUPS; i++) muster_group_init(&groups[i], storm->pool);
    for (uint64_t i = 0; i < ACTIONS / 4; i++) act(storm, groups, draw(storm, thread->number, part << 32 | i));
    for (uint32_t i = 0; i < GROUPS; i++) wait_somehow(storm, &groups[i], draw(storm, thread->number, part << 40 | i));
    memset(groups, 0xdd, GROUPS * sizeof *groups);
    free(groups);
  }
  return NULL;
}

static void run_storm(muster_pool_def def, uint32_t threads, uint64_t seed) {
  SCOPED(free_memory) struct storm *storm = aligned_alloc(64, (sizeof *storm + 63) / 64 * 64);
  SCOPED(free_memory) storm_thread *all = calloc(threads, sizeof *all);
  *storm = (struct storm){.seed = seed};
  storm->pool = create_pool_as(def);
  for (uint32_t i = 0; i < threads; i++) {
    all[i] = (storm_thread){.storm = storm, .number = i};
    all[i].thread = start_thread(rage, &all[i]);
  }
  for (uint32_t i = 0; i < threads; i++) pthread_join(all[i].thread, NULL);
  uint64_t dropped = muster_pool_stop(storm->pool); /* jobs without a group may still wait */
  cr_assert_eq(read_count(&storm->ran) + dropped, read_count(&storm->accepted), "%u ran and %u were dropped of %u",
               (unsigned)read_count(&storm->ran), (unsigned)dropped, (unsigned)read_count(&storm->accepted));
  cr_assert_eq(read_count(&storm->wrong_sums), 0, "a parallel-for visited too few or too many");
  cr_assert_eq(read_count(&storm->wrong_results), 0);
  cr_assert_eq(read_count(&storm->doubles), 0, "two threads at once under one index");
  muster_pool_destroy(storm->pool);
}

static muster_pool_def of_size(uint32_t workers, uint32_t external, uint32_t jobs_max) {
  return WITH(muster_pool_def, it.workers = workers, it.external_max = external, it.jobs_max = jobs_max);
}

static uint64_t seed_of(uint64_t number) {
  const char *seed = getenv("MUSTER_STRESS_SEED");
  return (seed ? strtoull(seed, NULL, 10) : 1) * 1000 + number;
}

Test(jobs_stress, of_64_workers_and_64_submitting_threads) {
  run_storm(of_size(64, 63, 131072), 64, seed_of(1));
}

Test(jobs_stress, of_two_workers_and_8_submitting_threads) {
  for (uint64_t round = 0; round < 4; round++) run_storm(of_size(2, 16, 131072), 8, seed_of(100 + round));
}

Test(jobs_stress, of_one_worker_and_8_submitting_threads) {
  for (uint64_t round = 0; round < 4; round++) run_storm(of_size(1, 16, 131072), 8, seed_of(200 + round));
}

Test(jobs_stress, with_queues_that_are_always_full) {
  for (uint64_t round = 0; round < 4; round++) run_storm(of_size(4, 16, 64), 12, seed_of(300 + round));
}

Test(jobs_stress, with_fewer_slots_than_external_threads) {
  for (uint64_t round = 0; round < 4; round++) run_storm(of_size(4, 2, 1024), 12, seed_of(400 + round));
}

/* ---------------------------------------------------------------------------------------------- sleeping and waking */

struct relay {
  muster_pool *pool;
  muster_group *group;
  uint64_t left;
  uint32_t priority;
};

static void pass_on(void *argument, uint32_t worker) {
  struct relay *relay = argument;
  (void)worker;
  if (relay->left-- > 1) muster_job_submit(relay->pool, relay->priority, pass_on, relay, relay->group);
}

/* One job at a time, each submitted by the one before while the others sleep or are about to: a wake that is lost shows
 * as a relay without end. */
Test(jobs_stress, no_wake_is_lost_in_relays_of_single_jobs) {
  enum { RELAYS = 3, LENGTH = 10000 / SLOWER };
  for (uint32_t workers = 2; workers <= 8; workers *= 2) {
    SCOPED(close_pool) muster_pool *pool = create_pool(workers);
    muster_group groups[RELAYS];
    struct relay relays[RELAYS];
    for (uint32_t i = 0; i < RELAYS; i++) {
      muster_group_init(&groups[i], pool);
      relays[i] = (struct relay){pool, &groups[i], LENGTH, i * 3};
      submit(pool, i, pass_on, &relays[i], &groups[i]);
    }
    for (uint32_t i = 0; i < RELAYS; i++) wait_asleep(&groups[i]);
  }
}

Test(jobs_stress, no_wake_is_lost_when_the_workers_have_gone_to_sleep_before_each_job) {
  enum { ROUNDS = 800 / SLOWER };
  SCOPED(close_pool) muster_pool *pool = create_pool(3);
  for (uint32_t round = 0; round < ROUNDS; round++) {
    muster_group group = new_group(pool);
    uint64_t slept = sleeps_of(pool, 1) + sleeps_of(pool, 2);
    for (uint32_t i = 0; i < 1 + round % 3; i++) submit(pool, i, do_nothing, NULL, &group);
    wait_asleep(&group);
    AWAIT(sleeps_of(pool, 1) + sleeps_of(pool, 2) != slept);
  }
}

/* ------------------------------------------------------------------------------------------------------------ gangs */

/* Short jobs in front make claims long: members must not be stuck in one claim, nor be overslept. */
Test(jobs_stress, gangs_meet_whatever_runs_beside_them) {
  for (uint32_t workers = 3; workers <= 9; workers += 3) {
    SCOPED(close_pool) muster_pool *pool = create_pool(workers);
    for (uint32_t round = 0; round < 1500 / SLOWER; round++) {
      muster_group group = new_group(pool), other = new_group(pool);
      struct meeting meeting = {.members = workers - 1};
      for (uint32_t i = 0; i < round % 40; i++) submit(pool, 3, do_nothing, NULL, &other);
      for (uint32_t i = 0; i < workers - 1; i++) submit(pool, 3, meet, &meeting, &group);
      for (uint32_t i = 0; i < round % 7; i++) submit(pool, i, do_nothing, NULL, &other);
      wait_asleep(&group);
      wait_for(&other);
    }
  }
}
