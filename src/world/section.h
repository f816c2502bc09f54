/* section.h - how the items of a stage's work (base/parts.h) are done beside each other.
 *
 *   caller    cuts them into runs ---> works along ---> closes the team, waits ---> goes on with what all runs left
 *   workers        come ---> take runs until none is left ---> leave
 *
 * A worker begins with those runs that it did when there were as many before, so that what they touch is in its caches.
 * As many workers are called as the work is worth; where it is worth none, the caller does all items as one run, with
 * the same result. On the frame's thread. */
#ifndef SECTION_H
#define SECTION_H

#include "base/parts.h"
#include "pool/ticket.h"
#include "world/world.h"

/* How a world's workers share out items. */
struct parts section_parts(struct muster_world *world);

/* Does items of which the argument is the world. */
void section_run(struct muster_world *world, part_work work, uint32_t items, uint64_t work_ns);

/* How many runs items are cut into for the caller and so many helpers: several for each, so that one that comes late,
 * or has more to do, is helped by the others. */
static inline uint32_t section_runs(uint32_t items, uint32_t helpers) {
  enum { RUNS_EACH = 4 };
  uint32_t runs = RUNS_EACH * (helpers + 1), most = items < PARTITIONS_MAX ? items : PARTITIONS_MAX;
  return runs < most ? runs : most;
}

/* Where a run ends, and so the next begins. */
static inline uint32_t section_end_of_run(uint32_t items, uint32_t runs, uint32_t run) {
  return (uint32_t)((uint64_t)(run + 1) * items / runs);
}

/* The run with which a worker begins: each at an even share of them. */
static inline uint32_t section_own_run(uint32_t runs, uint32_t worker, uint32_t workers) {
  return (uint32_t)((uint64_t)worker * runs / workers) % PARTITIONS_MAX;
}

#endif
