#include "pool/worker.h"

#include "base/fatal.h"
#include "base/forked.h"
#include "pool/leaving.h"
#include "pool/range.h"
#include "pool/threads.h"

static void wake_slot(struct muster_pool *pool, struct worker_slot *slot, uint32_t index) {
  if (slot) worker_slot_add(&slot->statistics.wakes, 1);
  if (pool->threads) threads_keep_apart(pool, index);
  park_wake(&pool->slots[index].parking);
}

void worker_ask(struct muster_pool *pool, struct worker_slot *slot, const struct group *group) {
  for (uint32_t word = 0; word * 64 < pool->slot_count; word++)
    for (uint64_t bits = load_ordered_u64(&pool->waiting.words[word]); bits; bits &= bits - 1) {
      uint32_t index = word * 64 + (uint32_t)__builtin_ctzll(bits);
      uint64_t awaits = load_ordered_u64(&pool->slots[index].awaits);
      if (group && awaits != WORKER_SLOT_AWAITS_ANY && awaits != (uint64_t)(uintptr_t)group) continue;
      if (idle_take_one(&pool->waiting, index)) wake_slot(pool, slot, index);
    }
}

bool worker_wake_one(struct muster_pool *pool, struct worker_slot *slot) {
  uint32_t index = idle_take(&pool->idle, pool->workers);
  if (index != IDLE_NONE) wake_slot(pool, slot, index);
  return index != IDLE_NONE;
}

void worker_wake(struct muster_pool *pool, struct worker_slot *slot, const struct group *group) {
  if (!worker_wake_one(pool, slot)) worker_ask(pool, slot, group);
}

bool worker_push_quietly(struct muster_pool *pool, uint32_t lane, const struct job *job) {
  if (!queue_push(&pool->queue, lane, job) &&
      !(lane_sweep(&pool->queue.lanes[lane]) && queue_push(&pool->queue, lane, job)))
    return false;
  if (pool_is_stopping(pool)) worker_drop(pool, lane); /* too late: it may be that no worker comes any more */
  return true;
}

bool worker_push(struct muster_pool *pool, struct worker_slot *slot, uint32_t lane, const struct job *job) {
  static const struct group none; /* among waiters, only those that take any job may run it */
  const struct group *group = job->group ? job->group : &none;
  if (!worker_push_quietly(pool, lane, job)) return false;
  if (!pool_is_stopping(pool)) worker_wake(pool, slot, group);
  return true;
}

static CALLS_OUT void run_job(struct worker_slot *slot, const struct job *job) {
  MUST_RETURN(leaving_job);
  running_job here = {job->group, slot->running};
  slot->running = &here;
  job->run(job->argument, slot->index);
  slot->running = here.outer;
  worker_slot_add(&slot->statistics.jobs, 1);
  if (slot->waits) worker_slot_add(&slot->statistics.helped, 1);
}

void worker_complete(struct muster_pool *pool, struct worker_slot *slot, struct group *group, uint32_t count) {
  /* Ordered: the waiter entered the set before it marked the group. */
  if (group_complete(group, count)) worker_ask(pool, slot, group);
}

static void run_and_complete(struct worker_slot *slot, const struct job *job) {
  run_job(slot, job);
  if (job->group) worker_complete(slot->pool, slot, job->group, 1);
}

/* Jobs of one group that ended one after the other and are not counted out yet. */
struct ended {
  struct group *group;
  uint32_t count;
};

static void count_out(struct worker_slot *slot, struct ended *ended) {
  if (ended->count) worker_complete(slot->pool, slot, ended->group, ended->count);
  ended->count = 0;
}

/* A worker that slept, or was about to, was woken for one job: when there is more, it wakes the next, and one more
 * while some is left. So many workers are awake in as many steps as their number has bits. */
static void pass_on_wake(struct worker_slot *slot, bool more) {
  struct muster_pool *pool = slot->pool;
  if (!slot->woken) return;
  slot->woken = false;
  if (more || queue_has_work(&pool->queue, QUEUE_ALL)) worker_wake(pool, slot, NULL);
  for (uint32_t i = 1; i < WORKER_WAKES && queue_has_work(&pool->queue, QUEUE_ALL); i++) worker_wake_one(pool, slot);
}

static void run_stolen(struct worker_slot *slot, const struct job *job) {
  pass_on_wake(slot, true);
  worker_slot_add(&slot->statistics.stolen, 1);
  run_and_complete(slot, job);
}

/* Runs a job of `lanes` (bits) that another worker has claimed and not started. */
static bool run_claimed(struct worker_slot *slot, uint32_t lanes) {
  return claims_settle(slot->pool, lanes) && worker_steal(slot, lanes);
}

/* Claims positions that lane_look found; false when another thread did. */
static bool worker_claim(struct worker_slot *slot, uint32_t lane, uint64_t first, uint32_t count) {
  struct queue *queue = &slot->pool->queue;
  /* Ordered, before head moves: a thread that looks first at lanes and then at claims sees every job in one of them. */
  if (count > 1) store_ordered_u64(&slot->claim, claim_pack(lane, first, count));
  if (count > 1) queue_note_claimed(queue, lane);
  if (lane_claim(&queue->lanes[lane], first, count)) return true;
  if (count > 1) store_release_u64(&slot->claim, 0);
  return false;
}

/* Claims from a lane; with a non-null `only` just jobs of that group. Returns how many, and the first. */
static uint32_t claim_from(struct worker_slot *slot, uint32_t lane, uint32_t most, const struct group *only,
                           uint64_t *first) {
  for (;;) {
    uint32_t count = lane_look(&slot->pool->queue.lanes[lane], most, only, first);
    if (count == 0 || worker_claim(slot, lane, *first, count)) return count;
  }
}

/* A bit that stands over an empty lane and that no sleeper clears would cost a look each time. */
static void note_fruitless(struct worker_slot *slot) {
  struct muster_pool *pool = slot->pool;
  if (++slot->fruitless % 64 == 0 && queue_settle(&pool->queue)) worker_wake(pool, slot, NULL);
}

bool worker_is_wanted(struct worker_slot *slot, uint32_t lanes) {
  const struct queue *queue = &slot->pool->queue;
  if (!queue_may_have(queue, lanes)) return false;
  if (queue_has_work(queue, lanes) || claims_settle(slot->pool, lanes)) return true;
  note_fruitless(slot);
  return false;
}

static uint32_t worker_run_claim(struct worker_slot *slot, uint32_t lane, uint64_t first, uint32_t count,
                                 uint32_t way_to);

/* Runs what is most urgent in `lanes` (bits), the lanes and the claims of others; adds to `ran` how many jobs it was.
 * False when there was nothing; true also when another thread was faster, so that the caller should look anew. */
static bool serve(struct worker_slot *slot, uint32_t lanes, uint32_t most, uint32_t *ran) {
  struct queue *queue = &slot->pool->queue;
  uint32_t workers = slot->job_ns * CLAIM_JOBS_MAX < CLAIM_UNFAIR_NS ? 0 : threads_count(slot->pool);
  for (uint32_t bits = queue_occupied(queue) & lanes; bits; bits &= bits - 1) {
    uint32_t number = (uint32_t)__builtin_ctz(bits), more_urgent = lanes & ((1u << number) - 1u);
    struct lane *lane = &queue->lanes[number];
    uint64_t first;
    uint32_t count = lane_look(lane, queue_fair_part(lane, most, workers), NULL, &first);
    if (!count) continue;
    /* This job may have come after the look at the more urgent lanes, and a more urgent job before it. */
    if (more_urgent && queue_has_work(queue, more_urgent)) return true;
    if (more_urgent && run_claimed(slot, more_urgent)) return *ran += 1, true;
    if (!worker_claim(slot, number, first, count)) return true;
    pass_on_wake(slot, count > 1); /* of a claim of several, others may take some */
    *ran += worker_run_claim(slot, number, first, count, lanes);
    return true;
  }
  return false;
}

/* Runs the jobs of `more_urgent` lanes (bits) first. */
static uint32_t yield_to(struct worker_slot *slot, uint32_t more_urgent, struct ended *ended) {
  uint32_t ran = 0;
  while (worker_is_wanted(slot, more_urgent)) {
    /* Counts out before this thread runs a job: a thread may be waiting for an ended group. */
    count_out(slot, ended);
    if (serve(slot, more_urgent, 1, &ran)) continue;
    if (!run_claimed(slot, more_urgent)) break;
    ran++;
  }
  return ran;
}

uint32_t worker_yield_to(struct worker_slot *slot, uint32_t more_urgent) {
  struct ended none = {NULL, 0};
  return yield_to(slot, more_urgent, &none);
}

static void note_cost(struct worker_slot *slot, uint64_t begin_ns, uint32_t jobs) {
  if (!jobs) return;
  uint64_t each_ns = (clock_now(&slot->pool->clock) - begin_ns) / jobs;
  slot->job_ns = (3 * slot->job_ns + each_ns) / 4;
}

/* Runs a claim. Between two jobs, jobs of those lanes in `way_to` that are more urgent go first. Returns how many of
 * the claimed jobs were still there. */
static uint32_t worker_run_claim(struct worker_slot *slot, uint32_t lane, uint64_t first, uint32_t count,
                                 uint32_t way_to) {
  struct muster_pool *pool = slot->pool;
  uint64_t begin_ns = clock_now(&pool->clock);
  struct ended ended = {NULL, 0};
  uint32_t ran = 0, more_urgent = way_to & ((1u << lane) - 1u);
  struct lane *from = &pool->queue.lanes[lane];
  for (uint32_t i = 0; i < count; i++) {
    struct job job;
    /* Not before the first job: it was the most urgent, and a claim of one is not announced. */
    if (i > 0) yield_to(slot, more_urgent, &ended);
    if (ended.count && lane_group(from, first + i) != ended.group) count_out(slot, &ended);
    if (!lane_start(from, first + i, &job)) continue;
    ended.group = job.group;
    run_job(slot, &job);
    if (job.group) ended.count++;
    ran++;
  }
  count_out(slot, &ended);
  if (count > 1) store_release_u64(&slot->claim, 0);
  worker_slot_add(&slot->statistics.claims, 1);
  note_cost(slot, begin_ns, ran);
  return ran;
}

/* How many jobs to claim: as many as should take JOB_CLAIM_NS; inside another job one, as its claim may stand. */
static uint32_t claim_size(const struct worker_slot *slot) {
  if (slot->running) return 1;
  uint64_t jobs = JOB_CLAIM_NS / (slot->job_ns + 1);
  return jobs < 1 ? 1 : jobs < CLAIM_JOBS_MAX ? (uint32_t)jobs : CLAIM_JOBS_MAX;
}

/* A worker that keeps pace with a producer of tiny jobs would compete for every cache line: let some jobs gather. */
static void let_more_come(void) {
  for (int i = 0; i < 8; i++) pause_processor();
}

bool worker_serve(struct worker_slot *slot, uint32_t lanes, uint32_t most) {
  uint32_t ran = 0;
  if (!serve(slot, lanes, most, &ran)) return false;
  if (ran == 1 && slot->job_ns < CLAIM_TINY_NS) let_more_come();
  return true;
}

void worker_drop(struct muster_pool *pool, uint32_t number) {
  struct lane *lane = &pool->queue.lanes[number];
  uint64_t first;
  struct job job;
  while (lane_look(lane, 1, NULL, &first)) {
    if (!lane_claim(lane, first, 1) || !lane_start(lane, first, &job)) continue;
    fetch_add_relaxed_u64(&pool->dropped, range_counts_as_dropped(&job));
    if (job.group) worker_complete(pool, NULL, job.group, 1);
  }
}

bool worker_steal(struct worker_slot *slot, uint32_t lanes) {
  struct job job;
  if (!claims_take(slot->pool, slot->index + 1, lanes, NULL, &job)) return false;
  run_stolen(slot, &job);
  return true;
}

/* Looks through a lane from where the last look stopped. */
static bool take_from_lane(struct lane *lane, const struct group *only, uint64_t *scan, struct job *job) {
  uint64_t head = lane_head(lane), tail = lane_tail(lane);
  for (uint64_t position = *scan > head ? *scan : head; position < tail; position++)
    if (lane_take_out(lane, position, only, job)) {
      *scan = position + 1;
      return true;
    }
  *scan = 0;
  return false;
}

/* Runs a job out of its turn, from one of `lanes` or from another worker's claim. */
static bool run_out_of_turn(struct worker_slot *slot, uint32_t lanes, const struct group *group, uint64_t *scan) {
  struct muster_pool *pool = slot->pool;
  bool found = false;
  struct job job;
  for (uint32_t bits = lanes; bits && !found; bits &= bits - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(bits);
    found = take_from_lane(&pool->queue.lanes[lane], group, &scan[lane], &job);
  }
  if (!found && !claims_take(pool, slot->index, lanes, group, &job)) return false;
  run_and_complete(slot, &job);
  return true;
}

bool worker_help(struct worker_slot *slot, const struct group *group, uint64_t *scan) {
  struct muster_pool *pool = slot->pool;
  uint32_t lanes = load_ordered_u32(&group->lanes);
  for (uint32_t bits = lanes; bits; bits &= bits - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(bits);
    uint64_t first;
    uint32_t most = queue_fair_part(&pool->queue.lanes[lane], claim_size(slot), threads_count(pool));
    uint32_t count = claim_from(slot, lane, most, group, &first);
    if (!count) continue;
    worker_run_claim(slot, lane, first, count, 0);
    return true;
  }
  return run_out_of_turn(slot, lanes, group, scan);
}

void worker_take_out_all(struct muster_pool *pool, struct worker_slot *slot, struct group *group) {
  uint32_t lanes = load_ordered_u32(&group->lanes), entries = 0;
  struct job job;
  for (uint32_t bits = lanes; bits; bits &= bits - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(bits);
    for (uint64_t scan = 0; take_from_lane(&pool->queue.lanes[lane], group, &scan, &job);) entries++;
  }
  while (claims_take(pool, 0, lanes, group, &job)) entries++;
  if (entries) worker_complete(pool, slot, group, entries);
}

/* Pauses between looks: a busy producer should not lose its cache lines to every look. */
static void pause_between_looks(void) {
  for (int i = 0; i < 2; i++) pause_processor();
}

static bool spin_for_work(struct worker_slot *slot) {
  enum { LOOKS = 16 };
  const clock_source *clock = &slot->pool->clock;
  uint64_t end_ns = clock_now(clock) + slot->spin_ns;
  do {
    for (int i = 0; i < LOOKS; i++) {
      if (worker_serve(slot, QUEUE_ALL, claim_size(slot))) return true;
      pause_between_looks();
    }
    worker_slot_add(&slot->statistics.idle_looks, LOOKS);
    if (worker_steal(slot, QUEUE_ALL)) return true;
  } while (clock_now(clock) < end_ns && !pool_is_stopping(slot->pool));
  return false;
}

static void sleep(struct worker_slot *slot, uint32_t ticket) {
  const muster_pool_def *def = &slot->pool->def;
  bool worker = slot->index > 0 && slot->index < slot->pool->workers;
  worker_slot_add(&slot->statistics.sleeps, 1);
  if (worker && def->on_worker_sleep) def->on_worker_sleep(slot->index, def->hook_user);
  if (forked_since(slot->pool->process))
    fatal("pool '%s': this process was forked from the one that has the pool's threads, and waits for one of them",
          slot->pool->name);
  park_wait(&slot->parking, ticket);
  if (worker && def->on_worker_wake) def->on_worker_wake(slot->index, def->hook_user);
}

void worker_sleep(struct worker_slot *slot) {
  struct muster_pool *pool = slot->pool;
  uint32_t ticket = park_ticket(&slot->parking);
  struct job job;
  idle_enter(&pool->idle, slot->index);
  bool found = queue_settle(&pool->queue);
  bool stolen = !found && claims_take(pool, slot->index + 1, QUEUE_ALL, NULL, &job);
  if (!found && !stolen && !pool_is_stopping(pool)) {
    sleep(slot, ticket);
  }
  idle_leave(&pool->idle, slot->index);
  /* Set also when it did not sleep: another thread may have spent a wake on it meanwhile. */
  slot->woken = true;
  if (stolen) run_stolen(slot, &job);
}

void worker_run(struct worker_slot *slot) {
  const clock_source *clock = &slot->pool->clock;
  while (!pool_is_stopping(slot->pool)) {
    if (worker_serve(slot, QUEUE_ALL, claim_size(slot)) || worker_steal(slot, QUEUE_ALL)) continue;
    if (spin_for_work(slot)) continue;
    uint64_t begin_ns = clock_now(clock);
    worker_sleep(slot);
    /* Before a short sleep a longer look would have saved the sleep; before a long one it would be for nothing. */
    bool was_short = clock_now(clock) - begin_ns < SPIN_NS;
    slot->spin_ns = was_short ? SPIN_NS : slot->spin_ns / 2 > SPIN_LEAST_NS ? slot->spin_ns / 2 : SPIN_LEAST_NS;
  }
}

struct waiting {
  struct worker_slot *slot;
  struct group *group;
  const wait_orders *orders;
  uint64_t scan[MUSTER_URGENCIES];
};

static bool work_along(struct waiting *waiting) {
  const wait_orders *orders = waiting->orders;
  if (orders->asleep) return false;
  uint32_t own = load_ordered_u32(&waiting->group->lanes);
  if (worker_yield_to(waiting->slot, orders->lanes & ((own & -own) - 1u))) return true;
  if (worker_help(waiting->slot, waiting->group, waiting->scan)) return true;
  if (!orders->lanes) return false;
  return worker_serve(waiting->slot, orders->lanes, 1) || worker_steal(waiting->slot, orders->lanes);
}

/* True when the group is complete or there was something to do. */
static bool spin_for_group(struct waiting *waiting) {
  enum { LOOKS = 32 };
  const struct muster_pool *pool = waiting->slot->pool;
  uint64_t now_ns = clock_now(&pool->clock), end_ns = now_ns + SPIN_NS;
  if (waiting->orders->patience_ns < end_ns) end_ns = waiting->orders->patience_ns;
  while (now_ns < end_ns) {
    for (int i = 0; i < LOOKS; i++) {
      if (group_is_complete(waiting->group)) return true;
      pause_processor();
    }
    if (work_along(waiting)) return true;
    now_ns = clock_now(&pool->clock);
  }
  return false;
}

static void sleep_for_group(struct waiting *waiting) {
  struct worker_slot *slot = waiting->slot;
  struct muster_pool *pool = slot->pool;
  uint32_t ticket = park_ticket(&slot->parking);
  bool any = waiting->orders->lanes && !waiting->orders->asleep;
  store_relaxed_u64(&slot->awaits, any ? WORKER_SLOT_AWAITS_ANY : (uint64_t)(uintptr_t)waiting->group);
  idle_enter(&pool->waiting, slot->index);
  if (group_await(waiting->group) && !work_along(waiting)) sleep(slot, ticket);
  idle_leave(&pool->waiting, slot->index);
}

void worker_wait(struct worker_slot *slot, struct group *group, const wait_orders *orders) {
  struct waiting waiting = {slot, group, orders, {0}};
  bool told = false;
  slot->waits++;
  while (!group_is_complete(group)) {
    if (work_along(&waiting) || spin_for_group(&waiting)) continue;
    if (orders->before_sleep && !told) orders->before_sleep(orders->argument);
    told = true;
    sleep_for_group(&waiting);
  }
  slot->waits--;
}
