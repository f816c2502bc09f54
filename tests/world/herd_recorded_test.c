/* A world of herds runs on while it is recorded, or saved, as it would have otherwise: frame by frame, whenever that
 * began, also while herds fold and unfold. */
#include "support/herd_busy.h"
#include "support/recording.h"
#include "support/snapshots.h"

#include <muster/record.h>

enum { FRAMES = 120, NEVER = 1000 };

/* What happens to a world at some frame beside its frames. */
typedef struct plan {
  uint32_t record, save, save_again, end;
} plan;

static bool forget(const void *bytes, size_t count, void *user) {
  (void)bytes, (void)count, (void)user;
  return true;
}

static void begin_record(muster_world *world) {
  muster_record_def def = muster_record_def_default();
  def.write = forget;
  cr_assert_eq(muster_record_begin(world, &def), MUSTER_OK, "%s", muster_last_error());
}

static void run(uint32_t workers, uint64_t budget_ns, const plan *with, uint64_t hashes[FRAMES]) {
  herd_busy busy = herd_busy_world(workers, 40);
  herd_busy_populate(&busy);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    if (frame == with->record) begin_record(busy.little.world);
    if (frame == with->save || frame == with->save_again) free(save_world(busy.little.world).bytes);
    if (frame == with->end) cr_assert_eq(muster_record_end(busy.little.world), MUSTER_OK);
    herd_busy_recorded_command(&busy, frame);
    run_frame_with(&busy.little, budget_ns);
    hashes[frame] = muster_world_hash(busy.little.world);
  }
  muster_statistics sums = muster_statistics_default();
  muster_statistics_read(busy.little.world, &sums);
  cr_assert(sums.folds > 20 && sums.unfolds > 20, "%lu folds, %lu unfolds", sums.folds, sums.unfolds);
  busy.little.provokes_idle = true;
  little_world_destroy(&busy.little);
}

static void compare(uint64_t budget_ns, const plan *with) {
  static uint64_t alone[FRAMES], other[FRAMES];
  run(1, budget_ns, &(plan){NEVER, NEVER, NEVER, NEVER}, alone);
  for (uint32_t workers = 1; workers <= 4; workers *= 2) {
    run(workers, budget_ns, with, other);
    for (uint32_t i = 0; i < FRAMES; i++)
      cr_assert_eq(other[i], alone[i], "%u workers, recorded from %u, saved at %u: frame %u", workers, with->record,
                   with->save, i);
  }
}

static const uint64_t budgets[] = {BUSY_BUDGET_NS, 400000, 120000}; /* all fits; much; little, and updates are cut */

Test(herd_recorded, from_the_beginning_runs_as_it_would_have) {
  for (uint32_t i = 0; i < 3; i++) compare(budgets[i], &(plan){0, NEVER, NEVER, NEVER});
}

Test(herd_recorded, from_the_middle_on_runs_as_it_would_have) {
  for (uint32_t i = 0; i < 3; i++)
    for (uint32_t begin = 15; begin < FRAMES; begin += 31) compare(budgets[i], &(plan){begin, NEVER, NEVER, NEVER});
}

Test(herd_recorded, and_saved_meanwhile_runs_as_it_would_have) {
  for (uint32_t i = 0; i < 3; i++) {
    compare(budgets[i], &(plan){NEVER, 22, 73, NEVER});
    compare(budgets[i], &(plan){17, 45, 90, 100});
  }
}
