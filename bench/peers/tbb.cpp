/* oneTBB as a peer of `muster bench`. Without levels: a task_arena in which the caller is one of the workers, and a
 * task_group; parallel_for with the automatic partitioner. With levels: an arena for each of TBB's three priorities,
 * jobs by enqueue; there the caller sleeps and as many threads of TBB's own work, since a thread that waits inside one
 * arena would serve no other. */
#include "pin.h"
#include "system.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/task_scheduler_observer.h>
#include <oneapi/tbb/version.h>

namespace tbb = oneapi::tbb;

namespace {

enum { LEVELS = 3 };

struct adaptor {
  tbb::global_control control;
  tbb::task_arena arena;
  tbb::task_group group;
  tbb::task_arena levels[LEVELS];
  bool with_levels;
  std::atomic<uint64_t> outstanding{1}; // the waiter's own is one
  std::mutex mutex;
  std::condition_variable all_done;

  explicit adaptor(const bench_wishes &wishes)
      : control(tbb::global_control::max_allowed_parallelism, wishes.workers + (wishes.levels ? 1 : 0)),
        arena(static_cast<int>(wishes.workers), 1),
        levels{tbb::task_arena(static_cast<int>(wishes.workers), 0, tbb::task_arena::priority::high),
               tbb::task_arena(static_cast<int>(wishes.workers), 0, tbb::task_arena::priority::normal),
               tbb::task_arena(static_cast<int>(wishes.workers), 0, tbb::task_arena::priority::low)},
        with_levels(wishes.levels) {}

  virtual ~adaptor() = default;

  void leave() {
    if (outstanding.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    std::lock_guard<std::mutex> guard(mutex);
    all_done.notify_one();
  }
};

void *create(const bench_wishes *wishes) {
  return new adaptor(*wishes);
}

void destroy(void *pool) {
  delete static_cast<adaptor *>(pool);
}

// Binds every thread as it enters an arena for the first time.
struct binder : tbb::task_scheduler_observer {
  cpu_set_t all = pin_processors();
  std::atomic<uint32_t> next{0};

  binder() { observe(true); }
  ~binder() override { observe(false); }

  void on_scheduler_entry(bool) override {
    static thread_local bool bound = false;
    if (!bound) pin_to(&all, next.fetch_add(1));
    bound = true;
  }
};

// Jobs of an arena of low priority that submit themselves anew: between two of them a thread of TBB's looks for other
// work, and without them it would go to sleep.
struct waker {
  tbb::task_arena arena;
  std::atomic<bool> stopping{false};
  std::atomic<int> running;

  explicit waker(int threads) : arena(threads, 0, tbb::task_arena::priority::low), running(threads) {
    for (int i = 0; i < threads; i++) arena.enqueue([this] { turn(); });
  }

  ~waker() {
    stopping = true;
    while (running > 0) std::this_thread::yield();
  }

  void turn() {
    if (stopping)
      running--;
    else
      arena.enqueue([this] { turn(); });
  }
};

// With levels the backlog keeps the threads awake.
struct best_adaptor : adaptor {
  binder threads;
  waker awake;

  explicit best_adaptor(const bench_wishes &wishes)
      : adaptor(wishes), awake(wishes.levels ? 0 : static_cast<int>(wishes.workers) - 1) {}
};

void *create_best(const bench_wishes *wishes) {
  return new best_adaptor(*wishes);
}

void inside(void *pool, bench_job body, void *argument) {
  adaptor *self = static_cast<adaptor *>(pool);
  if (self->with_levels)
    body(argument, 0);
  else
    self->arena.execute([=] { body(argument, 0); });
}

void submit(void *pool, bench_job run, void *argument) {
  static_cast<adaptor *>(pool)->group.run([=] { run(argument, 0); });
}

void wait_asleep(adaptor *self) {
  std::unique_lock<std::mutex> lock(self->mutex);
  self->outstanding.fetch_sub(1, std::memory_order_acq_rel);
  self->all_done.wait(lock, [=] { return self->outstanding.load(std::memory_order_acquire) == 0; });
  self->outstanding.store(1, std::memory_order_relaxed);
}

void wait(void *pool) {
  adaptor *self = static_cast<adaptor *>(pool);
  if (self->with_levels)
    wait_asleep(self);
  else
    self->group.wait();
}

// Inside an arena.
void run_range(uint64_t count, uint64_t grain, bench_range run, void *argument) {
  tbb::parallel_for(tbb::blocked_range<uint64_t>(0, count, grain),
                    [=](const tbb::blocked_range<uint64_t> &piece) { run(argument, piece.begin(), piece.end(), 0); });
}

void parallel_for(void *pool, uint64_t count, uint64_t grain, bench_range run, void *argument) {
  static_cast<adaptor *>(pool)->arena.execute([=] { run_range(count, grain, run, argument); });
}

void submit_at(void *pool, uint32_t level, bench_job run, void *argument) {
  adaptor *self = static_cast<adaptor *>(pool);
  self->outstanding.fetch_add(1, std::memory_order_relaxed);
  self->levels[level].enqueue([=] {
    run(argument, 0);
    self->leave();
  });
}

void submit_range_at(void *pool, uint32_t level, uint64_t count, uint64_t grain, bench_range run, void *argument) {
  adaptor *self = static_cast<adaptor *>(pool);
  self->outstanding.fetch_add(1, std::memory_order_relaxed);
  self->levels[level].enqueue([=] {
    run_range(count, grain, run, argument);
    self->leave();
  });
}

} // namespace

extern "C" const bench_system *bench_peer(void) {
  static bench_system system = {};
  system.size = sizeof system;
  system.key = "tbb";
  system.name = "oneTBB " TBB_VERSION_STRING;
  system.convention = "caller counted, works along; task_group in an arena, parallel_for automatic; spins a while. "
                      "With levels: 3 arenas, enqueue, caller asleep and not counted";
  system.create = create;
  system.destroy = destroy;
  system.inside = inside;
  system.submit = submit;
  system.wait = wait;
  system.parallel_for = parallel_for;
  system.levels = LEVELS;
  system.submit_at = submit_at;
  system.submit_range_at = submit_range_at;
  system.create_best = create_best;
  system.best_convention =
      "the same, each thread bound to a processor; without levels kept awake by jobs of a low priority";
  return &system;
}
