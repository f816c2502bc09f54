/* tests/support/late_frame.h - a frame on the wall clock that has no time left to settle the updates that it ran. */
#ifndef LATE_FRAME_H
#define LATE_FRAME_H

#include "base/clock.h"
#include "support/little_world.h"
#include "world/frame_state.h"
#include "world/world.h"

static uint64_t late_until_ns; /* updates that call late_wait() last until then */

static inline void late_wait(void) {
  while (clock_system() < late_until_ns) continue;
}

/* Runs frames until one is late. */
static inline void run_late_frame(little_world *little) {
  enum { BUDGET_NS = 2000000, TRIES = 100 };
  for (int i = 0; i < TRIES && !little->world->commit->open; i++) {
    late_until_ns = clock_system() + 2 * BUDGET_NS;
    run_frame_with(little, BUDGET_NS);
  }
  late_until_ns = 0;
  cr_assert(little->world->commit->open);
}

#endif
