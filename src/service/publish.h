/* service/publish.h - what the loop's thread may know of a world without asking: copied by the frames' thread. */
#ifndef SERVICE_PUBLISH_H
#define SERVICE_PUBLISH_H

#include "service/service.h"

/* After a frame that ran from `begin_ns` to `end_ns` (CLOCK_MONOTONIC). Frames' thread. */
void publish_frame(hosted_world *world, uint64_t begin_ns, uint64_t end_ns);

/* After the world was opened, or could not be, and after budget, period or pause were changed. Frames' thread. */
void publish_pace(hosted_world *world);

#endif
