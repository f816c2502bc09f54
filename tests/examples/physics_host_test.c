/* The example physics_host, driven as physics engines drive a host, point by point, and by an engine that is simulated.
 */
#include "examples/physics_host.h"

#include "pool/jobs_support.h"

static physics_host *create_host(muster_pool *pool) {
  physics_host *host = physics_host_create(pool);
  cr_assert_not_null(host);
  return host;
}

static void *enqueue(physics_host *host, physics_task *task, void *context) {
  void *handle = physics_enqueue(task, context, host);
  cr_assert_not_null(handle, "refused: %d", (int)physics_host_refusal(host));
  return handle;
}

static void *enqueue_range(physics_host *host, physics_range_task *task, int32_t count, int32_t least, void *context) {
  void *handle = physics_enqueue_range(task, count, least, context, host);
  cr_assert_not_null(handle, "refused: %d", (int)physics_host_refusal(host));
  return handle;
}

static void count_task(void *context) {
  count_up(context);
}

/* ------------------------------------------------------------------------------------------------- the modern shape */

Test(physics_host, runs_each_task_once_and_never_inside_enqueue) {
  for (uint32_t workers = 1; workers <= 4; workers++) {
    muster_pool *pool = create_pool(workers);
    physics_host *host = create_host(pool);
    shared_u64 ran[20] = {{0}};
    void *handles[20];
    for (uint32_t round = 1; round <= 200 / SLOWER; round++) {
      for (uint32_t i = 0; i < 20; i++) handles[i] = enqueue(host, count_task, &ran[i]);
      if (workers == 1) cr_assert_eq(read_count(&ran[0]), round - 1, "nobody but finish could have run it");
      for (uint32_t i = 0; i < 20; i++) {
        physics_finish(handles[i], host);
        cr_assert_eq(read_count(&ran[i]), round);
      }
    }
    physics_host_destroy(host);
    muster_pool_destroy(pool);
  }
}

Test(physics_host, has_256_in_flight_from_one_thread_and_says_clearly_that_it_has_no_more) {
  muster_pool *pool = create_pool(2);
  physics_host *host = create_host(pool);
  shared_u64 ran = {0}, refused = {0};
  void *handles[PHYSICS_TASKS_MAX];
  for (uint32_t round = 0; round < 20; round++) {
    for (uint32_t i = 0; i < PHYSICS_TASKS_MAX; i++) handles[i] = enqueue(host, count_task, &ran);
    cr_assert_null(physics_enqueue(count_task, &refused, host));
    cr_assert_eq(physics_host_refusal(host), PHYSICS_TOO_MANY_IN_FLIGHT);
    /* In no particular order: handles are valid until they are finished. */
    for (uint32_t i = 0; i < PHYSICS_TASKS_MAX; i++) {
      physics_finish(handles[i * 37 % PHYSICS_TASKS_MAX], host);
      handles[i * 37 % PHYSICS_TASKS_MAX] = enqueue(host, count_task, &ran);
      cr_assert_eq(physics_host_refusal(host), PHYSICS_ACCEPTED);
    }
    for (uint32_t i = PHYSICS_TASKS_MAX; i-- > 0;) physics_finish(handles[i], host);
    cr_assert_eq(read_count(&ran), (uint64_t)(round + 1) * 2 * PHYSICS_TASKS_MAX);
  }
  cr_assert_eq(read_count(&refused), 0);
  physics_host_destroy(host);
  muster_pool_destroy(pool);
}

Test(physics_host, finishing_runs_its_own_task_that_nobody_has_started_and_no_unrelated_long_one) {
  muster_pool *pool = create_pool(2);
  physics_host *host = create_host(pool);
  struct gate busy = {0}, unrelated = {0};
  shared_u64 ran = {0};
  hold_workers(pool, &busy, 1, NULL); /* the only thread has something long to do */
  for (uint32_t i = 0; i < 10; i++) submit(pool, MUSTER_URGENCY_HIGH, stand_at_gate, &unrelated, NULL);
  for (uint32_t i = 0; i < 100; i++) physics_finish(enqueue(host, count_task, &ran), host);
  cr_assert_eq(read_count(&ran), 100);
  cr_assert_eq(read_count(&unrelated.arrived), 0);
  open_gate(&busy);
  open_gate(&unrelated);
  await_count(&unrelated.left, 10);
  physics_host_destroy(host);
  muster_pool_destroy(pool);
}

typedef struct slow_task {
  struct gate gate;
} slow_task;

static void run_slowly(void *context) {
  stand_at_gate(&((slow_task *)context)->gate, 0);
}

static void *open_when_main_sleeps(void *argument) {
  void **test = argument;
  await_sleep(test[0], 0, 1);
  open_gate(test[1]);
  return NULL;
}

Test(physics_host, finishing_a_task_that_runs_elsewhere_waits_without_picking_up_something_long) {
  muster_pool *pool = create_pool(2);
  physics_host *host = create_host(pool);
  slow_task slow = {0};
  struct gate unrelated = {0};
  void *handle = enqueue(host, run_slowly, &slow);
  await_count(&slow.gate.arrived, 1);
  for (uint32_t i = 0; i < 10; i++) submit(pool, MUSTER_URGENCY_NORMAL, stand_at_gate, &unrelated, NULL);
  pthread_t opener = start_thread(open_when_main_sleeps, (void *[]){pool, &slow.gate});
  physics_finish(handle, host);
  pthread_join(opener, NULL);
  cr_assert_eq(read_count(&slow.gate.left), 1);
  open_gate(&unrelated);
  await_count(&unrelated.left, 10);
  physics_host_destroy(host);
  muster_pool_destroy(pool);
}

/* A solver in stages: each member waits at the end of a stage until all have come. */
struct gang {
  uint64_t members, stages;
  shared_u64 arrived;
};

static void run_stages(void *context) {
  struct gang *gang = context;
  for (uint64_t stage = 1; stage <= gang->stages; stage++) {
    count_up(&gang->arrived);
    await_count(&gang->arrived, stage * gang->members);
  }
}

static void run_gangs(uint32_t workers, uint32_t rounds) {
  muster_pool *pool = create_pool(workers);
  physics_host *host = create_host(pool);
  void *handles[16];
  shared_u64 ran = {0};
  for (uint32_t round = 0; round < rounds; round++) {
    struct gang gang = {.members = workers, .stages = 5};
    for (uint32_t i = 0; i < round % 9; i++) submit(pool, MUSTER_URGENCY_NORMAL, count_job, &ran, NULL);
    for (uint32_t i = 0; i < workers; i++) handles[i] = enqueue(host, run_stages, &gang);
    for (uint32_t i = 0; i < workers; i++) physics_finish(handles[i], host);
    cr_assert_eq(read_count(&gang.arrived), gang.members * gang.stages);
  }
  physics_host_destroy(host);
  muster_pool_destroy(pool);
}

Test(physics_host, runs_a_gang_of_as_many_tasks_as_workers_that_spin_on_each_other) {
  for (uint32_t workers = 1; workers <= 8; workers++) run_gangs(workers, 500 / SLOWER);
}

Test(physics_host, runs_a_gang_while_long_jobs_wait_in_the_pool) {
  muster_pool *pool = create_pool(3);
  physics_host *host = create_host(pool);
  for (uint32_t round = 0; round < 200 / SLOWER; round++) {
    struct gate busy = {0}, queued = {0};
    struct gang gang = {.members = 3, .stages = 3};
    void *handles[3];
    hold_workers(pool, &busy, 2, NULL);
    for (uint32_t i = 0; i < 5; i++) submit(pool, MUSTER_URGENCY_LOW, stand_at_gate, &queued, NULL);
    for (uint32_t i = 0; i < 3; i++) handles[i] = enqueue(host, run_stages, &gang);
    open_gate(&busy);
    for (uint32_t i = 0; i < 3; i++) physics_finish(handles[i], host);
    open_gate(&queued);
    await_count(&queued.left, 5);
    await_count(&busy.left, 2);
  }
  physics_host_destroy(host);
  muster_pool_destroy(pool);
}

/* --------------------------------------------------------------------------------------------------------- refusals */

Test(physics_host, says_clearly_that_the_queue_is_full_and_has_run_nothing) {
  muster_pool_def def = muster_pool_def_default();
  def.workers = 2;
  def.jobs_max = 64;
  muster_pool *pool = create_pool_as(def);
  physics_host *host = create_host(pool);
  struct gate busy = {0};
  shared_u64 ran = {0}, refused = {0};
  void *handles[64];
  hold_workers(pool, &busy, 1, NULL);
  for (uint32_t i = 0; i < 64; i++) handles[i] = enqueue(host, count_task, &ran);
  cr_assert_null(physics_enqueue(count_task, &refused, host));
  cr_assert_eq(physics_host_refusal(host), PHYSICS_QUEUE_FULL);
  cr_assert_eq(read_count(&ran), 0);
  physics_finish(handles[0], host);
  cr_assert_eq(read_count(&refused), 0);
  handles[0] = enqueue(host, count_task, &ran);
  for (uint32_t i = 0; i < 64; i++) physics_finish(handles[i], host);
  cr_assert_eq(read_count(&ran), 65);
  open_gate(&busy);
  physics_host_destroy(host);
  muster_pool_destroy(pool);
}

static void count_items(int32_t start, int32_t end, uint32_t worker, void *context) {
  (void)worker;
  fetch_add_relaxed_u64(context, (uint64_t)(end - start));
}

Test(physics_host, refuses_what_is_no_task_and_everything_once_the_pool_has_stopped) {
  muster_pool *pool = create_pool(2);
  physics_host *host = create_host(pool);
  shared_u64 ran = {0};
  cr_assert_null(physics_enqueue(NULL, NULL, host));
  cr_assert_eq(physics_host_refusal(host), PHYSICS_NOT_A_TASK);
  cr_assert_null(physics_enqueue_range(count_items, -1, 1, &ran, host));
  cr_assert_eq(physics_host_refusal(host), PHYSICS_NOT_A_TASK);
  physics_finish(NULL, host);
  void *handle = enqueue(host, count_task, &ran);
  muster_pool_stop(pool);
  physics_finish(handle, host); /* it was run, or dropped; finish never waits for ever */
  cr_assert_null(physics_enqueue(count_task, &ran, host));
  cr_assert_eq(physics_host_refusal(host), PHYSICS_STOPPED);
  cr_assert_leq(read_count(&ran), 1);
  physics_host_destroy(host);
  muster_pool_destroy(pool);
}

/* -------------------------------------------------------------------------------------------------- the older shape */

enum { ITEMS = 5000, WORKERS_MAX = 64 };

struct sweep {
  uint32_t workers;
  int32_t item_count, min_range;
  shared_u32 visits[ITEMS];
  shared_u32 inside[WORKERS_MAX]; /* scratch memory is one worker's while it is inside */
  shared_u64 wrong, shared_scratch;
};

static void sweep_items(int32_t start, int32_t end, uint32_t worker, void *context) {
  struct sweep *sweep = context;
  if (worker >= sweep->workers || start < 0 || start >= end || end > sweep->item_count ||
      (end - start < sweep->min_range && end != sweep->item_count)) {
    count_up(&sweep->wrong);
    return;
  }
  if (exchange_acquire_u32(&sweep->inside[worker], 1)) count_up(&sweep->shared_scratch);
  for (int32_t i = start; i < end; i++) fetch_add_relaxed_u32(&sweep->visits[i], 1);
  store_release_u32(&sweep->inside[worker], 0);
}

Test(physics_host, runs_ranges_over_every_item_once_with_dense_worker_indices) {
  muster_pool *pool = create_pool(4);
  physics_host *host = create_host(pool);
  struct sweep *sweep = calloc(1, sizeof *sweep);
  cr_assert_leq(physics_host_workers(host), WORKERS_MAX);
  for (int32_t round = 0; round < 400 / SLOWER; round++) {
    memset(sweep, 0, sizeof *sweep);
    sweep->workers = physics_host_workers(host);
    sweep->item_count = round * 37 % ITEMS + 1;
    sweep->min_range = round % 100;
    physics_finish(enqueue_range(host, sweep_items, sweep->item_count, sweep->min_range, sweep), host);
    for (int32_t i = 0; i < ITEMS; i++)
      cr_assert_eq(load_relaxed_u32(&sweep->visits[i]), i < sweep->item_count, "item %d of %d", i, sweep->item_count);
    cr_assert_eq(read_count(&sweep->wrong), 0);
    cr_assert_eq(read_count(&sweep->shared_scratch), 0, "two threads at once with the scratch memory of one worker");
  }
  physics_finish(enqueue_range(host, sweep_items, 0, 1, NULL), host);
  free(sweep);
  physics_host_destroy(host);
  muster_pool_destroy(pool);
}

Test(physics_host, has_many_ranges_in_flight_and_finishes_them_in_any_order) {
  muster_pool *pool = create_pool(3);
  physics_host *host = create_host(pool);
  shared_u64 items[PHYSICS_TASKS_MAX] = {{0}};
  void *handles[PHYSICS_TASKS_MAX];
  for (int32_t i = 0; i < PHYSICS_TASKS_MAX; i++) handles[i] = enqueue_range(host, count_items, i, i % 5, &items[i]);
  cr_assert_null(physics_enqueue_range(count_items, 1, 1, &items[0], host));
  cr_assert_eq(physics_host_refusal(host), PHYSICS_TOO_MANY_IN_FLIGHT);
  for (int32_t i = PHYSICS_TASKS_MAX; i-- > 0;) {
    physics_finish(handles[i], host);
    cr_assert_eq(read_count(&items[i]), (uint64_t)i);
  }
  physics_host_destroy(host);
  muster_pool_destroy(pool);
}

/* --------------------------------------------------------------------------------------------- an engine, simulated */

enum { BODIES = 3000, SUBSTEPS = 4 };

struct engine {
  physics_host *host;
  uint64_t members;
  uint64_t position[BODIES], velocity[BODIES], force[BODIES]; /* plain: tasks and stages must make them visible */
  shared_u64 next[SUBSTEPS * 2], arrived;
};

/* What a body's neighbours do to it. */
static void find_forces(int32_t start, int32_t end, uint32_t worker, void *context) {
  struct engine *engine = context;
  (void)worker;
  for (int32_t i = start; i < end; i++)
    engine->force[i] = engine->position[(i + 1) % BODIES] * 31 + engine->position[(i + BODIES - 1) % BODIES] * 17;
}

static void run_stage(struct engine *engine, uint32_t stage, uint64_t body) {
  if (stage % 2 == 0)
    engine->velocity[body] += engine->force[body] + stage;
  else
    engine->position[body] += engine->velocity[(body + 7) % BODIES];
}

/* Each member of the gang draws bodies of the stage, and then waits until all members are done with theirs. */
static void solve(void *context) {
  struct engine *engine = context;
  for (uint32_t stage = 0; stage < SUBSTEPS * 2; stage++) {
    for (uint64_t body; (body = fetch_add_relaxed_u64(&engine->next[stage], 1)) < BODIES;)
      run_stage(engine, stage, body);
    count_up(&engine->arrived);
    await_count(&engine->arrived, (stage + 1) * engine->members);
  }
}

static void step(struct engine *engine) {
  void *gang[16];
  void *forces = enqueue_range(engine->host, find_forces, BODIES, 64, engine);
  physics_finish(forces, engine->host);
  memset(engine->next, 0, sizeof engine->next);
  store_ordered_u64(&engine->arrived, 0);
  for (uint64_t i = 0; i < engine->members; i++) gang[i] = enqueue(engine->host, solve, engine);
  for (uint64_t i = 0; i < engine->members; i++) physics_finish(gang[i], engine->host);
}

static void step_alone(struct engine *engine) {
  find_forces(0, BODIES, 0, engine);
  for (uint32_t stage = 0; stage < SUBSTEPS * 2; stage++)
    for (uint64_t body = 0; body < BODIES; body++) run_stage(engine, stage, body);
}

Test(physics_host, an_engine_computes_the_same_as_without_threads) {
  muster_pool *pool = create_pool(3);
  struct engine *engine = calloc(1, sizeof *engine), *alone = calloc(1, sizeof *alone);
  engine->host = create_host(pool);
  engine->members = 3;
  for (uint64_t i = 0; i < BODIES; i++) alone->position[i] = engine->position[i] = i * i + 1;
  for (uint32_t i = 0; i < 100 / SLOWER; i++) {
    step(engine);
    step_alone(alone);
    cr_assert(memcmp(engine->position, alone->position, sizeof alone->position) == 0, "in step %u", i);
    cr_assert(memcmp(engine->velocity, alone->velocity, sizeof alone->velocity) == 0, "in step %u", i);
  }
  physics_host_destroy(engine->host);
  free(engine);
  free(alone);
  muster_pool_destroy(pool);
}
