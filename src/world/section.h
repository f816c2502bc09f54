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
#include "world/world.h"

/* How a world's workers share out items. */
struct parts section_parts(struct muster_world *world);

/* Does items of which the argument is the world. */
void section_run(struct muster_world *world, part_work work, uint32_t items, uint64_t work_ns);

#endif
