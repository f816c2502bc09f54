/* A world in which everything happens that can happen to herds is sound after every frame. */
#include "support/herd_busy.h"
#include "world/world_sound.h"

Test(herd_sound, a_busy_world_of_herds_is_sound_after_every_frame) {
  herd_busy busy = herd_busy_world(1, 40);
  herd_busy_populate(&busy);
  for (uint32_t frame = 0; frame < 600; frame++) {
    soundness found = {0};
    herd_busy_frame(&busy, frame);
    world_is_sound(busy.little.world, WORLD_RESTS, &found);
    cr_assert(!found.broken, "frame %u: %s", frame, found.trouble);
    world_ids_are_sound(busy.little.world, &found);
    cr_assert(!found.broken, "frame %u: %s", frame, found.trouble);
  }
  little_world_destroy(&busy.little);
}
