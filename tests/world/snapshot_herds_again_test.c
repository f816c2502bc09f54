/* A world with herds that was loaded saves the same bytes that it was loaded from. */
#include "support/herd_busy.h"
#include "support/snapshots.h"

static void save_twice(uint32_t frames, uint32_t unfolded) {
  herd_busy busy = herd_busy_driven(frames, unfolded), loaded = herd_busy_world(1, unfolded);
  saved_world saved = save_world(busy.little.world);
  little_world_destroy(&busy.little);
  cr_assert_eq(load_world(loaded.little.world, saved.bytes, saved.count), MUSTER_OK, "%s", muster_last_error());
  saved_world again = save_world(loaded.little.world);
  cr_assert_eq(again.count, saved.count, "after %u frames", frames);
  for (size_t i = 0; i < saved.count; i++)
    cr_assert(again.bytes[i] == saved.bytes[i], "after %u frames: byte %zu of %zu", frames, i, saved.count);
  little_world_destroy(&loaded.little);
  free(saved.bytes);
  free(again.bytes);
}

Test(snapshot_herds_again, is_the_same_to_the_byte) {
  for (uint32_t frames = 0; frames < 60; frames += 7) save_twice(frames, frames % 2 ? 6 : 40);
}
