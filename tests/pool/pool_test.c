/* The workers of a pool: which worker runs what, which writes each sees, and that all are woken and come home. */
#include "pool/jobs_support.h"
#include "pool/team.h"
#include "pool/threads.h"
#include "support/skip.h"

#include <dirent.h>

static muster_pool *create(uint32_t workers) {
  muster_pool *pool = create_pool(workers);
  cr_assert_eq(muster_pool_workers(pool), workers);
  return pool;
}

static void run_team_as(muster_pool *pool, const team_orders *orders) {
  struct team team;
  struct pool_entry entered;
  team_run(&team, pool_enter(&entered, pool), orders, TEAM_ALL);
  pool_leave(&entered);
}

/* The caller spins for the last worker as long as it may. */
static void run_team(muster_pool *pool, team_work work, void *argument) {
  run_team_as(pool, &(team_orders){.work = work, .argument = argument, .patience_ns = UINT64_MAX});
}

/* ----------------------------------------------------------------------------------------------------- one team */

enum { WORKERS_MAX = 16 };

typedef struct roll_call {
  uint32_t workers;
  bool wait_for_all;
  pthread_t caller;
  shared_u64 calls, strangers, doubles, callers_work;
  shared_u32 present[WORKERS_MAX], inside[WORKERS_MAX];
  uint64_t written[WORKERS_MAX]; /* plain: pool_run must make it visible */
} roll_call;

/* With wait_for_all no worker leaves before all have come: a worker that is not woken shows as a test without end. */
static void answer_roll_call(void *argument, uint32_t worker) {
  roll_call *roll = argument;
  if (worker >= roll->workers) {
    fetch_add_relaxed_u64(&roll->strangers, 1);
    return;
  }
  if (exchange_acquire_u32(&roll->inside[worker], 1)) fetch_add_relaxed_u64(&roll->doubles, 1);
  store_relaxed_u32(&roll->present[worker], load_relaxed_u32(&roll->present[worker]) + 1);
  if (pthread_equal(pthread_self(), roll->caller) != (worker == 0)) fetch_add_relaxed_u64(&roll->callers_work, 1);
  roll->written[worker] += worker + 1;
  fetch_add_relaxed_u64(&roll->calls, 1);
  if (roll->wait_for_all) AWAIT(load_relaxed_u64(&roll->calls) >= roll->workers);
  store_release_u32(&roll->inside[worker], 0);
}

static void check_roll(const roll_call *roll) {
  cr_assert_eq(load_relaxed_u64(&roll->strangers), 0, "a worker's index was not below the number of workers");
  cr_assert_eq(load_relaxed_u64(&roll->doubles), 0, "two were inside under one index");
  cr_assert_eq(load_relaxed_u64(&roll->callers_work), 0, "worker 0 is the caller, and nobody else is");
  uint64_t present = 0;
  for (uint32_t i = 0; i < roll->workers; i++) present += load_relaxed_u32(&roll->present[i]);
  cr_assert_eq(present, load_relaxed_u64(&roll->calls));
  cr_assert_eq(load_relaxed_u32(&roll->present[0]), 1);
}

static void call_crews(uint32_t workers, uint32_t crews, bool wait_for_all) {
  SCOPED(close_pool) muster_pool *pool = create(workers);
  for (uint32_t crew = 0; crew < crews; crew++) {
    roll_call roll = {.workers = workers, .caller = pthread_self(), .wait_for_all = wait_for_all};
    run_team(pool, answer_roll_call, &roll);
    check_roll(&roll);
    if (wait_for_all || workers == 1) cr_assert_eq(load_relaxed_u64(&roll.calls), workers);
    for (uint32_t i = 0; i < workers; i++)
      cr_assert_eq(roll.written[i], (wait_for_all ? 1 : load_relaxed_u32(&roll.present[i])) * (i + 1));
  }
}

Test(pool, a_crew_is_called_once_for_each_worker_at_most_each_under_an_index_of_its_own_and_the_caller_is_zero) {
  for (uint32_t workers = 1; workers <= WORKERS_MAX; workers *= 2) call_crews(workers, 500, false);
}

Test(pool, wakes_every_worker_every_time_also_when_there_are_more_than_processors) {
  for (uint32_t workers = 2; workers <= WORKERS_MAX; workers *= 2) call_crews(workers, 300, true);
}

Test(pool, of_one_worker_runs_everything_on_the_caller) {
  call_crews(1, 100, false);
}

struct nap {
  roll_call roll;
  uint64_t sleeps, elsewhere;
};

static void answer_after_a_while(void *argument, uint32_t worker) {
  struct nap *nap = argument;
  answer_roll_call(&nap->roll, worker);
  for (uint32_t i = 0; worker > 0 && i < 5000; i++) pause_processor();
}

static void note_sleep(void *argument) {
  struct nap *nap = argument;
  nap->sleeps++;
  nap->elsewhere += !pthread_equal(pthread_self(), nap->roll.caller);
}

Test(pool, a_caller_without_patience_sleeps_until_the_last_worker_left_and_is_told_before) {
  SCOPED(close_pool) muster_pool *pool = create(3);
  uint64_t sleeps = 0;
  for (uint32_t run = 0; run < 2000; run++) {
    struct nap nap = {.roll = {.workers = 3, .caller = pthread_self(), .wait_for_all = true}};
    run_team_as(pool, &(team_orders){.work = answer_after_a_while, .argument = &nap, .before_sleep = note_sleep});
    check_roll(&nap.roll);
    for (uint32_t i = 0; i < 3; i++) cr_assert_eq(nap.roll.written[i], i + 1);
    cr_assert_eq(nap.elsewhere, 0);
    sleeps += nap.sleeps;
  }
  cr_assert_gt(sleeps, 0, "the caller never slept");
}

/* ---------------------------------------------------------------------------------------------- shared plain work */

enum { ITEMS = 4096 };

struct harvest {
  shared_u64 next;
  uint64_t field[ITEMS]; /* plain: each item belongs to the worker that drew its number */
  uint64_t seed;
};

static void reap(void *argument, uint32_t worker) {
  struct harvest *harvest = argument;
  (void)worker;
  for (;;) {
    uint64_t item = fetch_add_relaxed_u64(&harvest->next, 1);
    if (item >= ITEMS) return;
    harvest->field[item] = harvest->field[item] * 3 + harvest->seed + item;
  }
}

/* Each round builds on what the workers of the round before wrote. */
static uint64_t wrong_after_rounds(muster_pool *pool, struct harvest *harvest, uint64_t rounds) {
  uint64_t *expected = calloc(ITEMS, sizeof *expected), wrong = 0;
  for (uint64_t round = 0; round < rounds; round++) {
    harvest->seed = round * 7 + 1;
    store_relaxed_u64(&harvest->next, 0);
    run_team(pool, reap, harvest);
    for (uint64_t i = 0; i < ITEMS; i++) {
      expected[i] = expected[i] * 3 + harvest->seed + i;
      wrong += harvest->field[i] != expected[i];
    }
  }
  free(expected);
  return wrong;
}

Test(pool, the_caller_sees_what_every_worker_wrote_and_the_next_crew_does_too) {
  SCOPED(close_pool) muster_pool *pool = create(4);
  SCOPED(free_memory) struct harvest *harvest = calloc(1, sizeof *harvest);
  cr_assert_eq(wrong_after_rounds(pool, harvest, 300), 0);
}

/* ----------------------------------------------------------------------------------------- several callers at once */

enum { EXTERNAL = 8, CALLERS_MAX = EXTERNAL + 4 };

struct caller {
  muster_pool *pool;
  uint64_t rounds, wrong;
};

static void *call(void *argument) {
  struct caller *caller = argument;
  SCOPED(free_memory) struct harvest *harvest = calloc(1, sizeof *harvest);
  caller->wrong = wrong_after_rounds(caller->pool, harvest, caller->rounds);
  return NULL;
}

static void run_callers(uint32_t callers, uint32_t workers, uint64_t rounds) {
  SCOPED(close_pool) muster_pool *pool = create(workers);
  pthread_t threads[CALLERS_MAX];
  struct caller all[CALLERS_MAX];
  for (uint32_t i = 0; i < callers; i++) all[i] = (struct caller){.pool = pool, .rounds = rounds};
  start_threads(threads, callers, call, all, sizeof *all);
  join_threads(threads, callers);
  for (uint32_t i = 0; i < callers; i++) cr_assert_eq(all[i].wrong, 0, "caller %u of %u", i, callers);
}

Test(pool, serves_several_callers_at_once) {
  run_callers(4, 4, 100);
}

Test(pool, serves_more_callers_than_it_has_slots_for_external_threads) {
  run_callers(CALLERS_MAX, 3, 20);
}

/* ------------------------------------------------------------------------------------------------ birth and death */

struct hooks {
  shared_u32 started[WORKERS_MAX], stopped[WORKERS_MAX];
  pthread_t threads[WORKERS_MAX];
  shared_u64 strangers, elsewhere, before_start;
};

static void on_start(uint32_t worker, void *user) {
  struct hooks *hooks = user;
  if (worker == 0 || worker >= WORKERS_MAX || exchange_acquire_u32(&hooks->started[worker], 1)) {
    fetch_add_relaxed_u64(&hooks->strangers, 1);
    return;
  }
  hooks->threads[worker] = pthread_self();
}

static void on_stop(uint32_t worker, void *user) {
  struct hooks *hooks = user;
  if (worker == 0 || worker >= WORKERS_MAX || exchange_acquire_u32(&hooks->stopped[worker], 1)) {
    fetch_add_relaxed_u64(&hooks->strangers, 1);
    return;
  }
  if (!pthread_equal(hooks->threads[worker], pthread_self())) fetch_add_relaxed_u64(&hooks->elsewhere, 1);
}

static void look_for_start(void *argument, uint32_t worker) {
  struct hooks *hooks = argument;
  if (worker > 0 && !load_relaxed_u32(&hooks->started[worker])) fetch_add_relaxed_u64(&hooks->before_start, 1);
}

Test(pool, calls_each_hook_once_on_each_thread_before_its_first_and_after_its_last_work) {
  for (uint32_t run = 0; run < 200; run++) {
    struct hooks hooks = {0};
    uint32_t workers = 1 + run % 6;
    muster_pool *pool = create_pool_as(WITH(muster_pool_def, it.workers = workers, it.on_worker_start = on_start,
                                            it.on_worker_stop = on_stop, it.hook_user = &hooks));
    for (uint32_t i = 0; i < run % 3; i++) run_team(pool, look_for_start, &hooks);
    muster_pool_destroy(pool);
    for (uint32_t i = 0; i < WORKERS_MAX; i++) {
      cr_assert_eq(load_relaxed_u32(&hooks.started[i]), i > 0 && i < workers);
      cr_assert_eq(load_relaxed_u32(&hooks.stopped[i]), i > 0 && i < workers);
    }
    cr_assert_eq(load_relaxed_u64(&hooks.strangers), 0);
    cr_assert_eq(load_relaxed_u64(&hooks.elsewhere), 0, "started on one thread and stopped on another");
    cr_assert_eq(load_relaxed_u64(&hooks.before_start), 0);
  }
}

Test(pool, destroying_none_is_nothing) {
  muster_pool_destroy(NULL);
}

struct host {
  uint32_t calls, allowed;
  int64_t held;
};

static void *host_allocate(size_t bytes, size_t alignment, void *user) {
  struct host *host = user;
  if (host->calls++ >= host->allowed) return NULL;
  size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void *memory = aligned_alloc(alignment, rounded);
  host->held++;
  return memset(memory, 0, rounded);
}

static void host_release(void *memory, size_t bytes, void *user) {
  (void)bytes;
  ((struct host *)user)->held--;
  free(memory);
}

Test(pool, a_refused_allocation_leaves_nothing_behind) {
  bool created = false;
  for (uint32_t allowed = 0; !created; allowed++) {
    struct host host = {.allowed = allowed};
    muster_pool_def def =
        WITH(muster_pool_def, it.workers = 3, it.allocator = (muster_allocator){host_allocate, host_release, &host});
    muster_pool *pool = muster_pool_create(&def);
    created = pool != NULL;
    if (!created) cr_assert_gt(strlen(muster_last_error()), 0);
    muster_pool_destroy(pool);
    cr_assert_eq(host.held, 0, "%d blocks are left after refusal number %u", (int)host.held, allowed);
    cr_assert_lt(allowed, 100);
  }
}

Test(pool, a_shorter_definition_of_an_older_program_gets_the_defaults_of_what_it_does_not_know) {
  muster_pool_def def = muster_pool_def_default();
  memset((char *)&def + offsetof(muster_pool_def, name), 0xff, sizeof def - offsetof(muster_pool_def, name));
  def.size = offsetof(muster_pool_def, name);
  def.workers = 2;
  SCOPED(close_pool) muster_pool *pool = create_pool_as(def);
  cr_assert_eq(muster_pool_workers(pool), 2);
}

/* ----------------------------------------------------------------------------------------------------- processors */

static cpu_set_t only(uint32_t processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  return one;
}

static uint32_t first_of(const cpu_set_t *set) {
  uint32_t first = 0;
  while (!CPU_ISSET(first, set)) first++;
  return first;
}

static cpu_set_t own_processors(void) {
  cpu_set_t set;
  cr_assert_eq(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

Test(pool, has_a_worker_for_every_available_processor_unless_told_otherwise) {
  cpu_set_t set = own_processors();
  uint32_t available = muster_available_processors();
  cr_assert(available >= 1 && available <= (uint32_t)CPU_COUNT(&set));
  SCOPED(close_pool) muster_pool *pool = create(available < MUSTER_WORKERS_MAX ? available : MUSTER_WORKERS_MAX);
  SCOPED(close_pool) muster_pool *unasked = create_pool_as(muster_pool_def_default());
  cr_assert_eq(muster_pool_workers(unasked), muster_pool_workers(pool));
}

Test(pool, never_has_more_workers_available_than_the_affinity_allows) {
  cpu_set_t all = own_processors(), one = only(first_of(&all));
  cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
  cr_assert_eq(muster_available_processors(), 1);
  cr_assert_eq(sched_setaffinity(0, sizeof all, &all), 0);
}

/* Every worker has a processor of its own, and none has the caller's. */
static void check_apart(const muster_pool *pool, const cpu_set_t *allowed) {
  cpu_set_t taken = only(pool->caller_processor);
  for (uint32_t i = 1; i < pool->workers; i++) {
    uint32_t processor = load_relaxed_u32(&pool->slots[i].processor);
    cpu_set_t actual;
    cr_assert(CPU_ISSET(processor, allowed) && !CPU_ISSET(processor, &taken), "worker %u on processor %u", i,
              processor);
    CPU_SET(processor, &taken);
    cr_assert_eq(pthread_getaffinity_np(pool->threads[i], sizeof actual, &actual), 0);
    cr_assert(CPU_COUNT(&actual) == 1 && CPU_ISSET(processor, &actual));
  }
}

Test(pool, keeps_workers_off_the_callers_processor_wherever_the_caller_goes_and_never_binds_the_caller) {
  cpu_set_t all = own_processors();
  uint32_t processors = (uint32_t)CPU_COUNT(&all);
  if (processors < 2) return;
  SCOPED(close_pool) muster_pool *pool = create(processors < MUSTER_WORKERS_MAX ? processors : MUSTER_WORKERS_MAX);
  for (uint32_t round = 0; round < 3; round++)
    for (uint32_t i = 0; i < CPU_SETSIZE; i++) {
      if (!CPU_ISSET(i, &all)) continue;
      cpu_set_t here = only(i);
      cr_assert_eq(sched_setaffinity(0, sizeof here, &here), 0);
      nanosleep(&(struct timespec){.tv_nsec = 25000000}, NULL); /* workers are not moved more often than every 20 ms */
      threads_keep_all_apart(pool);
      cr_assert_eq(pool->caller_processor, i);
      check_apart(pool, &all);
    }
  cr_assert_eq(sched_setaffinity(0, sizeof all, &all), 0);
  threads_keep_all_apart(pool);
  cpu_set_t now = own_processors();
  cr_assert(CPU_EQUAL(&now, &all), "the caller's own affinity was touched");
}

/* ------------------------------------------------------------------------------------------------- without workers */

static void count_call(void *argument, uint32_t worker) {
  (void)worker;
  fetch_add_relaxed_u64(argument, 1);
}

Test(pool, a_crew_without_helpers_calls_nobody) {
  SCOPED(close_pool) muster_pool *pool = create(4);
  shared_u64 calls = {0};
  team_orders orders = {.work = count_call, .argument = &calls, .patience_ns = UINT64_MAX};
  for (uint32_t i = 0; i < 100; i++) {
    struct team team;
    struct pool_entry entered;
    struct worker_slot *slot = pool_enter(&entered, pool);
    team_open(&team, slot, &orders, 0);
    cr_assert_eq(group_count(&team.group), 0);
    team_close(&team, slot);
    team_wait(&team, slot);
    pool_leave(&entered);
  }
  cr_assert_eq(load_relaxed_u64(&calls), 0);
}

/* -------------------------------------------------------------------------------------------------- processors */

static void *rest(void *lasting) {
  AWAIT_WITH(nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL), !load_relaxed_u32(lasting));
  return NULL;
}

/* As `taskset -a` does: all threads of the process get these processors. */
static void give_processors(const cpu_set_t *given) {
  DIR *threads = opendir("/proc/self/task");
  for (const struct dirent *entry; (entry = readdir(threads)) != NULL;)
    if (atoi(entry->d_name) > 0) sched_setaffinity(atoi(entry->d_name), sizeof *given, given);
  closedir(threads);
}

static void give_one_processor(uint32_t processor) {
  cpu_set_t one = only(processor);
  give_processors(&one);
}

Test(processors, that_were_taken_away_are_not_taken_back) {
  if (muster_available_processors() < 2) SKIP_TEST("there is no processor to take away");
  shared_u32 lasting = {1};
  pthread_t other = start_thread(rest, &lasting); /* of the host's */
  muster_pool *pool = create(2);
  threads_keep_all_apart(pool);
  cr_assert_neq(load_relaxed_u32(&pool->slots[1].processor), UINT32_MAX, "the worker has one of its own");
  for (uint32_t k = 0; k < load_relaxed_u32(&pool->processor_count); k++) { /* whichever it was */
    give_one_processor(pool->processors[k]);
    for (uint32_t i = 0; i < 5; i++) {
      cpu_set_t now;
      nanosleep(&(struct timespec){.tv_nsec = 25000000}, NULL); /* workers are moved no more often */
      threads_keep_all_apart(pool);
      threads_keep_apart(pool, 1);
      cr_assert_eq(pthread_getaffinity_np(pool->threads[1], sizeof now, &now), 0);
      cr_assert(CPU_COUNT(&now) == 1 && CPU_ISSET(pool->processors[k], &now));
    }
  }
  muster_pool_destroy(pool);
  store_relaxed_u32(&lasting, 0);
  pthread_join(other, NULL);
}

/* How many workers a frame may have, as if it were a second later. */
static uint32_t look_later(muster_pool *pool) {
  store_relaxed_u64(&pool->looked_ns, 0);
  return threads_for_frame(pool);
}

static void note_processors(void *argument, uint32_t worker) {
  (void)worker;
  sched_getaffinity(0, sizeof(cpu_set_t), argument);
}

/* On another thread, which must be there. */
static cpu_set_t workers_processors(muster_pool *pool) {
  cpu_set_t own;
  muster_group group = new_group(pool);
  CPU_ZERO(&own);
  submit(pool, MUSTER_URGENCY_NORMAL, note_processors, &own, &group);
  wait_asleep(&group);
  return own;
}

/* It begins with one processor, and gets the others when its threads do. */
Test(processors, that_come_are_used) {
  cpu_set_t all = own_processors();
  uint32_t processors = muster_available_processors(), first = first_of(&all);
  if (processors < 2) return; /* none can come */
  give_one_processor(first);
  SCOPED(close_pool) muster_pool *pool = create_pool_as(muster_pool_def_default());
  cr_assert_eq(muster_pool_workers(pool), 1);
  uint32_t indices = muster_pool_indices(pool);
  cr_assert_geq(indices, processors + muster_pool_def_default().external_max - 1);
  cr_assert_eq(look_later(pool), 1, "nothing has come");

  give_processors(&all);
  cr_assert_eq(threads_for_frame(pool), 1, "it looks once a second");
  cr_assert_eq(look_later(pool), processors);
  cr_assert_eq(muster_pool_workers(pool), processors);
  cr_assert_eq(muster_pool_indices(pool), indices);
  threads_keep_all_apart(pool);
  cpu_set_t own = workers_processors(pool), either;
  CPU_OR(&either, &own, &all);
  cr_assert(CPU_COUNT(&own) >= 1 && CPU_EQUAL(&either, &all));

  give_one_processor(first);
  cr_assert_eq(look_later(pool), 1, "frames have one again");
  cr_assert_eq(muster_pool_workers(pool), processors, "threads stay");
  own = workers_processors(pool);
  cr_assert(CPU_COUNT(&own) == 1 && CPU_ISSET(first, &own));

  give_processors(&all);
  cr_assert_eq(look_later(pool), processors);
}

/* It has another one instead of its first, and then both: the thread that is started has those that there are then. */
Test(processors, that_went_before_others_came_are_forgotten) {
  cpu_set_t all = own_processors();
  if (muster_available_processors() < 2) return;
  uint32_t first = first_of(&all), second = first + 1;
  while (!CPU_ISSET(second, &all)) second++;
  give_one_processor(first);
  SCOPED(close_pool) muster_pool *pool = create_pool_as(muster_pool_def_default());
  give_one_processor(second);
  cr_assert_eq(look_later(pool), 1);
  cr_assert_eq(load_relaxed_u32(&pool->processor_count), 1);
  cr_assert_eq(pool->processors[0], second);
}

/* Who asks for a number gets it. */
Test(processors, that_come_and_go_change_no_number_that_was_asked_for) {
  cpu_set_t all = own_processors();
  uint32_t first = first_of(&all);
  SCOPED(close_pool) muster_pool *pool = create(3);
  give_one_processor(first);
  cr_assert_eq(look_later(pool), 3);
  give_processors(&all);
  cr_assert_eq(look_later(pool), 3);
  cr_assert_eq(muster_pool_workers(pool), 3);
}
