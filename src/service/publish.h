/* service/publish.h - the data of a world that the loop's thread may read without a request: copied by the frames'
 * thread. */
#ifndef SERVICE_PUBLISH_H
#define SERVICE_PUBLISH_H

#include "service/service.h"

/* After a frame that ran from `begin_ns` to `end_ns` (CLOCK_MONOTONIC). Frames' thread. */
void publish_frame(hosted_world *world, uint64_t begin_ns, uint64_t end_ns);

/* After the world was opened, or could not be, and after budget, period or pause were changed. Frames' thread. */
void publish_pace(hosted_world *world);

#endif
