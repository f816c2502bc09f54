/* A world that is driven by everything that can happen is sound after every frame, and each thing that is broken by hand
 * is named: which agent, which status, which list. */
#include "support/busy_worlds.h"
#include "world/world_sound.h"

static void expect_sound(const struct muster_world *world, const char *kind, uint32_t frame) {
  soundness found = {0};
  world_is_sound(world, WORLD_RESTS, &found);
  cr_assert(!found.broken, "%s, frame %u: %s", kind, frame, found.trouble);
  world_ids_are_sound(world, &found);
  cr_assert(!found.broken, "%s, frame %u: %s", kind, frame, found.trouble);
}

Test(sound, a_busy_world_is_sound_after_every_frame) {
  for (uint32_t k = 0; k < BUSY_KINDS; k++) {
    little_world little = busy_world(&busy_kinds[k], 1);
    busy_populate(&little);
    for (uint32_t frame = 0; frame < 150; frame++) {
      busy_frame(&little, &busy_kinds[k], frame);
      expect_sound(little.world, busy_kinds[k].name, frame);
    }
    little_world_destroy(&little);
  }
}
