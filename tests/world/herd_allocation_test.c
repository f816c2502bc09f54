/* A frame with herds allocates nothing: not by the host's allocator, not by malloc; and they live on a host's memory,
 * too, which is aligned to no more than 64 bytes. */
#include "support/counted_memory.h"
#include "support/skip.h"
#include "world/herd_fixture.h"

#include <malloc.h>
#include <sys/mman.h>

Test(herd_allocation, a_frame_allocates_nothing_while_herds_fold_and_unfold) {
  counted_memory counted = {0};
  SCOPED_HERDS herds =
      walking_herds(3, WITH(virtual_world_def, it.limits.agents_max = 5000, it.allocator = counted_allocator(&counted)),
                    WITH(muster_herd_type_def, it.retains = true));
  for (uint32_t i = 0; i < 1024; i++) add_herd(&herds, 40.0 * (i % 32), 40.0 * (i / 32), 32);
  muster_observer observer = observe(&herds, 0.0, 0.0);
  run_frames(&herds.little, 5);
  uint64_t allocations_before = counted.allocations;
  struct mallinfo2 before = mallinfo2();
  muster_frame_report report = {0};
  uint32_t folds = 0, unfolds = 0;
  for (uint32_t i = 0; i < 200; i++) {
    muster_observer_move(herds.little.world, observer, (muster_position){6.0 * i, i % 60 == 59 ? 1200.0 : 0.0, 0.0});
    muster_herd_wake(herds.little.world, muster_herd_next(herds.little.world, muster_herd_make(5 * i, 1)), i % 32);
    report = run_frame(&herds.little);
    folds += report.folds;
    unfolds += report.unfolds;
  }
  struct mallinfo2 after = mallinfo2();
  cr_assert(folds > 100 && unfolds > 100);
  cr_assert_eq(report.represented, 1024 * 32);
  cr_assert_eq(counted.allocations, allocations_before);
  cr_assert_eq(after.uordblks, before.uordblks);
  cr_assert_eq(after.arena, before.arena);
}

static size_t resident_bytes(void) {
  unsigned long all = 0, resident = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  cr_assert_not_null(statm);
  cr_assert_eq(fscanf(statm, "%lu %lu", &all, &resident), 2);
  fclose(statm);
  return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

Test(herd_allocation, memory_is_made_ready_for_the_members_of_herds_and_for_no_other_type) {
  enum { AGENTS = 131072, STATE_BYTES = 512, ALL_BYTES = AGENTS * STATE_BYTES };
  SCOPED_WORLD little =
      little_world_of(1, WITH(muster_world_def, it.limits.agents_max = it.limits.agents_ready = AGENTS));
  void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  unsigned char there = 0; /* an emulator may take the advice, and do nothing */
  if (madvise(page, 4096, MADV_POPULATE_WRITE) || mincore(page, 4096, &there) || !(there & 1))
    SKIP_TEST("this kernel commits nothing ahead");
  munmap(page, 4096);
  size_t before = resident_bytes();
  add_type(&little, CHANGED(deer_def(atom_of(walk_on, 1000)), it.state_bytes = STATE_BYTES));
  size_t registered = resident_bytes();
  cr_assert_lt(registered - before, ALL_BYTES / 4);
  add_herd_type(&little,
                WITH(muster_herd_type_def, it.run_block = walk_block_on, it.totals = 1, it.member = little.type));
  cr_assert_gt(resident_bytes() - registered, ALL_BYTES);
  /* Slots of leaves that were folded are used one after another, until the whole ring was used. */
  const struct ring *slots = &little.world->agents.slots[little.type.index - 1].given_back;
  static unsigned char pages[AGENTS * 16 / 4096];
  cr_assert_eq(sizeof pages * 4096, ((size_t)slots->mask + 1) * slots->slot_bytes);
  cr_assert_eq(mincore(slots->slots, sizeof pages * 4096, pages), 0);
  for (uint32_t i = 0; i < sizeof pages; i++) cr_assert(pages[i] & 1);
}

/* Wherever memory is refused to a type of herds, the world goes on without it, and has it when there is memory again.
 */
Test(herd_allocation, a_type_that_finds_no_memory_can_be_registered_later) {
  counted_memory counted = {0};
  const muster_world_def world =
      WITH(virtual_world_def, it.limits.agents_max = 500, it.allocator = counted_allocator(&counted));
  herd_world herds = {.little = typed_world(1, world, deer_def(atom_of(walk_on, 1000)))};
  spawn_at(&herds.little, 0);
  const muster_herd_type_def def =
      WITH(muster_herd_type_def, it.member = herds.little.type, it.totals = 1, it.run_block = walk_block_on);
  uint32_t attempts = 0;
  for (; !herds.type.index && attempts < 100; attempts++) {
    counted.limited = true;
    counted.left = attempts;
    herds.type = muster_herd_type_register(herds.little.world, &def);
    counted.limited = false;
    cr_expect_not(herds.little.world->arena.failed, "attempt %u", attempts);
    run_frame(&herds.little);
  }
  cr_assert(attempts > 5 && attempts < 100, "%u attempts", attempts);
  add_herd(&herds, 0, 0, 32);
  observe(&herds, 0, 0);
  run_frames(&herds.little, 20);
  cr_expect_eq(run_frame(&herds.little).represented, 33);
  herd_world_destroy(&herds);
  cr_expect_eq(counted.allocations, counted.releases);
}
