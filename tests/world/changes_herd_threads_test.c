/* Changes in a world of herds: leaves that come when a herd unfolds and leave when it folds. */
#include "support/herd_busy.h"
#include "support/replica.h"

enum { FRAMES = 150 };

static uint64_t run_herds(uint32_t workers) {
  herd_busy busy = herd_busy_world(workers, 40);
  SCOPED(replica_destroy) struct replica replica = replica_create(busy.little.world, 700);
  uint32_t folds = 0;
  herd_busy_populate(&busy);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    folds += herd_busy_frame(&busy, frame).folds;
    cr_assert_eq(replica_read(&replica), MUSTER_OK, "%s", muster_last_error());
    replica_check(&replica);
  }
  cr_assert_gt(folds, 20);
  cr_assert_gt(replica.changed[2] - replica.passing, 100, "leaves have left");
  little_world_destroy(&busy.little);
  return replica.hash;
}

Test(changes_herd_threads, leaves_come_and_leave_alike_for_any_number_of_workers) {
  uint64_t alone = run_herds(1);
  cr_assert_eq(run_herds(2), alone);
  cr_assert_eq(run_herds(8), alone);
  cr_assert_eq(run_herds(64), alone);
}
