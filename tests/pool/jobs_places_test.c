/* Which thread runs jobs under which index: external threads and workers, each under an index of its own. */
#include "pool/jobs_support.h"

enum { INDICES_MAX = 512 };

/* Which thread is inside under which index. */
typedef struct register_of_indices {
  muster_pool *pool;
  shared_u64 holders[INDICES_MAX];
  shared_u64 doubles, strangers, changed, calls;
} register_of_indices;

static void enter_and_nest(register_of_indices *all, uint32_t worker, uint32_t depth);

struct nested {
  register_of_indices *all;
  uint32_t depth;
};

static void nested_job(void *argument, uint32_t worker) {
  const struct nested *nested = argument;
  enter_and_nest(nested->all, worker, nested->depth);
}

static void nested_piece(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  for (uint64_t i = begin; i < end; i++) nested_job(argument, worker);
}

/* A thread may find itself under its index, further out: it keeps it through nested calls. */
static void enter_and_nest(register_of_indices *all, uint32_t worker, uint32_t depth) {
  count_up(&all->calls);
  if (worker >= muster_pool_indices(all->pool)) {
    count_up(&all->strangers);
    return;
  }
  uint64_t nobody = 0;
  bool outermost = compare_exchange_ordered_u64(&all->holders[worker], &nobody, own_number());
  if (!outermost && nobody != own_number()) count_up(&all->doubles);
  if (muster_pool_current_index(all->pool) != worker) count_up(&all->changed);
  if (depth > 0) {
    struct nested inner = {all, depth - 1};
    muster_group group = new_group(all->pool);
    muster_job_submit(all->pool, 4, nested_job, &inner, &group);
    muster_job_submit(all->pool, 1, nested_job, &inner, &group);
    muster_parallel_for(all->pool, 4, 3, 1, nested_piece, &inner);
    muster_group_wait_helping(&group, 7);
  } else {
    sched_yield();
  }
  if (muster_pool_current_index(all->pool) != worker) count_up(&all->changed);
  if (outermost) store_ordered_u64(&all->holders[worker], 0);
}

static void *nest_from_outside(void *argument) {
  struct nested nested = {argument, 2};
  for (uint32_t round = 0; round < 40 / SLOWER; round++) {
    muster_parallel_for(nested.all->pool, 3, 4, 1, nested_piece, &nested);
    muster_group group = new_group(nested.all->pool);
    muster_job_submit(nested.all->pool, 2, nested_job, &nested, &group);
    muster_group_wait(&group);
  }
  return NULL;
}

static void check_indices(uint32_t workers, uint32_t external, uint32_t threads) {
  SCOPED(free_memory) register_of_indices *all = calloc(1, sizeof *all);
  SCOPED(free_memory) pthread_t *started = calloc(threads, sizeof *started);
  all->pool = create_pool_as(WITH(muster_pool_def, it.workers = workers, it.external_max = external));
  start_threads(started, threads, nest_from_outside, all, 0);
  join_threads(started, threads);
  cr_assert_eq(read_count(&all->doubles), 0, "two threads at once under one index");
  cr_assert_eq(read_count(&all->strangers), 0, "an index too large");
  cr_assert_eq(read_count(&all->changed), 0, "a thread's index changed");
  cr_assert_gt(read_count(&all->calls), 0);
  muster_pool_destroy(all->pool);
}

Test(jobs_places, no_two_threads_are_ever_inside_under_one_index_and_each_keeps_its_own) {
  check_indices(3, 4, 4);
  check_indices(1, 3, 3);
}

Test(jobs_places, more_external_threads_than_slots_wait_for_one_of_them_to_leave) {
  check_indices(2, 1, 6);
  check_indices(4, 3, 12);
}
