#include "pool/worker.h"

#include "pool/leaving.h"
#include "pool/range.h"
#include "pool/threads.h"

static void wake_seat(struct muster_pool *pool, struct seat *seat, uint32_t index) {
  if (seat) seat_count(&seat->statistics.wakes, 1);
  if (pool->threads) threads_keep_apart(pool, index);
  park_wake(&pool->seats[index].parking);
}

void worker_ask(struct muster_pool *pool, struct seat *seat, const struct group *group) {
  for (uint32_t word = 0; word * 64 < pool->seat_count; word++)
    for (uint64_t bits = load_ordered_u64(&pool->waiting.words[word]); bits; bits &= bits - 1) {
      uint32_t index = word * 64 + (uint32_t)__builtin_ctzll(bits);
      uint64_t awaits = load_ordered_u64(&pool->seats[index].awaits);
      if (group && awaits != SEAT_AWAITS_ANY && awaits != (uint64_t)(uintptr_t)group) continue;
      if (idle_take_one(&pool->waiting, index)) wake_seat(pool, seat, index);
    }
}

bool worker_wake_one(struct muster_pool *pool, struct seat *seat) {
  uint32_t index = idle_take(&pool->idle, pool->workers);
  if (index != IDLE_NONE) wake_seat(pool, seat, index);
  return index != IDLE_NONE;
}

void worker_wake(struct muster_pool *pool, struct seat *seat, const struct group *group) {
  if (!worker_wake_one(pool, seat)) worker_ask(pool, seat, group);
}

bool worker_push_quietly(struct muster_pool *pool, uint32_t lane, const struct job *job) {
  if (!queue_push(&pool->queue, lane, job) &&
      !(lane_sweep(&pool->queue.lanes[lane]) && queue_push(&pool->queue, lane, job)))
    return false;
  if (pool_is_stopping(pool)) worker_drop(pool, lane); /* too late: it may be that no worker comes any more */
  return true;
}

bool worker_push(struct muster_pool *pool, struct seat *seat, uint32_t lane, const struct job *job) {
  static const struct group none; /* among waiters, only those that take any job may run it */
  const struct group *group = job->group ? job->group : &none;
  if (!worker_push_quietly(pool, lane, job)) return false;
  if (!pool_is_stopping(pool)) worker_wake(pool, seat, group);
  return true;
}

static CALLS_OUT void run_job(struct seat *seat, const struct job *job) {
  MUST_RETURN(leaving_job);
  running_job here = {job->group, seat->running};
  seat->running = &here;
  job->run(job->argument, seat->index);
  seat->running = here.outer;
  seat_count(&seat->statistics.jobs, 1);
  if (seat->waits) seat_count(&seat->statistics.helped, 1);
}

void worker_complete(struct muster_pool *pool, struct seat *seat, struct group *group, uint32_t count) {
  /* Ordered: the waiter entered the set before it marked the group. */
  if (group_complete(group, count)) worker_ask(pool, seat, group);
}

static void run_and_complete(struct seat *seat, const struct job *job) {
  run_job(seat, job);
  if (job->group) worker_complete(seat->pool, seat, job->group, 1);
}

/* Jobs of one group that ended one after the other and are not counted out yet. */
struct ended {
  struct group *group;
  uint32_t count;
};

static void count_out(struct seat *seat, struct ended *ended) {
  if (ended->count) worker_complete(seat->pool, seat, ended->group, ended->count);
  ended->count = 0;
}

/* A worker that slept, or was about to, was woken for one job: when there is more, it wakes the next, and one more
 * while some is left. So many workers are awake in as many steps as their number has bits. */
static void pass_on_wake(struct seat *seat, bool more) {
  struct muster_pool *pool = seat->pool;
  if (!seat->woken) return;
  seat->woken = false;
  if (more || queue_has_work(&pool->queue, QUEUE_ALL)) worker_wake(pool, seat, NULL);
  for (uint32_t i = 1; i < WORKER_WAKES && queue_has_work(&pool->queue, QUEUE_ALL); i++) worker_wake_one(pool, seat);
}

static void run_stolen(struct seat *seat, const struct job *job) {
  pass_on_wake(seat, true);
  seat_count(&seat->statistics.stolen, 1);
  run_and_complete(seat, job);
}

/* Runs a job of `lanes` (bits) that another worker has claimed and not started. */
static bool run_claimed(struct seat *seat, uint32_t lanes) {
  return claims_settle(seat->pool, lanes) && worker_steal(seat, lanes);
}

/* Claims positions that lane_look found; false when another thread did. */
static bool worker_claim(struct seat *seat, uint32_t lane, uint64_t first, uint32_t count) {
  struct queue *queue = &seat->pool->queue;
  /* Ordered, before head moves: a thread that looks first at lanes and then at claims sees every job in one of them. */
  if (count > 1) store_ordered_u64(&seat->claim, claim_pack(lane, first, count));
  if (count > 1) queue_note_claimed(queue, lane);
  if (lane_claim(&queue->lanes[lane], first, count)) return true;
  if (count > 1) store_release_u64(&seat->claim, 0);
  return false;
}

/* Claims from a lane; with a non-null `only` just jobs of that group. Returns how many, and the first. */
static uint32_t claim_from(struct seat *seat, uint32_t lane, uint32_t most, const struct group *only, uint64_t *first) {
  for (;;) {
    uint32_t count = lane_look(&seat->pool->queue.lanes[lane], most, only, first);
    if (count == 0 || worker_claim(seat, lane, *first, count)) return count;
  }
}

/* A bit that stands over an empty lane and that no sleeper clears would cost a look each time. */
static void note_fruitless(struct seat *seat) {
  struct muster_pool *pool = seat->pool;
  if (++seat->fruitless % 64 == 0 && queue_settle(&pool->queue)) worker_wake(pool, seat, NULL);
}

bool worker_is_wanted(struct seat *seat, uint32_t lanes) {
  const struct queue *queue = &seat->pool->queue;
  if (!queue_may_have(queue, lanes)) return false;
  if (queue_has_work(queue, lanes) || claims_settle(seat->pool, lanes)) return true;
  note_fruitless(seat);
  return false;
}

static uint32_t worker_run_claim(struct seat *seat, uint32_t lane, uint64_t first, uint32_t count, uint32_t way_to);

/* Runs what is most urgent in `lanes` (bits), the lanes and the claims of others; adds to `ran` how many jobs it was.
 * False when there was nothing; true also when another thread was faster, so that the caller should look anew. */
static bool serve(struct seat *seat, uint32_t lanes, uint32_t most, uint32_t *ran) {
  struct queue *queue = &seat->pool->queue;
  uint32_t workers = seat->job_ns * CLAIM_JOBS_MAX < CLAIM_UNFAIR_NS ? 0 : seat->pool->workers;
  for (uint32_t bits = queue_occupied(queue) & lanes; bits; bits &= bits - 1) {
    uint32_t number = (uint32_t)__builtin_ctz(bits), more_urgent = lanes & ((1u << number) - 1u);
    struct lane *lane = &queue->lanes[number];
    uint64_t first;
    uint32_t count = lane_look(lane, queue_fair_part(lane, most, workers), NULL, &first);
    if (!count) continue;
    /* This job may have come after the look at the more urgent lanes, and a more urgent job before it. */
    if (more_urgent && queue_has_work(queue, more_urgent)) return true;
    if (more_urgent && run_claimed(seat, more_urgent)) return *ran += 1, true;
    if (!worker_claim(seat, number, first, count)) return true;
    pass_on_wake(seat, count > 1); /* of a claim of several, others may take some */
    *ran += worker_run_claim(seat, number, first, count, lanes);
    return true;
  }
  return false;
}

/* Runs the jobs of `more_urgent` lanes (bits) first. */
static uint32_t yield_to(struct seat *seat, uint32_t more_urgent, struct ended *ended) {
  uint32_t ran = 0;
  while (worker_is_wanted(seat, more_urgent)) {
    /* Counts out before this thread runs a job: a thread may be waiting for an ended group. */
    count_out(seat, ended);
    if (serve(seat, more_urgent, 1, &ran)) continue;
    if (!run_claimed(seat, more_urgent)) break;
    ran++;
  }
  return ran;
}

uint32_t worker_yield_to(struct seat *seat, uint32_t more_urgent) {
  struct ended none = {NULL, 0};
  return yield_to(seat, more_urgent, &none);
}

static void note_cost(struct seat *seat, uint64_t begin_ns, uint32_t jobs) {
  if (!jobs) return;
  uint64_t each_ns = (clock_now(&seat->pool->clock) - begin_ns) / jobs;
  seat->job_ns = (3 * seat->job_ns + each_ns) / 4;
}

/* Runs a claim. Between two jobs, jobs of those lanes in `way_to` that are more urgent go first. Returns how many of
 * the claimed jobs were still there. */
static uint32_t worker_run_claim(struct seat *seat, uint32_t lane, uint64_t first, uint32_t count, uint32_t way_to) {
  struct muster_pool *pool = seat->pool;
  uint64_t begin_ns = clock_now(&pool->clock);
  struct ended ended = {NULL, 0};
  uint32_t ran = 0, more_urgent = way_to & ((1u << lane) - 1u);
  struct lane *from = &pool->queue.lanes[lane];
  for (uint32_t i = 0; i < count; i++) {
    struct job job;
    /* Not before the first job: it was the most urgent, and a claim of one is not announced. */
    if (i > 0) yield_to(seat, more_urgent, &ended);
    if (ended.count && lane_group(from, first + i) != ended.group) count_out(seat, &ended);
    if (!lane_start(from, first + i, &job)) continue;
    ended.group = job.group;
    run_job(seat, &job);
    if (job.group) ended.count++;
    ran++;
  }
  count_out(seat, &ended);
  if (count > 1) store_release_u64(&seat->claim, 0);
  seat_count(&seat->statistics.claims, 1);
  note_cost(seat, begin_ns, ran);
  return ran;
}

/* How many jobs to claim: as many as should take JOB_CLAIM_NS; inside another job one, as its claim may stand. */
static uint32_t claim_size(const struct seat *seat) {
  if (seat->running) return 1;
  uint64_t jobs = JOB_CLAIM_NS / (seat->job_ns + 1);
  return jobs < 1 ? 1 : jobs < CLAIM_JOBS_MAX ? (uint32_t)jobs : CLAIM_JOBS_MAX;
}

/* A worker that keeps pace with a producer of tiny jobs would compete for every cache line: let some jobs gather. */
static void let_more_come(void) {
  for (int i = 0; i < 8; i++) pause_processor();
}

bool worker_serve(struct seat *seat, uint32_t lanes, uint32_t most) {
  uint32_t ran = 0;
  if (!serve(seat, lanes, most, &ran)) return false;
  if (ran == 1 && seat->job_ns < CLAIM_TINY_NS) let_more_come();
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

bool worker_steal(struct seat *seat, uint32_t lanes) {
  struct job job;
  if (!claims_take(seat->pool, seat->index + 1, lanes, NULL, &job)) return false;
  run_stolen(seat, &job);
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
static bool run_out_of_turn(struct seat *seat, uint32_t lanes, const struct group *group, uint64_t *scan) {
  struct muster_pool *pool = seat->pool;
  bool found = false;
  struct job job;
  for (uint32_t bits = lanes; bits && !found; bits &= bits - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(bits);
    found = take_from_lane(&pool->queue.lanes[lane], group, &scan[lane], &job);
  }
  if (!found && !claims_take(pool, seat->index, lanes, group, &job)) return false;
  run_and_complete(seat, &job);
  return true;
}

bool worker_help(struct seat *seat, const struct group *group, uint64_t *scan) {
  struct muster_pool *pool = seat->pool;
  uint32_t lanes = load_ordered_u32(&group->lanes);
  for (uint32_t bits = lanes; bits; bits &= bits - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(bits);
    uint64_t first;
    uint32_t most = queue_fair_part(&pool->queue.lanes[lane], claim_size(seat), pool->workers);
    uint32_t count = claim_from(seat, lane, most, group, &first);
    if (!count) continue;
    worker_run_claim(seat, lane, first, count, 0);
    return true;
  }
  return run_out_of_turn(seat, lanes, group, scan);
}

void worker_take_out_all(struct muster_pool *pool, struct seat *seat, struct group *group) {
  uint32_t lanes = load_ordered_u32(&group->lanes), entries = 0;
  struct job job;
  for (uint32_t bits = lanes; bits; bits &= bits - 1) {
    uint32_t lane = (uint32_t)__builtin_ctz(bits);
    for (uint64_t scan = 0; take_from_lane(&pool->queue.lanes[lane], group, &scan, &job);) entries++;
  }
  while (claims_take(pool, 0, lanes, group, &job)) entries++;
  if (entries) worker_complete(pool, seat, group, entries);
}

/* Pauses between looks: a busy producer should not lose its cache lines to every look. */
static void pause_between_looks(void) {
  for (int i = 0; i < 2; i++) pause_processor();
}

static bool spin_for_work(struct seat *seat) {
  enum { LOOKS = 16 };
  const clock_source *clock = &seat->pool->clock;
  uint64_t end_ns = clock_now(clock) + seat->spin_ns;
  do {
    for (int i = 0; i < LOOKS; i++) {
      if (worker_serve(seat, QUEUE_ALL, claim_size(seat))) return true;
      pause_between_looks();
    }
    seat_count(&seat->statistics.idle_looks, LOOKS);
    if (worker_steal(seat, QUEUE_ALL)) return true;
  } while (clock_now(clock) < end_ns && !pool_is_stopping(seat->pool));
  return false;
}

static void sleep(struct seat *seat, uint32_t ticket) {
  const muster_pool_def *def = &seat->pool->def;
  bool worker = seat->index > 0 && seat->index < seat->pool->workers;
  seat_count(&seat->statistics.sleeps, 1);
  if (worker && def->on_worker_sleep) def->on_worker_sleep(seat->index, def->hook_user);
  park_wait(&seat->parking, ticket);
  if (worker && def->on_worker_wake) def->on_worker_wake(seat->index, def->hook_user);
}

void worker_sleep(struct seat *seat) {
  struct muster_pool *pool = seat->pool;
  uint32_t ticket = park_ticket(&seat->parking);
  struct job job;
  idle_enter(&pool->idle, seat->index);
  bool found = queue_settle(&pool->queue);
  bool stolen = !found && claims_take(pool, seat->index + 1, QUEUE_ALL, NULL, &job);
  if (!found && !stolen && !pool_is_stopping(pool)) {
    sleep(seat, ticket);
  }
  idle_leave(&pool->idle, seat->index);
  /* Set also when it did not sleep: another thread may have spent a wake on it meanwhile. */
  seat->woken = true;
  if (stolen) run_stolen(seat, &job);
}

void worker_run(struct seat *seat) {
  const clock_source *clock = &seat->pool->clock;
  while (!pool_is_stopping(seat->pool)) {
    if (worker_serve(seat, QUEUE_ALL, claim_size(seat)) || worker_steal(seat, QUEUE_ALL)) continue;
    if (spin_for_work(seat)) continue;
    uint64_t begin_ns = clock_now(clock);
    worker_sleep(seat);
    /* Before a short sleep a longer look would have saved the sleep; before a long one it would be for nothing. */
    bool was_short = clock_now(clock) - begin_ns < SPIN_NS;
    seat->spin_ns = was_short ? SPIN_NS : seat->spin_ns / 2 > SPIN_LEAST_NS ? seat->spin_ns / 2 : SPIN_LEAST_NS;
  }
}

struct waiting {
  struct seat *seat;
  struct group *group;
  const wait_orders *orders;
  uint64_t scan[MUSTER_URGENCIES];
};

static bool work_along(struct waiting *waiting) {
  const wait_orders *orders = waiting->orders;
  if (orders->asleep) return false;
  uint32_t own = load_ordered_u32(&waiting->group->lanes);
  if (worker_yield_to(waiting->seat, orders->lanes & ((own & -own) - 1u))) return true;
  if (worker_help(waiting->seat, waiting->group, waiting->scan)) return true;
  if (!orders->lanes) return false;
  return worker_serve(waiting->seat, orders->lanes, 1) || worker_steal(waiting->seat, orders->lanes);
}

/* True when the group is complete or there was something to do. */
static bool spin_for_group(struct waiting *waiting) {
  enum { LOOKS = 32 };
  const struct muster_pool *pool = waiting->seat->pool;
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
  struct seat *seat = waiting->seat;
  struct muster_pool *pool = seat->pool;
  uint32_t ticket = park_ticket(&seat->parking);
  bool any = waiting->orders->lanes && !waiting->orders->asleep;
  store_relaxed_u64(&seat->awaits, any ? SEAT_AWAITS_ANY : (uint64_t)(uintptr_t)waiting->group);
  idle_enter(&pool->waiting, seat->index);
  if (group_await(waiting->group) && !work_along(waiting)) sleep(seat, ticket);
  idle_leave(&pool->waiting, seat->index);
}

void worker_wait(struct seat *seat, struct group *group, const wait_orders *orders) {
  struct waiting waiting = {seat, group, orders, {0}};
  bool told = false;
  seat->waits++;
  while (!group_is_complete(group)) {
    if (work_along(&waiting) || spin_for_group(&waiting)) continue;
    if (orders->before_sleep && !told) orders->before_sleep(orders->argument);
    told = true;
    sleep_for_group(&waiting);
  }
  seat->waits--;
}
