/* tests/support/full_frames.h - what every test's world has shown when it is destroyed: no frame left budget though
 * agents waited, for no known reason; and in virtual time no estimate had to be mended since periods were stretched
 * while the budget was idle. By the wall clock that is what mending is for: other programs make updates dear for a
 * while. Tests that provoke either say so. */
#ifndef FULL_FRAMES_H
#define FULL_FRAMES_H

#include "world/world.h"

#include <muster/muster.h>

#include <criterion/criterion.h>

static inline void expect_full_frames(const muster_world *world) {
  muster_statistics sums = muster_statistics_default();
  if (muster_statistics_read(world, &sums) != MUSTER_OK) return; /* a test has left its world in a frame */
  cr_assert_eq(sums.idle_frames[MUSTER_IDLE_FAULT], 0, "%lu frames left %lu ns though agents waited",
               (unsigned long)sums.idle_frames[MUSTER_IDLE_FAULT], (unsigned long)sums.idle_ns[MUSTER_IDLE_FAULT]);
  if (!world_is_virtual(world)) return;
  cr_assert_eq(sums.estimates_mended, 0, "estimates were mended: %lu", (unsigned long)sums.estimates_mended);
}

/* Destroys it. */
static inline void destroy_full(muster_world *world) {
  expect_full_frames(world);
  muster_world_destroy(world);
}

#endif
