/* What the flight recorder notes of herds: their blocks, and the callbacks that fold and unfold them. */
#include <stdlib.h>

#include "support/herd_world.h"

#include <muster/flight.h>
#include <muster/herd.h>

enum { WORKERS_MOST = 64 };

/* What the recorder said in the last call of each callback. */
typedef struct notes {
  void *memory;
  size_t bytes;
  muster_flight_entry block, unfold, fold;
  uint32_t blocks, unfolds, folds;
} notes;

static notes noted; /* each test runs in a process of its own */

static muster_flight_entry read_only_entry(void) {
  muster_flight_entry entries[WORKERS_MOST];
  uint32_t count = 0;
  muster_result result = muster_flight_read(noted.memory, noted.bytes, entries, WORKERS_MOST, &count);
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(count, 1, "%u are inside", count);
  return entries[0];
}

static void note_block(muster_herd_block *block) {
  noted.block = read_only_entry();
  noted.blocks++;
  walk_block_on(block);
}

static muster_result note_unfold(const muster_herd_change *change) {
  (void)change;
  noted.unfold = read_only_entry();
  noted.unfolds++;
  return MUSTER_OK;
}

static muster_result note_fold(const muster_herd_change *change) {
  noted.fold = read_only_entry();
  cr_assert_eq(muster_agent_index(noted.fold.agent), muster_agent_index(change->parent));
  noted.folds++;
  return MUSTER_OK;
}

Test(flight_herds, blocks_and_changes_are_noted_while_they_run) {
  muster_herd_type_def def = muster_herd_type_def_default();
  def.run_block = note_block;
  def.unfold = note_unfold;
  def.fold = note_fold;
  herd_world herds = herd_world_create(1, NULL, &def);
  noted.bytes = muster_flight_bytes(herds.little.world);
  noted.memory = aligned_alloc(64, noted.bytes);
  cr_assert_eq(muster_flight_attach(herds.little.world, noted.memory, noted.bytes), MUSTER_OK);
  add_herd(&herds, 2000.0, 0.0, 32);
  run_frames(&herds.little, 200);
  cr_assert_gt(noted.blocks, 0);
  cr_assert_eq(noted.block.doing, MUSTER_FLIGHT_ATOM);
  cr_assert_str_eq(noted.block.type_name, "herd blocks");
  muster_observer observer = observe(&herds, 2000.0, 0.0);
  run_frames(&herds.little, 200);
  cr_assert_gt(noted.unfolds, 0);
  cr_assert_eq(noted.unfold.doing, MUSTER_FLIGHT_HERD_CHANGE);
  cr_assert_str_eq(noted.unfold.type_name, "deer");
  muster_observer_remove(herds.little.world, observer);
  run_frames(&herds.little, 400);
  cr_assert_gt(noted.folds, 0);
  cr_assert_eq(noted.fold.doing, MUSTER_FLIGHT_HERD_CHANGE);
  cr_assert_str_eq(noted.fold.type_name, "deer");
  herd_world_destroy(&herds);
  free(noted.memory);
}
