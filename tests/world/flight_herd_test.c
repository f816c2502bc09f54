/* What the flight recorder notes of herds: their blocks, and the callbacks that fold and unfold them. */
#include "support/herd_world.h"
#include "world/fixture.h"

#include <muster/flight.h>

enum { WORKERS_MOST = 64 };

static void *memory; /* each test runs in a process of its own */
static size_t bytes;

/* What the recorder said in the last call of a callback. */
struct noted {
  muster_flight_entry last;
  uint32_t calls;
};

static struct noted blocks, unfolds, folds;

static void note(struct noted *noted) {
  muster_flight_entry entries[WORKERS_MOST];
  uint32_t count = 0;
  muster_result result = muster_flight_read(memory, bytes, entries, WORKERS_MOST, &count);
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(count, 1, "%u are inside", count);
  noted->last = entries[0];
  noted->calls++;
}

static void note_block(muster_herd_block *block) {
  note(&blocks);
  walk_block_on(block);
}

static muster_result note_unfold(const muster_herd_change *change) {
  (void)change;
  note(&unfolds);
  return MUSTER_OK;
}

static muster_result note_fold(const muster_herd_change *change) {
  note(&folds);
  cr_assert_eq(muster_agent_index(folds.last.agent), muster_agent_index(change->parent));
  return MUSTER_OK;
}

static void expect_noted(const struct noted *noted, muster_flight_doing doing, const char *type_name) {
  cr_assert_gt(noted->calls, 0);
  cr_assert_eq(noted->last.doing, doing);
  cr_assert_str_eq(noted->last.type_name, type_name);
}

Test(flight_herds, blocks_and_changes_are_noted_while_they_run) {
  muster_herd_type_def def =
      WITH(muster_herd_type_def, it.run_block = note_block, it.unfold = note_unfold, it.fold = note_fold);
  SCOPED_HERDS herds = herd_world_create(1, NULL, &def);
  bytes = muster_flight_bytes(herds.little.world);
  memory = aligned_alloc(64, bytes);
  cr_assert_eq(muster_flight_attach(herds.little.world, memory, bytes), MUSTER_OK);
  add_herd(&herds, 2000.0, 0.0, 32);
  run_frames(&herds.little, 200);
  expect_noted(&blocks, MUSTER_FLIGHT_ATOM, "herd blocks");
  muster_observer observer = observe(&herds, 2000.0, 0.0);
  run_frames(&herds.little, 200);
  expect_noted(&unfolds, MUSTER_FLIGHT_HERD_CHANGE, "deer");
  muster_observer_remove(herds.little.world, observer);
  run_frames(&herds.little, 400);
  expect_noted(&folds, MUSTER_FLIGHT_HERD_CHANGE, "deer");
  free(memory);
}
