/* A world that was loaded saves the same bytes that it was loaded from: no value that is kept gets lost or changes. */
#include "support/busy_worlds.h"
#include "world/fixture.h"

/* With what a busy world does not have by itself: wakes far ahead and values that a host tunes. */
static void save_twice(const busy_kind *kind, uint32_t frames) {
  SCOPED_WORLD whole = busy_world(kind, 2), loaded = busy_world(kind, 1);
  busy_populate(&whole);
  for (uint32_t frame = 0; frame < frames; frame++) {
    muster_agent_tuning tuning = WITH(muster_agent_tuning, it.designer = 0.3f + (float)(frame % 7) * 0.1f);
    muster_agent_tune(whole.world, busy_choose(&whole, frame, 4), &tuning);
    muster_agent_wake_at(whole.world, busy_choose(&whole, frame, 5), whole.now_ns + 7000000000u);
    busy_frame(&whole, kind, frame);
  }
  busy_spawn(&whole, 1, frames);
  busy_command(&whole, frames);
  copy_each_byte(&whole, &loaded);
}

Test(snapshot_again, is_the_same_to_the_byte) {
  for (uint32_t i = 0; i < BUSY_KINDS; i++) save_twice(&busy_kinds[i], 60);
}

Test(snapshot_again, is_the_same_at_any_moment) {
  for (uint32_t frames = 0; frames < 10; frames++) save_twice(&busy_kinds[frames % BUSY_KINDS], frames);
}
