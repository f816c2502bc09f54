/* A world that was loaded saves the same bytes that it was loaded from: no value that is kept gets lost or changes. */
#include "support/busy_worlds.h"
#include "support/snapshots.h"

/* Adds what a busy world does not have by itself: wakes far ahead and values that a host tunes. */
static void ask_for_more(const little_world *little, uint32_t frame) {
  muster_agent_tuning tuning = muster_agent_tuning_default();
  muster_agent one = busy_choose(little, frame, 4);
  tuning.designer = 0.3f + (float)(frame % 7) * 0.1f;
  muster_agent_tune(little->world, one, &tuning);
  muster_agent_wake_at(little->world, busy_choose(little, frame, 5), little->now_ns + 7000000000u);
}

static void save_twice(const busy_kind *kind, uint32_t frames) {
  little_world whole = busy_world(kind, 2);
  busy_populate(&whole);
  for (uint32_t frame = 0; frame < frames; frame++) {
    ask_for_more(&whole, frame);
    busy_frame(&whole, kind, frame);
  }
  busy_spawn(&whole, 1, frames);
  busy_command(&whole, frames);
  saved_world saved = save_world(whole.world);
  little_world_destroy(&whole);
  little_world loaded = busy_world(kind, 1);
  cr_assert_eq(load_world(loaded.world, saved.bytes, saved.count), MUSTER_OK, "%s", muster_last_error());
  saved_world again = save_world(loaded.world);
  cr_assert_eq(again.count, saved.count, "world '%s' after %u frames", kind->name, frames);
  for (size_t i = 0; i < saved.count; i++)
    cr_assert(again.bytes[i] == saved.bytes[i], "world '%s' after %u frames: byte %zu of %zu", kind->name, frames, i,
              saved.count);
  little_world_destroy(&loaded);
  free(saved.bytes);
  free(again.bytes);
}

Test(snapshot_again, is_the_same_to_the_byte) {
  for (uint32_t i = 0; i < BUSY_KINDS; i++) save_twice(&busy_kinds[i], 60);
}

Test(snapshot_again, is_the_same_at_any_moment) {
  for (uint32_t frames = 0; frames < 10; frames++) save_twice(&busy_kinds[frames % BUSY_KINDS], frames);
}
