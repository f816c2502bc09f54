/* A frame with herds allocates nothing: not by the host's allocator, not by malloc; and they live on a host's memory,
 * too, which is aligned to no more than 64 bytes. */
#include "support/herd_world.h"

#include <malloc.h>
#include <stdlib.h>

static const muster_atom walk = {.role = MUSTER_ROLE_BEHAVIOUR, .run = walk_on, .model_ns = 1000};

static uint64_t calls;

static void *counted_allocate(size_t bytes, size_t alignment, void *user) {
  void *memory = NULL;
  (void)user;
  calls++;
  return posix_memalign(&memory, alignment, bytes) ? NULL : memset(memory, 0, bytes);
}

static void counted_release(void *memory, size_t bytes, void *user) {
  (void)bytes, (void)user;
  free(memory);
}

Test(herd_allocation, a_frame_allocates_nothing_while_herds_fold_and_unfold) {
  muster_world_def world = muster_default_world_def();
  muster_herd_type_def def = muster_default_herd_type_def();
  muster_type_def deer = deer_def(&walk);
  world.clock = MUSTER_CLOCK_VIRTUAL;
  world.agents_max = 5000;
  world.allocator = (muster_allocator){counted_allocate, counted_release, NULL};
  def.run_block = walk_block_on;
  def.retains = true;
  herd_world herds = herd_world_of(3, &world, &def, &deer);
  for (uint32_t i = 0; i < 1024; i++) add_herd(&herds, 40.0 * (i % 32), 40.0 * (i / 32), 32);
  muster_observer observer = observe(&herds, 0.0, 0.0);
  run_frames(&herds.little, 5);
  uint64_t calls_before = calls;
  struct mallinfo2 before = mallinfo2();
  muster_frame_report report = {0};
  uint32_t folds = 0, unfolds = 0;
  for (uint32_t i = 0; i < 200; i++) {
    muster_observer_move(herds.little.world, observer, (muster_position){6.0 * i, i % 60 == 59 ? 1200.0 : 0.0, 0.0});
    muster_herd_wake(herds.little.world, muster_herd_next(herds.little.world, (muster_herd){5 * i, 1}), i % 32);
    report = run_frame(&herds.little);
    folds += report.folds;
    unfolds += report.unfolds;
  }
  struct mallinfo2 after = mallinfo2();
  cr_assert(folds > 100 && unfolds > 100);
  cr_assert_eq(report.represented, 1024 * 32);
  cr_assert_eq(calls, calls_before);
  cr_assert_eq(after.uordblks, before.uordblks);
  cr_assert_eq(after.arena, before.arena);
  herd_world_destroy(&herds);
}
