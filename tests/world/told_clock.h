/* tests/world/told_clock.h - a world of one worker on the wall clock, to which the test tells the time, so that what a
 * frame does follows from costs alone. */
#ifndef WORLD_TOLD_CLOCK_H
#define WORLD_TOLD_CLOCK_H

#include "base/clock.h"
#include "run/runner.h"
#include "world/fixture.h"

static uint64_t told_ns, own_ns; /* what the clock says, and for how long the thread has computed */

/* An update computes for so long. */
static inline void spend(uint64_t ns) {
  told_ns += ns;
  own_ns += ns;
}

static inline void tell_clock(const little_world *little) {
  little->world->runner->clock = clock_told(&told_ns);
}

static inline little_world told_world(muster_world_def def) {
  def.watch.stuck_ns = 0;
  told_ns = 1000000000u;
  own_ns = 1;
  little_world little = little_world_create(1, &def);
  tell_clock(&little);
  clock_tell_thread_cpu(&own_ns);
  return little;
}

static inline void told_world_destroy(little_world *little) {
  little_world_destroy(little);
  clock_tell_thread_cpu(NULL);
}

/* An atom that spends what its type's user says. */
static inline muster_atom_result spend_told(muster_update *update) {
  spend(*(const uint64_t *)update->type_user);
  return MUSTER_ATOM_NEXT;
}

/* A type of it. */
static inline muster_type_def spender_type(const uint64_t *cost_ns) {
  return CHANGED(type_running(spend_told, (uint32_t)*cost_ns), it.limit_ns = 1000000000u,
                 it.user = (void *)(uintptr_t)cost_ns);
}

/* Its atom spends what it likes. */
static inline muster_type_def spending_type(const muster_atom *atom) {
  return CHANGED(type_with(atom, 1), it.limit_ns = 1000000000u);
}

#endif
