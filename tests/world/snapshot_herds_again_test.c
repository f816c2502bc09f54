/* A world with herds that was loaded saves the same bytes that it was loaded from. */
#include "support/herd_busy.h"
#include "world/fixture.h"

Test(snapshot_herds_again, is_the_same_to_the_byte) {
  for (uint32_t frames = 0; frames < 60; frames += 7) {
    uint32_t unfolded = frames % 2 ? 6 : 40;
    SCOPED(herd_busy_end) herd_busy busy = herd_busy_driven(frames, unfolded), loaded = herd_busy_world(1, unfolded);
    copy_each_byte(&busy.little, &loaded.little);
  }
}
