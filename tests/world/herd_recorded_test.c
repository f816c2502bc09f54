/* A world of herds runs on while it is recorded, or saved, as it would have otherwise: frame by frame, whenever that
 * began, also while herds fold and unfold. */
#include "support/herd_busy.h"
#include "world/fixture.h"

enum { FRAMES = 120, NEVER = 1000 };

/* What happens to a world at some frame beside its frames. */
typedef struct plan {
  uint32_t record, save, save_again, end;
} plan;

static bool forget(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count, (void)user;
  return true;
}

static void run(uint32_t workers, uint64_t budget_ns, const plan *with, uint64_t hashes[FRAMES]) {
  const muster_record_def record = WITH(muster_record_def, it.write = forget);
  herd_busy busy = herd_busy_world(workers, 40);
  herd_busy_populate(&busy);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    if (frame == with->record) cr_assert_eq(muster_record_begin(busy.little.world, &record), MUSTER_OK);
    if (frame == with->save || frame == with->save_again) free(save_world(busy.little.world).bytes);
    if (frame == with->end) cr_assert_eq(muster_record_end(busy.little.world), MUSTER_OK);
    herd_busy_recorded_command(&busy, frame);
    run_frame_with(&busy.little, budget_ns);
    hashes[frame] = muster_world_hash(busy.little.world);
  }
  muster_statistics sums = statistics_of(&busy.little);
  cr_assert(sums.folds > 20 && sums.unfolds > 20, "%lu folds, %lu unfolds", sums.folds, sums.unfolds);
  busy.little.provokes_idle = true;
  little_world_destroy(&busy.little);
}

static void compare(const plan *with) {
  static const uint64_t budgets_ns[] = {BUSY_BUDGET_NS, 400000, 120000}; /* all fits; much; little: updates are cut */
  static uint64_t alone[FRAMES], other[FRAMES];
  for (uint32_t k = 0; k < COUNT_OF(budgets_ns); k++) {
    run(1, budgets_ns[k], &(plan){NEVER, NEVER, NEVER, NEVER}, alone);
    for (uint32_t workers = 1; workers <= 4; workers *= 2) {
      run(workers, budgets_ns[k], with, other);
      for (uint32_t i = 0; i < FRAMES; i++)
        cr_assert_eq(other[i], alone[i], "%u workers, from %u, %u: frame %u", workers, with->record, with->save, i);
    }
  }
}

Test(herd_recorded, from_the_beginning_runs_as_it_would_have) {
  compare(&(plan){0, NEVER, NEVER, NEVER});
}
Test(herd_recorded, from_the_middle_on_runs_as_it_would_have) {
  for (uint32_t begin = 15; begin < FRAMES; begin += 31) compare(&(plan){begin, NEVER, NEVER, NEVER});
}
Test(herd_recorded, and_saved_meanwhile_runs_as_it_would_have) {
  compare(&(plan){NEVER, 22, 73, NEVER});
  compare(&(plan){17, 45, 90, 100});
}
