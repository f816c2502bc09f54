/* tests/support/whole_frames.h - frames with time for all that is due, after which worlds are compared. */
#ifndef WHOLE_FRAMES_H
#define WHOLE_FRAMES_H

#include "support/little_world.h"

#include "world/world.h"
#include "world/world_sound.h"

/* Runs frames, each of which has time for everything. Returns what they came to. */
static inline muster_statistics run_whole_frames(little_world *little, uint32_t frames) {
  static const uint64_t plenty_ns = 10000000000;
  muster_statistics sums = muster_statistics_default();
  for (uint32_t frame = 0; frame < frames; frame++) {
    muster_frame_report report = run_frame_with(little, plenty_ns);
    cr_assert_eq(report.carried + report.preempted + report.spawns_waiting, 0, "%u of %u ran", report.completed,
                 report.released);
  }
  cr_assert_eq(muster_statistics_read(little->world, &sums), MUSTER_OK);
  return sums;
}

/* Of a world at rest. */
static inline void must_be_sound(const muster_world *world) {
  soundness found = {0};
  cr_assert(world_is_sound(world, WORLD_RESTS, &found) && !found.broken, "%s", found.trouble);
}

/* Ends a world, which must be sound. Returns its hash. */
static inline uint64_t end_sound(little_world *little) {
  must_be_sound(little->world);
  uint64_t hash = muster_world_hash(little->world);
  little_world_destroy(little);
  return hash;
}

#endif
