/* section.h - how the parts of a stage's work (base/parts.h) are done beside each other.
 *
 *   caller    opens the parts ---> works along ---> closes the team, waits ---> goes on with what all parts left
 *   workers        come ---> take parts until none is left ---> leave
 *
 * A worker begins with those parts that it did when there were as many before, so that what they touch is in its
 * caches. As many workers are called as the work is worth; where it is worth none, the caller does one part after the
 * other, with the same result. On the frame's thread. */
#ifndef SECTION_H
#define SECTION_H

#include "base/parts.h"
#include "world/world.h"

/* The parts of a world. */
struct parts section_parts(struct muster_world *world);

/* Does parts of `world`, which is their argument. */
void section_run(struct muster_world *world, part_work work, uint32_t count, uint64_t work_ns);

#endif
