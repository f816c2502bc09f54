/* A world that was saved and loaded goes on bit for bit like the world that was not. */
#include "support/busy_worlds.h"
#include "world/fixture.h"

static void expect_same_hash(const little_world *one, const little_world *other, const busy_kind *kind,
                             uint32_t frame) {
  uint64_t hash = muster_world_hash(one->world), loaded = muster_world_hash(other->world);
  cr_assert_eq(hash, loaded, "world '%s', frame %u: %lx, loaded %lx", kind->name, frame, hash, loaded);
}

/* Saves while all that the host asked for last still waits; then runs both worlds, and saves again. */
static void compare_kind(const busy_kind *kind, uint32_t before, uint32_t workers) {
  enum { AFTER = 60 };
  SCOPED_WORLD whole = busy_driven(kind, 1, before);
  busy_spawn(&whole, 1, before);
  busy_command(&whole, before);
  SCOPED(saved_world_forget) saved_world saved = save_world(whole.world);
  muster_snapshot_info info = look_at(&saved);
  cr_assert_eq(info.hash, muster_world_hash(whole.world));
  cr_assert_eq(info.frames, before);
  SCOPED_WORLD loaded = busy_world(kind, workers);
  loaded.now_ns = whole.now_ns;
  cr_assert_eq(load_world(loaded.world, saved.bytes, saved.count), MUSTER_OK, "world '%s': %s", kind->name,
               muster_last_error());
  expect_same_hash(&whole, &loaded, kind, before);
  for (uint32_t frame = before; frame < before + AFTER; frame++) {
    busy_frame(&whole, kind, frame);
    busy_frame(&loaded, kind, frame);
    expect_same_hash(&whole, &loaded, kind, frame);
  }
  SCOPED(saved_world_forget) saved_world again = save_world(whole.world), of_loaded = save_world(loaded.world);
  cr_assert_eq(again.count, of_loaded.count, "world '%s'", kind->name);
}

Test(snapshot, a_loaded_world_goes_on_bit_for_bit) {
  for (uint32_t i = 0; i < BUSY_KINDS; i++) compare_kind(&busy_kinds[i], 60, 1);
}

Test(snapshot, on_any_number_of_workers) {
  for (uint32_t i = 0; i < BUSY_KINDS; i++) compare_kind(&busy_kinds[i], 25, 1 + i % 4);
}

Test(snapshot, at_any_moment) {
  for (uint32_t before = 0; before < 12; before++) compare_kind(&busy_kinds[before % BUSY_KINDS], before, 2);
}
