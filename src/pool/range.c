#include "pool/range.h"

#include "pool/leaving.h"
#include "pool/threads.h"
#include "pool/worker.h"

_Static_assert(sizeof(struct range) <= sizeof(muster_range), "a range fits what the caller provides");

static uint64_t piece_of(const struct range *range, uint64_t next, uint32_t workers) {
  uint64_t cost_ps = load_relaxed_u64(&range->cost_ps);
  uint64_t part = (range->count - next) / (2 * workers);
  uint64_t piece = cost_ps ? RANGE_PIECE_NS * 1000ull / cost_ps : 1;
  if (piece > part) piece = part;
  return piece > range->grain ? piece : range->grain;
}

static bool range_take_piece(struct range *range, uint32_t workers, uint64_t *next, uint64_t *end) {
  *next = load_relaxed_u64(&range->next);
  do {
    if (*next == range->count) return false;
    uint64_t piece = piece_of(range, *next, workers);
    *end = range->count - *next > piece ? *next + piece : range->count;
  } while (!compare_exchange_relaxed_u64(&range->next, next, *end));
  return true;
}

/* Works the range off, together with the other threads that do. */
static CALLS_OUT void range_work_off(struct worker_slot *slot, struct range *range) {
  MUST_RETURN(leaving_job);
  const struct muster_pool *pool = slot->pool;
  uint32_t more_urgent = (1u << range->lane) - 1u;
  uint64_t clock_ns = clock_now(&pool->clock);
  for (;;) {
    uint64_t next, end;
    if (!range_take_piece(range, threads_count(pool), &next, &end)) return;
    range->run(range->argument, next, end, slot->index);
    uint64_t now_ns = clock_now(&pool->clock);
    store_relaxed_u64(&range->cost_ps, (now_ns - clock_ns) * 1000u / (end - next) + 1);
    clock_ns = worker_yield_to(slot, more_urgent) ? clock_now(&pool->clock) : now_ns;
  }
}

void range_help(void *argument, uint32_t worker) {
  struct range *range = argument;
  range_work_off(&range->group->pool->slots[worker], range);
}

/* Calls for up to `helpers`, as many as there is room for; returns how many. */
static uint32_t call_helpers(struct muster_pool *pool, struct worker_slot *slot, struct range *range,
                             struct group *group, uint64_t helpers) {
  struct job job = {range_help, range, group};
  uint32_t called = 0;
  for (; called < helpers; called++) {
    group_add(group, 1, range->lane);
    if (worker_push(pool, slot, range->lane, &job)) continue;
    worker_complete(pool, slot, group, 1);
    break;
  }
  return called;
}

static void range_prepare(struct range *range, uint32_t lane, uint64_t count, uint64_t grain, muster_range_function run,
                          void *argument, const struct group *group) {
  *range = (struct range){
      .lane = lane, .count = count, .grain = grain ? grain : 1, .run = run, .argument = argument, .group = group};
}

/* How many workers to call: one for each piece of the size of the grain, but no more workers than there are. */
static uint64_t worth_calling(const struct range *range, uint64_t workers) {
  uint64_t pieces = (range->count - 1) / range->grain + 1;
  return pieces < workers ? pieces : workers;
}

muster_result muster_parallel_for(muster_pool *pool, uint32_t priority, uint64_t count, uint64_t grain,
                                  muster_range_function run, void *argument) {
  muster_result result = request_check(pool, priority, run != NULL);
  if (result || count == 0) return result;
  struct range range;
  struct group group;
  struct pool_entry entered;
  struct worker_slot *slot = pool_enter(&entered, pool);
  group_prepare(&group, pool);
  range_prepare(&range, priority, count, grain, run, argument, &group);
  range.attended = true;
  call_helpers(pool, slot, &range, &group, worth_calling(&range, threads_count(pool)) - 1);
  range_work_off(slot, &range);
  if (!group_is_complete(&group)) worker_take_out_all(pool, slot, &group);
  worker_wait(slot, &group, &(wait_orders){.patience_ns = UINT64_MAX});
  pool_leave(&entered);
  return MUSTER_OK;
}

muster_result muster_range_submit(muster_range *given, muster_pool *pool, uint32_t priority, uint64_t count,
                                  uint64_t grain, muster_range_function run, void *argument,
                                  muster_group *given_group) {
  struct range *range = (struct range *)(void *)given;
  struct group *group = (struct group *)(void *)given_group;
  muster_result result = request_check(pool, priority, run && range && group);
  if (!result) result = request_check_group(pool, group);
  if (result || count == 0) return result;
  struct worker_slot *slot = pool_own_slot(pool);
  range_prepare(range, priority, count, grain, run, argument, group);
  group_add(group, 1, priority); /* the first helper may be done before the last is called */
  uint32_t called = call_helpers(pool, slot, range, group, worth_calling(range, threads_count(pool)));
  worker_complete(pool, slot, group, 1);
  return called ? MUSTER_OK : request_full(pool, priority);
}
