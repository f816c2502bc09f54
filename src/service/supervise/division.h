/* service/supervise/division.h - gives each world's process its part of a snapshot that one process wrote with all
 * worlds, as with `isolation = none`.
 *
 *     DIR/FILE  ->  DIR/WORLD/FILE, a name more of the same file, for each world that has none of its own
 *               ->  then DIR/FILE becomes DIR/FILE.divided-1
 *
 * Each process takes its world out of it. Nothing is copied, and a division that was cut off is completed by the next
 * start. */
#ifndef SERVICE_SUPERVISE_DIVISION_H
#define SERVICE_SUPERVISE_DIVISION_H

#include "service/settings.h"

/* Before the processes start, once their folders are there. Nothing to do is well. MUSTER_E_SYSTEM with what to do: no
 * world may begin then, since it would begin anew. */
muster_result division_make(const struct settings *settings);

#endif
