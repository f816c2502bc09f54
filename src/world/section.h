/* section.h - a stage's work in numbered parts, which workers do beside each other.
 *
 *   caller    opens the parts ---> works along ---> closes the team, waits ---> goes on with what all parts left
 *   workers        come ---> take parts until none is left ---> leave
 *
 * Which worker does a part decides nothing: a part writes what belongs to it, or to its worker and can be added up. A
 * worker begins with those parts that it did when there were as many before, so that what they touch is in its caches.
 * A section that is worth no help is done by the caller, part by part, with the same result. */
#ifndef SECTION_H
#define SECTION_H

#include "pool/ticket.h"
#include "world/world.h"

enum { SECTION_PARTS_MAX = PARTITIONS_MAX };

/* Does a part, on a worker. */
typedef void (*section_work)(struct muster_world *world, uint32_t part, uint32_t worker);

/* Does all parts, 0 .. parts - 1, SECTION_PARTS_MAX at most; calls as many workers as `work_ns` of work is worth. All
 * parts are done when it returns. On the frame's thread. */
void section_run(struct muster_world *world, section_work work, uint32_t parts, uint64_t work_ns);

/* How many items a part has when there are `items`, of which a part has at least `least`. */
static inline uint32_t section_items_each(uint32_t items, uint32_t least) {
  uint32_t each = (items + SECTION_PARTS_MAX - 1) / SECTION_PARTS_MAX;
  return each > least ? each : least;
}

#endif
